package app_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"skillrouter"
	"skillrouter/learning"
	"skillrouter/learning/fact"
	"skillrouter/learning/knowledge"
	"skillrouter/learning/lesson"
	learningstore "skillrouter/learning/store"
)

// version is what was known of one thing from a time on.
type version struct {
	from    time.Time
	text    string
	expires time.Time // of a fact; zero: never
	gone    bool
}

// then is what a model says of a thing at a time.
func then(versions []version, at time.Time) string {
	text := ""
	for _, v := range versions {
		if !v.from.After(at) {
			if text = v.text; !v.expires.IsZero() && !at.Before(v.expires) {
				text = ""
			}
		}
	}
	if len(versions) > 0 && versions[len(versions)-1].gone {
		return "" // what was deleted stays deleted, at every time
	}
	return text
}

// TestAsOf writes at random times, and asks at 1,000 random times what was known then, of a model and of the router.
func TestAsOf(t *testing.T) {
	t.Parallel() // it waits most of its time
	db, _ := counted(t, "learning")
	rows := learningstore.New(db.Read, db.Commit)
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	now := start
	clock := func() time.Time { return now }
	ctx := skillrouter.WithPrincipal(t.Context(), skillrouter.Open())
	base, facts := knowledge.NewBase(rows, learning.Options{Now: clock}), fact.NewFacts(rows, learning.Options{Now: clock})
	lessons := lesson.NewLessons(rows, lesson.Options{Options: learning.Options{Now: clock}})
	random := rand.New(rand.NewPCG(16, 5))
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	const things = 12
	known, held, learned := make([][]version, things), make([][]version, things), make([][]version, things)
	for step := range 400 {
		now = now.Add(time.Duration(1+random.IntN(3_600_000)) * time.Millisecond)
		i, text := random.IntN(things), fmt.Sprintf("text %d", step)
		id, deletes := fmt.Sprintf("thing-%d", i), i < 3 && step > 300
		switch step % 3 {
		case 0:
			if deletes && len(known[i]) > 0 && !known[i][len(known[i])-1].gone {
				must(base.Delete(ctx, id))
				known[i][len(known[i])-1].gone = true
				continue
			}
			if len(known[i]) > 0 && known[i][len(known[i])-1].gone {
				known[i] = nil // it begins anew
			}
			_, err := base.Store(ctx, knowledge.Draft{ID: id, Category: "c", Title: id, Content: text})
			must(err)
			known[i] = append(known[i], version{from: now, text: text})
		case 1:
			if deletes && len(held[i]) > 0 && !held[i][len(held[i])-1].gone {
				must(facts.Forget(ctx, fact.Ref{Key: id}))
				held[i][len(held[i])-1].gone = true
				continue
			}
			if len(held[i]) > 0 && held[i][len(held[i])-1].gone {
				held[i] = nil
			}
			ttl := int64(random.IntN(3)) * 86400
			value, _ := json.Marshal(text)
			_, err := facts.Remember(ctx, fact.Draft{Key: id, Value: value, TTL: &ttl})
			must(err)
			v := version{from: now, text: string(value)}
			if ttl > 0 {
				v.expires = now.Add(time.Duration(ttl) * time.Second)
			}
			held[i] = append(held[i], v)
			_, err = facts.Sweep(ctx)
			must(err)
		default:
			switch {
			case len(learned[i]) == 0:
				_, err := lessons.Report(ctx, lesson.Draft{ID: "l" + id, Type: learning.LessonFailure, Domain: id, Category: "c", Title: text, Context: "c", Action: "a", Outcome: "o"})
				must(err)
				learned[i] = []version{{from: now, text: text + " candidate"}}
			case random.IntN(4) == 0:
				l, err := lessons.Lesson(ctx, "l"+id)
				must(err)
				if l.Status == lesson.StatusRetired {
					l, err = lessons.Restore(ctx, "l"+id, "")
				} else {
					l, err = lessons.Retire(ctx, "l"+id, lesson.RetirementDraft{Reason: "r"})
				}
				must(err)
				learned[i] = append(learned[i], version{from: now, text: l.Title + " " + string(l.Status)})
			default:
				l, err := lessons.Edit(ctx, "l"+id, lesson.Patch{Title: &text})
				if err != nil {
					t.Fatal(err)
				}
				learned[i] = append(learned[i], version{from: now, text: text + " " + string(l.Status)})
			}
		}
	}
	now = now.Add(time.Hour)
	changed := 0
	for range 1000 {
		at := start.Add(time.Duration(random.Int64N(int64(now.Sub(start)))).Truncate(time.Millisecond))
		page, err := base.List(ctx, knowledge.Filter{AsOf: at, Limit: things})
		must(err)
		values, err := facts.Search(ctx, fact.Query{AsOf: at})
		must(err)
		list, err := lessons.List(ctx, lesson.Filter{AsOf: at, Statuses: lesson.Statuses()})
		must(err)
		for i := range things {
			id := fmt.Sprintf("thing-%d", i)
			check := func(what, want, listed, one string, err error) {
				t.Helper()
				if err != nil && skillrouter.CodeOf(err) != skillrouter.NotFound {
					t.Fatal(err)
				}
				if listed != want || one != want {
					t.Fatalf("%s %s at %s: %q is listed, %q is answered, and %q was known", what, id, at, listed, one, want)
				}
			}
			listed := ""
			if j := slices.IndexFunc(page.Results, func(e knowledge.Knowledge) bool { return e.ID == id }); j >= 0 {
				listed = page.Results[j].Content
			}
			entry, err := base.EntryThen(ctx, knowledge.Ref{ID: id, AsOf: at})
			check("entry", then(known[i], at), listed, entry.Content, err)
			if current, err := base.Entry(ctx, id); err == nil && current.Content != entry.Content {
				changed++
			}
			listed = ""
			if j := slices.IndexFunc(values.Facts, func(f fact.Fact) bool { return f.Key == id }); j >= 0 {
				listed = string(values.Facts[j].Value)
			}
			value, err := facts.Recall(ctx, fact.Ref{Key: id, AsOf: at})
			check("fact", then(held[i], at), listed, string(value.Value), err)
			listed = ""
			if j := slices.IndexFunc(list.Lessons, func(l lesson.Lesson) bool { return l.ID == "l"+id }); j >= 0 {
				listed = list.Lessons[j].Title + " " + string(list.Lessons[j].Status)
			}
			one := ""
			l, err := lessons.LessonThen(ctx, lesson.Ref{ID: "l" + id, AsOf: at})
			if err == nil {
				one = l.Title + " " + string(l.Status)
			}
			check("lesson", then(learned[i], at), listed, one, err)
		}
	}
	if changed < 1000 {
		t.Errorf("only %d answers differ from today's: the test asks nothing", changed)
	}
	// What an entry said then is found by words that it has no more.
	for i := 4; i < things; i++ {
		first := known[i][0]
		found, err := base.Find(ctx, knowledge.Query{Query: first.text, AsOf: first.from})
		must(err)
		if !slices.ContainsFunc(found.Results, func(h knowledge.Hit) bool { return h.Content == first.text }) {
			t.Errorf("%q is not found as of then", first.text)
		}
	}
}
