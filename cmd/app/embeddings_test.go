package app_test

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/cmd/app"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/learning/shelf"
	"github.com/skillrouter/skillrouter/router/client"
)

// embeddingServer is an OpenAI-compatible endpoint that knows that a few words
// mean the same. While it is away it answers nothing but 503.
type embeddingServer struct {
	*httptest.Server
	away atomic.Bool
	sent atomic.Value // the last request's text
}

func newEmbeddingServer(t *testing.T) *embeddingServer {
	e := &embeddingServer{}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		e.sent.Store(string(body))
		var request struct {
			Model string   `json:"model"`
			Input []string `json:"input"`
		}
		if err := json.Unmarshal(body, &request); err != nil || request.Model != "scripted" || r.URL.Path != "/v1/embeddings" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		if e.away.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		type embedding struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		}
		list := []embedding{}
		for i, text := range request.Input {
			vector := make([]float32, 128)
			for word := range strings.FieldsSeq(strings.ToLower(text)) {
				word = strings.NewReplacer("zeppelin", "car", "airship", "car", "terminate", "halt").Replace(word)
				h := fnv.New32a()
				h.Write([]byte(word))
				vector[h.Sum32()%128]++
			}
			list = append(list, embedding{i, vector})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": list, "model": "scripted"}) // a client that has gone cannot be told
	}))
	t.Cleanup(e.Close)
	return e
}

// TestEmbeddingsOverHTTP goes the whole way: settings, endpoint, back-fill,
// search, status, doctor and metrics, and the endpoint going away.
func TestEmbeddingsOverHTTP(t *testing.T) {
	endpoint := newEmbeddingServer(t)
	cfg := settings(t)
	cfg.LLM.EmbeddingBaseURL, cfg.LLM.EmbeddingModel = endpoint.URL+"/v1", "scripted"
	cfg.LLM.QueryPrefix = "query: "
	a, err := app.New(t.Context(), cfg, slog.New(slog.DiscardHandler), app.Options{})
	if err != nil {
		t.Fatal(err)
	}
	stop(t, a)
	server := httptest.NewServer(a.Handler())
	t.Cleanup(server.Close)
	token, err := app.OwnerToken(cfg.Data)
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(server.URL, client.Options{Token: token})
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	status := func() shelf.EmbeddingStatus {
		t.Helper()
		s, err := client.Ask(ctx, c, shelf.EmbeddingService.Embeddings)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	until := func(what string, holds func() bool) {
		t.Helper()
		deadline := time.After(20 * time.Second)
		for !holds() {
			select {
			case <-deadline:
				t.Fatalf("%s: still %+v", what, status())
			case <-time.After(5 * time.Millisecond):
			}
		}
	}
	stored, err := client.Send(ctx, c, knowledge.Service.Store, knowledge.Draft{Category: "gotcha", Title: "halt airship", Content: "by hand"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		if _, err := client.Send(ctx, c, knowledge.Service.Store, knowledge.Draft{Category: "c", Title: fmt.Sprint("note ", i), Content: fmt.Sprint("subject", i)}); err != nil {
			t.Fatal(err)
		}
	}
	until("filled", func() bool { s := status(); return s.State == shelf.EmbeddingsReady && s.Done == 6 })
	if s := status(); s.Model != "scripted" || s.Dimension != 128 || s.Total != 6 || len(s.Kinds) != 3 {
		t.Errorf("%+v", s)
	}
	found, err := client.Send(ctx, c, knowledge.Service.Search, knowledge.Query{Query: "terminate zeppelin", Explain: true})
	if err != nil || found.Count == 0 || found.Results[0].ID != stored.ID || found.Notice != "" || found.Results[0].Why[0].Lane != shelf.LaneVector {
		t.Errorf("%+v, %v", found, err)
	}
	if sent := endpoint.sent.Load().(string); !strings.Contains(sent, "query: terminate zeppelin") {
		t.Errorf("sent %s", sent)
	}
	get := func(path string) string {
		t.Helper()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+token)
		return answered(t, request)
	}
	if text := get("/metrics"); !strings.Contains(text, `skillrouter_embeddings{state="done"} 6`) || !strings.Contains(text, "skillrouter_embeddings_failing 0") {
		t.Error("the metrics do not tell of embeddings")
	}
	endpoint.away.Store(true)
	until("a notice", func() bool {
		found, err := client.Send(ctx, c, knowledge.Service.Search, knowledge.Query{Query: "halt hand " + time.Now().String()})
		return err == nil && found.Count > 0 && found.Results[0].ID == stored.ID && strings.HasPrefix(found.Notice, "search is lexical only")
	})
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/api/tools/search_knowledge", strings.NewReader(`{"query":"halt hand by a tool"}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	if text := answered(t, request); !strings.Contains(text, `"degraded":"search is lexical only`) || !strings.Contains(text, stored.ID) {
		t.Errorf("the tool answers %s", text)
	}
	until("failing", func() bool { return status().State == shelf.EmbeddingsFailing })
	if text := get("/api/doctor"); !strings.Contains(text, `"name":"embeddings","ok":false`) {
		t.Errorf("doctor says %s", text)
	}
	if s := status(); strings.Contains(s.LastError, "skr_") || s.LastError == "" {
		t.Errorf("%+v", s)
	}
}

func answered(t *testing.T, request *http.Request) string {
	t.Helper()
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
