package learningtest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/fact"
)

// FactWorld is a FactService under test, and the clock that it goes by.
type FactWorld struct {
	Facts   fact.Service
	Advance func(time.Duration)
}

// Facts runs the contract of FactService. open is called for each case and
// must give a service on a database of its own, which takes calls as
// principal.Open, and whose clock moves by Advance alone.
func Facts(t *testing.T, open func(t *testing.T) FactWorld) {
	contract[FactWorld]{
		{"a stored fact reads back", factReadsBack},
		{"a value is kept to the letter", factValues},
		{"expiry is exact", factExpires},
		{"zero is for ever", factForEver},
		{"an update lets the time begin anew", factUpdates},
		{"compare and set", factCompares},
		{"keys of any spelling can be reached", factKeys},
		{"personas are apart", factPersonas},
		{"a search goes by category and pattern", factSearches},
		{"a search has pages", factPages},
		{"categories are listed", factCategories},
		{"what is forgotten is gone", factForgets},
		{"accesses are counted", factCounts},
		{"secrets are cut out", factRedacts},
		{"bad input is refused by name", factRefuses},
		{"a value is stored exactly or not at all", factExact},
		{"there are figures", factStats},
	}.run(t, open)
}

func seconds(n int64) *int64 { return &n }

func number(n int64) *int64 { return &n }

func factWorld(key, value string) fact.Draft {
	return fact.Draft{Key: key, Value: json.RawMessage(value)}
}

func at(key string) fact.Ref { return fact.Ref{Key: key} }

func factReadsBack(t *testing.T, ctx context.Context, w FactWorld) {
	d := fact.Draft{
		Persona: "data-analyst", Key: "database.orders.schema", Value: json.RawMessage(`{"columns":["id","total"]}`), Category: "schemas",
		TTL: seconds(60), Probe: "psql -c '\\d orders'", Source: "the live database", AgentID: "builder-1",
	}
	stored := must[fact.Stored](t)(w.Facts.Remember(ctx, d))
	if stored.Key != d.Key || stored.Persona != d.Persona || stored.Version == 0 || stored.Replaced || stored.ExpiresAt == nil || len(stored.Redacted) > 0 {
		t.Fatalf("stored = %+v", stored)
	}
	got := must[fact.Fact](t)(w.Facts.Recall(ctx, fact.Ref{Persona: d.Persona, Key: d.Key}))
	want := fact.Fact{
		Persona: d.Persona, Key: d.Key, Category: d.Category, Value: d.Value, Version: stored.Version, TTL: 60, ExpiresAt: stored.ExpiresAt,
		Probe: d.Probe, Source: d.Source, Author: d.AgentID, Trust: learning.TrustAgent, AccessCount: 1, LastAccessed: got.LastAccessed,
		CachedAt: got.CachedAt, CreatedAt: got.CachedAt, UpdatedAt: got.CachedAt,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got.CachedAt.IsZero() || !got.CachedAt.Add(time.Minute).Equal(*got.ExpiresAt) {
		t.Errorf("cached at %v, expires at %v", got.CachedAt, got.ExpiresAt)
	}
	bare := must[fact.Stored](t)(w.Facts.Remember(ctx, factWorld("bare", "1")))
	got = must[fact.Fact](t)(w.Facts.Recall(ctx, at("bare")))
	if got.Persona != learning.DefaultPersona || got.Category != learning.DefaultFactCategory || got.TTL != fact.DefaultTTL || bare.Persona != learning.DefaultPersona {
		t.Errorf("the defaults are %+v", got)
	}
	again := must[fact.Stored](t)(w.Facts.Remember(ctx, factWorld("bare", "2")))
	if !again.Replaced || again.Version <= bare.Version {
		t.Errorf("again = %+v, after %+v", again, bare)
	}
}

func factValues(t *testing.T, ctx context.Context, w FactWorld) {
	for i, c := range []struct{ value, want string }{
		{`12345678901234567890.123456789012345678901`, ""},
		{`{"z":1,"a":[1.0,1e300,-0]}`, ""},
		{"  {\n \"a\" : [ ] }\n", `{"a":[]}`},
		{`"line\nbreak \u0001 \ud83d\ude00 <&> ü"`, ""},
		{`false`, ""},
		{`""`, ""},
		{`[[],{}]`, ""},
	} {
		want := c.want
		if want == "" {
			want = c.value
		}
		key := fmt.Sprint("v", i)
		must[fact.Stored](t)(w.Facts.Remember(ctx, factWorld(key, c.value)))
		got := must[fact.Fact](t)(w.Facts.Recall(ctx, at(key)))
		if !sameJSON(string(got.Value), want) {
			t.Errorf("%s reads back as %s", c.value, got.Value)
		}
	}
}

// sameJSON compares two JSON texts up to how characters of strings are escaped:
// numbers must be the same to the letter.
func sameJSON(a, b string) bool {
	flat := func(text string) string {
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		var out []string
		for {
			token, err := d.Token()
			if err != nil {
				return strings.Join(out, " ")
			}
			out = append(out, fmt.Sprintf("%T:%v", token, token))
		}
	}
	return flat(a) == flat(b)
}

func factExpires(t *testing.T, ctx context.Context, w FactWorld) {
	d := factWorld("k", `"v"`)
	d.TTL = seconds(10)
	must[fact.Stored](t)(w.Facts.Remember(ctx, d))
	w.Advance(10*time.Second - time.Millisecond)
	must[fact.Fact](t)(w.Facts.Recall(ctx, at("k")))
	w.Advance(time.Millisecond)
	refuses(t, errs.NotFound, "")(w.Facts.Recall(ctx, at("k")))
	if page := must[fact.Page](t)(w.Facts.Search(ctx, fact.Query{})); page.Count != 0 {
		t.Errorf("a search finds %+v", page)
	}
	refuses(t, errs.NotFound, "")(w.Facts.Update(ctx, at("k"), fact.Patch{Value: json.RawMessage("1")}))
	stale := must[fact.Fact](t)(w.Facts.Recall(ctx, fact.Ref{Key: "k", StaleOK: true}))
	if !stale.Expired || string(stale.Value) != `"v"` {
		t.Errorf("stale = %+v", stale)
	}
	if stored := must[fact.Stored](t)(w.Facts.Remember(ctx, d)); stored.Replaced {
		t.Error("an expired fact counts as replaced")
	}
	w.Advance(365 * 24 * time.Hour) // the clock jumps
	refuses(t, errs.NotFound, "")(w.Facts.Recall(ctx, at("k")))
}

func factForEver(t *testing.T, ctx context.Context, w FactWorld) {
	d := factWorld("k", "1")
	d.TTL = seconds(0)
	if stored := must[fact.Stored](t)(w.Facts.Remember(ctx, d)); stored.ExpiresAt != nil {
		t.Errorf("stored = %+v", stored)
	}
	w.Advance(50 * 365 * 24 * time.Hour)
	if got := must[fact.Fact](t)(w.Facts.Recall(ctx, at("k"))); got.ExpiresAt != nil || got.TTL != 0 {
		t.Errorf("got %+v", got)
	}
}

func factUpdates(t *testing.T, ctx context.Context, w FactWorld) {
	d := fact.Draft{Key: "k", Value: json.RawMessage(`1`), Category: "c", TTL: seconds(100), Probe: "check", Source: "s", AgentID: "a"}
	first := must[fact.Stored](t)(w.Facts.Remember(ctx, d))
	before := must[fact.Fact](t)(w.Facts.Recall(ctx, at("k")))
	w.Advance(90 * time.Second)
	got := must[fact.Fact](t)(w.Facts.Update(ctx, at("k"), fact.Patch{Value: json.RawMessage(`2`), AgentID: "b"}))
	if string(got.Value) != "2" || got.Category != "c" || got.TTL != 100 || got.Probe != "check" || got.Source != "s" || got.Author != "b" || got.Version <= first.Version {
		t.Errorf("updated = %+v", got)
	}
	if !got.CreatedAt.Equal(before.CreatedAt) || !got.CachedAt.Equal(before.CachedAt.Add(90*time.Second)) || !got.ExpiresAt.Equal(got.CachedAt.Add(100*time.Second)) {
		t.Errorf("times %+v", got)
	}
	w.Advance(90 * time.Second) // 180 s after it was stored
	if got := must[fact.Fact](t)(w.Facts.Recall(ctx, at("k"))); string(got.Value) != "2" {
		t.Errorf("recalled %+v", got)
	}
	probe, category := "another", "d"
	got = must[fact.Fact](t)(w.Facts.Update(ctx, at("k"), fact.Patch{TTL: seconds(0), Probe: &probe, Category: &category, AgentID: "c"}))
	if string(got.Value) != "2" || got.ExpiresAt != nil || got.Probe != probe || got.Category != category || got.Author != "b" || !got.CachedAt.Before(got.UpdatedAt) {
		t.Errorf("a patch without a value = %+v", got)
	}
	refuses(t, errs.NotFound, "")(w.Facts.Update(ctx, at("none"), fact.Patch{Value: json.RawMessage(`2`)}))
}

func factCompares(t *testing.T, ctx context.Context, w FactWorld) {
	d := factWorld("k", "1")
	d.IfVersion, d.TTL = number(0), seconds(10)
	first := must[fact.Stored](t)(w.Facts.Remember(ctx, d))
	refuses(t, errs.Conflict, "")(w.Facts.Remember(ctx, d))
	d.IfVersion, d.Value = &first.Version, json.RawMessage("2")
	second := must[fact.Stored](t)(w.Facts.Remember(ctx, d))
	refuses(t, errs.Conflict, "")(w.Facts.Remember(ctx, d))
	refuses(t, errs.Conflict, "")(w.Facts.Update(ctx, at("k"), fact.Patch{Value: json.RawMessage("3"), IfVersion: &first.Version}))
	third := must[fact.Fact](t)(w.Facts.Update(ctx, at("k"), fact.Patch{Value: json.RawMessage("3"), IfVersion: &second.Version}))
	w.Advance(10 * time.Second)
	refuses(t, errs.Conflict, "")(w.Facts.Update(ctx, at("k"), fact.Patch{Value: json.RawMessage("4"), IfVersion: &third.Version}))
	d.IfVersion = number(0)
	fresh := must[fact.Stored](t)(w.Facts.Remember(ctx, d)) // nothing live is there
	need(t, w.Facts.Forget(ctx, at("k")))
	last := must[fact.Stored](t)(w.Facts.Remember(ctx, d))
	if last.Version <= fresh.Version || fresh.Version <= third.Version {
		t.Errorf("versions %d, %d, %d: one comes twice", third.Version, fresh.Version, last.Version)
	}
}

func factKeys(t *testing.T, ctx context.Context, w FactWorld) {
	keys := []string{
		"a/b", "../x", "a b", "ü", "%2F", "a+b", "?x=1#y", `back\slash`, "'", `"`, "a//b", "/", "search", "日本語", strings.Repeat("k", fact.MaxKey),
		"https://example.com/x?y=z", "*", "a;b", "{x}",
	}
	for _, key := range keys {
		value, err := json.Marshal(key)
		need(t, err)
		must[fact.Stored](t)(w.Facts.Remember(ctx, factWorld(key, string(value))))
	}
	for _, key := range keys {
		got, err := w.Facts.Recall(ctx, at(key))
		var back string
		if err != nil || got.Key != key || json.Unmarshal(got.Value, &back) != nil || back != key {
			t.Errorf("%q reads %+v, %v", key, got, err)
		}
	}
	for _, key := range keys {
		if err := w.Facts.Forget(ctx, at(key)); err != nil {
			t.Errorf("%q: %v", key, err)
		}
	}
}

func factPersonas(t *testing.T, ctx context.Context, w FactWorld) {
	for i, persona := range []string{"", "coder", "Coder", "web-researcher_2.x"} {
		d := factWorld("k", fmt.Sprint(i))
		d.Persona = persona
		must[fact.Stored](t)(w.Facts.Remember(ctx, d))
	}
	for persona, want := range map[string]string{"": "0", "default": "0", "coder": "1", "Coder": "2", "web-researcher_2.x": "3"} {
		got := must[fact.Fact](t)(w.Facts.Recall(ctx, fact.Ref{Persona: persona, Key: "k"}))
		if string(got.Value) != want {
			t.Errorf("%q has %s", persona, got.Value)
		}
	}
	for _, persona := range []string{"../x", "..", ".", ".hidden", "a/b", "a b", "ä", "-x", "x\x00", "a\n", strings.Repeat("x", check.MaxPersona+1)} {
		d := factWorld("k", "1")
		d.Persona = persona
		refuses(t, errs.Invalid, "persona")(w.Facts.Remember(ctx, d))
		refuses(t, errs.Invalid, "persona")(w.Facts.Search(ctx, fact.Query{Persona: persona}))
	}
}

func keysOf(facts []fact.Fact) []string {
	keys := []string{}
	for _, f := range facts {
		keys = append(keys, f.Key)
	}
	return keys
}

func factSearches(t *testing.T, ctx context.Context, w FactWorld) {
	for key, category := range map[string]string{
		"database.orders.schema": "schemas", "database.users.schema": "schemas", "database.users.count": "counts",
		"metrics.mrr.baseline": "baselines", "ähre": "words", "a*b": "words", "a[b": "words",
	} {
		d := factWorld(key, `"`+category+`"`)
		d.Category = category
		must[fact.Stored](t)(w.Facts.Remember(ctx, d))
	}
	for _, c := range []struct {
		category, pattern string
		want              []string
	}{
		{"schemas", "", []string{"database.orders.schema", "database.users.schema"}},
		{"", "database.*", []string{"database.orders.schema", "database.users.count", "database.users.schema"}},
		{"", "*.schema", []string{"database.orders.schema", "database.users.schema"}},
		{"counts", "*.schema", []string{}},
		{"", "*u*r*", []string{"database.users.count", "database.users.schema"}},
		{"", "metrics.???.baseline", []string{"metrics.mrr.baseline"}},
		{"", "metrics.??.baseline", []string{}},
		{"", "database.[n-p]*", []string{"database.orders.schema"}},
		{"", "database.[!n-p]*", []string{"database.users.count", "database.users.schema"}},
		{"", "?hre", []string{"ähre"}},
		{"", `a\*b`, []string{"a*b"}},
		{"", "a[[]b", []string{"a[b"}},
		{"", "database", []string{}},
		{"Schemas", "", []string{}},
	} {
		page := must[fact.Page](t)(w.Facts.Search(ctx, fact.Query{Category: c.category, Pattern: c.pattern}))
		if got := keysOf(page.Facts); !slices.Equal(got, c.want) || page.Count != len(c.want) || page.Next != "" {
			t.Errorf("category %q, pattern %q: %v, next %q", c.category, c.pattern, got, page.Next)
		}
	}
	for _, pattern := range []string{"[", "[a", "a\\", "[]", strings.Repeat("*", fact.MaxPattern+1), "\x00"} {
		_, err := w.Facts.Search(ctx, fact.Query{Pattern: pattern})
		if code := errs.CodeOf(err); code != errs.Invalid && code != errs.TooLarge || errs.FieldOf(err) != "pattern" {
			t.Errorf("pattern %.20q: %v", pattern, err)
		}
	}
}

func factPages(t *testing.T, ctx context.Context, w FactWorld) {
	var want []string
	for i := range 25 {
		key := fmt.Sprintf("k%02d", i)
		must[fact.Stored](t)(w.Facts.Remember(ctx, factWorld(key, "1")))
		if i%2 == 0 {
			want = append(want, key)
		}
	}
	var got []string
	query := fact.Query{Pattern: "k?[02468]", Limit: 4}
	for range 10 {
		page := must[fact.Page](t)(w.Facts.Search(ctx, query))
		if page.Count > 4 {
			t.Errorf("%d in a page of 4", page.Count)
		}
		got = append(got, keysOf(page.Facts)...)
		if query.Cursor = page.Next; query.Cursor == "" {
			break
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("pages have %v, want %v", got, want)
	}
	large := `"` + strings.Repeat("x", 900<<10) + `"`
	for i := range 6 {
		must[fact.Stored](t)(w.Facts.Remember(ctx, factWorld(fmt.Sprint("large", i), large)))
	}
	got = nil
	query = fact.Query{Pattern: "large*"}
	for range 6 {
		page := must[fact.Page](t)(w.Facts.Search(ctx, query))
		got = append(got, keysOf(page.Facts)...)
		if query.Cursor = page.Next; query.Cursor == "" {
			break
		}
	}
	if len(got) != 6 {
		t.Errorf("of six large facts there are %v", got)
	}
	for _, limit := range []int{-1, fact.MaxPage + 1} {
		refuses(t, errs.Invalid, "limit")(w.Facts.Search(ctx, fact.Query{Limit: limit}))
	}
}

func factCategories(t *testing.T, ctx context.Context, w FactWorld) {
	if list := must[[]fact.Category](t)(w.Facts.Categories(ctx, "")); len(list) != 0 {
		t.Errorf("of nothing there are %v", list)
	}
	for i, category := range []string{"b", "a", "b", "c"} {
		d := factWorld(fmt.Sprint("k", i), "1")
		d.Category, d.TTL = category, seconds(int64(10*(i+1)))
		must[fact.Stored](t)(w.Facts.Remember(ctx, d))
	}
	w.Advance(10 * time.Second)
	want := []fact.Category{{Category: "a", Facts: 1}, {Category: "b", Facts: 1}, {Category: "c", Facts: 1}}
	if diff := cmp.Diff(want, must[[]fact.Category](t)(w.Facts.Categories(ctx, ""))); diff != "" {
		t.Error(diff)
	}
}

func factForgets(t *testing.T, ctx context.Context, w FactWorld) {
	must[fact.Stored](t)(w.Facts.Remember(ctx, factWorld("k", "1")))
	need(t, w.Facts.Forget(ctx, at("k")))
	refuses(t, errs.NotFound, "")(w.Facts.Recall(ctx, at("k")))
	refused(t, w.Facts.Forget(ctx, at("k")), errs.NotFound, "")
}

func factCounts(t *testing.T, ctx context.Context, w FactWorld) {
	must[fact.Stored](t)(w.Facts.Remember(ctx, factWorld("k", "1")))
	for want := range int64(3) {
		if got := must[fact.Fact](t)(w.Facts.Recall(ctx, at("k"))); got.AccessCount != want+1 || got.LastAccessed == nil {
			t.Errorf("the access number %d is told as %d", want+1, got.AccessCount)
		}
	}
	page := must[fact.Page](t)(w.Facts.Search(ctx, fact.Query{}))
	if page.Facts[0].AccessCount != 3 {
		t.Errorf("a search tells of %d accesses", page.Facts[0].AccessCount)
	}
	must[fact.Stored](t)(w.Facts.Remember(ctx, factWorld("k", "2")))
	if got := must[fact.Fact](t)(w.Facts.Recall(ctx, at("k"))); got.AccessCount != 4 {
		t.Errorf("after a new value: %d", got.AccessCount)
	}
}

func factRedacts(t *testing.T, ctx context.Context, w FactWorld) {
	for _, value := range []string{
		`"the key is AKIAIOSFODNN7REALKEY, and more"`,
		`{"deep":[{"note":"password=hunter2-and-3"}]}`,
		`{"password":"hunter2-and-3"}`,
		`{"db":"postgres://u:hunter2-and-3@h/db"}`,
	} {
		d := factWorld("k", value)
		stored := must[fact.Stored](t)(w.Facts.Remember(ctx, d))
		got := must[fact.Fact](t)(w.Facts.Recall(ctx, at("k")))
		if len(stored.Redacted) == 0 || strings.Contains(string(got.Value), "hunter2") || strings.Contains(string(got.Value), "REALKEY") || !json.Valid(got.Value) {
			t.Errorf("%s is kept as %s, redacted %v", value, got.Value, stored.Redacted)
		}
	}
	d := factWorld("k", "1")
	d.Probe = "curl -u me:hunter2-and-3 https://example.com"
	must[fact.Stored](t)(w.Facts.Remember(ctx, d))
	if got := must[fact.Fact](t)(w.Facts.Recall(ctx, at("k"))); strings.Contains(got.Probe, "hunter2") {
		t.Errorf("the probe is kept as %s", got.Probe)
	}
	keep := `{"password":"${PASSWORD}","columns":["token","secret"]}`
	if stored := must[fact.Stored](t)(w.Facts.Remember(ctx, factWorld("k", keep))); len(stored.Redacted) > 0 {
		t.Errorf("%s is redacted: %v", keep, stored.Redacted)
	}
}

func factRefuses(t *testing.T, ctx context.Context, w FactWorld) {
	for field, drafts := range map[string][]fact.Draft{
		"key": {
			factWorld("", "1"), factWorld(".", "1"), factWorld("..", "1"), factWorld(" k", "1"), factWorld("k\n", "1"), factWorld("k\x00", "1"), factWorld(strings.Repeat("k", fact.MaxKey+1), "1"),
		},
		"value":      {{Key: "k"}, factWorld("k", "null"), factWorld("k", strings.Repeat("[", 300)+strings.Repeat("]", 300))},
		"ttl":        {{Key: "k", Value: json.RawMessage("1"), TTL: seconds(-1)}, {Key: "k", Value: json.RawMessage("1"), TTL: seconds(fact.MaxTTL + 1)}},
		"category":   {{Key: "k", Value: json.RawMessage("1"), Category: strings.Repeat("x", 200)}, {Key: "k", Value: json.RawMessage("1"), Category: "a\nb"}},
		"agent_id":   {{Key: "k", Value: json.RawMessage("1"), AgentID: "no id"}},
		"if_version": {{Key: "k", Value: json.RawMessage("1"), IfVersion: number(-1)}},
	} {
		for _, d := range drafts {
			refuses(t, errs.Invalid, field)(w.Facts.Remember(ctx, d))
		}
	}
	for field, d := range map[string]fact.Draft{
		"value":  factWorld("k", `"`+strings.Repeat("x", 2<<20)+`"`),
		"probe":  {Key: "k", Value: json.RawMessage("1"), Probe: strings.Repeat("x", fact.MaxProbe+1)},
		"source": {Key: "k", Value: json.RawMessage("1"), Source: strings.Repeat("x", learning.MaxSource+1)},
	} {
		refuses(t, errs.TooLarge, field)(w.Facts.Remember(ctx, d))
	}
	if page := must[fact.Page](t)(w.Facts.Search(ctx, fact.Query{})); page.Count > 0 {
		t.Errorf("something was stored: %v", keysOf(page.Facts))
	}
	refuses(t, errs.NotFound, "")(w.Facts.Recall(ctx, at("none")))
}

// factExact: a cache would answer with another value than was computed, if a secret were cut out of it.
func factExact(t *testing.T, ctx context.Context, w FactWorld) {
	d := factWorld("k", `{"password":"hunter2-and-3"}`)
	d.Exact = true
	refuses(t, errs.Invalid, "value")(w.Facts.Remember(ctx, d))
	refuses(t, errs.NotFound, "")(w.Facts.Recall(ctx, at("k")))
	d.Value = json.RawMessage(`{"x":1}`)
	must[fact.Stored](t)(w.Facts.Remember(ctx, d))
	if got := must[fact.Fact](t)(w.Facts.Recall(ctx, at("k"))); string(got.Value) != `{"x":1}` {
		t.Errorf("value %s", got.Value)
	}
}

func factStats(t *testing.T, ctx context.Context, w FactWorld) {
	d := factWorld("k", `"12345"`)
	d.TTL = seconds(10)
	must[fact.Stored](t)(w.Facts.Remember(ctx, d))
	d.Persona, d.TTL = "coder", seconds(100)
	must[fact.Stored](t)(w.Facts.Remember(ctx, d))
	w.Advance(10 * time.Second)
	got := must[fact.Stats](t)(w.Facts.Stats(ctx))
	want := []fact.PersonaFacts{{Persona: "coder", Facts: 1, Bytes: 7}, {Persona: "default", Expired: 1, Bytes: 7}}
	if diff := cmp.Diff(want, got.Personas); diff != "" {
		t.Error(diff)
	}
	must[fact.Fact](t)(w.Facts.Recall(ctx, fact.Ref{Persona: "coder", Key: "k"}))
	must[fact.Fact](t)(w.Facts.Recall(ctx, fact.Ref{Persona: "coder", Key: "k"}))
	must[fact.Fact](t)(w.Facts.Recall(ctx, fact.Ref{Key: "k", StaleOK: true}))
	refuses(t, errs.NotFound, "")(w.Facts.Recall(ctx, at("k")))
	refuses(t, errs.NotFound, "")(w.Facts.Recall(ctx, at("none")))
	got = must[fact.Stats](t)(w.Facts.Stats(ctx))
	if c := got.Cache; c.Hits != 2 || c.Stale != 1 || c.Misses != 2 {
		t.Errorf("what readers found: %+v", c)
	}
}
