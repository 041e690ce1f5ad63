package mcpserver_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/episode"
	learningstore "github.com/skillrouter/skillrouter/learning/store"
	"github.com/skillrouter/skillrouter/router/mcpserver"
)

type shownEpisode struct {
	ID        string          `json:"id"`
	Event     string          `json:"event"`
	Persona   string          `json:"persona"`
	Context   json.RawMessage `json:"context"`
	Learned   string          `json:"learned"`
	SessionID string          `json:"session_id"`
}

type shownEpisodes struct {
	Episodes []shownEpisode `json:"episodes"`
	Results  []shownEpisode `json:"results"`
}

func (s shownEpisodes) events() string {
	var events []string
	for _, e := range append(s.Episodes, s.Results...) {
		events = append(events, e.Event)
	}
	return strings.Join(events, " ")
}

// TestEpisodicMemory goes through the persona memory's example.
func TestEpisodicMemory(t *testing.T) {
	db, _ := openDatabase(t, "learning")
	now := noon
	episodes := episode.NewEpisodes(learningstore.New(db.Read, db.Commit), learning.Options{Now: func() time.Time { return now }})
	c := serveTools(t, mcpserver.Services{Episodes: episodes})
	ask := func(name string, arguments map[string]any) shownEpisodes {
		t.Helper()
		found, err := callTool[shownEpisodes](principal.With(t.Context(), principal.Open()), c, "analyst", name, arguments)
		if err != nil {
			t.Fatalf("%s %v: %v", name, arguments, err)
		}
		return found
	}
	remember := func(event, persona, learned string) {
		t.Helper()
		ask("remember_episode", map[string]any{
			"event": event, "context": map[string]any{"symptom": "MRR down 30%", "root_cause": "gateway"}, "learned": learned, "persona": persona,
		})
	}
	remember("mrr-drop-investigation", "", "check the payment gateway first")
	now = now.AddDate(0, 0, 10)
	remember("mrr-spike", "", "Black Friday doubles the MRR")
	remember("mrr-drop-investigation", "coder", "not the analyst's")

	found := ask("recall_episodes", map[string]any{"query": "MRR drop gateway"})
	if found.events() != "mrr-drop-investigation mrr-spike" {
		t.Errorf("recalled %q", found.events())
	}
	if e := found.Episodes[0]; string(e.Context) != `{"root_cause":"gateway","symptom":"MRR down 30%"}` || e.Learned != "check the payment gateway first" || e.Persona != "default" {
		t.Errorf("recalled %+v", e)
	}
	for _, test := range []struct {
		tool      string
		arguments map[string]any
		want      string
	}{
		{"recall_episodes", map[string]any{"query": "MRR", "time_range": "7d"}, "mrr-spike"},
		{"recall_episodes", map[string]any{"query": "MRR", "time_range": "2026-11-21..2026-11-22"}, "mrr-drop-investigation"},
		{"recall_episodes", map[string]any{"query": "MRR", "persona": "coder"}, "mrr-drop-investigation"},
		{"recall_episodes", map[string]any{"query": "MRR", "persona": "nobody"}, ""},
		{"search_episodes", map[string]any{"event_type": "mrr-drop-investigation"}, "mrr-drop-investigation mrr-drop-investigation"},
		{"search_episodes", map[string]any{"event_type": "mrr-drop-investigation", "persona": "default"}, "mrr-drop-investigation"},
		{"search_episodes", map[string]any{"event_type": "outcome", "date_range": []any{"2026-12-01", nil}}, "mrr-drop-investigation mrr-spike"},
		{"search_episodes", map[string]any{"event_type": "error"}, ""},
		{"search_episodes", map[string]any{"query": "spike", "date_range": "2026-12-01"}, "mrr-spike"},
		{"search_episodes", map[string]any{"date_range": "..2026-11-21"}, "mrr-drop-investigation"},
	} {
		if got := ask(test.tool, test.arguments).events(); got != test.want {
			t.Errorf("%s %v: %q, want %q", test.tool, test.arguments, got, test.want)
		}
	}
	for tool, arguments := range map[string]map[string]any{
		"recall_episodes":  {"query": "MRR", "time_range": "soon"},
		"search_episodes":  {"date_range": []any{"soon", nil}},
		"remember_episode": {"event": "e", "context": map[string]any{}, "persona": "../x"},
	} {
		field := map[string]string{"recall_episodes": "time_range", "search_episodes": "date_range", "remember_episode": "persona"}[tool]
		if _, err := callTool[shownEpisodes](principal.With(t.Context(), principal.Open()), c, "analyst", tool, arguments); errs.FieldOf(err) != field {
			t.Errorf("%s: %v does not name %s", tool, err, field)
		}
	}
}

// TestRecentOfANewAgent shows what others did to an agent that has done nothing.
func TestRecentOfANewAgent(t *testing.T) {
	db, _ := openDatabase(t, "learning")
	now := noon
	episodes := episode.NewEpisodes(learningstore.New(db.Read, db.Commit), learning.Options{Now: func() time.Time { return now }})
	c := serveTools(t, mcpserver.Services{Episodes: episodes})
	record := func(agent, event string) {
		t.Helper()
		if _, err := callTool[shownEpisode](principal.With(t.Context(), principal.Open()), c, agent, "remember_episode", map[string]any{"event": event, "context": map[string]any{}}); err != nil {
			t.Fatal(err)
		}
	}
	recent := func(agent string) string {
		t.Helper()
		found, err := callTool[shownEpisodes](principal.With(t.Context(), principal.Open()), c, agent, "get_recent_episodes", map[string]any{})
		if err != nil {
			t.Fatal(err)
		}
		return found.events()
	}
	record("a", "first")
	if got := recent("b"); got != "first" {
		t.Errorf("an agent without episodes sees %q", got)
	}
	record("b", "second")
	if got := recent("b"); got != "second" {
		t.Errorf("an agent in a session sees %q", got)
	}
	now = now.Add(learning.SessionIdle + time.Hour)
	if got := recent("b"); got != "second" {
		t.Errorf("an agent that comes back sees %q", got)
	}
	record("b", "third")
	if got := recent("b"); got != "third" {
		t.Errorf("an agent in its next session sees %q", got)
	}
}
