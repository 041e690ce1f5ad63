package learningtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"skillrouter"
	"skillrouter/learning"
)

// GapWorld is a GapService under test, and the memory whose misses it notes.
type GapWorld struct {
	Gaps      learning.GapService
	Knowledge learning.KnowledgeService
	Lessons   learning.LessonService
	// Settle lets time pass until what was asked is noted.
	Settle func()
}

// Gaps runs the contract of GapService. open is called for each case and must
// give services on a database of their own, which take calls as skillrouter.Open.
func Gaps(t *testing.T, open func(t *testing.T) GapWorld) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, ctx context.Context, w GapWorld)
	}{
		{"equal questions are one gap", gapsAreOne},
		{"what is found is none, and an answer closes one", gapsClose},
		{"a dismissed one stays so", gapsDismissed},
		{"a listing has orders, filters and pages", gapsListed},
		{"secrets and controls are cut out", gapsRedacted},
		{"bad input is refused by name", gapsRefuse},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, caller(t), open(t)) })
	}
}

// ask puts a question to the knowledge.
func (w GapWorld) ask(t *testing.T, ctx context.Context, question, project string) {
	t.Helper()
	must[learning.KnowledgeResults](t)(w.Knowledge.Search(ctx, learning.KnowledgeQuery{Query: question, Project: project}))
}

func (w GapWorld) list(t *testing.T, ctx context.Context, query learning.GapQuery) []learning.Gap {
	t.Helper()
	return must[learning.GapPage](t)(w.Gaps.List(ctx, query)).Gaps
}

func gapsAreOne(t *testing.T, ctx context.Context, w GapWorld) {
	if empty := must[learning.GapPage](t)(w.Gaps.List(ctx, learning.GapQuery{})); empty.Gaps == nil || empty.Total != 0 {
		t.Errorf("of nothing: %+v", empty)
	}
	w.ask(t, ctx, "rotating the gateway certificates", "")
	w.ask(t, ctx, "How do I rotate Gateway certificate?", "")
	must[learning.LessonResults](t)(w.Lessons.Relevant(ctx, learning.LessonQuery{Context: "certificates: gateway rotation? rotate!"}))
	w.ask(t, ctx, "rotate gateway certificates", "billing")
	w.ask(t, ctx, "?", "")
	must[learning.KnowledgeResults](t)(w.Knowledge.Search(ctx, learning.KnowledgeQuery{Query: "narrowed question", Category: "howto"}))
	w.Settle()
	found := w.list(t, ctx, learning.GapQuery{Order: learning.GapsOften})
	if len(found) < 2 || found[0].Count < 2 {
		t.Fatalf("found %+v", found)
	}
	first := found[0]
	if first.Project != "" || first.Status != learning.GapOpen || first.FirstAsked.IsZero() || first.LastAsked.Before(first.FirstAsked) || !slices.Contains(first.AskedIn, learning.GapInKnowledge) {
		t.Errorf("first = %+v", first)
	}
	if got := must[learning.Gap](t)(w.Gaps.Gap(ctx, first.ID)); got.Question != first.Question {
		t.Errorf("got %+v", got)
	}
	for _, gap := range found {
		if strings.Contains(gap.Question, "narrowed") || gap.Question == "?" {
			t.Errorf("%q is no gap", gap.Question)
		}
	}
	if in := w.list(t, ctx, learning.GapQuery{Project: "billing"}); len(in) != 1 || in[0].Project != "billing" || in[0].ID == first.ID {
		t.Errorf("of the project: %+v", in)
	}
	if in := w.list(t, ctx, learning.GapQuery{AskedIn: learning.GapInLessons}); len(in) != 1 {
		t.Errorf("asked in lessons: %+v", in)
	}
}

func gapsClose(t *testing.T, ctx context.Context, w GapWorld) {
	must[learning.Stored](t)(w.Knowledge.Store(ctx, learning.KnowledgeDraft{Category: "howto", Title: "Restart the broker", Content: "systemctl restart broker"}))
	w.ask(t, ctx, "how to restart the broker", "")
	w.ask(t, ctx, "zorkmid frobnication of the broker", "") // the broker alone is known
	w.Settle()
	found := w.list(t, ctx, learning.GapQuery{})
	if len(found) != 1 || !strings.HasPrefix(found[0].Question, "zorkmid") {
		t.Fatalf("found %+v", found)
	}
	id := found[0].ID
	if gap := must[learning.Gap](t)(w.Gaps.Check(ctx, id)); gap.Status != learning.GapOpen {
		t.Errorf("nothing answers it, and it is %+v", gap)
	}
	stored := must[learning.Stored](t)(w.Knowledge.Store(ctx, learning.KnowledgeDraft{Category: "howto", Title: "Zorkmid frobnication", Content: "Of any broker: with the wand."}))
	gap := must[learning.Gap](t)(w.Gaps.Check(ctx, id))
	if gap.Status != learning.GapAnswered || gap.AnsweredBy != "knowledge/"+stored.ID || gap.SettledAt == nil {
		t.Errorf("answered = %+v", gap)
	}
	if left := w.list(t, ctx, learning.GapQuery{}); len(left) != 0 {
		t.Errorf("open: %+v", left)
	}
	if err := w.Knowledge.Delete(ctx, stored.ID); err != nil {
		t.Fatal(err)
	}
	w.ask(t, ctx, "zorkmid frobnication of the broker", "")
	w.Settle()
	if gap = must[learning.Gap](t)(w.Gaps.Gap(ctx, id)); gap.Status != learning.GapOpen || gap.Count != 2 || gap.AnsweredBy != "" {
		t.Errorf("asked again in vain: %+v", gap)
	}
}

func gapsDismissed(t *testing.T, ctx context.Context, w GapWorld) {
	w.ask(t, ctx, "what is for lunch", "")
	w.Settle()
	found := w.list(t, ctx, learning.GapQuery{})
	if len(found) != 1 {
		t.Fatalf("found %+v", found)
	}
	id := found[0].ID
	gap := must[learning.Gap](t)(w.Gaps.Dismiss(ctx, id, "no such thing"))
	if gap.Status != learning.GapDismissed || gap.Reason != "no such thing" || gap.SettledAt == nil {
		t.Errorf("dismissed = %+v", gap)
	}
	must[learning.Gap](t)(w.Gaps.Dismiss(ctx, id, "again"))
	w.ask(t, ctx, "what is for lunch", "")
	w.Settle()
	if gap = must[learning.Gap](t)(w.Gaps.Check(ctx, id)); gap.Status != learning.GapDismissed || gap.Count != 2 || gap.Reason != "no such thing" {
		t.Errorf("asked again: %+v", gap)
	}
	if list := w.list(t, ctx, learning.GapQuery{Status: learning.GapDismissed}); len(list) != 1 {
		t.Errorf("dismissed ones: %+v", list)
	}
	if gap = must[learning.Gap](t)(w.Gaps.Reopen(ctx, id)); gap.Status != learning.GapOpen || gap.Reason != "" || gap.SettledAt != nil {
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
	for query := (learning.GapQuery{Order: learning.GapsOften, Limit: 3}); ; {
		page := must[learning.GapPage](t)(w.Gaps.List(ctx, query))
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
	recent := must[learning.GapPage](t)(w.Gaps.List(ctx, learning.GapQuery{Limit: 4}))
	rest := must[learning.GapPage](t)(w.Gaps.List(ctx, learning.GapQuery{Limit: 4, Cursor: recent.Next}))
	if recent.Count != 4 || rest.Count != 3 || rest.Next != "" {
		t.Errorf("recent %d, then %d with next %q", recent.Count, rest.Count, rest.Next)
	}
}

func gapsRedacted(t *testing.T, ctx context.Context, w GapWorld) {
	w.ask(t, ctx, "does ghp_"+strings.Repeat("A1b2", 9)+" work\nwith <b>zork</b>\x07", "")
	w.ask(t, ctx, "traceback "+strings.Repeat("frame ünlike ", 900), "")
	w.Settle()
	found := w.list(t, ctx, learning.GapQuery{})
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
		query learning.GapQuery
		field string
	}{
		{learning.GapQuery{Status: "lost"}, "status"},
		{learning.GapQuery{Order: "by hand"}, "order"},
		{learning.GapQuery{AskedIn: "vain"}, "asked_in"},
		{learning.GapQuery{Limit: -1}, "limit"},
		{learning.GapQuery{Cursor: "x"}, "cursor"},
		{learning.GapQuery{Cursor: "5.' OR 1"}, "cursor"},
		{learning.GapQuery{Project: strings.Repeat("x", 5000)}, "project"},
	} {
		_, err := w.Gaps.List(ctx, test.query)
		refused(t, err, skillrouter.Invalid, test.field)
	}
	for _, call := range []func(context.Context, string) (learning.Gap, error){
		w.Gaps.Gap, w.Gaps.Check, w.Gaps.Reopen,
		func(ctx context.Context, id string) (learning.Gap, error) { return w.Gaps.Dismiss(ctx, id, "") },
	} {
		_, err := call(ctx, "nowhere")
		refused(t, err, skillrouter.NotFound, "")
	}
	_, err := w.Gaps.Dismiss(ctx, "nowhere", strings.Repeat("x", learning.MaxReason+1))
	refused(t, err, skillrouter.TooLarge, "reason")
}
