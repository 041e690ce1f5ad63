package contexts_test

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/fact"
	"github.com/skillrouter/skillrouter/learning/guard"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/contexts"
	"github.com/skillrouter/skillrouter/tfidf"
)

// judged is testdata/contexts.json: a memory, and tasks with what must and what
// must not come into their contexts, judged by hand.
type judged struct {
	Memory []struct{ ID, Kind, Title, Text string }
	Tasks  []struct {
		Task     string
		Must     []string
		MustNot  []string `json:"must_not"`
		Anything bool     // what else comes in was not judged
	}
}

// found is a store over the engine, as the real ones are.
type indexed struct {
	*stock
	index *tfidf.Index
}

func (x indexed) Frequencies(stems []string) ([]int, int) { return x.index.Frequencies(stems) }

func TestQuality(t *testing.T) {
	raw, err := os.ReadFile("testdata/contexts.json")
	if err != nil {
		t.Fatal(err)
	}
	var set judged
	if err := json.Unmarshal(raw, &set); err != nil {
		t.Fatal(err)
	}
	x := indexed{&stock{}, tfidf.New(tfidf.Options{})}
	for _, m := range set.Memory {
		x.index.Put(tfidf.Document{ID: m.ID, Title: m.Title, Body: m.Text})
		switch m.Kind {
		case router.KindKnowledge:
			x.knowledge = append(x.knowledge, entry(m.ID, m.Title, m.Text))
		case router.KindEpisode:
			x.episodes = append(x.episodes, episode.Episode{ID: m.ID, Title: m.Title, Content: m.Text, Importance: 0.5, CreatedAt: now})
		case router.KindGuard:
			x.rules = append(x.rules, guard.Rule{ID: m.ID, Title: m.Title, WhyBad: m.Text, Confidence: 0.9})
		case router.KindFact:
			x.facts = append(x.facts, fact.Fact{Persona: "default", Key: m.Title, Value: []byte(m.Text), Trust: learning.TrustAgent, CachedAt: now})
		default:
			x.lessons = append(x.lessons, lesson.Lesson{
				ID: m.ID, Level: map[string]lesson.Level{router.KindPrinciple: lesson.LevelPrinciple, router.KindPattern: lesson.LevelPattern}[m.Kind],
				Title: m.Title, Context: m.Text, Trust: learning.TrustAgent, Confidence: 0.8, LastOccurred: now,
			})
		}
	}
	b := contexts.NewBuilder(contexts.Sources{
		Guards: x.stock, Lessons: x.stock, Knowledge: stockKnowledge{x.stock}, Facts: stockFacts{x.stock}, Episodes: stockEpisodes{x.stock}, Words: []router.Frequencies{x},
	}, contexts.Options{})
	must, missed, mustNot, wrong := 0, 0, 0, 0
	for _, task := range set.Tasks {
		c, err := b.Build(asReader(t), contexts.Request{Task: task.Task, Budget: 2000})
		if err != nil {
			t.Fatal(err)
		}
		check(t, c)
		got := ids(c)
		for _, id := range task.Must {
			if must++; !slices.Contains(got, id) {
				missed++
				t.Logf("%q lacks %s (%s)", task.Task, id, reasonOf(c, id))
			}
		}
		for _, id := range task.MustNot {
			if mustNot++; slices.Contains(got, id) {
				wrong++
				t.Logf("%q has %s", task.Task, id)
			}
		}
		if len(task.Must) == 0 && len(got) > 0 {
			wrong++
			t.Logf("%q has %v, and nothing fits it", task.Task, got)
		}
	}
	t.Logf("%d of %d that must be there are missing; %d of %d that must not are there", missed, must, wrong, mustNot)
	if len(set.Tasks) < 30 || missed*20 > must || wrong*20 > mustNot {
		t.Errorf("of %d tasks: %d of %d missing, %d of %d wrong: more than one in twenty", len(set.Tasks), missed, must, wrong, mustNot)
	}
}

// TestDiversity is the negative control of the diversity: of many items
// that are alike and one that is another, a small context has the other too.
func TestDiversity(t *testing.T) {
	s := &stock{}
	for _, w := range []string{"alpha", "bravo", "charlie", "delta", "echo", "foxtrot"} {
		s.knowledge = append(s.knowledge, entry("same-"+w, "Restart the payment gateway after a deploy", "The payment gateway needs a restart after each deploy, host "+w+" "+w+w+" too."))
	}
	s.knowledge = append(s.knowledge, entry("other", "Payment gateway deploy window", "Change board meets Tuesdays; announce it two days earlier."))
	c := s.build(t, contexts.Request{Task: "deploy the payment gateway", Budget: 160})
	if got := ids(c); !slices.Contains(got, "other") || len(got) < 2 {
		t.Errorf("%v\n%s", got, c.Text)
	}
}
