package learning

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
)

type likenessPair struct {
	Relation string      `json:"relation"`
	A        LessonDraft `json:"a"`
	B        LessonDraft `json:"b"`
}

func likenessPairs(t testing.TB) (pairs []likenessPair) {
	t.Helper()
	f, err := os.Open("testdata/likeness/pairs.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var p likenessPair
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			t.Fatal(err)
		}
		pairs = append(pairs, p)
	}
	return pairs
}

// drafted is a draft, as far as a likeness looks at it.
func drafted(d LessonDraft) likenessParts {
	return likenessParts{
		Type: LessonFailure, Domain: "infrastructure", Title: d.Title, Context: d.Context, Action: d.Action, Outcome: d.Outcome,
		Cause: d.RootCause, Solution: d.Solution, Tags: d.Tags, Commands: d.RelatedCommands,
	}
}

// filled remembers every lesson of the pairs.
func filled(pairs []likenessPair) *likeness {
	l := newLikeness()
	for i, p := range pairs {
		l.put(fmt.Sprint(i, "a"), l.prepare(drafted(p.A)))
		l.put(fmt.Sprint(i, "b"), l.prepare(drafted(p.B)))
	}
	return l
}

// TestLikenessTellsPairsApart holds the quality on pairs that were written by
// hand: every near-duplicate is one, nothing else is (not a pair of which one
// word, number or command differs), and 85 of 100 pairs on one problem in other
// words lie above every pair of unrelated lessons.
func TestLikenessTellsPairsApart(t *testing.T) {
	pairs := likenessPairs(t)
	l := filled(pairs)
	count, close := map[string]int{}, map[string]int{}
	for _, p := range pairs {
		a, b := l.prepare(drafted(p.A)), l.prepare(drafted(p.B))
		hit := l.alike(a, b)
		if back := l.alike(b, a); back != hit {
			t.Errorf("%s: the likeness of a and b is %+v, of b and a %+v", p.A.Title, hit, back)
		}
		if itself := l.alike(a, a); itself.Text < 1 || itself.Score < 1 {
			t.Errorf("%s is like itself by %+v", p.A.Title, itself)
		}
		if duplicate := hit.Text >= likenessDuplicate; duplicate != (p.Relation == "duplicate") {
			t.Errorf("%s: %q and %q: text %.2f", p.Relation, p.A.Title, p.B.Title, hit.Text)
		}
		count[p.Relation]++
		if recurs(hit) {
			close[p.Relation]++
		}
	}
	t.Logf("pairs %v, of which on one problem by their score %v", count, close)
	if close["other"] > 0 || close["duplicate"] < count["duplicate"] || 100*close["same"] < 85*count["same"] {
		t.Errorf("of %v, on one problem are %v", count, close)
	}
}

// TestLikenessFinds: each lesson of a pair finds the other one among all.
func TestLikenessFinds(t *testing.T) {
	pairs := likenessPairs(t)
	l := filled(pairs)
	for i, p := range pairs {
		if p.Relation == "other" || p.Relation == "apart" {
			continue
		}
		self, other := fmt.Sprint(i, "a"), fmt.Sprint(i, "b")
		hits := l.near(l.prepare(drafted(p.A)), likeFilter{Domain: "infrastructure", Types: []LessonType{LessonFailure}, Self: self})
		if !slices.ContainsFunc(hits[:min(len(hits), 3)], func(h likeHit) bool { return h.ID == other }) {
			t.Errorf("%s does not find %s: %+v", p.A.Title, p.B.Title, hits)
		}
		for _, filter := range []likeFilter{{Domain: "security"}, {Types: []LessonType{LessonSuccess, LessonWarning}}} {
			if hits := l.near(l.prepare(drafted(p.A)), filter); len(hits) > 0 {
				t.Errorf("%+v finds %+v", filter, hits)
			}
		}
	}
}

func TestLikenessForgets(t *testing.T) {
	l := newLikeness()
	pairs := likenessPairs(t)
	one, two := l.prepare(drafted(pairs[0].A)), l.prepare(drafted(pairs[20].A))
	l.put("a", one)
	l.put("a", one)
	l.put("b", one)
	if hits := l.near(one, likeFilter{Self: "a"}); len(hits) != 1 || hits[0].ID != "b" || l.len() != 2 {
		t.Fatalf("found %+v of %d", hits, l.len())
	}
	l.put("b", two) // edited
	if hits := l.near(one, likeFilter{Self: "a"}); len(hits) != 0 {
		t.Errorf("found what b said before: %+v", hits)
	}
	l.remove("a")
	l.remove("a")
	l.put("c", two)
	if hits := l.near(two, likeFilter{}); len(hits) != 2 || l.len() != 2 || len(l.slots) != 2 {
		t.Errorf("found %+v of %d in %d places", hits, l.len(), len(l.slots))
	}
	l.remove("b")
	l.remove("c")
	for i, n := range l.count {
		if n != 0 {
			t.Fatalf("counter %d is %d after all are forgotten", i, n)
		}
	}
}

// TestLikenessStaysBounded: lessons that all say the same cost no more than others.
func TestLikenessStaysBounded(t *testing.T) {
	l := newLikeness()
	of := l.prepare(drafted(likenessPairs(t)[0].A))
	for i := range 5000 {
		l.put(strconv.Itoa(i), of)
	}
	for _, list := range l.lists {
		if len(list.slots) > likenessRing {
			t.Fatalf("%d lessons stand under one key", len(list.slots))
		}
	}
	if hits := l.near(of, likeFilter{}); len(hits) != likenessHits {
		t.Errorf("%d hits", len(hits))
	}
}

func TestLikenessReadsAnything(t *testing.T) {
	l := newLikeness()
	long := strings.Repeat("Ünï \xff\x00 path/to/x 12 ", 20_000)
	for _, lesson := range []Lesson{
		{},
		{Title: "?!"},
		{Title: long, Context: long, RootCause: long, RelatedCommands: []string{long, "", "  "}, Tags: []string{long, ""}},
		{Title: "\xc3\x28 \x00"},
		{Title: "数据库 連接 失敗", Context: "ポスト"},
		{Type: "unknown", Title: "a title"},
	} {
		of := l.prepare(lesson.likenessParts())
		if len(of.terms) > likenessTerms || !slices.IsSorted(of.terms) {
			t.Errorf("%.20q has %d terms", lesson.Title, len(of.terms))
		}
		l.put(lesson.Title, of)
		for _, hit := range l.near(of, likeFilter{}) {
			for _, part := range []float64{hit.Text, hit.Words, hit.Tags, hit.Cause, hit.Score} {
				if !(part >= 0 && part <= 1) {
					t.Errorf("%.20q: %+v", lesson.Title, hit)
				}
			}
		}
	}
}

func TestLikenessConcurrently(t *testing.T) {
	l := newLikeness()
	pairs := likenessPairs(t)
	var all sync.WaitGroup
	all.Go(func() {
		for i := range 2000 {
			l.put(strconv.Itoa(i%700), l.prepare(drafted(pairs[i%len(pairs)].A)))
			if i%3 == 0 {
				l.remove(strconv.Itoa(i % 500))
			}
		}
	})
	for range 3 {
		all.Go(func() {
			for i := range 500 {
				of := l.prepare(drafted(pairs[i%len(pairs)].B))
				l.near(of, likeFilter{})
				l.alike(of, of)
			}
		})
	}
	all.Wait()
}

// manyLessons are lessons of some 60 words whose frequencies fall as in English.
func manyLessons(n int) []Lesson {
	rng := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(rng, 1.07, 20, 200_000)
	text := func(words int) string {
		var s strings.Builder
		for range words {
			fmt.Fprintf(&s, "w%s ", strings.Map(func(r rune) rune { return r - '0' + 'a' }, strconv.FormatUint(zipf.Uint64(), 10)))
		}
		return s.String()
	}
	lessons := make([]Lesson, n)
	for i := range lessons {
		lessons[i] = Lesson{
			ID: fmt.Sprintf("0192f3a1-7b2c-7def-8%03x-%012x", i%4096, i), Type: LessonTypes()[i%7], Domain: fmt.Sprint("domain", i%10),
			Title: text(7), Context: text(15), Action: text(8), Outcome: text(12), RootCause: text(8), Solution: text(10),
			Tags: []string{fmt.Sprint("tag", rng.IntN(50)), fmt.Sprint("tag", rng.IntN(500))}, RelatedCommands: []string{fmt.Sprintf("deploy --job %d", i)},
		}
	}
	return lessons
}

func BenchmarkLikeness(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		lessons := manyLessons(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			l := newLikeness()
			ofs := make([]likenessOf, n)
			words := 0
			for i := range lessons {
				ofs[i] = l.prepare(lessons[i].likenessParts())
				words += 4 * (cap(ofs[i].terms) + cap(ofs[i].tags))
			}
			before := heapInUse()
			start := time.Now()
			for i := range lessons {
				l.put(lessons[i].ID, ofs[i])
			}
			put, held := time.Since(start), heapInUse()-before
			for i := 0; b.Loop(); i++ {
				l.near(ofs[i%n], likeFilter{Self: lessons[i%n].ID})
			}
			b.ReportMetric(float64(put.Microseconds())/float64(n), "put-µs")
			b.ReportMetric(float64(held)/float64(n), "heap-B/lesson")
			b.ReportMetric(float64(words)/float64(n), "words-B/lesson")
		})
	}
}

func BenchmarkLikenessPrepare(b *testing.B) {
	lessons := manyLessons(1000)
	l := newLikeness()
	for i := 0; b.Loop(); i++ {
		l.prepare(lessons[i%1000].likenessParts())
	}
}

func heapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
