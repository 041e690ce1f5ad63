package llm_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/router/llm"
)

// TestEmbed: batches, and answers in any order.
func TestEmbed(t *testing.T) {
	var u *upstream
	u = script(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		var request struct{ Input []string }
		if err := json.Unmarshal(u.requests()[n].Body, &request); err != nil {
			t.Error(err)
		}
		var data []string
		for i := len(request.Input) - 1; i >= 0; i-- {
			data = append(data, fmt.Sprintf(`{"index":%d,"embedding":[%d,1]}`, i, len(request.Input[i])))
		}
		says(w, 200, `{"object":"list","data":[`+strings.Join(data, ",")+`]}`)
	})
	e, _ := endpoint(t, u.URL, llm.Options{})
	var texts []string
	var want [][]float32
	for i := range llm.MaxBatch + 3 {
		texts = append(texts, strings.Repeat("x", i+1))
		want = append(want, []float32{float32(i + 1), 1})
	}
	texts = append(texts, strings.Repeat("é", llm.MaxEmbedText))
	want = append(want, []float32{llm.MaxEmbedText, 1})
	vectors, err := llm.NewEmbeddings(e, "nomic-embed-text").Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, vectors); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if n := len(u.requests()); n != 2 || u.requests()[0].Path != "/v1/embeddings" {
		t.Errorf("%d calls of %s", n, u.requests()[0].Path)
	}
}

func TestEmbedFaults(t *testing.T) {
	tests := map[string]string{
		"prose":                "I cannot embed that.",
		"too few":              `{"data":[{"index":0,"embedding":[1]}]}`,
		"none":                 `{"data":[]}`,
		"the same index twice": `{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`,
		"a negative index":     `{"data":[{"index":-1,"embedding":[1]},{"index":0,"embedding":[1]}]}`,
		"different lengths":    `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1,2]}]}`,
		"empty vectors":        `{"data":[{"index":0,"embedding":[]},{"index":1,"embedding":[]}]}`,
		"nought":               `{"data":[{"index":0,"embedding":[0,0]},{"index":1,"embedding":[1,2]}]}`,
		"too great":            `{"data":[{"index":0,"embedding":[1e300,0]},{"index":1,"embedding":[1,2]}]}`,
		"base64":               `{"data":[{"index":0,"embedding":"AAAA"},{"index":1,"embedding":"AAAA"}]}`,
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			u := script(t, func(_ int, w http.ResponseWriter, _ *http.Request) { says(w, 200, text) })
			e, _ := endpoint(t, u.URL, llm.Options{})
			_, err := llm.NewEmbeddings(e, "m").Embed(t.Context(), []string{"a", "b"})
			if errs.CodeOf(err) != errs.Unavailable {
				t.Errorf("%v", err)
			}
		})
	}
	e, _ := endpoint(t, "http://127.0.0.1:1", llm.Options{})
	if _, err := llm.NewEmbeddings(e, "m").Embed(t.Context(), []string{"a", " "}); errs.CodeOf(err) != errs.Invalid {
		t.Errorf("a blank text: %v", err)
	}
	if _, err := llm.NewEmbeddings(e, "m").Embed(t.Context(), []string{"a"}); errs.CodeOf(err) != errs.Unavailable {
		t.Errorf("nobody there: %v", err)
	}
	if vectors, err := llm.NewEmbeddings(e, "m").Embed(t.Context(), nil); err != nil || len(vectors) != 0 {
		t.Errorf("nothing: %v %v", vectors, err)
	}
}

func TestModels(t *testing.T) {
	u := script(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		says(w, 200, `{"object":"list","data":[{"id":"qwen3-coder"},{"id":"nomic-embed-text"}]}`)
	})
	e, _ := endpoint(t, u.URL, llm.Options{})
	got, err := e.Models(t.Context())
	if err != nil || !cmp.Equal(got, []string{"qwen3-coder", "nomic-embed-text"}) {
		t.Errorf("%v %v", got, err)
	}
}
