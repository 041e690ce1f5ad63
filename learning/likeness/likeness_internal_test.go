package likeness

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/learning"
)

type pair struct {
	Relation string  `json:"relation"`
	A        drafted `json:"a"`
	B        drafted `json:"b"`
}

func pairs(t testing.TB) (pairs []pair) {
	t.Helper()
	f, err := os.Open("../testdata/likeness/pairs.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var p pair
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			t.Fatal(err)
		}
		pairs = append(pairs, p)
	}
	return pairs
}

// drafted is what a likeness looks at of a draft.
type drafted struct {
	Title     string   `json:"title"`
	Context   string   `json:"context"`
	Action    string   `json:"action_taken"`
	Outcome   string   `json:"outcome"`
	RootCause string   `json:"root_cause"`
	Solution  string   `json:"solution"`
	Tags      []string `json:"tags"`
	Commands  []string `json:"related_commands"`
}

func (d drafted) parts() Parts {
	return Parts{
		Type: learning.LessonFailure, Domain: "infrastructure", Title: d.Title, Context: d.Context, Action: d.Action, Outcome: d.Outcome,
		Cause: d.RootCause, Solution: d.Solution, Tags: d.Tags, Commands: d.Commands, Ran: d.Commands,
	}
}

// filled remembers every lesson of the pairs.
func filled(pairs []pair) *Likeness {
	l := New()
	for i, p := range pairs {
		l.Put(fmt.Sprint(i, "a"), Prepare(p.A.parts()))
		l.Put(fmt.Sprint(i, "b"), Prepare(p.B.parts()))
	}
	return l
}

// TestTellsPairsApart holds the quality on pairs that were written by
// hand: every near-duplicate is one, nothing else is (not a pair of which one
// word, number or command differs), and 85 of 100 pairs on one problem in other
// words lie above every pair of unrelated lessons.
func TestTellsPairsApart(t *testing.T) {
	pairs := pairs(t)
	l := filled(pairs)
	count, close := map[string]int{}, map[string]int{}
	for _, p := range pairs {
		a, b := Prepare(p.A.parts()), Prepare(p.B.parts())
		hit := l.Alike(a, b)
		if back := l.Alike(b, a); back != hit {
			t.Errorf("%s: the likeness of a and b is %+v, of b and a %+v", p.A.Title, hit, back)
		}
		if itself := l.Alike(a, a); itself.Text < 1 || itself.Score < 1 {
			t.Errorf("%s is like itself by %+v", p.A.Title, itself)
		}
		if duplicate := hit.Text >= Duplicate; duplicate != (p.Relation == "duplicate") {
			t.Errorf("%s: %q and %q: text %.2f", p.Relation, p.A.Title, p.B.Title, hit.Text)
		}
		count[p.Relation]++
		if Recurs(hit) {
			close[p.Relation]++
		}
	}
	t.Logf("pairs %v, of which on one problem by their score %v", count, close)
	if close["other"] > 0 || close["duplicate"] < count["duplicate"] || 100*close["same"] < 85*count["same"] {
		t.Errorf("of %v, on one problem are %v", count, close)
	}
}

// TestFinds: each lesson of a pair finds the other one among all.
func TestFinds(t *testing.T) {
	pairs := pairs(t)
	l := filled(pairs)
	for i, p := range pairs {
		if p.Relation == "other" || p.Relation == "apart" {
			continue
		}
		self, other := fmt.Sprint(i, "a"), fmt.Sprint(i, "b")
		hits := l.Like(Prepare(p.A.parts()), LikeFilter{Domain: "infrastructure", Types: []learning.LessonType{learning.LessonFailure}, Self: self})
		if !slices.ContainsFunc(hits[:min(len(hits), 3)], func(h LikeHit) bool { return h.ID == other }) {
			t.Errorf("%s does not find %s: %+v", p.A.Title, p.B.Title, hits)
		}
		for _, filter := range []LikeFilter{{Domain: "security"}, {Types: []learning.LessonType{learning.LessonSuccess, learning.LessonWarning}}} {
			if hits := l.Like(Prepare(p.A.parts()), filter); len(hits) > 0 {
				t.Errorf("%+v finds %+v", filter, hits)
			}
		}
	}
}

func TestForgets(t *testing.T) {
	l := New()
	pairs := pairs(t)
	one, two := Prepare(pairs[0].A.parts()), Prepare(pairs[20].A.parts())
	l.Put("a", one)
	l.Put("a", one)
	l.Put("b", one)
	if hits := l.Like(one, LikeFilter{Self: "a"}); len(hits) != 1 || hits[0].ID != "b" || len(l.byID) != 2 {
		t.Fatalf("found %+v of %d", hits, len(l.byID))
	}
	l.Put("b", two) // edited
	if hits := l.Like(one, LikeFilter{Self: "a"}); len(hits) != 0 {
		t.Errorf("found what b said before: %+v", hits)
	}
	l.Remove("a")
	l.Remove("a")
	l.Put("c", two)
	if hits := l.Like(two, LikeFilter{}); len(hits) != 2 || len(l.byID) != 2 {
		t.Errorf("found %+v of %d", hits, len(l.byID))
	}
	l.Remove("b")
	l.Remove("c")
	if len(l.count) != 0 || len(l.keys) != 0 {
		t.Fatalf("%d terms and %d keys are there after all are forgotten", len(l.count), len(l.keys))
	}
}

// TestStaysBounded: lessons that all say the same cost no more than others.
func TestStaysBounded(t *testing.T) {
	l := New()
	of := Prepare(pairs(t)[0].A.parts())
	for i := range 5000 {
		l.Put(strconv.Itoa(i), of)
	}
	for key := range l.keys {
		if n := len(l.under(key)); n > latest {
			t.Fatalf("%d lessons are looked at under one key", n)
		}
	}
	if hits := l.Like(of, LikeFilter{}); len(hits) != likenessHits {
		t.Errorf("%d hits", len(hits))
	}
}

func TestReadsAnything(t *testing.T) {
	l := New()
	long := strings.Repeat("Ünï \xff\x00 path/to/x 12 ", 20_000)
	for _, lesson := range []Parts{
		{},
		{Title: "?!"},
		{Title: long, Context: long, Cause: long, Commands: []string{long, "", "  "}, Tags: []string{long, ""}},
		{Title: "\xc3\x28 \x00"},
		{Title: "数据库 連接 失敗", Context: "ポスト"},
		{Type: "unknown", Title: "a title"},
	} {
		of := Prepare(lesson)
		if len(of.terms) > terms || !slices.IsSorted(of.terms) {
			t.Errorf("%.20q has %d terms", lesson.Title, len(of.terms))
		}
		l.Put(lesson.Title, of)
		for _, hit := range l.Like(of, LikeFilter{}) {
			for _, part := range []float64{hit.Text, hit.Words, hit.Tags, hit.Cause, hit.Score} {
				if !(part >= 0 && part <= 1) {
					t.Errorf("%.20q: %+v", lesson.Title, hit)
				}
			}
		}
	}
}

func TestConcurrently(t *testing.T) {
	l := New()
	pairs := pairs(t)
	var all sync.WaitGroup
	all.Go(func() {
		for i := range 2000 {
			l.Put(strconv.Itoa(i%700), Prepare(pairs[i%len(pairs)].A.parts()))
			if i%3 == 0 {
				l.Remove(strconv.Itoa(i % 500))
			}
		}
	})
	for range 3 {
		all.Go(func() {
			for i := range 500 {
				of := Prepare(pairs[i%len(pairs)].B.parts())
				l.Like(of, LikeFilter{})
				l.Alike(of, of)
			}
		})
	}
	all.Wait()
}

type namedParts struct {
	ID string
	Parts
}

// manyLessons are lessons of some 60 words whose frequencies fall as in English.
func manyLessons(n int) []namedParts {
	rng := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(rng, 1.07, 20, 200_000)
	text := func(words int) string {
		var s strings.Builder
		for range words {
			fmt.Fprintf(&s, "w%s ", strings.Map(func(r rune) rune { return r - '0' + 'a' }, strconv.FormatUint(zipf.Uint64(), 10)))
		}
		return s.String()
	}
	lessons := make([]namedParts, n)
	for i := range lessons {
		lessons[i] = namedParts{fmt.Sprintf("0192f3a1-7b2c-7def-8%03x-%012x", i%4096, i), Parts{
			Type: learning.LessonTypes()[i%7], Domain: fmt.Sprint("domain", i%10),
			Title: text(7), Context: text(15), Action: text(8), Outcome: text(12), Cause: text(8), Solution: text(10),
			Tags: []string{fmt.Sprint("tag", rng.IntN(50)), fmt.Sprint("tag", rng.IntN(500))}, Commands: []string{fmt.Sprintf("deploy --job %d", i)},
		}}
	}
	return lessons
}

func Benchmark(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		lessons := manyLessons(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			l := New()
			ofs := make([]Of, n)
			words := 0
			for i := range lessons {
				ofs[i] = Prepare(lessons[i].Parts)
				words += 4 * (cap(ofs[i].terms) + cap(ofs[i].tags))
			}
			before := heapInUse()
			start := time.Now()
			for i := range lessons {
				l.Put(lessons[i].ID, ofs[i])
			}
			put, held := time.Since(start), heapInUse()-before
			for i := 0; b.Loop(); i++ {
				l.Like(ofs[i%n], LikeFilter{Self: lessons[i%n].ID})
			}
			b.ReportMetric(float64(put.Microseconds())/float64(n), "put-µs")
			b.ReportMetric(float64(held)/float64(n), "heap-B/lesson")
			b.ReportMetric(float64(words)/float64(n), "words-B/lesson")
		})
	}
}

func BenchmarkPrepare(b *testing.B) {
	lessons := manyLessons(1000)
	for i := 0; b.Loop(); i++ {
		Prepare(lessons[i%1000].Parts)
	}
}

func heapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
