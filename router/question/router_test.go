package question_test

import (
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/classify"
	"github.com/skillrouter/skillrouter/router/question"
)

func ask(t *testing.T, r *question.Asker, query router.Query) router.Answer {
	t.Helper()
	answer, err := r.Ask(principal.With(t.Context(), principal.Open()), query)
	if err != nil {
		t.Fatalf("%q: %v", query.Query, err)
	}
	return answer
}

// sure is a classification without doubt.
func sure(class classify.Class) classify.Classification {
	return classify.Classification{Class: class, Confidence: 0.9, Margin: 0.8, Probabilities: map[classify.Class]float64{class: 0.9}, Reasons: []string{"told"}}
}

// TestWrongClassCostsNothing asks what another class answers than the one that is taken for it.
func TestWrongClassCostsNothing(t *testing.T) {
	team := seeded(t)
	for name, c := range map[string]struct {
		class  classify.Class
		query  router.Query
		want   string
		source string
		miss   string
	}{
		"another class":         {classify.ClassOperational, router.Query{Query: "terraform state locking"}, "k2", router.SourceLearning, "as well as this knowledge"},
		"the right class":       {classify.ClassKnowledge, router.Query{Query: "terraform state locking"}, "k2", router.SourceLearning, ""},
		"another project":       {classify.ClassKnowledge, router.Query{Query: "terraform state locking", Project: "shop"}, "k2", router.SourceLearning, "in another project"},
		"nowhere":               {classify.ClassKnowledge, router.Query{Query: "xylophone"}, "", router.SourceLearning, "nothing in knowledge fits, nor in any other memory"},
		"a forced type":         {classify.ClassKnowledge, router.Query{Query: "terraform state locking", Type: classify.ClassRecon}, "", router.SourceOperational, "nothing in recon fits"},
		"state of another":      {classify.ClassKnowledge, router.Query{Query: "which tasks are blocked"}, "#2", router.SourceOperational, ""},
		"who asks is no matter": {classify.ClassKnowledge, router.Query{Query: "how do I tame xylophones?", AgentID: "builder-1"}, "", router.SourceLearning, "nothing in knowledge fits"},
		"words of state alone":  {classify.ClassKnowledge, router.Query{Query: "how to keep a queue of pending jobs"}, "", router.SourceLearning, "nothing in knowledge fits"},
		"an empty list answers": {classify.ClassOperational, router.Query{Query: "which tasks of project router are blocked?"}, "", router.SourceOperational, ""},
	} {
		answer := ask(t, team.router(sure(c.class), remembered()), c.query)
		reason := ""
		if answer.Miss != nil {
			reason = answer.Miss.Reason
		}
		if got := team.called(answer); got != c.want || answer.Source != c.source || !strings.Contains(reason, c.miss) || (c.miss == "") != (answer.Miss == nil) {
			t.Errorf("%s: has %q, want %q; source %s; misses %q, want %q", name, got, c.want, answer.Source, reason, c.miss)
		}
		class := c.class
		if c.query.Type != "" {
			class = c.query.Type
		}
		if strings.HasPrefix(c.query.Query, "which tasks") { // it says itself what it asks for
			class = classify.ClassOperational
		}
		if answer.QueryType != class || answer.Items == nil || answer.Count != len(answer.Items) {
			t.Errorf("%s: the type is %s, items %v", name, answer.QueryType, answer.Items)
		}
	}
}

func TestForcedType(t *testing.T) {
	team := seeded(t)
	r := team.router(classify.Classification{Class: classify.ClassKnowledge, Confidence: 0.9, Margin: 0.9}, remembered())
	answer := ask(t, r, router.Query{Query: "what is blocked?", Type: classify.ClassOperational})
	if team.called(answer) != "#2" || answer.QueryType != classify.ClassOperational || answer.Confidence != 1 {
		t.Errorf("forced it is %+v", answer)
	}
}

func TestQueryIsChecked(t *testing.T) {
	r := seeded(t).router(classify.Classification{Class: classify.ClassKnowledge}, remembered())
	for name, c := range map[string]struct {
		query router.Query
		code  errs.Code
		field string
	}{
		"empty":       {router.Query{Query: " "}, errs.Invalid, "query"},
		"too long":    {router.Query{Query: strings.Repeat("x", router.MaxQuery+1)}, errs.TooLarge, "query"},
		"not UTF-8":   {router.Query{Query: "\xff"}, errs.Invalid, "query"},
		"bad agent":   {router.Query{Query: "x", AgentID: "a b"}, errs.Invalid, "agent_id"},
		"bad type":    {router.Query{Query: "x", Type: "weather"}, errs.Invalid, "type"},
		"bad limit":   {router.Query{Query: "x", Limit: 101}, errs.Invalid, "limit"},
		"negative":    {router.Query{Query: "x", Limit: -1}, errs.Invalid, "limit"},
		"bad project": {router.Query{Query: "x", Project: "a\nb"}, errs.Invalid, "project"},
	} {
		_, err := r.Ask(principal.With(t.Context(), principal.Open()), c.query)
		if errs.CodeOf(err) != c.code || errs.FieldOf(err) != c.field {
			t.Errorf("%s: %v of field %q", name, err, errs.FieldOf(err))
		}
	}
	if _, err := r.Ask(t.Context(), router.Query{Query: "x"}); errs.CodeOf(err) != errs.Forbidden {
		t.Errorf("a call without any right: %v", err)
	}
}

// TestNoSources holds that a router without stores answers, if with nothing.
func TestNoSources(t *testing.T) {
	r := question.New(fixedClassifier(classify.Classification{Class: classify.ClassOperational}), &everything{nil, seeded(t)}, question.Sources{}, question.Options{})
	answer := ask(t, r, router.Query{Query: "which agents are stale?"})
	if len(answer.Items) != 0 || answer.Miss == nil || answer.Reasons == nil {
		t.Errorf("without sources it is %+v", answer)
	}
}

// TestRealClassifierOnTheTeam asks through the embedded model, end to end.
func TestRealClassifierOnTheTeam(t *testing.T) {
	team := seeded(t)
	classifier, err := classify.NewClassifier()
	if err != nil {
		t.Fatal(err)
	}
	r := team.asker(classifier, remembered(), mailbag{})
	for query, want := range map[string]struct {
		class classify.Class
		first string
	}{
		"which agents are stale?":                 {classify.ClassOperational, "blue"},
		"what is blocked?":                        {classify.ClassOperational, "#2"},
		"who works on the importer?":              {classify.ClassOperational, "#1"},
		"What vulnerabilities in MSS?":            {classify.ClassRecon, "f7"},
		"are we exposed to CVE-2023-34362":        {classify.ClassRecon, "f2"},
		"What happened last session?":             {classify.ClassEpisode, "e2"},
		"what happened yesterday":                 {classify.ClassEpisode, "e4"},
		"how do I fix redirect loops after login": {classify.ClassKnowledge, "k1"},
	} {
		answer := ask(t, r, router.Query{Query: query})
		first, _, _ := strings.Cut(team.called(answer), " ")
		if answer.QueryType != want.class || first != want.first || answer.Confidence <= 0 || len(answer.Reasons) == 0 {
			t.Errorf("%q is %s (%.2f) and answered by %q first, want %s and %q; reasons %q", query, answer.QueryType, answer.Confidence, first, want.class, want.first, answer.Reasons)
		}
	}
}
