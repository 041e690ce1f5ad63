package router_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"skillrouter"
	"skillrouter/router"
	"skillrouter/router/classify"
)

func ask(t *testing.T, r *router.Router, query router.Query) router.Answer {
	t.Helper()
	answer, err := r.Ask(skillrouter.WithPrincipal(t.Context(), skillrouter.Open()), query)
	if err != nil {
		t.Fatalf("%q: %v", query.Query, err)
	}
	return answer
}

func TestNearTieAsksBoth(t *testing.T) {
	team := seeded(t)
	r := team.router(classify.Classification{
		Class: classify.ClassOperational, Confidence: 0.45, Second: classify.ClassEpisode, Margin: 0.05, Reasons: []string{"a tie"},
	}, remembered())
	answer := ask(t, r, router.Query{Query: "what about the importer"})
	if got := team.called(answer); got != "#1 builder-1 e1" {
		t.Errorf("both sources give %q", got)
	}
	if !slices.Equal(answer.Also, []classify.Class{classify.ClassEpisode}) || answer.QueryType != classify.ClassOperational || answer.Source != router.SourceOperational || answer.Miss != nil {
		t.Errorf("the answer is %+v", answer)
	}
	if answer.Reasons[0] != "a tie" || !strings.Contains(strings.Join(answer.Reasons, "; "), "episode is nearly as likely") {
		t.Errorf("the reasons are %q", answer.Reasons)
	}
	// The second keeps its share of a short answer.
	if got := team.called(ask(t, r, router.Query{Query: "what about the importer", Limit: 2})); got != "#1 builder-1" && got != "#1 e1" {
		t.Errorf("two places hold %q", got)
	}
	// What only the second has is no miss.
	if answer := ask(t, r, router.Query{Query: "what about licensing"}); team.called(answer) != "e6" || answer.Miss != nil {
		t.Errorf("what only the second has: %q, miss %+v", team.called(answer), answer.Miss)
	}
}

func TestEmptyAnswerIsRepaired(t *testing.T) {
	team := seeded(t)
	sure := func(class classify.Class) classify.Classification {
		return classify.Classification{Class: class, Confidence: 0.9, Second: classify.ClassEpisode, Margin: 0.8, Probabilities: map[classify.Class]float64{
			classify.ClassKnowledge: 0.05, classify.ClassEpisode: 0.04, classify.ClassRecon: 0.3, classify.ClassOperational: 0.2, class: 0.9,
		}}
	}
	for name, c := range map[string]struct {
		class classify.Class
		query router.Query
		want  string
		asked []string
		from  string
	}{
		"another class": {
			classify.ClassOperational,
			router.Query{Query: "terraform state locking"},
			"k2",
			[]string{"operational", "recon", "knowledge"},
			router.SourceLearning,
		},
		"no project": {
			classify.ClassKnowledge,
			router.Query{Query: "terraform state locking", Project: "shop"},
			"k2",
			[]string{"knowledge of project shop", "knowledge"},
			router.SourceLearning,
		},
		"another class without the project": {
			classify.ClassKnowledge,
			router.Query{Query: "the importer", Project: "shop"},
			"#1 builder-1",
			[]string{"knowledge of project shop", "knowledge", "recon of project shop", "recon", "operational of project shop", "operational"},
			router.SourceOperational,
		},
		"nowhere": {
			classify.ClassKnowledge,
			router.Query{Query: "xylophone"},
			"",
			[]string{"knowledge", "recon", "operational", "episode"},
			router.SourceLearning,
		},
		"who asks is not what is asked for": {
			classify.ClassKnowledge,
			router.Query{Query: "how do I tame xylophones?", AgentID: "builder-1"},
			"",
			[]string{"knowledge", "recon", "operational", "episode"},
			router.SourceLearning,
		},
		"a forced type stays": {
			classify.ClassKnowledge,
			router.Query{Query: "terraform state locking", Type: classify.ClassRecon},
			"",
			[]string{"recon"},
			router.SourceOperational,
		},
	} {
		answer := ask(t, team.router(sure(c.class), remembered()), c.query)
		if got := team.called(answer); got != c.want || answer.Miss == nil || !slices.Equal(answer.Miss.Asked, c.asked) || answer.Source != c.from {
			t.Errorf("%s: has %q, want %q; source %s; miss %+v, want %q", name, got, c.want, answer.Source, answer.Miss, c.asked)
		}
		class := c.class
		if c.query.Type != "" {
			class = c.query.Type
		}
		if answer.QueryType != class || answer.Items == nil {
			t.Errorf("%s: the type is %s, items %v", name, answer.QueryType, answer.Items)
		}
	}
	// What stands in for another class must be named by the question: its words of state are no reason.
	for _, query := range []string{"how to keep a queue of pending jobs", "high availability", "stale reads during failover"} {
		if answer := ask(t, team.router(sure(classify.ClassKnowledge), remembered()), router.Query{Query: query}); len(answer.Items) > 0 {
			t.Errorf("%q, which nothing fits, is answered by %q", query, team.called(answer))
		}
	}
	// An empty list is an answer where the state was asked for.
	answer := ask(t, team.router(sure(classify.ClassOperational), remembered()), router.Query{Query: "which tasks of project router are blocked?"})
	if len(answer.Items) != 0 || answer.Miss != nil || answer.Summary != "No task in project router is blocked." {
		t.Errorf("nothing blocked is answered by %+v", answer)
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
		code  skillrouter.Code
		field string
	}{
		"empty":       {router.Query{Query: " "}, skillrouter.Invalid, "query"},
		"too long":    {router.Query{Query: strings.Repeat("x", router.MaxQuery+1)}, skillrouter.TooLarge, "query"},
		"not UTF-8":   {router.Query{Query: "\xff"}, skillrouter.Invalid, "query"},
		"bad agent":   {router.Query{Query: "x", AgentID: "a b"}, skillrouter.Invalid, "agent_id"},
		"bad type":    {router.Query{Query: "x", Type: "weather"}, skillrouter.Invalid, "type"},
		"bad limit":   {router.Query{Query: "x", Limit: 101}, skillrouter.Invalid, "limit"},
		"negative":    {router.Query{Query: "x", Limit: -1}, skillrouter.Invalid, "limit"},
		"bad project": {router.Query{Query: "x", Project: "a\nb"}, skillrouter.Invalid, "project"},
	} {
		_, err := r.Ask(skillrouter.WithPrincipal(t.Context(), skillrouter.Open()), c.query)
		if skillrouter.CodeOf(err) != c.code || skillrouter.FieldOf(err) != c.field {
			t.Errorf("%s: %v of field %q", name, err, skillrouter.FieldOf(err))
		}
	}
	if _, err := r.Ask(t.Context(), router.Query{Query: "x"}); skillrouter.CodeOf(err) != skillrouter.Forbidden {
		t.Errorf("a call without any right: %v", err)
	}
}

// TestNoSources holds that a router without stores answers, if with nothing.
func TestNoSources(t *testing.T) {
	r := router.New(fixedClassifier(classify.Classification{Class: classify.ClassOperational}), router.Sources{}, router.Options{})
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
	memory := remembered()
	r := router.New(classifier, router.Sources{
		Agents: team.agents, Tasks: team.tasks, Recon: team.recon, Names: team.store, Mail: mailbag{},
		Knowledge: knowledgeOf{memory}, Episodes: episodesOf{memory},
	}, router.Options{Now: func() time.Time { return noon }, Changed: team.store.EventBell()})
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
