package llm

import (
	"context"
	"net/http"
)

// Models lists the names of the models that the endpoint has.
func (e *Endpoint) Models(ctx context.Context) ([]string, error) {
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if _, err := e.ask(ctx, call{method: http.MethodGet, path: "/models"}, "list of models", &list); err != nil {
		return nil, err
	}
	names := make([]string, 0, len(list.Data))
	for _, model := range list.Data {
		names = append(names, model.ID)
	}
	return names, nil
}
