package llm

import (
	"context"
	"encoding/json"
	"net/http"
)

// Models lists the names of the models that the endpoint has.
func (e *Endpoint) Models(ctx context.Context) ([]string, error) {
	response, err := e.open(ctx, call{method: http.MethodGet, path: "/models"})
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := e.readAll(ctx, response.Body)
	if err != nil {
		return nil, err
	}
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, e.nonsense(err, "list of models")
	}
	names := make([]string, 0, len(list.Data))
	for _, model := range list.Data {
		names = append(names, model.ID)
	}
	return names, nil
}
