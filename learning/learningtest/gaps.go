package learningtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"skillrouter/internal/errs"
	"skillrouter/learning"
	"skillrouter/learning/feedback"
	"skillrouter/learning/knowledge"
	"skillrouter/learning/lesson"
)

// GapWorld is a GapService under test, and the memory whose misses it notes.
type GapWorld struct {
	Gaps      feedback.GapService
	Knowledge knowledge.Service
	Lessons   lesson.Service
	// Settle lets time pass until what was asked is noted.
	Settle func()
}

// Gaps runs the contract of GapService. open is called for each case and must
// give services on a database of their own, which take calls as principal.Open.
func Gaps(t *testing.T, open func(t *testing.T) GapWorld) {
	contract[GapWorld]{
		{"equal questions are one gap", gapsAreOne},
		{"what is found is none, and an answer closes one", gapsClose},
		{"a dismissed one stays so", gapsDismissed},
		{"a listing has orders, filters and pages", gapsListed},
		{"secrets and controls are cut out", gapsRedacted},
		{"bad input is refused by name", gapsRefuse},
	}.run(t, open)
}

// ask puts a question to the knowledge.
func (w GapWorld) ask(t *testing.T, ctx context.Context, question, project string) {
	t.Helper()
	must[knowledge.Results](t)(w.Knowledge.Search(ctx, knowledge.Query{Query: question, Project: project}))
}

func (w GapWorld) list(t *testing.T, ctx context.Context, query feedback.GapQuery) []feedback.Gap {
	t.Helper()
	return must[feedback.GapPage](t)(w.Gaps.List(ctx, query)).Gaps
}

func gapsAreOne(t *testing.T, ctx context.Context, w GapWorld) {
	if empty := must[feedback.GapPage](t)(w.Gaps.List(ctx, feedback.GapQuery{})); empty.Gaps == nil || empty.Total != 0 {
		t.Errorf("of nothing: %+v", empty)
	}
	w.ask(t, ctx, "rotating the gateway certificates", "")
	w.ask(t, ctx, "How do I rotate Gateway certificate?", "")
	must[lesson.Results](t)(w.Lessons.Relevant(ctx, lesson.Query{Context: "certificates: gateway rotation? rotate!"}))
	w.ask(t, ctx, "rotate gateway certificates", "billing")
	w.ask(t, ctx, "?", "")
	must[knowledge.Results](t)(w.Knowledge.Search(ctx, knowledge.Query{Query: "narrowed question", Category: "howto"}))
	w.Settle()
	found := w.list(t, ctx, feedback.GapQuery{Order: feedback.GapsOften})
	if len(found) < 2 || found[0].Count < 2 {
		t.Fatalf("found %+v", found)
	}
	first := found[0]
	if first.Project != "" || first.Status != feedback.GapOpen || first.FirstAsked.IsZero() || first.LastAsked.Before(first.FirstAsked) || !slices.Contains(first.AskedIn, learning.GapInKnowledge) {
		t.Errorf("first = %+v", first)
	}
	if got := must[feedback.Gap](t)(w.Gaps.Gap(ctx, first.ID)); got.Question != first.Question {
		t.Errorf("got %+v", got)
	}
	for _, gap := range found {
		if strings.Contains(gap.Question, "narrowed") || gap.Question == "?" {
			t.Errorf("%q is no gap", gap.Question)
		}
	}
	if in := w.list(t, ctx, feedback.GapQuery{Project: "billing"}); len(in) != 1 || in[0].Project != "billing" || in[0].ID == first.ID {
		t.Errorf("of the project: %+v", in)
	}
	if in := w.list(t, ctx, feedback.GapQuery{AskedIn: learning.GapInLessons}); len(in) != 1 {
		t.Errorf("asked in lessons: %+v", in)
	}
}

func gapsClose(t *testing.T, ctx context.Context, w GapWorld) {
	must[knowledge.Stored](t)(w.Knowledge.Store(ctx, knowledge.Draft{Category: "howto", Title: "Restart the broker", Content: "systemctl restart broker"}))
	w.ask(t, ctx, "how to restart the broker", "")
	w.ask(t, ctx, "zorkmid frobnication of the broker", "") // the broker alone is known
	w.Settle()
	found := w.list(t, ctx, feedback.GapQuery{})
	if len(found) != 1 || !strings.HasPrefix(found[0].Question, "zorkmid") {
		t.Fatalf("found %+v", found)
	}
	id := found[0].ID
	if gap := must[feedback.Gap](t)(w.Gaps.Check(ctx, id)); gap.Status != feedback.GapOpen {
		t.Errorf("nothing answers it, and it is %+v", gap)
	}
	stored := must[knowledge.Stored](t)(w.Knowledge.Store(ctx, knowledge.Draft{Category: "howto", Title: "Zorkmid frobnication", Content: "Of any broker: with the wand."}))
	gap := must[feedback.Gap](t)(w.Gaps.Check(ctx, id))
	if gap.Status != feedback.GapAnswered || gap.AnsweredBy != "knowledge/"+stored.ID || gap.SettledAt == nil {
		t.Errorf("answered = %+v", gap)
	}
	if left := w.list(t, ctx, feedback.GapQuery{}); len(left) != 0 {
		t.Errorf("open: %+v", left)
	}
	need(t, w.Knowledge.Delete(ctx, stored.ID))
	w.ask(t, ctx, "zorkmid frobnication of the broker", "")
	w.Settle()
	if gap = must[feedback.Gap](t)(w.Gaps.Gap(ctx, id)); gap.Status != feedback.GapOpen || gap.Count != 2 || gap.AnsweredBy != "" {
		t.Errorf("asked again and not found: %+v", gap)
	}
}

func gapsDismissed(t *testing.T, ctx context.Context, w GapWorld) {
	w.ask(t, ctx, "what is for lunch", "")
	w.Settle()
	found := w.list(t, ctx, feedback.GapQuery{})
	if len(found) != 1 {
		t.Fatalf("found %+v", found)
	}
	id := found[0].ID
	gap := must[feedback.Gap](t)(w.Gaps.Dismiss(ctx, id, "no such thing"))
	if gap.Status != feedback.GapDismissed || gap.Reason != "no such thing" || gap.SettledAt == nil {
		t.Errorf("dismissed = %+v", gap)
	}
	must[feedback.Gap](t)(w.Gaps.Dismiss(ctx, id, "again"))
	w.ask(t, ctx, "what is for lunch", "")
	w.Settle()
	if gap = must[feedback.Gap](t)(w.Gaps.Check(ctx, id)); gap.Status != feedback.GapDismissed || gap.Count != 2 || gap.Reason != "no such thing" {
		t.Errorf("asked again: %+v", gap)
	}
	if list := w.list(t, ctx, feedback.GapQuery{Status: feedback.GapDismissed}); len(list) != 1 {
		t.Errorf("dismissed ones: %+v", list)
	}
	if gap = must[feedback.Gap](t)(w.Gaps.Reopen(ctx, id)); gap.Status != feedback.GapOpen || gap.Reason != "" || gap.SettledAt != nil {
		t.Errorf("reopened = %+v", gap)
	}
}

func gapsListed(t *testing.T, ctx context.Context, w GapWorld) {
	for i := range 7 {
		for range i + 1 {
			w.ask(t, ctx, fmt.Sprintf("unheard word%d", i), "")
		}
	}
	w.Settle()
	var seen []int64
	for query := (feedback.GapQuery{Order: feedback.GapsOften, Limit: 3}); ; {
		page := must[feedback.GapPage](t)(w.Gaps.List(ctx, query))
		if page.Total != 7 || page.Count != len(page.Gaps) {
			t.Errorf("page %+v", page)
		}
		for _, gap := range page.Gaps {
			seen = append(seen, gap.Count)
		}
		if query.Cursor = page.Next; query.Cursor == "" {
			break
		}
	}
	if !slices.Equal(seen, []int64{7, 6, 5, 4, 3, 2, 1}) {
		t.Errorf("by count: %v", seen)
	}
	recent := must[feedback.GapPage](t)(w.Gaps.List(ctx, feedback.GapQuery{Limit: 4}))
	rest := must[feedback.GapPage](t)(w.Gaps.List(ctx, feedback.GapQuery{Limit: 4, Cursor: recent.Next}))
	if recent.Count != 4 || rest.Count != 3 || rest.Next != "" {
		t.Errorf("recent %d, then %d with next %q", recent.Count, rest.Count, rest.Next)
	}
}

func gapsRedacted(t *testing.T, ctx context.Context, w GapWorld) {
	w.ask(t, ctx, "does ghp_"+strings.Repeat("A1b2", 9)+" work\nwith <b>zork</b>\x07", "")
	w.ask(t, ctx, "traceback "+strings.Repeat("frame ünlike ", 900), "")
	w.Settle()
	found := w.list(t, ctx, feedback.GapQuery{})
	if len(found) != 2 {
		t.Fatalf("found %+v", found)
	}
	for _, gap := range found {
		if strings.Contains(gap.Question, "A1b2A1b2") || strings.ContainsAny(gap.Question, "\n\x07") || len(gap.Question) > learning.MaxGapQuestion {
			t.Errorf("%q", gap.Question)
		}
	}
}

func gapsRefuse(t *testing.T, ctx context.Context, w GapWorld) {
	for _, test := range []struct {
		query feedback.GapQuery
		field string
	}{
		{feedback.GapQuery{Status: "lost"}, "status"},
		{feedback.GapQuery{Order: "by hand"}, "order"},
		{feedback.GapQuery{AskedIn: "vain"}, "asked_in"},
		{feedback.GapQuery{Limit: -1}, "limit"},
		{feedback.GapQuery{Cursor: "x"}, "cursor"},
		{feedback.GapQuery{Cursor: "5.' OR 1"}, "cursor"},
		{feedback.GapQuery{Project: strings.Repeat("x", 5000)}, "project"},
	} {
		refuses(t, errs.Invalid, test.field)(w.Gaps.List(ctx, test.query))
	}
	for _, call := range []func(context.Context, string) (feedback.Gap, error){
		w.Gaps.Gap, w.Gaps.Check, w.Gaps.Reopen,
		func(ctx context.Context, id string) (feedback.Gap, error) { return w.Gaps.Dismiss(ctx, id, "") },
	} {
		refuses(t, errs.NotFound, "")(call(ctx, "nowhere"))
	}
	refuses(t, errs.TooLarge, "reason")(w.Gaps.Dismiss(ctx, "nowhere", strings.Repeat("x", learning.MaxReason+1)))
}
