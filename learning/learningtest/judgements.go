package learningtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"skillrouter"
	"skillrouter/learning/feedback"
	"skillrouter/learning/knowledge"
)

// JudgementWorld is a JudgementService under test, and the memory that it measures.
type JudgementWorld struct {
	Judgements feedback.JudgementService
	Knowledge  knowledge.Service
}

// Judgements runs the contract of JudgementService. open is called for each case and
// must give services on a database of their own, which take calls as skillrouter.Open.
func Judgements(t *testing.T, open func(t *testing.T) JudgementWorld) {
	contract[JudgementWorld]{
		{"a judgement reads back, and is judged further", judgementReadsBack},
		{"a measuring says what is found where", judgementMeasures},
		{"what got worse is told once", judgementCompares},
		{"entries that are gone are told, and no error", judgementOutlives},
		{"a listing has pages and a filter", judgementsListed},
		{"a removed one is gone", judgementRemoved},
		{"secrets are cut out", judgementRedacted},
		{"bad input is refused by name", judgementsRefuse},
	}.run(t, open)
}

// store stores an entry under an id.
func (w JudgementWorld) store(t *testing.T, ctx context.Context, id, title, content string) {
	t.Helper()
	must[knowledge.Stored](t)(w.Knowledge.Store(ctx, knowledge.Draft{ID: id, Category: "gotcha", Title: title, Content: content}))
}

func (w JudgementWorld) judge(t *testing.T, ctx context.Context, question string, good, bad []string) feedback.Judgement {
	t.Helper()
	return must[feedback.Judgement](t)(w.Judgements.Judge(ctx, feedback.JudgementDraft{Question: question, Good: good, Bad: bad}))
}

func judgementReadsBack(t *testing.T, ctx context.Context, w JudgementWorld) {
	for _, id := range []string{"a", "b", "c"} {
		w.store(t, ctx, id, "entry "+id, "what it says: "+id)
	}
	first := w.judge(t, ctx, " rotate the keys ", []string{"a", "b"}, []string{"c"})
	if first.ID == "" || first.Question != "rotate the keys" || !slices.Equal(first.Good, []string{"a", "b"}) || !slices.Equal(first.Bad, []string{"c"}) || first.Last != nil {
		t.Errorf("judged: %+v", first)
	}
	again := w.judge(t, ctx, "rotate the keys", []string{"c"}, []string{"a"})
	if again.ID != first.ID || !slices.Equal(again.Good, []string{"b", "c"}) || !slices.Equal(again.Bad, []string{"a"}) || !again.CreatedAt.Equal(first.CreatedAt) {
		t.Errorf("judged again: %+v", again)
	}
	if got := must[feedback.Judgement](t)(w.Judgements.Judgement(ctx, first.ID)); !slices.Equal(got.Good, again.Good) || !slices.Equal(got.Bad, again.Bad) {
		t.Errorf("read back: %+v", got)
	}
	other := must[feedback.Judgement](t)(w.Judgements.Judge(ctx, feedback.JudgementDraft{Question: "rotate the keys", Project: "billing", Good: []string{"a"}}))
	if other.ID == first.ID || other.Bad == nil {
		t.Errorf("of a project: %+v", other)
	}
}

func judgementMeasures(t *testing.T, ctx context.Context, w JudgementWorld) {
	if empty := must[feedback.JudgementReport](t)(w.Judgements.Measure(ctx)); empty.Questions == nil || empty.Measured != 0 || empty.NDCG != 0 {
		t.Errorf("of nothing: %+v", empty)
	}
	w.store(t, ctx, "keys", "Rotate the signing keys", "publish the new key first")
	w.store(t, ctx, "certs", "Rotate certificates", "certbot")
	w.store(t, ctx, "lunch", "Where to eat", "the blue house")
	w.judge(t, ctx, "rotate signing keys", []string{"keys"}, []string{"certs"})
	w.judge(t, ctx, "signing", []string{"lunch"}, nil)
	report := must[feedback.JudgementReport](t)(w.Judgements.Measure(ctx))
	if len(report.Questions) != 2 || report.Measured != 2 || report.Found != 1 || report.NDCG != 0.5 || report.MRR != 0.5 || report.Since != nil || report.Worse != 0 {
		t.Fatalf("measured: %+v", report)
	}
	lost, found := report.Questions[0], report.Questions[1] // the newest first
	if lost.Best != 0 || lost.Ranks["lunch"] != 0 || lost.NDCG != 0 {
		t.Errorf("not found: %+v", lost)
	}
	if found.Best != 1 || found.Ranks["keys"] != 1 || found.Ranks["certs"] != 2 || found.NDCG != 1 {
		t.Errorf("found: %+v", found)
	}
	if kept := must[feedback.Judgement](t)(w.Judgements.Judgement(ctx, found.ID)); kept.Last == nil || kept.Last.Ranks["keys"] != 1 || !kept.Last.At.Equal(report.At) {
		t.Errorf("kept: %+v", kept)
	}
	if entry := must[knowledge.Knowledge](t)(w.Knowledge.Entry(ctx, "keys")); entry.UseCount != 0 {
		t.Errorf("measuring counted %d uses", entry.UseCount)
	}
}

func judgementCompares(t *testing.T, ctx context.Context, w JudgementWorld) {
	w.store(t, ctx, "keys", "Notes on the cluster", "among other things: signing keys are rotated in spring")
	w.judge(t, ctx, "rotate signing keys", []string{"keys"}, nil)
	must[feedback.JudgementReport](t)(w.Judgements.Measure(ctx))
	w.store(t, ctx, "better", "Rotate signing keys", "rotate signing keys")
	worse := must[feedback.JudgementReport](t)(w.Judgements.Measure(ctx))
	if worse.Worse != 1 || worse.Since == nil || !slices.Equal(worse.Questions[0].Worse, []string{"keys rank 1 → rank 2"}) {
		t.Fatalf("worse: %+v", worse)
	}
	same := must[feedback.JudgementReport](t)(w.Judgements.Measure(ctx))
	if same.Worse != 0 || len(same.Questions[0].Worse) != 0 {
		t.Errorf("told twice: %+v", same)
	}
	need(t, w.Knowledge.Delete(ctx, "better"))
	if better := must[feedback.JudgementReport](t)(w.Judgements.Measure(ctx)); better.Worse != 0 || !slices.Equal(better.Questions[0].Better, []string{"keys rank 2 → rank 1"}) {
		t.Errorf("better: %+v", better)
	}
}

func judgementOutlives(t *testing.T, ctx context.Context, w JudgementWorld) {
	w.store(t, ctx, "keys", "Rotate the signing keys", "publish first")
	w.store(t, ctx, "more", "Rotate the signing keys by hand", "as a last resort")
	w.judge(t, ctx, "signing keys", []string{"keys", "more"}, nil)
	w.judge(t, ctx, "resort", []string{"more"}, nil)
	must[feedback.JudgementReport](t)(w.Judgements.Measure(ctx))
	need(t, w.Knowledge.Delete(ctx, "more"))
	report := must[feedback.JudgementReport](t)(w.Judgements.Measure(ctx))
	if report.Measured != 1 || report.NDCG != 1 || report.Worse != 0 {
		t.Errorf("measured: %+v", report)
	}
	for _, q := range report.Questions {
		if !slices.Equal(q.Gone, []string{"more"}) {
			t.Errorf("%q has lost %v", q.Question, q.Gone)
		}
	}
}

func judgementsListed(t *testing.T, ctx context.Context, w JudgementWorld) {
	if empty := must[feedback.JudgementPage](t)(w.Judgements.Judgements(ctx, feedback.JudgementQuery{})); empty.Judgements == nil || empty.Total != 0 {
		t.Errorf("of nothing: %+v", empty)
	}
	w.store(t, ctx, "a", "title", "content")
	for i := range 5 {
		project := ""
		if i%2 == 1 {
			project = "web"
		}
		must[feedback.Judgement](t)(w.Judgements.Judge(ctx, feedback.JudgementDraft{Question: fmt.Sprintf("question %d", i), Project: project, Good: []string{"a"}}))
	}
	var seen []string
	for cursor := ""; ; {
		page := must[feedback.JudgementPage](t)(w.Judgements.Judgements(ctx, feedback.JudgementQuery{Cursor: cursor, Limit: 2}))
		if page.Total != 5 || page.Count != len(page.Judgements) {
			t.Errorf("page: %+v", page)
		}
		for _, j := range page.Judgements {
			seen = append(seen, j.Question[len(j.Question)-1:])
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	if got := strings.Join(seen, ""); got != "43210" {
		t.Errorf("pages have %s", got)
	}
	if page := must[feedback.JudgementPage](t)(w.Judgements.Judgements(ctx, feedback.JudgementQuery{Project: "web"})); page.Total != 2 || page.Count != 2 {
		t.Errorf("of a project: %+v", page)
	}
}

func judgementRemoved(t *testing.T, ctx context.Context, w JudgementWorld) {
	w.store(t, ctx, "a", "title", "content")
	j := w.judge(t, ctx, "what", []string{"a"}, nil)
	need(t, w.Judgements.Remove(ctx, j.ID))
	refused(t, w.Judgements.Remove(ctx, j.ID), skillrouter.NotFound, "")
	refuses(t, skillrouter.NotFound, "")(w.Judgements.Judgement(ctx, j.ID))
}

func judgementRedacted(t *testing.T, ctx context.Context, w JudgementWorld) {
	w.store(t, ctx, "a", "title", "content")
	if j := w.judge(t, ctx, "does ghp_"+strings.Repeat("A1b2", 9)+" work", []string{"a"}, nil); strings.Contains(j.Question, "A1b2A1b2") {
		t.Errorf("kept %q", j.Question)
	}
}

func judgementsRefuse(t *testing.T, ctx context.Context, w JudgementWorld) {
	w.store(t, ctx, "a", "title", "content")
	many := make([]string, feedback.MaxJudgedEntries+1)
	for i := range many {
		many[i] = fmt.Sprintf("e%d", i)
	}
	for _, test := range []struct {
		draft feedback.JudgementDraft
		code  skillrouter.Code
		field string
	}{
		{feedback.JudgementDraft{Good: []string{"a"}}, skillrouter.Invalid, "question"},
		{feedback.JudgementDraft{Question: " \n", Good: []string{"a"}}, skillrouter.Invalid, "question"},
		{feedback.JudgementDraft{Question: strings.Repeat("x", feedback.MaxJudgedQuestion+1), Good: []string{"a"}}, skillrouter.TooLarge, "question"},
		{feedback.JudgementDraft{Question: "q"}, skillrouter.Invalid, "good"},
		{feedback.JudgementDraft{Question: "q", Good: []string{"nowhere"}}, skillrouter.Invalid, "good"},
		{feedback.JudgementDraft{Question: "q", Bad: []string{"nowhere"}}, skillrouter.Invalid, "bad"},
		{feedback.JudgementDraft{Question: "q", Good: []string{"a"}, Bad: []string{"a"}}, skillrouter.Invalid, "bad"},
		{feedback.JudgementDraft{Question: "q", Good: many}, skillrouter.TooLarge, "good"},
		{feedback.JudgementDraft{Question: "q", Good: []string{"a"}, Project: strings.Repeat("x", 5000)}, skillrouter.Invalid, "project"},
	} {
		refuses(t, test.code, test.field)(w.Judgements.Judge(ctx, test.draft))
	}
	for _, query := range []feedback.JudgementQuery{{Cursor: "x"}, {Cursor: "-1"}} {
		refuses(t, skillrouter.Invalid, "cursor")(w.Judgements.Judgements(ctx, query))
	}
	refuses(t, skillrouter.Invalid, "limit")(w.Judgements.Judgements(ctx, feedback.JudgementQuery{Limit: -1}))
}
