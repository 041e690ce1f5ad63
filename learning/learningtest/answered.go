package learningtest

import (
	"context"
	"fmt"
	"testing"

	"skillrouter/internal/errs"
	"skillrouter/learning/knowledge"
)

// AnsweredWorld is knowledge and what is learned from its use.
type AnsweredWorld struct {
	Knowledge knowledge.Service
	Answered  knowledge.AnswerService
}

// RunAnswered runs the contract of knowledge.AnswerService. open gives an empty
// place whose calls are made as an agent or captain that may act as anyone.
func RunAnswered(t *testing.T, open func(t *testing.T) (context.Context, AnsweredWorld)) {
	for name, run := range map[string]func(t *testing.T, ctx context.Context, w AnsweredWorld){
		"a like question finds it, and explains why": answeredFinds,
		"what was learned can be taken back":         answeredUnlearns,
		"one voice gains no more than its bound":     answeredBounds,
		"it goes with the entry":                     answeredGoes,
		"bad input is refused":                       answeredRefuses,
	} {
		t.Run(name, func(t *testing.T) {
			ctx, w := open(t)
			run(t, ctx, w)
		})
	}
}

func storeEntry(t *testing.T, ctx context.Context, w AnsweredWorld, title, content string) string {
	t.Helper()
	stored, err := w.Knowledge.Store(ctx, knowledge.Draft{Category: "c", Title: title, Content: content})
	need(t, err)
	return stored.ID
}

func searchFor(t *testing.T, ctx context.Context, w AnsweredWorld, q knowledge.Query) []knowledge.Hit {
	t.Helper()
	q.Explain = true
	found, err := w.Knowledge.Search(ctx, q)
	need(t, err)
	return found.Results
}

func use(t *testing.T, ctx context.Context, w AnsweredWorld, id, agent, question string, helpful bool) {
	t.Helper()
	must[knowledge.AnswerLearned](t)(w.Answered.Answered(ctx, id, knowledge.AnswerDraft{Query: question, AgentID: agent, Helpful: &helpful}))
}

func answeredFinds(t *testing.T, ctx context.Context, w AnsweredWorld) {
	id := storeEntry(t, ctx, w, "Rotate certificates", "certbot renew, then reload the gateway")
	storeEntry(t, ctx, w, "Browsers", "users see a padlock")
	const question = "browser shows a red padlock warning"
	use(t, ctx, w, id, "a", question, true)
	for _, q := range []string{question, "red padlock warning in the browser"} {
		hits := searchFor(t, ctx, w, knowledge.Query{Query: q})
		at := -1
		for i, h := range hits {
			sum := 0.0
			for _, r := range h.Why {
				sum += r.Weight
				if r.Lane == knowledge.LaneUsed && h.ID == id {
					at = i
				}
			}
			if d := sum - h.RelevanceScore; d > 1e-6 || d < -1e-6 {
				t.Errorf("the reasons of %s make %g of %g", h.ID, sum, h.RelevanceScore)
			}
		}
		if at < 0 {
			t.Errorf("%q does not find it: %+v", q, hits)
		}
	}
	if hits := searchFor(t, ctx, w, knowledge.Query{Query: question, Category: "other"}); len(hits) != 0 {
		t.Errorf("in another category it is found: %+v", hits)
	}
	if hits := searchFor(t, ctx, w, knowledge.Query{Query: "wholly different matter"}); len(hits) != 0 {
		t.Errorf("another question finds %+v", hits)
	}
}

func answeredUnlearns(t *testing.T, ctx context.Context, w AnsweredWorld) {
	id := storeEntry(t, ctx, w, "Rotate certificates", "certbot renew")
	use(t, ctx, w, id, "a", "red padlock", true)
	use(t, ctx, w, id, "b", "red padlock", true)
	list, err := w.Answered.Questions(ctx, id)
	if err != nil || list.Count != 2 || list.Answers[0].AgentID != "b" || !list.Answers[0].Helpful {
		t.Errorf("%+v, %v", list, err)
	}
	use(t, ctx, w, id, "a", "red padlock", false)
	use(t, ctx, w, id, "b", "red padlock", false)
	if hits := searchFor(t, ctx, w, knowledge.Query{Query: "red padlock"}); len(hits) != 0 {
		t.Errorf("not helpful, and found: %+v", hits)
	}
	use(t, ctx, w, id, "c", "padlock red", true)
	use(t, ctx, w, id, "a", "padlock red", true)
	if hits := searchFor(t, ctx, w, knowledge.Query{Query: "red padlock"}); len(hits) != 1 {
		t.Errorf("two against one: %+v", hits)
	}
	if gone, err := w.Answered.Unlearn(ctx, id); err != nil || gone.Deleted != 3 {
		t.Errorf("%+v, %v", gone, err)
	}
	if hits := searchFor(t, ctx, w, knowledge.Query{Query: "red padlock"}); len(hits) != 0 {
		t.Errorf("taken back, and found: %+v", hits)
	}
}

func answeredBounds(t *testing.T, ctx context.Context, w AnsweredWorld) {
	right := storeEntry(t, ctx, w, "Reset the queue lock", "redis-cli del queue:lock")
	evil := storeEntry(t, ctx, w, "Buy now", "nothing of use")
	for i := range 30 {
		use(t, ctx, w, evil, "mallory", fmt.Sprintf("how do I reset the queue lock number%d", i), true)
	}
	use(t, ctx, w, evil, "mallory", "how do I reset the queue lock", true)
	use(t, ctx, w, evil, "mallory", "how do I reset the queue lock", true)
	list, err := w.Answered.Questions(ctx, evil)
	if err != nil || list.Count != knowledge.MaxAnswersByAgent {
		t.Errorf("%d voices of one agent are kept, %v", list.Count, err)
	}
	hits := searchFor(t, ctx, w, knowledge.Query{Query: "how do I reset the queue lock"})
	if len(hits) != 2 || hits[0].ID != right || hits[1].RelevanceScore > hits[0].RelevanceScore/2+1e-9 {
		t.Errorf("one agent promotes its entry: %+v", hits)
	}
}

func answeredGoes(t *testing.T, ctx context.Context, w AnsweredWorld) {
	id := storeEntry(t, ctx, w, "Rotate certificates", "certbot renew")
	use(t, ctx, w, id, "a", "red padlock", true)
	need(t, w.Knowledge.Delete(ctx, id))
	if list, err := w.Answered.Questions(ctx, id); err != nil || list.Count != 0 {
		t.Errorf("%+v, %v", list, err)
	}
	if hits := searchFor(t, ctx, w, knowledge.Query{Query: "red padlock"}); len(hits) != 0 {
		t.Errorf("deleted, and found: %+v", hits)
	}
}

func answeredRefuses(t *testing.T, ctx context.Context, w AnsweredWorld) {
	for _, question := range []string{"red padlock", "x", ""} { // of the last two nothing could be learned
		if _, err := w.Answered.Answered(ctx, "none", knowledge.AnswerDraft{Query: question}); errs.CodeOf(err) != errs.NotFound {
			t.Errorf("no such entry: %v", err)
		}
	}
	id := storeEntry(t, ctx, w, "Rotate certificates", "certbot renew")
	if _, err := w.Answered.Answered(ctx, id, knowledge.AnswerDraft{Query: "a\x00b"}); errs.CodeOf(err) != errs.Invalid {
		t.Errorf("broken letters: %v", err)
	}
	if got, err := w.Answered.Answered(ctx, id, knowledge.AnswerDraft{}); err != nil || got.Learned {
		t.Errorf("without a question: %+v, %v", got, err)
	}
}
