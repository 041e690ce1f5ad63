package httpapi_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/classify"
	"github.com/skillrouter/skillrouter/router/httpapi"
)

// echo answers every question with what it was asked.
type echo struct{}

func (echo) Ask(_ context.Context, q router.Query) (router.Answer, error) {
	return router.Answer{QueryType: classify.ClassKnowledge, Query: q.Query, Items: []router.Item{}, Reasons: []string{}}, nil
}

func TestQuery(t *testing.T) {
	s := httpapi.New(httpapi.Services{Router: echo{}}, httpapi.Options{})
	json := map[string]string{"Content-Type": "application/json"}
	for name, c := range map[string]struct {
		body   string
		status int
		says   string
	}{
		"a question":    {`{"query":"what is blocked?","agent_id":"a","project":"p","limit":3,"type":"operational"}`, 200, `"query_type":"knowledge"`},
		"alone":         {`{"query":"what is blocked?"}`, 200, `"items":[]`},
		"no question":   {`{}`, 400, `"field":"query"`},
		"unknown field": {`{"query":"x","colour":"red"}`, 400, `"field":"colour"`},
		"wrong type":    {`{"query":7}`, 400, `"field":"query"`},
		"a fraction":    {`{"query":"x","limit":1.5}`, 400, `"field":"limit"`},
		"no JSON":       {`query=x`, 400, `"code":"invalid"`},
		"too large":     {`{"query":"` + strings.Repeat("x", httpapi.MaxBody) + `"}`, 413, `"code":"too_large"`},
	} {
		got := call(s, http.MethodPost, "/query", json, c.body)
		if got.Code != c.status || !strings.Contains(got.Body.String(), c.says) {
			t.Errorf("%s: %d %.200s, want %d with %s", name, got.Code, got.Body, c.status, c.says)
		}
	}
}
