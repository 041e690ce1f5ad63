package question_test

import (
	"strings"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/classify"
)

// remembered is a memory of three sessions, the latest episode first.
func remembered() *memory {
	at := func(days, hour int) time.Time {
		return time.Date(2026, 11, 18-days, hour, 0, 0, 0, time.UTC)
	}
	return &memory{
		episodes: []episode.Episode{
			{ID: "e1", SessionID: "s3", AgentID: "builder-1", Title: "Began the importer", Project: "router", CreatedAt: at(0, 11).Add(50 * time.Minute)},
			{ID: "e2", SessionID: "s2", AgentID: "red", Title: "Deploy failed on the registry", Project: "shop", CreatedAt: at(0, 6)},
			{ID: "e3", SessionID: "s2", AgentID: "red", Title: "Chose a new cache layer", Project: "shop", CreatedAt: at(0, 1)},
			{ID: "e4", SessionID: "s1", AgentID: "builder-1", Title: "Fixed the parser", Project: "router", CreatedAt: at(1, 15)},
			{ID: "e5", SessionID: "s1", AgentID: "builder-1", Title: "Deploy went well", Project: "router", CreatedAt: at(1, 9)},
			{ID: "e6", SessionID: "s0", AgentID: "purple", Title: "Discussed licensing", CreatedAt: at(9, 10)},
			{ID: "e7", SessionID: "s0", AgentID: "purple", Title: "Deploy rolled back", CreatedAt: at(9, 9)},
		},
		knowledge: []knowledge.Knowledge{
			{ID: "k1", Title: "Redirect loops after login", Content: "Check the public paths", Project: "shop"},
			{ID: "k2", Title: "Terraform state locking", Content: "Use a table"},
		},
	}
}

func TestEpisodeAnswers(t *testing.T) {
	team := seeded(t)
	r := team.router(classify.Classification{Class: classify.ClassEpisode, Confidence: 1, Margin: 1}, remembered())
	for _, c := range []struct{ query, project, want, miss string }{
		{"What happened last session?", "", "e2 e3", ""},
		{"what happened this session", "", "e1", ""},
		{"what happened yesterday?", "", "e4 e5", ""},
		{"what happened last night", "", "e2 e3", ""},
		{"what happened this morning", "", "e1 e2", ""},
		{"what did we do last week", "", "e6 e7", ""},
		{"what did builder-1 do yesterday", "", "e4 e5", ""},
		{"what did red do yesterday", "", "", ""},
		{"everything that occurred on 9 november", "", "e6 e7", ""},
		{"our discussion on licensing", "", "e6", ""},
		{"how did the deploy go", "shop", "#7 e2", "as well as this task"},
		{"how was the licensing question resolved", "shop", "e6", "another project"},
		{"what happened recently", "", "e1 e2 e3 e4 e5 e6 e7", ""},
	} {
		answer, err := r.Ask(principal.With(t.Context(), principal.Open()), router.Query{Query: c.query, Project: c.project})
		if err != nil {
			t.Errorf("%q: %v", c.query, err)
			continue
		}
		reason := ""
		if answer.Miss != nil {
			reason = answer.Miss.Reason
			if len(answer.Miss.Asked) == 0 {
				t.Errorf("%q: the miss does not say what was tried", c.query)
			}
		}
		got := team.called(answer)
		if c.want == "" { // what another class had is not of interest here
			got = ""
		}
		if got != c.want || (c.miss == "") != (answer.Miss == nil) || !strings.Contains(reason, c.miss) || answer.QueryType != classify.ClassEpisode {
			t.Errorf("%q: has %q, want %q; misses %q, want %q", c.query, got, c.want, reason, c.miss)
		}
	}
}
