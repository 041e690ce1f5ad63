package store_test

import (
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skillrouter/skillrouter/internal/database"
	"github.com/skillrouter/skillrouter/internal/database/databasetest"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/learning/store"
)

// open opens a learning.db of the test's own.
func open(t *testing.T) *store.Store {
	t.Helper()
	s, _ := opened(t)
	return s
}

// database is open with the database beside the store.
func opened(t testing.TB) (*store.Store, *database.DB) {
	t.Helper()
	db, err := databasetest.OpenIn(t, t.TempDir(), "learning", time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() { _ = db.Commit.Run(t.Context()) })
	t.Cleanup(func() {
		running.Wait()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return store.New(db.Read, db.Commit), db
}

// change makes one change and fails the test if it fails.
func change(t *testing.T, s *store.Store, decide func(tx lesson.PipelineTx) error) {
	t.Helper()
	if err := s.Change(t.Context(), decide, nil)(); err != nil {
		t.Fatal(err)
	}
}

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// fullLesson has a value of its own in every field that is stored.
func fullLesson(id string) lesson.Lesson {
	validated, retired := noon.Add(time.Hour), noon.Add(2*time.Hour)
	return lesson.Lesson{
		ID: id, Type: learning.LessonAntiPattern, Domain: "infrastructure", Category: "docker", Title: "Title of " + id, Context: "context",
		Action: "action", Outcome: "outcome", RootCause: "cause", Solution: "solution", Body: "# Body", Alternatives: []string{"a", "b"},
		Severity: learning.SeverityHigh, Tags: []string{"Docker", "日本"}, SourceAgent: "CHRONOS", Reporter: "chronos", Validator: "@ada", RelatedFiles: []string{"/a\"b"},
		RelatedCommands: []string{"rm -rf /"}, Contexts: []string{"deploy"}, TriggerPattern: "rm -rf", BlockAction: true, Proposed: true, Project: "p",
		Trust: learning.TrustImported, Level: lesson.LevelPattern, Status: lesson.StatusValidated, Transferability: 4,
		SourceCaseIDs: []string{"x", "y"}, PatternID: "pattern-1",
		Belief:      lesson.Belief{InitialConfidence: 0.7, DecayConstant: 0.01, ConfidenceAt: noon.Add(time.Minute)},
		Occurrences: 3, LastOccurred: noon.Add(2 * time.Minute), TimesApplied: 7, TimesSucceeded: 5, Validated: true, ValidatedBy: "Damon W.",
		ValidationNotes: "notes", LastValidatedAt: &validated, SupersededBy: "z", RetiredAt: &retired, RetiredReason: "reason", Deprecated: true,
		CreatedAt: noon.Add(3 * time.Minute), UpdatedAt: noon.Add(4 * time.Minute),
	}
}

// complete fails the test if a field of the struct is zero, so that a field
// that is added and not stored is noticed. Those named are not stored.
func complete(t *testing.T, value any, except ...string) {
	t.Helper()
	v := reflect.ValueOf(value)
	for i := range v.NumField() {
		if name := v.Type().Field(i).Name; v.Field(i).IsZero() && !slices.Contains(except, name) {
			t.Errorf("%T has no value in %s", value, name)
		}
	}
}

func TestLessonsComeBackAsTheyWereStored(t *testing.T) {
	s := open(t)
	want := fullLesson("a")
	complete(t, want, "Number", "Confidence")
	complete(t, want.Belief)
	bare := lesson.Lesson{
		ID: "b", Type: learning.LessonFailure, Severity: learning.SeverityLow, Level: lesson.LevelCase, Status: lesson.StatusCandidate, Transferability: 1,
		Trust: learning.TrustAgent, Alternatives: []string{}, Tags: []string{}, RelatedFiles: []string{}, RelatedCommands: []string{}, Contexts: []string{},
		SourceCaseIDs: []string{}, Belief: lesson.Belief{ConfidenceAt: noon}, LastOccurred: noon, CreatedAt: noon, UpdatedAt: noon,
	}
	change(t, s, func(tx lesson.PipelineTx) error {
		for _, l := range []*lesson.Lesson{&want, &bare} {
			if err := tx.InsertLesson(l, learning.Fingerprint{1}); err != nil {
				return err
			}
		}
		got, err := tx.LessonsByFingerprint(learning.Fingerprint{1}, 1) // sees what its own transaction wrote
		if diff := cmp.Diff([]lesson.Lesson{want}, got); diff != "" || err != nil {
			t.Errorf("in the transaction: %v\n%s", err, diff)
		}
		return nil
	})
	if want.Number != 1 || bare.Number != 2 {
		t.Errorf("numbers %d, %d", want.Number, bare.Number)
	}
	for ref, want := range map[string]lesson.Lesson{"a": want, "1": want, "b": bare, "2": bare} {
		got, ok, err := s.LessonOf(t.Context(), ref)
		if diff := cmp.Diff(want, got); diff != "" || !ok || err != nil {
			t.Errorf("%s: %v %v\n%s", ref, ok, err, diff)
		}
	}
	for _, ref := range []string{"c", "3", "-1", "+1", "01 ", "1_0", "99999999999999999999", ""} {
		if _, ok, err := s.LessonOf(t.Context(), ref); ok || err != nil {
			t.Errorf("%q: %v, %v", ref, ok, err)
		}
	}
	changed := fullLesson("b")
	changed.Number = 2
	change(t, s, func(tx lesson.PipelineTx) error { return tx.UpdateLesson(changed, learning.Fingerprint{2}) })
	found, err := s.Lessons(t.Context(), []string{"a", "b", "none"})
	slices.SortFunc(found, func(x, y lesson.Lesson) int { return int(x.Number - y.Number) })
	if diff := cmp.Diff([]lesson.Lesson{want, changed}, found); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	var scanned []lesson.Lesson
	err = s.ScanLessons(t.Context(), func(chunk []lesson.Lesson) error { scanned = append(scanned, chunk...); return nil })
	if diff := cmp.Diff(found, scanned); diff != "" || err != nil {
		t.Errorf("scan: %v\n%s", err, diff)
	}
	var ids []string
	if err := s.IDs(t.Context(), lesson.IndexKind, func(id string) { ids = append(ids, id) }); err != nil || len(ids) != 2 { // neither is retired
		t.Errorf("ids %v, %v", ids, err)
	}
}

func TestAFailedChangeLeavesNothing(t *testing.T) {
	s := open(t)
	broken := errors.New("broken")
	after := false
	err := s.Change(t.Context(), func(tx lesson.PipelineTx) error {
		l := fullLesson("a")
		return errors.Join(tx.InsertLesson(&l, learning.Fingerprint{}), tx.AddEvents(eventlog.Event{Type: "x", Subject: "a", At: noon}), broken)
	}, func() { after = true })()
	if !errors.Is(err, broken) || after {
		t.Errorf("%v, after ran: %v", err, after)
	}
	if _, ok, err := s.LessonOf(t.Context(), "a"); ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
	if events, err := s.Events(t.Context(), 0, 10); len(events) != 0 || err != nil {
		t.Errorf("%v, %v", events, err)
	}
}

func TestListLessons(t *testing.T) {
	s := open(t)
	at := noon.Add(100 * 24 * time.Hour) // e^(−0.01·100) = 0.3679 is left
	lessons := []lesson.Lesson{fullLesson("a"), fullLesson("b"), fullLesson("c"), fullLesson("d")}
	lessons[1].Type, lessons[1].Domain, lessons[1].Category, lessons[1].Severity = learning.LessonSuccess, "other", "sql", learning.SeverityLow
	lessons[1].Level, lessons[1].SourceAgent, lessons[1].Project, lessons[1].Tags = lesson.LevelCase, "HADES", "q", []string{"sql"}
	lessons[2].Status, lessons[2].CreatedAt = lesson.StatusRetired, noon.Add(time.Hour)
	lessons[3].InitialConfidence, lessons[3].ConfidenceAt = 0.5, at.Add(time.Hour) // a clock that went back takes nothing off
	change(t, s, func(tx lesson.PipelineTx) error {
		for i := range lessons {
			if err := tx.InsertLesson(&lessons[i], learning.Fingerprint{byte(i)}); err != nil {
				return err
			}
		}
		return nil
	})
	type filter = lesson.Filter
	for name, c := range map[string]struct {
		filter filter
		before int64
		want   string
	}{
		"all but retired":  {want: "d b a"},
		"retired":          {filter: filter{Statuses: []lesson.Status{lesson.StatusRetired}}, want: "c"},
		"several statuses": {filter: filter{Statuses: lesson.Statuses()}, want: "d c b a"},
		"limit":            {filter: filter{Limit: 2}, want: "d b"},
		"before":           {before: 4, want: "b a"},
		"type":             {filter: filter{Type: learning.LessonSuccess}, want: "b"},
		"domain":           {filter: filter{Domain: "infrastructure"}, want: "d a"},
		"category":         {filter: filter{Category: "sql"}, want: "b"},
		"severity":         {filter: filter{Severity: learning.SeverityLow}, want: "b"},
		"level":            {filter: filter{Level: lesson.LevelCase}, want: "b"},
		"agent":            {filter: filter{SourceAgent: "HADES"}, want: "b"},
		"project":          {filter: filter{Project: "q"}, want: "b"},
		"tag without case": {filter: filter{Tag: "DOCKER"}, want: "d a"},
		"tag, and none":    {filter: filter{Tag: "dock"}, want: ""},
		"since":            {filter: filter{Since: noon.Add(30 * time.Minute), Statuses: lesson.Statuses()}, want: "c"},
		"confidence":       {filter: filter{MinConfidence: 0.4}, want: "d"},
		"low confidence":   {filter: filter{MinConfidence: 0.25}, want: "d b a"},
		"text of an enum":  {filter: filter{Type: "'; DROP TABLE lessons; --"}, want: ""},
	} {
		if c.filter.Limit == 0 {
			c.filter.Limit = 10
		}
		found, err := s.ListLessons(t.Context(), c.filter, c.before, at)
		got := ""
		for _, l := range found {
			got += " " + l.ID
		}
		if err != nil || got != " "+c.want && got != c.want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, c.want)
		}
	}
	for _, severity := range append(learning.Severities(), "") { // whichever index serves
		for _, level := range append(lesson.Levels(), "") {
			for _, statuses := range [][]lesson.Status{nil, {lesson.StatusCandidate}, {lesson.StatusRetired}, {lesson.StatusValidated}, {lesson.StatusCanonical}, lesson.Statuses()} {
				want := []string{}
				for _, l := range slices.Backward(lessons) {
					if (severity == "" || l.Severity == severity) && (level == "" || l.Level == level) && (slices.Contains(statuses, l.Status) || statuses == nil && l.Status != lesson.StatusRetired) {
						want = append(want, l.ID)
					}
				}
				found, err := s.ListLessons(t.Context(), filter{Severity: severity, Level: level, Statuses: statuses, Limit: 10}, 0, at)
				got := []string{}
				for _, l := range found {
					got = append(got, l.ID)
				}
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("%s %s %v: %v, %v; want %v", severity, level, statuses, got, err, want)
				}
			}
		}
		for _, scope := range []*lesson.RecallScope{nil, {Agent: "HADES", Domain: "other"}} {
			if _, err := s.ListLessons(t.Context(), filter{Severity: severity, Scope: scope, OccurredSince: at, Limit: 10}, 0, at); err != nil {
				t.Errorf("in a memory, %s: %v", severity, err)
			}
		}
	}
}

// TestTopicsAreTagsInAnyCase finds lessons by tags with letters that are not ASCII, too.
func TestTopicsAreTagsInAnyCase(t *testing.T) {
	s := open(t)
	change(t, s, func(tx lesson.PipelineTx) error {
		for i, tag := range []string{"überwachung", "Überwachung", "ÜBERWACHUNG", "PostgreSQL"} {
			tagged := fullLesson(tag)
			tagged.Tags = []string{tag}
			if err := tx.InsertLesson(&tagged, learning.Fingerprint{byte(i)}); err != nil {
				return err
			}
		}
		return nil
	})
	found, err := s.ByTopic(t.Context(), []string{"überwachung", "postgresql"}, 5)
	if err != nil || len(found["überwachung"]) != 3 || len(found["postgresql"]) != 1 {
		t.Errorf("%d and %d, %v", len(found["überwachung"]), len(found["postgresql"]), err)
	}
}

func TestHistoryAndApplications(t *testing.T) {
	s := open(t)
	title := "old title"
	changes := []lesson.Change{
		{LessonID: "a", Kind: "reported", Agent: "x", At: noon},
		{LessonID: "b", Kind: "reported", At: noon},
		{
			LessonID: "a", Kind: "edited", Note: "note", At: noon.Add(time.Hour),
			Before: &lesson.Snapshot{Level: lesson.LevelCase, Status: lesson.StatusCandidate, Confidence: 0.5, Patch: &lesson.Patch{Title: &title}},
			After:  &lesson.Snapshot{Confidence: 0.25},
		},
	}
	change(t, s, func(tx lesson.PipelineTx) error {
		for _, id := range []string{"a", "b"} {
			l := fullLesson(id)
			if err := tx.InsertLesson(&l, learning.Fingerprint{}); err != nil {
				return err
			}
		}
		for _, c := range changes {
			if err := tx.AddChange(c); err != nil {
				return err
			}
		}
		for i := range 5 {
			if err := tx.AddApplication(lesson.Application{LessonID: "a", Agent: "x", Context: fmt.Sprint(i), Outcome: learning.ResultPartial, Notes: "n", At: noon}); err != nil {
				return err
			}
		}
		got, err := tx.Applications("a", 2)
		want := []lesson.Application{
			{LessonID: "a", Agent: "x", Context: "4", Outcome: learning.ResultPartial, Notes: "n", At: noon},
			{LessonID: "a", Agent: "x", Context: "3", Outcome: learning.ResultPartial, Notes: "n", At: noon},
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("applications: %v\n%s", err, diff)
		}
		return nil
	})
	changes[0].Seq, changes[2].Seq = 1, 3
	for limit, want := range map[int][]lesson.Change{10: {changes[0], changes[2]}, 1: {changes[2]}} {
		got, err := s.LessonChanges(t.Context(), "a", limit)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("history: %v\n%s", err, diff)
		}
	}
	unknown := s.Change(t.Context(), func(tx lesson.PipelineTx) error {
		return tx.AddChange(lesson.Change{LessonID: "nobody", Kind: "reported", At: noon})
	}, nil)()
	if unknown == nil {
		t.Error("a change of a lesson that is not there was stored")
	}
}

// fullPattern has a value of its own in every field that is stored.
func fullPattern(id string) lesson.Pattern {
	confirmed, validated := noon.Add(time.Hour), noon.Add(2*time.Hour)
	return lesson.Pattern{
		ID: id, Name: "name", Type: lesson.PatternFailure, Description: "description", Domain: "d", Categories: []string{"c"}, OperationType: "deploy",
		LessonIDs: []string{}, EpisodeIDs: []int64{}, Frequency: 4, FirstSeen: noon, LastSeen: noon.Add(time.Minute), Status: lesson.PatternEmerging,
		ConfirmedBy: "me", ConfirmedAt: &confirmed, Action: "do", Prevention: []string{"p"}, Weight: 0.4,
		Belief:       lesson.Belief{InitialConfidence: 0.8, DecayConstant: 0.01, ConfidenceAt: noon},
		TimesApplied: 2, TimesSucceeded: 1, LastValidated: &validated, CreatedAt: noon, UpdatedAt: noon.Add(time.Second), Why: []string{"because"},
		Lessons: 3, Agents: 2, Representative: "l1", Command: "make it", ActionConfidence: 0.7,
		Made: &lesson.PatternAsMade{Type: lesson.PatternSuccess, Description: "deploy: as it was", EpisodeIDs: []int64{9, 7}, Frequency: 2, InitialConfidence: 1.2},
	}
}

func TestPatternsAndEvidence(t *testing.T) {
	s := open(t)
	a, b := fullPattern("a"), fullPattern("b")
	complete(t, a, "Number", "Confidence")
	b.Made = nil
	b.Type, b.OperationType, b.Domain, b.Status, b.LastSeen = lesson.PatternBestPractice, "", "other", lesson.PatternDeprecated, noon.Add(time.Hour)
	l := lesson.Evidence{Kind: lesson.EvidenceLesson, Ref: "l1", Agent: "x", Score: 0.5, At: noon}
	change(t, s, func(tx lesson.PipelineTx) error {
		if err := errors.Join(tx.InsertPattern(&a), tx.InsertPattern(&b)); err != nil {
			return err
		}
		again := l
		again.Score = 0.9
		for i, want := range []int{2, 0} {
			if n, err := tx.AddEvidence("a", l, lesson.Evidence{Kind: lesson.EvidenceEpisode, Ref: "7", At: noon}, again); n != want || err != nil {
				t.Errorf("evidence, time %d: %d new, %v", i, n, err)
			}
		}
		if n, err := tx.AddEvidence("a"); n != 0 || err != nil {
			t.Errorf("no evidence: %d, %v", n, err)
		}
		if n, err := tx.AddEvidence("b", l); n != 1 || err != nil {
			t.Errorf("evidence of another: %d, %v", n, err)
		}
		got, err := tx.PatternsOf(l)
		if diff := cmp.Diff([]lesson.Pattern{a, b}, got); diff != "" || err != nil {
			t.Errorf("by evidence: %v\n%s", err, diff)
		}
		for _, c := range []struct {
			operation string
			want      bool
		}{{"deploy", true}, {"Deploy", false}, {"", false}} {
			if p, ok, err := tx.OperationPattern(c.operation); ok != c.want || err != nil || ok && p.ID != "a" {
				t.Errorf("%v: %v, %v", c, ok, err)
			}
		}
		for text, want := range map[string]bool{"LOY: as": true, "%": false, "best": false} {
			if p, ok, err := tx.PatternByText(text); ok != want || err != nil || ok && p.ID != "a" {
				t.Errorf("by the text %q: %v, %v", text, ok, err)
			}
		}
		return nil
	})
	c := fullPattern("c") // what fails ends its transaction in PostgreSQL, so it has one of its own
	if err := s.Change(t.Context(), func(tx lesson.PipelineTx) error { return tx.InsertPattern(&c) }, nil)(); err == nil {
		t.Error("an operation type has two patterns")
	}
	many := make([]lesson.Evidence, 130)
	for i := range many {
		many[i] = lesson.Evidence{Kind: lesson.EvidenceEpisode, Ref: fmt.Sprint(1000 + i), At: noon}
	}
	b.Status, b.Frequency = lesson.PatternConfirmed, 131
	change(t, s, func(tx lesson.PipelineTx) error {
		n, err := tx.AddEvidence("b", many...)
		if n != len(many) {
			t.Errorf("%d new", n)
		}
		return errors.Join(err, tx.UpdatePattern(b))
	})
	a.LessonIDs, a.EpisodeIDs = []string{"l1"}, []int64{7}
	for _, ref := range []string{"a", "1"} {
		got, ok, err := s.PatternOf(t.Context(), ref)
		if diff := cmp.Diff(a, got); diff != "" || !ok || err != nil {
			t.Errorf("%s: %v %v\n%s", ref, ok, err, diff)
		}
	}
	for name, c := range map[string]struct {
		filter lesson.PatternFilter
		want   string
	}{
		"latest seen first": {lesson.PatternFilter{}, "b a"},
		"limit":             {lesson.PatternFilter{Limit: 1}, "b"},
		"offset":            {lesson.PatternFilter{Offset: 1}, "a"},
		"type":              {lesson.PatternFilter{Type: lesson.PatternFailure}, "a"},
		"status":            {lesson.PatternFilter{Statuses: []lesson.PatternStatus{lesson.PatternConfirmed}}, "b"},
		"domain":            {lesson.PatternFilter{Domain: "d"}, "a"},
	} {
		if c.filter.Limit == 0 {
			c.filter.Limit = 10
		}
		found, err := s.ListPatterns(t.Context(), c.filter)
		got := ""
		for _, p := range found {
			got += " " + p.ID
			if p.ID == "b" && (len(p.EpisodeIDs) != lesson.MaxEvidence || p.EpisodeIDs[0] != 1129) {
				t.Errorf("%d episodes, the first %d", len(p.EpisodeIDs), p.EpisodeIDs[0])
			}
		}
		if err != nil || got != " "+c.want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, c.want)
		}
	}
}

// TestLearnedCounts compares what /health says with a look at each row, after random changes, changes that were taken back, and
// writes that went past the store, as those of another process do.
func TestLearnedCounts(t *testing.T) {
	databasetest.FilesOnly(t)
	s, db := opened(t)
	random := rand.New(rand.NewPCG(17, 1))
	lessonStatuses := []lesson.Status{lesson.StatusCandidate, lesson.StatusValidated, lesson.StatusCanonical, lesson.StatusRetired}
	counted := func(round int) {
		t.Helper()
		var wantPatterns, wantLessons int64
		for query, into := range map[string]*int64{
			"SELECT count(*) FROM patterns WHERE status <> 'deprecated'":             &wantPatterns,
			"SELECT count(*) FROM lessons WHERE (status <> 'retired' OR deprecated)": &wantLessons,
		} {
			if err := db.Read.Raw(query).Scan(into).Error; err != nil {
				t.Fatal(err)
			}
		}
		stats, err := s.CountExperiences(t.Context(), noon)
		if err != nil || stats.Patterns != wantPatterns || stats.Lessons != wantLessons {
			t.Fatalf("round %d: %+v (%v), want %d patterns and %d lessons", round, stats, err, wantPatterns, wantLessons)
		}
	}
	counted(-1)
	var lessons, patterns []string
	errBack := errors.New("taken back")
	for round := range 60 {
		err := s.Change(t.Context(), func(tx lesson.PipelineTx) error {
			l := fullLesson(fmt.Sprint("l", round))
			l.Status, l.Deprecated = lessonStatuses[random.IntN(4)], random.IntN(2) == 0
			if len(lessons) > 0 && random.IntN(2) == 0 {
				l.ID = lessons[random.IntN(len(lessons))]
				if err := tx.UpdateLesson(l, learning.Fingerprint{1}); err != nil {
					return err
				}
			} else if err := tx.InsertLesson(&l, learning.Fingerprint{1}); err != nil {
				return err
			}
			p := lesson.Pattern{ID: fmt.Sprint("p", round), Type: lesson.PatternSuccess, Status: lesson.PatternStatuses()[random.IntN(3)]}
			if len(patterns) > 0 && random.IntN(2) == 0 {
				p.ID = patterns[random.IntN(len(patterns))]
				if err := tx.UpdatePattern(p); err != nil {
					return err
				}
			} else if err := tx.InsertPattern(&p); err != nil {
				return err
			}
			if random.IntN(4) == 0 {
				return errBack
			}
			if l.ID == fmt.Sprint("l", round) {
				lessons = append(lessons, l.ID)
			}
			if p.ID == fmt.Sprint("p", round) {
				patterns = append(patterns, p.ID)
			}
			return nil
		}, nil)()
		if err != nil && !errors.Is(err, errBack) {
			t.Fatal(err)
		}
		if random.IntN(8) == 0 {
			other, err := sql.Open("sqlite", "file:"+db.Path+"?_pragma=busy_timeout(5000)")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := other.Exec("UPDATE lessons SET status = 'retired', deprecated = num % 2 WHERE num % 5 = ?; DELETE FROM patterns WHERE num % 7 = ?", random.IntN(5), random.IntN(7)); err != nil {
				t.Fatal(err)
			}
			if err := other.Close(); err != nil {
				t.Fatal(err)
			}
		}
		counted(round)
	}
}
