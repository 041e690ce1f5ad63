package httpapi_test

import (
	"net/http"
	"sync"
	"testing"
)

// TestFirstRequests asks every kind of route at once what each derives when it
// is first asked, and the document, which derives all of them.
func TestFirstRequests(t *testing.T) {
	server, _ := operationalServer(t)
	json := map[string]string{"Content-Type": "application/json"}
	var all sync.WaitGroup
	for range 4 {
		for _, c := range []struct {
			method, target, body string
			status               int
		}{
			{"GET", "/api/tasks", "", http.StatusOK},
			{"POST", "/api/tasks", `{"title":"a","agent_id":"b"}`, http.StatusCreated},
			{"POST", "/api/tasks", `{"title":"a","prio":1}`, http.StatusBadRequest},
			{"GET", "/api/tasks/99", "", http.StatusNotFound},
			{"GET", "/api/tokens", "", http.StatusForbidden},
			{"GET", "/openapi.json", "", http.StatusOK},
			{"GET", "/openapi-3.0.yaml", "", http.StatusOK},
		} {
			all.Go(func() {
				header := json
				if c.body == "" {
					header = nil
				}
				if got := call(server, c.method, c.target, header, c.body); got.Code != c.status {
					t.Errorf("%s %s answers %d: %s", c.method, c.target, got.Code, got.Body)
				}
			})
		}
	}
	all.Wait()
}
