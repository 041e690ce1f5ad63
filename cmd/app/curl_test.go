package app_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/skillrouter/skillrouter/cmd/app"
)

// TestCurlLines sends what the rule for Claude Code in MNEMOSYNE has its reader
// type, word for word, to the whole handler.
func TestCurlLines(t *testing.T) {
	a, err := app.New(t.Context(), settings(t), slog.New(slog.DiscardHandler), app.Options{})
	if err != nil {
		t.Fatal(err)
	}
	stop(t, a)
	script, err := os.ReadFile("testdata/rule13.sh")
	if err != nil {
		t.Fatal(err)
	}
	requests := curls(t, string(script))
	wants := []struct {
		path string
		held func(answer any) bool
	}{
		{"/query/relevant", func(answer any) bool { _, isList := answer.([]any); return isList }},
		{"/check/anti-pattern", func(answer any) bool { return field(answer, "blocked") == false }},
		{"/lessons/report", func(answer any) bool {
			return field(answer, "status") == "recorded" && field(answer, "lesson_id") != "" && field(answer, "patterns_detected") == 0.0
		}},
		{"/lessons/report", func(answer any) bool {
			to, _ := field(answer, "escalated_to").([]any)
			return field(answer, "status") == "recorded" && len(to) > 0
		}},
	}
	if len(requests) != len(wants) {
		t.Fatalf("%d calls, want %d", len(requests), len(wants))
	}
	for i, r := range requests {
		w := httptest.NewRecorder()
		a.Handler().ServeHTTP(w, r)
		var answer any
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != http.StatusOK || r.URL.Path != wants[i].path || !wants[i].held(answer) {
			t.Errorf("%s %s: %d %s, %v", r.Method, r.URL, w.Code, w.Body, err)
		}
	}
}

func field(answer any, name string) any {
	object, _ := answer.(map[string]any)
	return object[name]
}

// curls reads the requests that a script's curl commands make.
func curls(t *testing.T, script string) (requests []*http.Request) {
	file, err := syntax.NewParser().Parse(strings.NewReader(script), "")
	if err != nil {
		t.Fatal(err)
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		call, ok := node.(*syntax.CallExpr)
		if !ok {
			return true
		}
		words, err := expand.Fields(nil, call.Args...)
		if err != nil {
			t.Fatal(err)
		}
		if words[0] != "curl" {
			return true
		}
		method, address, body, header := http.MethodGet, "", "", http.Header{}
		for i := 1; i < len(words); i++ {
			switch words[i] {
			case "-s":
			case "-X":
				i++
				method = words[i]
			case "-H":
				i++
				name, value, _ := strings.Cut(words[i], ": ")
				header.Set(name, value)
			case "-d":
				i++
				body = words[i]
				if method == http.MethodGet {
					method = http.MethodPost
				}
			default:
				address = words[i]
			}
		}
		r := httptest.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
		r.Header = header
		requests = append(requests, r)
		return true
	})
	return requests
}
