package learning_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/skillrouter/skillrouter/internal/database/databasetest"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/experience"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// moved is a clock that tests move, in both directions.
type moved struct {
	mu sync.Mutex
	at time.Time
}

func (c *moved) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *moved) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

var begin = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const oneDay = 24 * time.Hour

// captainly is the context of a router without tokens.
func captainly(t testing.TB) context.Context {
	return principal.With(t.Context(), principal.Open())
}

func experiencesOn(m memory, clock *moved, options experience.Options) *experience.Experiences {
	options.Now = clock.now
	return experience.NewExperiences(m.store, m.episodes, nil, options)
}

// faded is how many patterns hold no more now.
func faded(t testing.TB, m memory, clock *moved) int {
	t.Helper()
	n, err := lesson.NewPatterns(m.store, lesson.PatternOptions{Options: learning.Options{Now: clock.now}}).Fade(captainly(t))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func experienced(t testing.TB, x *experience.Experiences, operation string, outcome learning.Result) experience.Recorded {
	t.Helper()
	r, err := x.Record(captainly(t), experience.Draft{OperationType: operation, Outcome: outcome})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// patternsOf are the patterns of a type in use, by the kind that they show now.
func patternsOf(t testing.TB, x *experience.Experiences, operation string) map[lesson.PatternType]experience.Pattern {
	t.Helper()
	recall, err := x.Recall(captainly(t), experience.Filter{OperationType: operation, Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	found := map[lesson.PatternType]experience.Pattern{}
	for _, p := range recall.Patterns {
		found[p.KindNow] = p
	}
	return found
}

// TestWindowIsExact moves the clock about, back too, while experiences come in,
// and holds each pattern's weight to one computed from all of them.
func TestWindowIsExact(t *testing.T) {
	clock := &moved{at: begin}
	m := open(t, t.TempDir(), clock.now)
	x := experiencesOn(m, clock, experience.Options{})
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		operation := fmt.Sprint("build ", n) // the others' are no matter to it
		type past struct {
			at      time.Time
			success bool
		}
		var all []past
		for range rapid.IntRange(1, 25).Draw(rt, "experiences") {
			clock.move(time.Duration(rapid.Int64Range(-int64(20*oneDay), int64(25*oneDay)).Draw(rt, "passes")).Truncate(time.Millisecond))
			outcome := rapid.SampledFrom(learning.Results()).Draw(rt, "outcome")
			at := clock.now()
			all = append(all, past{at, outcome == learning.ResultSuccess})
			r := experienced(t, x, operation, outcome)

			episodes, successes, age := 0.0, 0.0, 0.0
			for _, p := range all {
				if !p.at.Before(at.Add(-30 * oneDay)) {
					episodes++
					age += at.Sub(p.at).Hours() / 24
					if p.success {
						successes++
					}
				}
			}
			weight := successes / episodes * math.Log(episodes+1) * math.Exp(-0.01*max(0, age/episodes))
			if math.Abs(weight-0.3) < 1e-6 {
				continue // on the edge either is right
			}
			if want := episodes >= 3 && weight >= 0.3; want != (len(r.Patterns) == 1) {
				rt.Fatalf("%v of %v succeeded, weight %v: triggered %v", successes, episodes, weight, r.Patterns)
			} else if !want {
				continue
			}
			kind := lesson.PatternCorrelation
			if rate := successes / episodes; rate > 0.6 {
				kind = lesson.PatternSuccess
			} else if rate < 0.4 {
				kind = lesson.PatternFailure
			}
			if got := patternsOf(t, x, operation)[kind]; math.Abs(got.Weight-weight) > 1e-6 {
				rt.Fatalf("weight %v of the %s, want %v", got.Weight, kind, weight)
			}
		}
	})
}

// TestPatternLives takes a pattern from its emergence over its confirmation to
// its deprecation, and back.
func TestPatternLives(t *testing.T) {
	clock := &moved{at: begin}
	m := open(t, t.TempDir(), clock.now)
	x := experiencesOn(m, clock, experience.Options{})
	ctx := captainly(t)
	for i := 1; i <= experience.ConfirmEpisodes; i++ {
		clock.move(time.Hour)
		experienced(t, x, "build", learning.ResultSuccess)
		want := lesson.PatternEmerging
		if i == experience.ConfirmEpisodes {
			want = lesson.PatternConfirmed
		}
		if got := patternsOf(t, x, "build"); i >= experience.MinEpisodes && got[lesson.PatternSuccess].Status != want {
			t.Fatalf("after %d: %+v", i, got)
		}
	}
	number := patternsOf(t, x, "build")[lesson.PatternSuccess].Number

	clock.move(29 * oneDay)
	if fades := faded(t, m, clock); fades != 0 {
		t.Fatalf("after 29 days %d fade", fades)
	}
	clock.move(2 * oneDay)
	for range 3 { // seen, and without the weight
		experienced(t, x, "build", learning.ResultFailure)
	}
	if fades := faded(t, m, clock); fades != 1 {
		t.Fatalf("after 31 days %d fade", fades)
	}
	p, err := x.Pattern(ctx, number)
	if err != nil || p.Status != lesson.PatternDeprecated || len(patternsOf(t, x, "build")) > 0 {
		t.Fatalf("deprecated: %+v, %v", p, err)
	}

	clock.move(60 * oneDay)
	for range 3 {
		experienced(t, x, "build", learning.ResultSuccess)
	}
	again := patternsOf(t, x, "build")[lesson.PatternSuccess]
	if again.Number != number || again.Status != lesson.PatternEmerging || again.Frequency != 3 || again.KindNow != lesson.PatternSuccess {
		t.Errorf("seen again it is %+v, was %+v", again, p)
	}
	var told []string
	events, err := m.store.Events(ctx, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if e.Subject == again.PatternID && e.Type != lesson.EventPatternSeen {
			told = append(told, strings.TrimPrefix(e.Type, "pattern."))
		}
	}
	if got := strings.Join(told, " "); got != "emerged confirmed deprecated emerged" {
		t.Errorf("the log tells %q", got)
	}
}

// TestRecordingCostsTheSame counts what SQLite reads: no statement of a
// recording may go over a table or sort.
func TestRecordingCostsTheSame(t *testing.T) {
	databasetest.FilesOnly(t)
	m := open(t, t.TempDir(), time.Now)
	for name, statement := range map[string]string{
		"novelty": "SELECT query_print FROM episodes WHERE operation_type = 'a' AND operation_type <> '' ORDER BY num DESC LIMIT 50",
		"window":  "SELECT count(*), sum(outcome = 'success') FROM episodes WHERE operation_type = 'a' AND operation_type <> '' AND created_at >= 1 AND created_at < 2",
		"pattern": "SELECT * FROM patterns WHERE operation_type = 'a' AND operation_type <> '' AND made_type <> ''",
		"numbers": "SELECT num FROM episodes WHERE operation_type = 'a' AND operation_type <> '' AND created_at >= 1 ORDER BY created_at DESC LIMIT 100",
		"type":    "SELECT * FROM episodes WHERE operation_type <> '' AND operation_type = 'a' ORDER BY num DESC LIMIT 50 OFFSET 0",
		"outcome": "SELECT * FROM episodes WHERE operation_type <> '' AND outcome = 'success' ORDER BY num DESC LIMIT 50 OFFSET 0",
		"both":    "SELECT * FROM episodes WHERE operation_type <> '' AND operation_type = 'a' AND outcome = 'success' ORDER BY num DESC LIMIT 50 OFFSET 0",
		"recent":  "SELECT * FROM episodes WHERE operation_type <> '' ORDER BY num DESC LIMIT 50 OFFSET 0",
		"expired": "SELECT num FROM episodes WHERE operation_type <> '' AND created_at < 5 AND (utility < 0.7 OR created_at < 3) ORDER BY created_at LIMIT 200",
	} {
		t.Run(name, func(t *testing.T) {
			var plan []struct{ Detail string }
			if err := m.db.Read.Raw("EXPLAIN QUERY PLAN " + statement).Scan(&plan).Error; err != nil {
				t.Fatal(err)
			}
			for _, step := range plan {
				if strings.Contains(step.Detail, "TEMP B-TREE") || strings.HasPrefix(step.Detail, "SCAN") && !strings.Contains(step.Detail, "INDEX episodes_experience") {
					t.Errorf("%s", step.Detail)
				}
			}
		})
	}
}

// TestExperiencesAtOnce records the same from many sides: nothing is lost or counted twice.
func TestExperiencesAtOnce(t *testing.T) {
	m := open(t, t.TempDir(), time.Now)
	x := experience.NewExperiences(m.store, m.episodes, nil, experience.Options{})
	const sides, each = 8, 25
	var all sync.WaitGroup
	for range sides {
		all.Go(func() {
			for range each {
				if _, err := x.Record(captainly(t), experience.Draft{OperationType: "build", Outcome: learning.ResultSuccess}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	stats, err := x.Stats(captainly(t))
	if err != nil || stats.Episodes != sides*each || stats.Patterns != 1 {
		t.Errorf("counted %+v, %v", stats, err)
	}
	if p := patternsOf(t, x, "build")[lesson.PatternSuccess]; p.Frequency != sides*each || len(p.EpisodeIDs) != lesson.MaxEvidence || p.EpisodeIDs[0] != sides*each {
		t.Errorf("the pattern is %+v", p)
	}
	if m.episodes.Len() != sides*each {
		t.Errorf("%d are indexed", m.episodes.Len())
	}
}
