package httpapi_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router/httpapi"
)

// TestReader reads every page that the reader links to: each operation has one, nothing
// comes from elsewhere, and nothing runs.
func TestReader(t *testing.T) {
	s := httpapi.New(httpapi.Services{
		Auth:    secrets{},
		Lessons: struct{ lesson.Service }{}, Recon: struct{ operational.ReconService }{},
	}, httpapi.Options{Version: "<b>1</b>"})
	var shown struct {
		Paths map[string]map[string]struct {
			OperationID string `json:"operationId"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(call(s, "GET", "/openapi.json", nil, "").Body.Bytes(), &shown); err != nil {
		t.Fatal(err)
	}
	links := regexp.MustCompile(`(?:href|src|action)="([^"]*)"`)
	index := call(s, "GET", "/docs", nil, "").Body.String()
	read, pages := map[string]bool{}, []string{"/docs"}
	for len(pages) > 0 {
		path := pages[0]
		pages = pages[1:]
		if read[path] {
			continue
		}
		read[path] = true
		w := call(s, "GET", path, nil, "")
		if w.Code != http.StatusOK {
			t.Errorf("%s: %d", path, w.Code)
		}
		if !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
			continue
		}
		if policy := w.Header().Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: the policy is %q", path, policy)
		}
		for _, link := range links.FindAllStringSubmatch(w.Body.String(), -1) {
			switch target := link[1]; {
			case strings.HasPrefix(target, "/") && !strings.HasPrefix(target, "//"):
				pages = append(pages, target)
			case strings.HasPrefix(target, "#"), target == "data:,":
			default:
				t.Errorf("%s links to %s", path, target)
			}
		}
		if strings.Contains(w.Body.String(), "<script") || strings.Contains(w.Body.String(), "<b>1</b>") {
			t.Errorf("%s holds what was not escaped", path)
		}
	}
	for path, methods := range shown.Paths {
		for _, op := range methods {
			if !strings.Contains(index, `id="`+op.OperationID+`"`) {
				t.Errorf("%s is not on the page", path)
			}
		}
	}
	for _, want := range []string{"<code>title</code>", `<abbr title="required">`, `id="LessonDraft"`, "<code>domain</code>"} {
		if !strings.Contains(index, want) {
			t.Errorf("the page on reporting lessons says nothing of %s", want)
		}
	}
}
