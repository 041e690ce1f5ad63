package learningtest

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/learning/procedure"
)

// ExplainWorld is the searches whose scores are explained.
type ExplainWorld struct {
	Knowledge  knowledge.Service
	Episodes   episode.Service
	Lessons    lesson.Service
	Procedures procedure.Service
}

// Explain holds every search to explanations whose parts, added from the first
// to the last, are exactly the score, and to explaining nothing unasked. open must
// give services on a database of their own.
func Explain(t *testing.T, open func(t *testing.T) ExplainWorld) {
	w, ctx := open(t), caller(t)
	w.fill(t, ctx)
	for _, query := range []string{
		"rotate the signing keys", "roatte signign key", "SIGNING_KEY_ID", "what did we do about keys last spring",
		"error 4711: key expired at /srv/app/main.go:17", "keys", "certificate renewal of the gateway",
	} {
		for _, explain := range []bool{true, false} {
			for kind, hits := range w.search(t, ctx, query, explain) {
				if len(hits) == 0 && query == "keys" {
					t.Errorf("%s: nothing was found for %q", kind, query)
				}
				for _, hit := range hits {
					hit.check(t, kind+" "+query, explain)
				}
			}
		}
	}
}

// explained is a score and what it is said to be made of.
type explained struct {
	score float64
	why   []learning.Reason
}

func (e explained) check(t *testing.T, of string, asked bool) {
	t.Helper()
	if !asked {
		if len(e.why) != 0 {
			t.Errorf("%s: explained unasked", of)
		}
		return
	}
	sum := 0.0
	for _, r := range e.why {
		if r.Lane == "" {
			t.Errorf("%s: a part without a lane", of)
		}
		sum += r.Weight
	}
	if len(e.why) == 0 || math.Abs(sum-e.score) > 1e-12*e.score { // each part is rounded by itself
		t.Errorf("%s: %d parts add up to %v and not %v", of, len(e.why), sum, e.score)
	}
}

func (w ExplainWorld) fill(t *testing.T, ctx context.Context) {
	t.Helper()
	for i := range 12 {
		title := []string{"Rotate the signing keys", "Renew the gateway's certificate", "Keys expire", "SIGNING_KEY_ID is not set"}[i%4]
		text := fmt.Sprintf("step %d: publish the new key, error %d, then wait for the old ones to expire in /srv/app/main.go", i, 4700+i)
		title = fmt.Sprintf("%s, part %d", title, i)
		must[knowledge.Stored](t)(w.Knowledge.Store(ctx, knowledge.Draft{Category: "gotcha", Title: title, Content: text, Tags: []string{"keys"}}))
		must[episode.Episode](t)(w.Episodes.Record(ctx, episode.Draft{EventType: episode.EventError, AgentID: "a", Title: title, Content: text}))
		must[lesson.Reported](t)(w.Lessons.Report(ctx, lesson.Draft{
			Type: "success", Title: title, Context: text, Action: "did it", Outcome: "it worked", Category: "keys", Domain: []string{"web", "ops"}[i%2], SourceAgent: "a",
		}))
		must[procedure.Saved](t)(w.Procedures.Save(ctx, procedure.Draft{
			Name: fmt.Sprintf("rotate-keys-%d", i), Description: title, Steps: []procedure.Step{{Name: "publish", Action: text}},
		}))
	}
}

func (w ExplainWorld) search(t *testing.T, ctx context.Context, query string, explain bool) map[string][]explained {
	t.Helper()
	found := map[string][]explained{}
	for _, h := range must[knowledge.Results](t)(w.Knowledge.Search(ctx, knowledge.Query{Query: query, Limit: 20, Explain: explain})).Results {
		found["knowledge"] = append(found["knowledge"], explained{h.RelevanceScore, h.Why})
	}
	for _, h := range must[episode.Results](t)(w.Episodes.Search(ctx, episode.Query{Query: query, Limit: 20, Explain: explain})).Results {
		found["episodes"] = append(found["episodes"], explained{h.RelevanceScore, h.Why})
	}
	for _, domain := range []string{"", "web"} {
		for _, h := range must[lesson.Results](t)(w.Lessons.Relevant(ctx, lesson.Query{Context: query, Domain: domain, Limit: 20, Explain: explain})).Results {
			found["lessons"] = append(found["lessons"], explained{h.Score, h.Why})
		}
	}
	for _, h := range must[procedure.Results](t)(w.Procedures.Search(ctx, procedure.Query{Query: query, Limit: 20, Explain: explain})).Results {
		found["procedures"] = append(found["procedures"], explained{h.RelevanceScore, h.Why})
	}
	return found
}
