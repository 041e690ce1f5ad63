package learning_test

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/database/databasetest"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/knowledge"
)

// source makes drafts a source for Bulk, which ends with err.
func source(err error, drafts ...knowledge.Draft) func() (knowledge.Draft, error) {
	return func() (knowledge.Draft, error) {
		if len(drafts) == 0 {
			return knowledge.Draft{}, err
		}
		d := drafts[0]
		drafts = drafts[1:]
		return d, nil
	}
}

func entry(id, content string) knowledge.Draft {
	return knowledge.Draft{ID: id, Category: "pattern", Title: "Entry", Content: content}
}

func TestBulkTrustAndTitles(t *testing.T) {
	m := open(t, t.TempDir(), time.Now)
	ctx := principal.With(t.Context(), principal.Principal{AgentID: "importer", Scopes: []principal.Scope{principal.ScopeAgent}})
	untitled := entry("x", "no title")
	untitled.Title = ""
	result, err := m.knowledge.Bulk(ctx, source(io.EOF, untitled))
	if err != nil || result.Stored != 1 {
		t.Fatalf("%+v, %v", result, err)
	}
	got, err := m.knowledge.Entry(ctx, "x")
	if err != nil || got.Trust != learning.TrustImported || got.Author != "importer" {
		t.Errorf("imported: %+v, %v", got, err)
	}
	if _, err := m.knowledge.Store(ctx, entry("x", "rewritten")); err != nil {
		t.Fatal(err)
	}
	if got, err = m.knowledge.Entry(ctx, "x"); err != nil || got.Trust != learning.TrustAgent {
		t.Errorf("rewritten: %+v, %v", got, err)
	}
	if _, err := m.knowledge.Store(ctx, untitled); errs.FieldOf(err) != "title" {
		t.Errorf("stored without a title: %v", err)
	}
}

// TestBulkDecidesInOrder gives one chunk in which each record depends on those before it.
func TestBulkDecidesInOrder(t *testing.T) {
	m := open(t, t.TempDir(), time.Now)
	ctx := principal.With(t.Context(), principal.Open())
	if _, err := m.knowledge.Store(ctx, entry("old", "stored before")); err != nil {
		t.Fatal(err)
	}
	result, err := m.knowledge.Bulk(ctx, source(io.EOF,
		entry("old", "changed now"), // updated
		entry("", "stored before"),  // stored: nothing says that any more
		entry("", "changed NOW"),    // duplicate of old
		entry("a", "first"),         // stored
		entry("a", "second"),        // updated
		entry("", "first"),          // stored: a says something else by now
		entry("", "second"),         // duplicate of a
		entry("a", "second"),        // duplicate
		entry("b", "second"),        // stored: an id is an identity
		entry("a", "first"),         // updated
	))
	if err != nil || result.Stored != 4 || result.Updated != 3 || result.Duplicates != 3 || result.RefusedCount != 0 {
		t.Errorf("%+v, %v", result, err)
	}
	for id, content := range map[string]string{"old": "changed now", "a": "first", "b": "second"} {
		if got, err := m.knowledge.Entry(ctx, id); err != nil || got.Content != content {
			t.Errorf("%s: %q, %v; want %q", id, got.Content, err, content)
		}
	}
	same(t, m)
}

// same fails the test unless index and database hold the same ids.
func same(t *testing.T, m memory) {
	t.Helper()
	check, err := m.knowledge.Check(t.Context())
	if err != nil || !check.OK() {
		t.Errorf("index and database differ: %+v, %v", check, err)
	}
}

func TestBulkSaysWhatWasStoredBeforeAFailure(t *testing.T) {
	m := open(t, t.TempDir(), time.Now)
	ctx := principal.With(t.Context(), principal.Open())
	broken := errors.New("the line broke")
	result, err := m.knowledge.Bulk(ctx, source(broken, entry("1", "one"), entry("2", "two")))
	if !errors.Is(err, broken) || result.Stored != 2 {
		t.Errorf("%+v, %v; want 2 stored, and the failure", result, err)
	}
	same(t, m)
}

// room lets the database grow to so many pages of 4 KiB, which is to it as a full disk.
func room(t *testing.T, m memory, pages int) {
	t.Helper()
	err := m.db.Commit.Write(t.Context(), func(tx *gorm.DB) error {
		return tx.Exec(fmt.Sprintf("PRAGMA max_page_count = %d", pages)).Error
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
}

// TestManyOnAFullDisk lets many agents write until the disk is full, and on:
// what was acknowledged is stored and found, and nothing else is.
func TestManyOnAFullDisk(t *testing.T) {
	databasetest.FilesOnly(t)
	m := open(t, t.TempDir(), time.Now)
	ctx := principal.With(t.Context(), principal.Open())
	room(t, m, 150)
	var acknowledged sync.Map
	var full atomic.Int64
	var all sync.WaitGroup
	for a := range 16 {
		all.Go(func() {
			for i := range 40 {
				id := fmt.Sprint(a, "-", i)
				switch _, err := m.knowledge.Store(ctx, entry(id, strings.Repeat("word ", 40*(i%9)+1))); errs.CodeOf(err) {
				case "":
					acknowledged.Store(id, true)
				case errs.StorageFull:
					full.Add(1)
				default:
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if full.Load() == 0 {
		t.Fatal("the disk never was full")
	}
	stored := 0
	if err := m.store.IDs(ctx, knowledge.IndexKind, func(id string) {
		stored++
		if _, ok := acknowledged.LoadAndDelete(id); !ok {
			t.Errorf("%s is stored and was not acknowledged", id)
		}
	}); err != nil || stored == 0 {
		t.Errorf("%d stored, %v", stored, err)
	}
	acknowledged.Range(func(id, _ any) bool {
		t.Errorf("%v was acknowledged and is not stored", id)
		return true
	})
	same(t, m)
}

func TestBulkOnAFullDisk(t *testing.T) {
	databasetest.FilesOnly(t)
	m := open(t, t.TempDir(), time.Now)
	ctx := principal.With(t.Context(), principal.Open())
	room(t, m, 600)
	n := 0
	result, err := m.knowledge.Bulk(ctx, func() (knowledge.Draft, error) {
		n++
		return entry(fmt.Sprint(n), strings.Repeat("word ", 100)), nil
	})
	if errs.CodeOf(err) != errs.StorageFull || result.Stored == 0 || result.Stored >= n {
		t.Fatalf("%+v, %v after %d", result, err, n)
	}
	check, err := m.knowledge.Check(ctx)
	if err != nil || !check.OK() || check.Stored != result.Stored {
		t.Errorf("%+v, %v; want %d, as was answered", check, err, result.Stored)
	}
	if found, err := m.knowledge.Search(ctx, knowledge.Query{Query: "word"}); err != nil || found.Count == 0 {
		t.Errorf("reading on a full disk: %+v, %v", found, err)
	}
	if _, err := m.knowledge.Store(ctx, entry("big", strings.Repeat("x", 1<<20))); errs.CodeOf(err) != errs.StorageFull {
		t.Errorf("storing on a full disk: %v", err)
	}
	room(t, m, 100_000)
	if _, err := m.knowledge.Store(ctx, entry("big", strings.Repeat("x", 1<<20))); err != nil {
		t.Errorf("storing when there is room again: %v", err)
	}
	same(t, m)
}

func TestEventsTellOfEachChange(t *testing.T) {
	m := open(t, t.TempDir(), time.Now)
	agent := principal.Principal{AgentID: "alice", Scopes: []principal.Scope{principal.ScopeAgent}}
	ctx := principal.With(t.Context(), agent)
	bell := m.store.EventBell().Wait()
	d := entry("k", "one")
	d.Project = "p"
	steps := []error{}
	_, err := m.knowledge.Store(ctx, d)
	steps = append(steps, err)
	_, err = m.knowledge.Store(ctx, d) // a duplicate is no event
	steps = append(steps, err)
	title := "Other"
	_, err = m.knowledge.Update(ctx, "k", knowledge.Patch{Title: &title})
	steps = append(steps, err)
	_, err = m.knowledge.Update(ctx, "k", knowledge.Patch{Title: &title}) // nor is a change to the same
	steps = append(steps, err, m.knowledge.Delete(ctx, "k"))
	episode, err := m.episodes.Record(ctx, episode.Draft{EventType: "action", Title: "t", Content: "c"})
	steps = append(steps, err)
	if err := errors.Join(steps...); err != nil {
		t.Fatal(err)
	}
	select {
	case <-bell:
	default:
		t.Error("the bell did not ring")
	}
	events, err := m.store.Events(t.Context(), 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range events {
		got = append(got, fmt.Sprint(e.Type, " ", e.Subject, " ", e.Agent, " ", e.Project))
	}
	want := []string{"knowledge.stored k alice p", "knowledge.updated k alice p", "knowledge.deleted k alice p", "episode.recorded " + episode.ID + " alice "}
	if !slices.Equal(got, want) {
		t.Errorf("events %q, want %q", got, want)
	}
}

func TestRebuildFindsEverythingAgain(t *testing.T) {
	dir := t.TempDir()
	queries := []string{"decimal scan", "redirect login", "jitter"}
	var before []knowledge.Results
	t.Run("write", func(t *testing.T) {
		m := open(t, dir, time.Now)
		ctx := principal.With(t.Context(), principal.Open())
		drafts := []knowledge.Draft{entry("1", "decimal scan fails"), entry("2", "login redirects"), entry("3", "retry with jitter"), entry("4", "gone")}
		drafts[0].Tags = []string{"SQL"}
		if _, err := m.knowledge.Bulk(ctx, source(io.EOF, drafts...)); err != nil {
			t.Fatal(err)
		}
		if err := m.knowledge.Delete(ctx, "4"); err != nil {
			t.Fatal(err)
		}
		for _, q := range queries {
			r, err := m.knowledge.Search(ctx, knowledge.Query{Query: q, Explain: true})
			if err != nil {
				t.Fatal(err)
			}
			before = append(before, r)
		}
		if _, err := m.episodes.Record(ctx, episode.Draft{EventType: "action", Title: "sailed", Content: "away", AgentID: "a"}); err != nil {
			t.Fatal(err)
		}
	})
	m := open(t, dir, time.Now)
	ctx := principal.With(t.Context(), principal.Open())
	if check, err := m.knowledge.Check(ctx); err != nil || check.OK() || len(check.Missing) != 3 || check.Stored != 3 || check.Indexed != 0 {
		t.Errorf("before: %+v, %v", check, err)
	}
	if err := errors.Join(m.knowledge.Rebuild(ctx), m.episodes.Rebuild(ctx)); err != nil {
		t.Fatal(err)
	}
	same(t, m)
	for i, q := range queries {
		r, err := m.knowledge.Search(ctx, knowledge.Query{Query: q, Explain: true})
		if err != nil || len(r.Results) != len(before[i].Results) {
			t.Fatalf("%q: %+v, %v; want %+v", q, r, err, before[i])
		}
		for j, hit := range r.Results {
			if hit.ID != before[i].Results[j].ID || math.Abs(hit.RelevanceScore-before[i].Results[j].RelevanceScore) > 1e-9 {
				t.Errorf("%q: %s with %g, before it was %s with %g", q, hit.ID, hit.RelevanceScore, before[i].Results[j].ID, before[i].Results[j].RelevanceScore)
			}
		}
	}
	if r, err := m.knowledge.Search(ctx, knowledge.Query{Query: "decimal", Tags: []string{"sql"}}); err != nil || r.Count != 1 {
		t.Errorf("by tag: %+v, %v", r, err)
	}
	if r, err := m.episodes.Search(ctx, episode.Query{Query: "sailing", AgentID: "a"}); err != nil || r.Count != 1 {
		t.Errorf("episodes: %+v, %v", r, err)
	}
	if check, err := m.episodes.Check(ctx); err != nil || !check.OK() || check.Stored != 1 {
		t.Errorf("episodes: %+v, %v", check, err)
	}
}

// TestWritersAndSearchersTogether lets agents write, change, delete and search
// at once, while the index is rebuilt: at the end it is the database's.
func TestWritersAndSearchersTogether(t *testing.T) {
	m := open(t, t.TempDir(), time.Now)
	ctx := principal.With(t.Context(), principal.Open())
	const agents, rounds = 6, 40
	var all sync.WaitGroup
	for a := range agents {
		all.Go(func() {
			for i := range rounds {
				id := fmt.Sprintf("%d-%d", a, i%7)
				var err error
				switch i % 4 {
				case 0, 1:
					_, err = m.knowledge.Store(ctx, entry(id, fmt.Sprintf("agent %d round %d", a, i)))
				case 2:
					if err = m.knowledge.Delete(ctx, id); errs.CodeOf(err) == errs.NotFound {
						err = nil
					}
				case 3:
					_, err = m.knowledge.Bulk(ctx, source(io.EOF, entry(id, "bulk"), entry("", fmt.Sprint("unnamed ", i))))
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
		all.Go(func() {
			for range rounds {
				r, err := m.knowledge.Search(ctx, knowledge.Query{Query: "agent round", Limit: 50})
				if err != nil {
					t.Error(err)
				}
				for _, hit := range r.Results {
					if hit.Title != "Entry" {
						t.Errorf("hit %+v", hit)
					}
				}
			}
		})
	}
	all.Go(func() {
		for range 5 {
			if err := m.knowledge.Rebuild(ctx); err != nil {
				t.Error(err)
			}
		}
	})
	all.Wait()
	same(t, m)
	sameTexts(t, m)
}

// sameTexts fails the test unless each entry is found by its own text alone.
func sameTexts(t *testing.T, m memory) {
	t.Helper()
	ctx := principal.With(t.Context(), principal.Open())
	fresh := knowledge.NewBase(m.store, learning.Options{})
	if err := fresh.Rebuild(ctx); err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{"agent", "round 3", "bulk", "unnamed 7", "entry"} {
		q := knowledge.Query{Query: query, Limit: learning.MaxLimit}
		kept, err1 := m.knowledge.Search(ctx, q)
		built, err2 := fresh.Search(ctx, q)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		if got, want := hits(kept), hits(built); !slices.Equal(got, want) {
			t.Errorf("%q: the index that was kept in step finds\n%v, one built afresh\n%v", query, got, want)
		}
	}
}

func hits(r knowledge.Results) []string {
	out := []string{}
	for _, hit := range r.Results {
		out = append(out, fmt.Sprintf("%s %.6f", hit.ID, hit.RelevanceScore))
	}
	return out
}

// TestAnswersAreBounded stores more content than one answer may hold.
func TestAnswersAreBounded(t *testing.T) {
	m := open(t, t.TempDir(), time.Now)
	ctx := principal.With(t.Context(), principal.Open())
	const n, each = 9, learning.MaxContent - 10
	const fit = learning.MaxAnswer/each + 1
	for i := range n {
		if _, err := m.knowledge.Store(ctx, entry(fmt.Sprint(i), strings.Repeat("x", each)+fmt.Sprint(" end", i))); err != nil {
			t.Fatal(err)
		}
		if _, err := m.episodes.Record(ctx, episode.Draft{EventType: "action", Title: "Entry", Content: strings.Repeat("x", each)}); err != nil {
			t.Fatal(err)
		}
	}
	found, err := m.knowledge.Search(ctx, knowledge.Query{Query: "entry", Limit: n})
	if err != nil || found.Count != fit || found.LeftOut != n-fit {
		t.Errorf("found %d, left out %d, %v; want %d of %d", found.Count, found.LeftOut, err, fit, n)
	}
	past, err := m.episodes.Search(ctx, episode.Query{Query: "entry", Limit: n})
	if err != nil || past.Count != fit || past.LeftOut != n-fit {
		t.Errorf("found %d episodes, left out %d, %v", past.Count, past.LeftOut, err)
	}
	if recent, err := m.episodes.Recent(ctx, episode.Filter{Limit: n}); err != nil || len(recent) != fit {
		t.Errorf("%d recent episodes, %v", len(recent), err)
	}
	var ids []string
	filter, pages := knowledge.Filter{}, 0
	for {
		page, err := m.knowledge.List(ctx, filter)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page.Results {
			ids = append(ids, e.ID)
		}
		if pages++; page.Next == "" {
			break
		}
		filter.Cursor = page.Next
	}
	if got := strings.Join(ids, " "); got != "8 7 6 5 4 3 2 1 0" || pages != 2 {
		t.Errorf("%d pages: %s", pages, got)
	}
}
