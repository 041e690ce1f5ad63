package learning_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/fact"
)

// modelFact is what the model remembers of a fact.
type modelFact struct {
	value   int
	version int64
	ttl     int64
	expires time.Time // zero: never
}

func (m modelFact) live(at time.Time) bool { return m.expires.IsZero() || at.Before(m.expires) }

// TestFactHistories makes random histories of writes, comparisons, deletions,
// sweeps, restarts and jumps of the clock, and holds facts to a map.
func TestFactHistories(t *testing.T) {
	clock := newHandClock()
	dir := t.TempDir()
	facts, m := openFacts(t, dir, clock.now)
	ctx := principal.With(t.Context(), principal.Open())
	histories := 0
	rapid.Check(t, func(r *rapid.T) {
		histories++
		persona := fmt.Sprint("p", histories) // each history has the facts of one persona
		model, told := map[string]modelFact{}, map[int64]bool{}
		last, begin := int64(0), lastEvent(t, m)
		key := func() string { return rapid.SampledFrom([]string{"a", "b", "a/b"}).Draw(r, "key") }
		ttl := func() int64 { return rapid.SampledFrom([]int64{0, 1, 2, 60, 3600}).Draw(r, "ttl") }
		wrote := func(k string, value int, ttl, version int64) {
			if version <= last {
				r.Fatalf("version %d after %d", version, last)
			}
			f := modelFact{value: value, version: version, ttl: ttl}
			if ttl > 0 {
				f.expires = clock.now().Add(time.Duration(ttl) * time.Second)
			}
			model[k], last = f, version
		}
		check := func(k string) {
			want, there := model[k]
			there = there && want.live(clock.now())
			got, err := facts.Recall(ctx, fact.Ref{Persona: persona, Key: k})
			if !there {
				if errs.CodeOf(err) != errs.NotFound {
					r.Fatalf("%s: %+v, %v; nothing should be there", k, got, err)
				}
				return
			}
			if err != nil || string(got.Value) != fmt.Sprint(want.value) || got.Version != want.version || got.TTL != want.ttl {
				r.Fatalf("%s: %+v, %v; want %+v", k, got, err, want)
			}
		}
		r.Repeat(map[string]func(*rapid.T){
			"set": func(r *rapid.T) {
				k, value, ttl := key(), rapid.Int().Draw(r, "value"), ttl()
				stored, err := facts.Remember(ctx, fact.Draft{Persona: persona, Key: k, Value: json.RawMessage(fmt.Sprint(value)), TTL: &ttl})
				old, there := model[k]
				if err != nil || stored.Replaced != (there && old.live(clock.now())) {
					r.Fatal(stored, err)
				}
				wrote(k, value, ttl, stored.Version)
			},
			"compare and set": func(r *rapid.T) {
				k, value, ttl := key(), rapid.Int().Draw(r, "value"), ttl()
				old, there := model[k]
				there = there && old.live(clock.now())
				expect := rapid.SampledFrom([]int64{0, last, old.version}).Draw(r, "expect")
				fits := expect == 0 && !there || there && expect == old.version
				stored, err := facts.Remember(ctx, fact.Draft{Persona: persona, Key: k, Value: json.RawMessage(fmt.Sprint(value)), TTL: &ttl, IfVersion: &expect})
				if fits != (err == nil) || !fits && errs.CodeOf(err) != errs.Conflict {
					r.Fatalf("expecting %d over %+v (live %v): %v", expect, old, there, err)
				}
				if fits {
					wrote(k, value, ttl, stored.Version)
				}
			},
			"update": func(r *rapid.T) {
				k, value := key(), rapid.Int().Draw(r, "value")
				old, there := model[k]
				there = there && old.live(clock.now())
				got, err := facts.Update(ctx, fact.Ref{Persona: persona, Key: k}, fact.Patch{Value: json.RawMessage(fmt.Sprint(value))})
				if there != (err == nil) {
					r.Fatalf("%+v: %v", old, err)
				}
				if there {
					wrote(k, value, old.ttl, got.Version)
				}
			},
			"forget": func(r *rapid.T) {
				k := key()
				err := facts.Forget(ctx, fact.Ref{Persona: persona, Key: k})
				if code := errs.CodeOf(err); code != "" && code != errs.NotFound {
					r.Fatal(err)
				}
				delete(model, k)
			},
			"time passes": func(r *rapid.T) {
				clock.advance(time.Duration(rapid.SampledFrom([]int64{1, 999, 1000, 60_000, 3_600_000, 30 * 3_600_000}).Draw(r, "ms")) * time.Millisecond)
			},
			"sweep": func(r *rapid.T) {
				if _, err := facts.Sweep(ctx); err != nil {
					r.Fatal(err)
				}
				for _, e := range expiries(r, m, begin, persona) {
					if told[e.Version] {
						r.Fatalf("version %d is told of twice", e.Version)
					}
					told[e.Version] = true
				}
				begin = lastEvent(t, m)
				for k, f := range model {
					if f.live(clock.now()) == told[f.version] {
						r.Fatalf("%s, version %d: live %v, told of %v", k, f.version, f.live(clock.now()), told[f.version])
					}
				}
			},
			"forget what is in memory": func(*rapid.T) { // as a restart does
				facts = fact.NewFacts(m.store, learning.Options{Now: clock.now})
			},
			"": func(r *rapid.T) {
				for _, k := range []string{"a", "b", "a/b"} {
					check(k)
				}
				page, err := facts.Search(ctx, fact.Query{Persona: persona})
				var want []string
				for _, k := range slices.Sorted(maps.Keys(model)) {
					if model[k].live(clock.now()) {
						want = append(want, k)
					}
				}
				var got []string
				for _, f := range page.Facts {
					got = append(got, f.Key)
				}
				if err != nil || !slices.Equal(got, want) {
					r.Fatalf("a search finds %v, want %v (%v)", got, want, err)
				}
			},
		})
	})
}

type failing interface{ Fatal(args ...any) }

func lastEvent(t failing, m memory) (seq int64) {
	if err := m.db.Read.Raw("SELECT coalesce(max(seq), 0) FROM events").Scan(&seq).Error; err != nil {
		t.Fatal(err)
	}
	return seq
}

// expiries are the events after a number that tell of expired facts of a persona.
func expiries(t failing, m memory, after int64, persona string) (list []fact.Event) {
	var data []string
	if err := m.db.Read.Raw("SELECT data FROM events WHERE type = ? AND seq > ? ORDER BY seq", fact.EventExpired, after).Scan(&data).Error; err != nil {
		t.Fatal(err)
	}
	for _, text := range data {
		var e fact.Event
		if err := json.Unmarshal([]byte(text), &e); err != nil {
			t.Fatal(err)
		}
		if e.Persona == persona {
			list = append(list, e)
		}
	}
	return list
}

// TestExpiredFactsAreToldOfInBoundedSteps expires more facts than one step takes.
func TestExpiredFactsAreToldOfInBoundedSteps(t *testing.T) {
	clock := newHandClock()
	facts, m := openFacts(t, t.TempDir(), clock.now)
	ctx := principal.With(t.Context(), principal.Open())
	second := int64(1)
	for i := range 450 {
		if _, err := facts.Remember(ctx, fact.Draft{Key: fmt.Sprint(i), Value: json.RawMessage("1"), TTL: &second, Probe: fmt.Sprint("check ", i)}); err != nil {
			t.Fatal(err)
		}
	}
	if told, err := facts.Sweep(ctx); told != 0 || err != nil {
		t.Errorf("before they expire: %d, %v", told, err)
	}
	clock.advance(time.Second)
	if told, err := facts.Sweep(ctx); told != 450 || err != nil {
		t.Errorf("told of %d, %v", told, err)
	}
	events := expiries(t, m, 0, learning.DefaultPersona)
	if len(events) != 450 || !strings.HasPrefix(events[0].Probe, "check ") || events[0].Key == "" || events[0].ExpiresAt == nil {
		t.Errorf("%d events, the first %+v", len(events), events[0])
	}
	if told, err := facts.Sweep(ctx); told != 0 || err != nil {
		t.Errorf("again: %d, %v", told, err)
	}
	clock.advance(fact.StaleRetention)
	if _, err := facts.Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	var rows int64
	if err := m.db.Read.Raw("SELECT count(*) FROM facts").Scan(&rows).Error; err != nil || rows != 0 {
		t.Errorf("%d rows are left, %v", rows, err)
	}
	if _, err := facts.Recall(ctx, fact.Ref{Key: "1", StaleOK: true}); errs.CodeOf(err) != errs.NotFound {
		t.Errorf("what was dropped: %v", err)
	}
}

// TestAccessCountsOutliveTheProcess writes the counts at the end of Run.
func TestAccessCountsOutliveTheProcess(t *testing.T) {
	facts, m := openFacts(t, t.TempDir(), time.Now)
	ctx := principal.With(t.Context(), principal.Open())
	if _, err := facts.Remember(ctx, fact.Draft{Key: "a/b", Value: json.RawMessage("1")}); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if _, err := facts.Recall(ctx, fact.Ref{Key: "a/b"}); err != nil {
			t.Fatal(err)
		}
	}
	ended, stop := context.WithCancel(ctx)
	stop()
	if err := facts.Run(ended); err != nil {
		t.Fatal(err)
	}
	again := fact.NewFacts(m.store, learning.Options{})
	if got, err := again.Recall(ctx, fact.Ref{Key: "a/b"}); err != nil || got.AccessCount != 6 {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := facts.Recall(ctx, fact.Ref{Key: "a/b"}); err != nil || got.AccessCount != 6 {
		t.Errorf("in the same process: %+v, %v", got, err)
	}
}

// TestAWrongPersonaIsRefused asks for a fact that is in memory by a persona that there cannot be.
func TestAWrongPersonaIsRefused(t *testing.T) {
	facts, _ := openFacts(t, t.TempDir(), time.Now)
	ctx := principal.With(t.Context(), principal.Open())
	if _, err := facts.Remember(ctx, fact.Draft{Key: "a/b", Value: json.RawMessage("1")}); err != nil {
		t.Fatal(err)
	}
	if _, err := facts.Recall(ctx, fact.Ref{Key: "a/b"}); err != nil {
		t.Fatal(err)
	}
	if got, err := facts.Recall(ctx, fact.Ref{Persona: "default/a", Key: "b"}); errs.CodeOf(err) != errs.Invalid {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestRecalledFactsFollowEveryChange reads a fact at two nodes before and after each way to change it.
func TestRecalledFactsFollowEveryChange(t *testing.T) {
	clock := newHandClock()
	facts, m := openFacts(t, t.TempDir(), clock.now)
	other := fact.NewFacts(m.store, learning.Options{Now: clock.now})
	ctx := principal.With(t.Context(), principal.Open())
	ref := fact.Ref{Key: "a/b"}
	remember := func(value string) error {
		_, err := facts.Remember(ctx, fact.Draft{Key: ref.Key, Value: json.RawMessage(value), TTL: new(int64(60))})
		return err
	}
	followed := int64(0)
	for _, step := range []struct {
		name, want string // empty: there is none
		change     func() error
	}{
		{"remember", "1", func() error { return remember("1") }},
		{"overwrite", "2", func() error { return remember("2") }},
		{"update", "3", func() error {
			_, err := facts.Update(ctx, ref, fact.Patch{Value: json.RawMessage("3")})
			return err
		}},
		{"forget", "", func() error { return facts.Forget(ctx, ref) }},
		{"restore", "3", func() error {
			deleted, err := m.store.Changes(ctx, learning.ChangeFilter{Operation: learning.Deleted, Limit: 1})
			if err != nil {
				return err
			}
			event := eventlog.Event{Type: "fact.restored", Subject: fact.ID("default", ref.Key), At: clock.now()}
			return cmp.Or(m.store.TakeBack(ctx, learning.Back{Number: deleted[0].Number, Event: &event}), facts.Follow(ctx, []eventlog.Event{event}))
		}},
		{"clear", "", func() error {
			_, err := facts.Clear(ctx, "default", "", 10)
			return err
		}},
		{"take", "4", func() error {
			taken, err := facts.Take(ctx, []fact.Fact{{Persona: "default", Key: ref.Key, Value: json.RawMessage("4"), TTL: 60}}, learning.Taking{})
			return cmp.Or(err, taken[0].Err)
		}},
		{"expire", "", func() error {
			clock.advance(2 * time.Minute)
			_, err := facts.Sweep(ctx)
			return err
		}},
	} {
		if err := step.change(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		events, err := m.store.Events(ctx, followed, 100)
		if err != nil || other.Follow(ctx, events) != nil {
			t.Fatal(err)
		}
		followed = events[len(events)-1].Seq
		for node, at := range []*fact.Facts{facts, other} {
			got, err := at.Recall(ctx, ref)
			if string(got.Value) != step.want || (err != nil) != (step.want == "") {
				t.Errorf("%s, node %d: %s, %v; wanted %q", step.name, node, got.Value, err, step.want)
			}
		}
	}
}

// TestGlobAgreesWithPath holds patterns to path.Match, where the two mean the
// same: for texts without a slash and patterns that both take.
func TestGlobAgreesWithPath(t *testing.T) {
	facts, _ := openFacts(t, t.TempDir(), time.Now)
	ctx := principal.With(t.Context(), principal.Open())
	keys := []string{}
	for i := range 300 {
		key := ""
		for n := i; n > 0; n /= 4 {
			key += string([]rune("abcü")[n%4])
		}
		if key == "" {
			continue
		}
		keys = append(keys, key)
		if _, err := facts.Remember(ctx, fact.Draft{Key: key, Value: json.RawMessage("1")}); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	rapid.Check(t, func(r *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "ü", "*", "**", "?", "[ab]", "[a-c]", "[^a]", "[^a-b]"}), 1, 8).Draw(r, "pattern")
		pattern := strings.Join(parts, "")
		page, err := facts.Search(ctx, fact.Query{Pattern: pattern, Limit: fact.MaxPage})
		if err != nil {
			r.Fatal(err)
		}
		var got, want []string
		for _, f := range page.Facts {
			got = append(got, f.Key)
		}
		for _, key := range keys {
			if fits, err := path.Match(pattern, key); err != nil {
				r.Fatal(err)
			} else if fits {
				want = append(want, key)
			}
		}
		if !slices.Equal(got, want) {
			r.Fatalf("%s: %v, want %v", pattern, got, want)
		}
	})
}
