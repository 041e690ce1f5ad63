package learningtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/learning/verdict"
)

// VerdictWorld is knowledge, and what is said of its answers.
type VerdictWorld struct {
	Knowledge knowledge.Service
	Verdicts  verdict.Service
	Lessons   lesson.Service
	// Settle lets time pass until what was asked is noted and gaps are asked again.
	Settle func()
}

// RunVerdicts runs the contract of verdict.Service. open gives an empty
// place whose calls are made as an agent or captain that may act as anyone.
func RunVerdicts(t *testing.T, open func(t *testing.T) (context.Context, VerdictWorld)) {
	for name, run := range map[string]func(t *testing.T, ctx context.Context, w VerdictWorld){
		"a like question finds it, and explains why":        answeredFinds,
		"what was learned can be taken back":                answeredUnlearns,
		"one voice gains no more than its bound":            answeredBounds,
		"it goes with the entry":                            answeredGoes,
		"bad input is refused":                              answeredRefuses,
		"equal questions are one gap":                       gapsAreOne,
		"what is found is no gap, and an answer closes one": gapsClose,
		"a dismissed gap is gone until it is asked again":   gapsDismissed,
		"a listing of gaps has orders and filters":          gapsListed,
		"a gap has no secret and no control":                gapsRedacted,
		"bad input about gaps is refused by name":           gapsRefuse,
	} {
		t.Run(name, func(t *testing.T) {
			ctx, w := open(t)
			if w.Settle == nil && strings.Contains(name, "gap") {
				t.Skip("gaps are noted and asked again in the background: on a clock that moves by hand alone")
			}
			run(t, ctx, w)
		})
	}
}

func storeEntry(t *testing.T, ctx context.Context, w VerdictWorld, title, content string) string {
	t.Helper()
	stored, err := w.Knowledge.Store(ctx, knowledge.Draft{Category: "c", Title: title, Content: content})
	need(t, err)
	return stored.ID
}

func searchFor(t *testing.T, ctx context.Context, w VerdictWorld, q knowledge.Query) []knowledge.Hit {
	t.Helper()
	q.Explain = true
	found, err := w.Knowledge.Search(ctx, q)
	need(t, err)
	return found.Results
}

func use(t *testing.T, ctx context.Context, w VerdictWorld, id, agent, question string, helpful bool) {
	t.Helper()
	must[verdict.Learned](t)(w.Verdicts.Answered(ctx, id, verdict.Draft{Query: question, AgentID: agent, Helpful: &helpful}))
}

func answeredFinds(t *testing.T, ctx context.Context, w VerdictWorld) {
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

func answeredUnlearns(t *testing.T, ctx context.Context, w VerdictWorld) {
	id := storeEntry(t, ctx, w, "Rotate certificates", "certbot renew")
	use(t, ctx, w, id, "a", "red padlock", true)
	use(t, ctx, w, id, "b", "red padlock", true)
	list, err := w.Verdicts.Questions(ctx, id)
	if err != nil || list.Count != 2 || list.Answers[0].Agent != "b" || !list.Answers[0].Helped {
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
	if gone, err := w.Verdicts.Unlearn(ctx, id); err != nil || gone.Deleted != 3 {
		t.Errorf("%+v, %v", gone, err)
	}
	if hits := searchFor(t, ctx, w, knowledge.Query{Query: "red padlock"}); len(hits) != 0 {
		t.Errorf("taken back, and found: %+v", hits)
	}
}

func answeredBounds(t *testing.T, ctx context.Context, w VerdictWorld) {
	right := storeEntry(t, ctx, w, "Reset the queue lock", "redis-cli del queue:lock")
	evil := storeEntry(t, ctx, w, "Buy now", "nothing of use")
	for i := range 30 {
		use(t, ctx, w, evil, "mallory", fmt.Sprintf("how do I reset the queue lock number%d", i), true)
	}
	use(t, ctx, w, evil, "mallory", "how do I reset the queue lock", true)
	use(t, ctx, w, evil, "mallory", "how do I reset the queue lock", true)
	list, err := w.Verdicts.Questions(ctx, evil)
	if err != nil || list.Count != verdict.MaxByAgent {
		t.Errorf("%d voices of one agent are kept, %v", list.Count, err)
	}
	hits := searchFor(t, ctx, w, knowledge.Query{Query: "how do I reset the queue lock"})
	if len(hits) != 2 || hits[0].ID != right || hits[1].RelevanceScore > hits[0].RelevanceScore/2+1e-9 {
		t.Errorf("one agent promotes its entry: %+v", hits)
	}
}

func answeredGoes(t *testing.T, ctx context.Context, w VerdictWorld) {
	id := storeEntry(t, ctx, w, "Rotate certificates", "certbot renew")
	use(t, ctx, w, id, "a", "red padlock", true)
	need(t, w.Knowledge.Delete(ctx, id))
	if list, err := w.Verdicts.Questions(ctx, id); err != nil || list.Count != 0 {
		t.Errorf("%+v, %v", list, err)
	}
	if hits := searchFor(t, ctx, w, knowledge.Query{Query: "red padlock"}); len(hits) != 0 {
		t.Errorf("deleted, and found: %+v", hits)
	}
}

func answeredRefuses(t *testing.T, ctx context.Context, w VerdictWorld) {
	for _, question := range []string{"red padlock", "x", ""} { // of the last two nothing could be learned
		if _, err := w.Verdicts.Answered(ctx, "none", verdict.Draft{Query: question}); errs.CodeOf(err) != errs.NotFound {
			t.Errorf("no such entry: %v", err)
		}
	}
	id := storeEntry(t, ctx, w, "Rotate certificates", "certbot renew")
	if _, err := w.Verdicts.Answered(ctx, id, verdict.Draft{Query: "a\x00b"}); errs.CodeOf(err) != errs.Invalid {
		t.Errorf("broken letters: %v", err)
	}
	if got, err := w.Verdicts.Answered(ctx, id, verdict.Draft{}); err != nil || got.Learned {
		t.Errorf("without a question: %+v, %v", got, err)
	}
}

// ask puts a question to the knowledge.
func (w VerdictWorld) ask(t *testing.T, ctx context.Context, question, project string) {
	t.Helper()
	must[knowledge.Results](t)(w.Knowledge.Search(ctx, knowledge.Query{Query: question, Project: project}))
}

func (w VerdictWorld) gaps(t *testing.T, ctx context.Context, query verdict.GapQuery) []verdict.Gap {
	t.Helper()
	page := must[verdict.GapPage](t)(w.Verdicts.Gaps(ctx, query))
	if page.Gaps == nil || page.Count != len(page.Gaps) || page.Total < int64(page.Count) {
		t.Errorf("page %+v", page)
	}
	return page.Gaps
}

func gapsAreOne(t *testing.T, ctx context.Context, w VerdictWorld) {
	if empty := w.gaps(t, ctx, verdict.GapQuery{}); len(empty) != 0 {
		t.Errorf("of nothing: %+v", empty)
	}
	w.ask(t, ctx, "rotating the gateway certificates", "")
	w.ask(t, ctx, "How do I rotate Gateway certificate?", "")
	must[lesson.Results](t)(w.Lessons.Relevant(ctx, lesson.Query{Context: "certificates: gateway rotation? rotate!"}))
	w.ask(t, ctx, "rotate gateway certificates", "billing")
	w.ask(t, ctx, "?", "")
	must[knowledge.Results](t)(w.Knowledge.Search(ctx, knowledge.Query{Query: "narrowed question", Category: "howto"}))
	w.Settle()
	found := w.gaps(t, ctx, verdict.GapQuery{Order: verdict.GapsOften})
	if len(found) < 2 || found[0].Count < 2 {
		t.Fatalf("found %+v", found)
	}
	first := found[0]
	if first.Project != "" || first.FirstAsked.IsZero() || first.LastAsked.Before(first.FirstAsked) {
		t.Errorf("first = %+v", first)
	}
	for _, gap := range found {
		if strings.Contains(gap.Question, "narrowed") || gap.Question == "?" {
			t.Errorf("%q is no gap", gap.Question)
		}
	}
	if in := w.gaps(t, ctx, verdict.GapQuery{Project: "billing"}); len(in) != 1 || in[0].Project != "billing" || in[0].ID == first.ID {
		t.Errorf("of the project: %+v", in)
	}
}

func gapsClose(t *testing.T, ctx context.Context, w VerdictWorld) {
	storeEntry(t, ctx, w, "Restart the broker", "systemctl restart broker")
	w.ask(t, ctx, "how to restart the broker", "")
	w.ask(t, ctx, "zorkmid frobnication of the broker", "") // the broker alone is known
	w.Settle()
	w.Settle()
	if found := w.gaps(t, ctx, verdict.GapQuery{}); len(found) != 1 || !strings.HasPrefix(found[0].Question, "zorkmid") {
		t.Fatalf("found %+v", found)
	}
	id := storeEntry(t, ctx, w, "Zorkmid frobnication", "Of any broker: with the wand.")
	w.Settle()
	if left := w.gaps(t, ctx, verdict.GapQuery{}); len(left) != 0 {
		t.Errorf("answered, and open: %+v", left)
	}
	need(t, w.Knowledge.Delete(ctx, id))
	w.ask(t, ctx, "zorkmid frobnication of the broker", "")
	w.Settle()
	if found := w.gaps(t, ctx, verdict.GapQuery{}); len(found) != 1 || found[0].Count != 1 {
		t.Errorf("asked again and not found: %+v", found)
	}
}

func gapsDismissed(t *testing.T, ctx context.Context, w VerdictWorld) {
	w.ask(t, ctx, "what is for lunch", "")
	w.Settle()
	found := w.gaps(t, ctx, verdict.GapQuery{})
	if len(found) != 1 {
		t.Fatalf("found %+v", found)
	}
	need(t, w.Verdicts.Dismiss(ctx, found[0].ID))
	if err := w.Verdicts.Dismiss(ctx, found[0].ID); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("dismissed again: %v", err)
	}
	if left := w.gaps(t, ctx, verdict.GapQuery{}); len(left) != 0 {
		t.Errorf("dismissed, and open: %+v", left)
	}
	w.ask(t, ctx, "what is for lunch", "")
	w.Settle()
	if again := w.gaps(t, ctx, verdict.GapQuery{}); len(again) != 1 {
		t.Errorf("asked again: %+v", again)
	}
}

func gapsListed(t *testing.T, ctx context.Context, w VerdictWorld) {
	for i := range 7 {
		for range i + 1 {
			w.ask(t, ctx, fmt.Sprintf("unheard word%d", i), "")
		}
	}
	w.Settle()
	var counts []int64
	for _, gap := range w.gaps(t, ctx, verdict.GapQuery{Order: verdict.GapsOften}) {
		counts = append(counts, gap.Count)
	}
	if !slices.Equal(counts, []int64{7, 6, 5, 4, 3, 2, 1}) {
		t.Errorf("by count: %v", counts)
	}
	page := must[verdict.GapPage](t)(w.Verdicts.Gaps(ctx, verdict.GapQuery{Limit: 4}))
	if page.Count != 4 || page.Total != 7 {
		t.Errorf("%d of %d", page.Count, page.Total)
	}
}

func gapsRedacted(t *testing.T, ctx context.Context, w VerdictWorld) {
	w.ask(t, ctx, "does ghp_"+strings.Repeat("A1b2", 9)+" work\nwith <b>zork</b>\x07", "")
	w.ask(t, ctx, "traceback "+strings.Repeat("frame ünlike ", 900), "")
	w.Settle()
	found := w.gaps(t, ctx, verdict.GapQuery{})
	if len(found) != 2 {
		t.Fatalf("found %+v", found)
	}
	for _, gap := range found {
		if strings.Contains(gap.Question, "A1b2A1b2") || strings.ContainsAny(gap.Question, "\n\x07") || len(gap.Question) > learning.MaxGapQuestion {
			t.Errorf("%q", gap.Question)
		}
	}
}

func gapsRefuse(t *testing.T, ctx context.Context, w VerdictWorld) {
	refuses(t, errs.Invalid, "order")(w.Verdicts.Gaps(ctx, verdict.GapQuery{Order: "by hand"}))
	refuses(t, errs.Invalid, "limit")(w.Verdicts.Gaps(ctx, verdict.GapQuery{Limit: -1}))
	refuses(t, errs.Invalid, "project")(w.Verdicts.Gaps(ctx, verdict.GapQuery{Project: strings.Repeat("x", 5000)}))
	if err := w.Verdicts.Dismiss(ctx, "nowhere"); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("no such gap: %v", err)
	}
}
