package learningtest

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/knowledge"
)

func draft(title, content string) knowledge.Draft {
	return knowledge.Draft{Category: knowledge.CategoryGotcha, Title: title, Content: content}
}

// RunKnowledge runs the contract of KnowledgeService.
func RunKnowledge(t *testing.T, open func(t *testing.T) knowledge.Service) {
	contract[knowledge.Service]{
		{"a stored entry reads back", readsBack},
		{"the same content again is a duplicate", duplicates},
		{"an id of the client's own is an identity", namedEntries},
		{"ids of any spelling can be reached", oddIDs},
		{"an update changes what it sets", updates},
		{"what is deleted is gone", deletes},
		{"a search finds and ranks", searches},
		{"filters hold", filters},
		{"the project that one works in goes first", prefersProject},
		{"limits hold", limits},
		{"a score is explained", explains},
		{"uses are counted", countsUses},
		{"secrets are cut out", redacts},
		{"bad input is refused by name", refusesKnowledge},
		{"unknown ids are not found", unknownKnowledge},
		{"text of any script is kept and found", scripts},
	}.run(t, open)
}

func readsBack(t *testing.T, ctx context.Context, k knowledge.Service) {
	d := knowledge.Draft{
		Category: "error_solution", Title: "SQL scan error with DECIMAL", Content: "Use float64 intermediates.\n\n\tThen round.  ",
		Tags: []string{"sql", "Go", " sql ", "decimal"}, Source: "review of #12", AgentID: "builder-1", Project: "mss",
	}
	stored := must[knowledge.Stored](t)(k.Store(ctx, d))
	if stored.ID == "" || stored.Duplicate || stored.Updated || len(stored.Redacted) > 0 {
		t.Fatalf("stored = %+v", stored)
	}
	got := must[knowledge.Knowledge](t)(k.Entry(ctx, stored.ID))
	want := knowledge.Knowledge{
		ID: stored.ID, Number: got.Number, Category: d.Category, Title: d.Title, Content: d.Content, Tags: []string{"sql", "Go", "decimal"},
		Source: d.Source, Author: d.AgentID, Project: d.Project, Trust: learning.TrustAgent, CreatedAt: got.CreatedAt, UpdatedAt: got.CreatedAt,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got.CreatedAt.IsZero() {
		t.Error("created_at is missing")
	}
	bare := must[knowledge.Stored](t)(k.Store(ctx, draft("no tags", "none")))
	if e := must[knowledge.Knowledge](t)(k.Entry(ctx, bare.ID)); e.Tags == nil {
		t.Error("tags of an entry without any are nil, and not an empty list")
	}
}

func duplicates(t *testing.T, ctx context.Context, k knowledge.Service) {
	first := must[knowledge.Stored](t)(k.Store(ctx, draft("PATCH, not PUT", "Use PATCH for partial updates.")))
	for _, d := range []knowledge.Draft{
		draft("PATCH, not PUT", "Use PATCH for partial updates."),
		draft("  patch,  not put ", "use PATCH for\n partial UPDATES.\n"),
		{Category: "pattern", Title: "PATCH, not PUT", Content: "Use PATCH for partial updates.", Tags: []string{"x"}},
	} {
		again := must[knowledge.Stored](t)(k.Store(ctx, d))
		if again.ID != first.ID || !again.Duplicate || again.Updated {
			t.Errorf("%q again: %+v, want a duplicate of %s", d.Title, again, first.ID)
		}
	}
	other := draft("PATCH, not PUT", "Use PATCH for partial updates.")
	other.Project = "elsewhere"
	for _, d := range []knowledge.Draft{other, draft("PATCH, not PUT", "Use PATCH for partial updates!"), draft("PATCH", "not PUT Use PATCH for partial updates.")} {
		if stored := must[knowledge.Stored](t)(k.Store(ctx, d)); stored.Duplicate || stored.ID == first.ID {
			t.Errorf("%+v counts as a duplicate", d)
		}
	}
	if e := must[knowledge.Knowledge](t)(k.Entry(ctx, first.ID)); e.Category != knowledge.CategoryGotcha || len(e.Tags) > 0 {
		t.Errorf("a duplicate changed the entry: %+v", e)
	}
	need(t, k.Delete(ctx, first.ID))
	if again := must[knowledge.Stored](t)(k.Store(ctx, draft("PATCH, not PUT", "Use PATCH for partial updates."))); again.Duplicate {
		t.Error("an entry that was deleted still makes a duplicate")
	}
}

func namedEntries(t *testing.T, ctx context.Context, k knowledge.Service) {
	named := func(id, content string) knowledge.Draft {
		d := draft("Named", content)
		d.ID = id
		return d
	}
	if s := must[knowledge.Stored](t)(k.Store(ctx, named("a", "the same text"))); s.ID != "a" || s.Duplicate || s.Updated {
		t.Errorf("first = %+v", s)
	}
	if s := must[knowledge.Stored](t)(k.Store(ctx, named("b", "the same text"))); s.ID != "b" || s.Duplicate || s.Updated {
		t.Errorf("the same text under another id = %+v, want it stored", s)
	}
	if s := must[knowledge.Stored](t)(k.Store(ctx, named("a", "the same text"))); s.ID != "a" || !s.Duplicate || s.Updated {
		t.Errorf("nothing new under the id = %+v, want a duplicate", s)
	}
	if s := must[knowledge.Stored](t)(k.Store(ctx, named("a", "another text"))); s.ID != "a" || s.Duplicate || !s.Updated {
		t.Errorf("something new under the id = %+v, want an update", s)
	}
	if s := must[knowledge.Stored](t)(k.Store(ctx, named("", "the same text"))); s.ID != "b" || !s.Duplicate {
		t.Errorf("the same text without an id = %+v, want a duplicate of b", s)
	}
	found := must[knowledge.Results](t)(k.Search(ctx, knowledge.Query{Query: "named text"}))
	ids := []string{}
	for _, r := range found.Results {
		ids = append(ids, r.ID)
	}
	slices.Sort(ids)
	if !slices.Equal(ids, []string{"a", "b"}) {
		t.Errorf("found %v, want a and b", ids)
	}
	if e := must[knowledge.Knowledge](t)(k.Entry(ctx, "a")); e.Content != "another text" || e.UpdatedAt.Before(e.CreatedAt) {
		t.Errorf("a = %+v", e)
	}
}

func oddIDs(t *testing.T, ctx context.Context, k knowledge.Service) {
	for _, id := range []string{
		"conv-26/D1:1", "common/$", "common/!", "c++/a+b", "100%", "%2F", "a b", "a?b=c&d#e", "ü/日本", `back\slash"quote'`, "bulk", "search", "..a", "a//b", "a/",
	} {
		d := draft("Odd id", "its id is "+id)
		d.ID = id
		if s := must[knowledge.Stored](t)(k.Store(ctx, d)); s.ID != id {
			t.Errorf("stored under %q and not %q", s.ID, id)
		}
		if e := must[knowledge.Knowledge](t)(k.Entry(ctx, id)); e.ID != id || e.Content != d.Content {
			t.Errorf("entry %q reads %q: %q", id, e.ID, e.Content)
		}
		title := "Renamed"
		if e := must[knowledge.Knowledge](t)(k.Update(ctx, id, knowledge.Patch{Title: &title})); e.ID != id || e.Title != title {
			t.Errorf("updating %q gave %+v", id, e)
		}
		if err := k.Delete(ctx, id); err != nil {
			t.Errorf("delete %q: %v", id, err)
		}
		refuses(t, errs.NotFound, "")(k.Entry(ctx, id))
	}
}

func updates(t *testing.T, ctx context.Context, k knowledge.Service) {
	d := draft("Flaky websocket test", "Wait for the upgrade.")
	d.Tags, d.Source, d.Project, d.AgentID = []string{"ws"}, "run 7", "hub", "tester"
	id := must[knowledge.Stored](t)(k.Store(ctx, d)).ID
	before := must[knowledge.Knowledge](t)(k.Entry(ctx, id))
	content, tags := "Wait for the zeppelin.", []string{"airship"}
	after := must[knowledge.Knowledge](t)(k.Update(ctx, id, knowledge.Patch{Content: &content, Tags: &tags}))
	want := before
	want.Content, want.Tags, want.UpdatedAt = content, tags, after.UpdatedAt
	if diff := cmp.Diff(want, after); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(after, must[knowledge.Knowledge](t)(k.Entry(ctx, id))); diff != "" {
		t.Error(diff)
	}
	if r := must[knowledge.Results](t)(k.Search(ctx, knowledge.Query{Query: "zeppelin", Tags: []string{"airship"}})); r.Count != 1 {
		t.Errorf("the new text is not found: %+v", r)
	}
	if r := must[knowledge.Results](t)(k.Search(ctx, knowledge.Query{Query: "websocket", Tags: []string{"ws"}})); r.Count != 0 {
		t.Errorf("the old tag still selects: %+v", r)
	}
	for field, patch := range map[string]knowledge.Patch{
		"title":    {Title: ptr(" ")},
		"content":  {Content: ptr("")},
		"category": {Category: ptr("")},
		"tags":     {Tags: &[]string{"a", " "}},
		"project":  {Project: ptr("two\nlines")},
		"source":   {Source: ptr("a\x00b")},
	} {
		refuses(t, errs.Invalid, field)(k.Update(ctx, id, patch))
	}
}

func ptr[T any](value T) *T { return &value }

func deletes(t *testing.T, ctx context.Context, k knowledge.Service) {
	id := must[knowledge.Stored](t)(k.Store(ctx, draft("Xylophone", "tuning"))).ID
	need(t, k.Delete(ctx, id))
	refuses(t, errs.NotFound, "")(k.Entry(ctx, id))
	refused(t, k.Delete(ctx, id), errs.NotFound, "")
	if r := must[knowledge.Results](t)(k.Search(ctx, knowledge.Query{Query: "xylophone"})); len(r.Results) > 0 || r.Results == nil || r.Count != 0 {
		t.Errorf("found after its deletion, or not an empty list: %+v", r)
	}
}

func searches(t *testing.T, ctx context.Context, k knowledge.Service) {
	for _, d := range []knowledge.Draft{
		draft("SQL scan error with DECIMAL", "Use float64 intermediates for DECIMAL columns."),
		draft("Auth redirect loop", "Middleware must skip public paths, or the login page redirects to itself."),
		draft("Read before edit", "Always read a file before you edit it."),
	} {
		must[knowledge.Stored](t)(k.Store(ctx, d))
	}
	for query, title := range map[string]string{
		"how do I fix a decimal scanning error?": "SQL scan error with DECIMAL",
		"login page keeps redirecting":           "Auth redirect loop",
		"editing files":                          "Read before edit",
	} {
		r := must[knowledge.Results](t)(k.Search(ctx, knowledge.Query{Query: query}))
		if r.Count == 0 || r.Results[0].Title != title || r.Count != len(r.Results) {
			t.Errorf("%q: %+v, want %q first", query, r, title)
			continue
		}
		for i, hit := range r.Results {
			if hit.RelevanceScore <= 0 || math.IsInf(hit.RelevanceScore, 0) || i > 0 && hit.RelevanceScore > r.Results[i-1].RelevanceScore {
				t.Errorf("%q: score %g at place %d", query, hit.RelevanceScore, i)
			}
			if hit.Why != nil {
				t.Errorf("%q: a reason that nobody asked for", query)
			}
		}
	}
	if r := must[knowledge.Results](t)(k.Search(ctx, knowledge.Query{Query: "?!…"})); r.Count != 0 {
		t.Errorf("punctuation finds %+v", r)
	}
}

func filters(t *testing.T, ctx context.Context, k knowledge.Service) {
	for _, d := range []knowledge.Draft{
		{ID: "1", Category: "gotcha", Project: "alpha", Title: "Retry", Content: "retry with jitter", Tags: []string{"Net", "go"}},
		{ID: "2", Category: "gotcha", Project: "beta", Title: "Retry", Content: "retry without jitter", Tags: []string{"net"}},
		{ID: "3", Category: "pattern", Project: "alpha", Title: "Retry", Content: "retry and retry"},
	} {
		must[knowledge.Stored](t)(k.Store(ctx, d))
	}
	for _, test := range []struct {
		query knowledge.Query
		want  string
	}{
		{knowledge.Query{}, "1 2 3"},
		{knowledge.Query{Category: "gotcha"}, "1 2"},
		{knowledge.Query{Project: "alpha"}, "1 3"},
		{knowledge.Query{Category: "gotcha", Project: "beta"}, "2"},
		{knowledge.Query{Tags: []string{"NET"}}, "1 2"},
		{knowledge.Query{Tags: []string{"net", "go"}}, "1"},
		{knowledge.Query{Category: "none"}, ""},
		{knowledge.Query{Project: "alph"}, ""},
	} {
		test.query.Query = "retry"
		r := must[knowledge.Results](t)(k.Search(ctx, test.query))
		ids := []string{}
		for _, hit := range r.Results {
			ids = append(ids, hit.ID)
		}
		slices.Sort(ids)
		if got := strings.Join(ids, " "); got != test.want {
			t.Errorf("%+v finds %q, want %q", test.query, got, test.want)
		}
	}
}

func limits(t *testing.T, ctx context.Context, k knowledge.Service) {
	for i := range 12 {
		must[knowledge.Stored](t)(k.Store(ctx, draft("Common", "word "+strings.Repeat("x", i+1))))
	}
	for asked, want := range map[int]int{0: learning.DefaultKnowledgeLimit, 1: 1, 12: 12, learning.MaxLimit: 12} {
		if r := must[knowledge.Results](t)(k.Search(ctx, knowledge.Query{Query: "common", Limit: asked})); r.Count != want {
			t.Errorf("limit %d: %d results, want %d", asked, r.Count, want)
		}
	}
	for _, asked := range []int{-1, learning.MaxLimit + 1} {
		refuses(t, errs.Invalid, "limit")(k.Search(ctx, knowledge.Query{Query: "common", Limit: asked}))
	}
}

func explains(t *testing.T, ctx context.Context, k knowledge.Service) {
	must[knowledge.Stored](t)(k.Store(ctx, draft("Goroutine leak", "A goroutine that sends on a channel nobody reads leaks.")))
	r := must[knowledge.Results](t)(k.Search(ctx, knowledge.Query{Query: "goroutines leaking", Explain: true}))
	if r.Count != 1 || len(r.Results[0].Why) == 0 {
		t.Fatalf("no reasons: %+v", r)
	}
	sum := 0.0
	for _, why := range r.Results[0].Why {
		if why.Lane == "" {
			t.Errorf("a reason without a lane: %+v", why)
		}
		sum += why.Weight
	}
	if score := r.Results[0].RelevanceScore; math.Abs(sum-score) > 1e-9*score {
		t.Errorf("the reasons add up to %g, the score is %g", sum, score)
	}
	if r := must[knowledge.Results](t)(k.Search(ctx, knowledge.Query{Query: "gorotine"})); r.Count != 1 || r.Corrected["gorotine"] == "" {
		t.Errorf("a misspelt word: %+v, want it corrected and said", r)
	}
}

func countsUses(t *testing.T, ctx context.Context, k knowledge.Service) {
	used := must[knowledge.Stored](t)(k.Store(ctx, draft("Hedgehog", "spiny"))).ID
	unused := must[knowledge.Stored](t)(k.Store(ctx, draft("Walrus", "tusks"))).ID
	for range 3 {
		must[knowledge.Results](t)(k.Search(ctx, knowledge.Query{Query: "hedgehog"}))
	}
	if e := must[knowledge.Knowledge](t)(k.Entry(ctx, used)); e.UseCount != 3 || e.LastUsed == nil {
		t.Errorf("use_count %d, last_used %v after three searches", e.UseCount, e.LastUsed)
	}
	if e := must[knowledge.Knowledge](t)(k.Entry(ctx, unused)); e.UseCount != 0 || e.LastUsed != nil {
		t.Errorf("use_count %d, last_used %v of an entry that nobody found", e.UseCount, e.LastUsed)
	}
}

func redacts(t *testing.T, ctx context.Context, k knowledge.Service) {
	stored := must[knowledge.Stored](t)(k.Store(ctx, draft("Staging database", "It is at postgres://app:s3cretpw@db:5432/app, password=hunter2x")))
	if !slices.Equal(stored.Redacted, []string{"password"}) {
		t.Errorf("redacted = %v, want password", stored.Redacted)
	}
	e := must[knowledge.Knowledge](t)(k.Entry(ctx, stored.ID))
	if strings.Contains(e.Content, "s3cretpw") || strings.Contains(e.Content, "hunter2x") || !strings.Contains(e.Content, "postgres://app:[redacted: password]@db:5432/app") {
		t.Errorf("content = %q", e.Content)
	}
	content := "It moved; password=q7Vtw2Lx9Zk"
	if edited := must[knowledge.Knowledge](t)(k.Update(ctx, stored.ID, knowledge.Patch{Content: &content})); !slices.Equal(edited.Redacted, []string{"password"}) {
		t.Errorf("an edit: redacted = %v, want password", edited.Redacted)
	}
	// The same value in another field, where nothing says what it is (O9).
	twice := draft("How q7Vtw2Lx9Zk got out", "password=q7Vtw2Lx9Zk was in the log")
	stored = must[knowledge.Stored](t)(k.Store(ctx, twice))
	if e := must[knowledge.Knowledge](t)(k.Entry(ctx, stored.ID)); strings.Contains(e.Title+e.Content, "q7Vtw2Lx9Zk") {
		t.Errorf("title = %q, content = %q", e.Title, e.Content)
	}
	// A name that holds a secret is refused: with it cut out it would be another name (S4).
	const secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
	for field, change := range map[string]func(d *knowledge.Draft){
		"tags":     func(d *knowledge.Draft) { d.Tags = []string{"deploy", "token:" + secret} },
		"category": func(d *knowledge.Draft) { d.Category = secret },
		"project":  func(d *knowledge.Draft) { d.Project = secret },
		"id":       func(d *knowledge.Draft) { d.ID = secret },
	} {
		named := draft("Deployments", "They are done by the bot.")
		change(&named)
		_, err := k.Store(ctx, named)
		if errs.CodeOf(err) != errs.Invalid || errs.FieldOf(err) != field || strings.Contains(err.Error(), secret) {
			t.Errorf("a secret as %s: %v", field, err)
		}
	}
	e = must[knowledge.Knowledge](t)(k.Update(ctx, e.ID, knowledge.Patch{Content: ptr("now password=hunter3y")}))
	if strings.Contains(e.Content, "hunter3y") {
		t.Errorf("content after an update = %q", e.Content)
	}
}

func refusesKnowledge(t *testing.T, ctx context.Context, k knowledge.Service) {
	long := strings.Repeat("x", learning.MaxContent+1)
	many := make([]string, learning.MaxTags+1)
	for i := range many {
		many[i] = strings.Repeat("t", i+1)
	}
	spoilt[knowledge.Draft]{
		{"no category", "category", errs.Invalid, func(d *knowledge.Draft) { d.Category = " " }},
		{"long category", "category", errs.Invalid, func(d *knowledge.Draft) { d.Category = long[:check.MaxName+1] }},
		{"no title", "title", errs.Invalid, func(d *knowledge.Draft) { d.Title = "" }},
		{"blank title", "title", errs.Invalid, func(d *knowledge.Draft) { d.Title = "\t\n " }},
		{"long title", "title", errs.TooLarge, func(d *knowledge.Draft) { d.Title = long[:learning.MaxTitle+1] }},
		{"no content", "content", errs.Invalid, func(d *knowledge.Draft) { d.Content = "" }},
		{"long content", "content", errs.TooLarge, func(d *knowledge.Draft) { d.Content = long }},
		{"NUL in the content", "content", errs.Invalid, func(d *knowledge.Draft) { d.Content = "a\x00b" }},
		{"many tags", "tags", errs.Invalid, func(d *knowledge.Draft) { d.Tags = many }},
		{"empty tag", "tags", errs.Invalid, func(d *knowledge.Draft) { d.Tags = []string{""} }},
		{"long source", "source", errs.TooLarge, func(d *knowledge.Draft) { d.Source = long[:learning.MaxSource+1] }},
		{"project on two lines", "project", errs.Invalid, func(d *knowledge.Draft) { d.Project = "a\nb" }},
		{"agent that is none", "agent_id", errs.Invalid, func(d *knowledge.Draft) { d.AgentID = "two words" }},
		{"long id", "id", errs.Invalid, func(d *knowledge.Draft) { d.ID = long[:learning.MaxID+1] }},
		{"id on two lines", "id", errs.Invalid, func(d *knowledge.Draft) { d.ID = "a\nb" }},
		{"id that is a step up", "id", errs.Invalid, func(d *knowledge.Draft) { d.ID = ".." }},
	}.refused(t, func() knowledge.Draft { return draft("Fine", "fine") }, func(d knowledge.Draft) error { _, err := k.Store(ctx, d); return err })
	for _, test := range []struct {
		name, field string
		code        errs.Code
		query       knowledge.Query
	}{
		{"no query", "query", errs.Invalid, knowledge.Query{Query: "  "}},
		{"long query", "query", errs.TooLarge, knowledge.Query{Query: long[:learning.MaxQuery+1]}},
		{"NUL in the query", "query", errs.Invalid, knowledge.Query{Query: "a\x00b"}},
		{"long project", "project", errs.Invalid, knowledge.Query{Query: "a", Project: long[:check.MaxName+1]}},
		{"empty tag", "tags", errs.Invalid, knowledge.Query{Query: "a", Tags: []string{" "}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			refuses(t, test.code, test.field)(k.Search(ctx, test.query))
		})
	}
	if r := must[knowledge.Results](t)(k.Search(ctx, knowledge.Query{Query: "fine"})); r.Count != 0 {
		t.Errorf("a refused entry was stored: %+v", r)
	}
}

func unknownKnowledge(t *testing.T, ctx context.Context, k knowledge.Service) {
	refuses(t, errs.NotFound, "")(k.Entry(ctx, "nobody"))
	refuses(t, errs.NotFound, "")(k.Update(ctx, "nobody", knowledge.Patch{Title: ptr("x")}))
	refused(t, k.Delete(ctx, "nobody"), errs.NotFound, "")
}

func scripts(t *testing.T, ctx context.Context, k knowledge.Service) {
	for query, content := range map[string]string{
		"Größe":    "Die Größe des Puffers war falsch.",
		"ошибка":   "Ошибка соединения с базой данных",
		"接続":       "データベース 接続 エラー",
		"خطأ":      "خطأ في الاتصال",
		"🚀":        "Deploy 🚀 done — \u202eright to left\u202c",
		"e\u0301t": "L'e\u0301tat de la file: e\u0301t\u00e9",
	} {
		id := must[knowledge.Stored](t)(k.Store(ctx, draft("Script", content))).ID
		if e := must[knowledge.Knowledge](t)(k.Entry(ctx, id)); e.Content != content {
			t.Errorf("content %q reads back as %q", content, e.Content)
		}
		must[knowledge.Results](t)(k.Search(ctx, knowledge.Query{Query: query}))
	}
	if r := must[knowledge.Results](t)(k.Search(ctx, knowledge.Query{Query: "ОШИБКА"})); r.Count == 0 || !strings.Contains(r.Results[0].Content, "Ошибка") {
		t.Errorf("Cyrillic is not found: %+v", r)
	}
}

// prefersProject: what belongs to the caller's project goes before what fits as well, another
// project's follows and is marked, and nothing changes for who prefers none.
func prefersProject(t *testing.T, ctx context.Context, k knowledge.Service) {
	for i, d := range []struct{ title, project, content string }{
		{"Port of the database", "ledger", "The database listens on port 5433, the database of the ledger."},
		{"Port of the database", "shop", "It listens on port 6000 here, as the shop's compose file says it should."},
		{"Port of the database", "", "Databases of the team listen on a port above 5000."},
		{"Colour of the door", "shop", "It is green."},
	} {
		one := draft(d.title, d.content)
		one.Project, one.ID = d.project, fmt.Sprint("near-", i)
		must[knowledge.Stored](t)(k.Store(ctx, one))
	}
	ask := func(prefer, project string, limit int) knowledge.Results {
		return must[knowledge.Results](t)(k.Search(ctx, knowledge.Query{Query: "port of the database", PreferProject: prefer, Project: project, Explain: true, Limit: limit}))
	}
	plain := ask("", "", 0)
	if len(plain.Results) < 3 || plain.Results[0].Project == "shop" {
		t.Fatalf("without a preference: %+v", plain.Results)
	}
	for _, limit := range []int{0, 1} {
		got := ask("shop", "", limit)
		vectors := 0 // of the hits: while some have none yet, the places say little
		for _, hit := range got.Results {
			if slices.ContainsFunc(hit.Why, func(r learning.Reason) bool { return r.Lane == "vector" }) {
				vectors++
			}
		}
		first := vectors == 0 || limit != 1 && vectors >= 3
		if len(got.Results) == 0 || first && got.Results[0].Project != "shop" || limit == 1 && len(got.Results) != 1 {
			t.Fatalf("in the project shop, %d asked for: %+v", limit, got.Results)
		}
		for _, hit := range got.Results {
			sum, lanes := 0.0, []string{}
			for _, r := range hit.Why {
				sum, lanes = sum+r.Weight, append(lanes, r.Lane)
			}
			if math.Abs(sum-hit.RelevanceScore) > 1e-9 {
				t.Errorf("%s: the reasons add up to %v and the score is %v", hit.ID, sum, hit.RelevanceScore)
			}
			if own, other := slices.Contains(lanes, "project"), slices.Contains(lanes, "other project"); own != (hit.Project == "shop") || other != (hit.Project == "ledger") {
				t.Errorf("%s of the project %q has the reasons %v", hit.ID, hit.Project, lanes)
			}
		}
	}
	if got := ask("shop", "ledger", 0); len(got.Results) != 1 || got.Results[0].Project != "ledger" {
		t.Errorf("asked for one project alone: %+v", got.Results)
	}
	if got := ask("nowhere", "", 0); len(got.Results) < 3 || got.Results[0].ID != plain.Results[0].ID {
		t.Errorf("in a project without entries: %+v", got.Results)
	}
}
