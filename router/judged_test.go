package router_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/classify"
	"github.com/skillrouter/skillrouter/tfidf"
)

var updateGolden = flag.Bool("update", false, "write the judged collection's golden instead of comparing with it")

const goldenFile = "testdata/judged/golden.jsonl"

func collection(t testing.TB) *router.Collection {
	t.Helper()
	c, err := router.LoadCollection()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestJudgedGolden fails when a judged question finds other things than when the
// ranking was last agreed to. `make golden-search` agrees to what there is now.
func TestJudgedGolden(t *testing.T) {
	t.Parallel()
	if *updateGolden {
		c := collection(t)
		golden, err := c.Golden(tfidf.Options{})
		if err != nil {
			t.Fatal(err)
		}
		text, err := golden.Encode(len(c.Documents))
		if err != nil {
			t.Fatal(err)
		}
		if before, err := os.ReadFile(goldenFile); err == nil {
			if old, err := router.ReadGolden(before); err == nil {
				logMoves(t.Logf, old.Compare(golden))
			}
		}
		if err := os.WriteFile(goldenFile, text, 0o644); err != nil {
			t.Fatal(err)
		}
		return // the program has the golden that was there when it was built
	}
	result, err := router.Check(tfidf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d questions: nDCG@10 %.4f, R@10 %.4f, MRR %.4f; routed %d of %d", result.All.Questions, result.All.NDCG, result.All.Recall, result.All.MRR, result.Right, result.Routed)
	if !result.OK {
		t.Errorf("%d questions moved; nDCG@10 was %.4f and is %.4f. If that is meant: make golden-search, and commit what it changes", len(result.Moves), result.Golden.NDCG, result.All.NDCG)
		logMoves(t.Errorf, result.Moves)
	}
}

func logMoves(logf func(string, ...any), moves []router.Move) {
	for _, m := range moves {
		logf("%+.4f (%.4f → %.4f)  %s: %s", m.Is-m.Was, m.Was, m.Is, strings.ReplaceAll(m.Query, "\n", " "), strings.Join(m.Changes, ", "))
	}
}

// TestJudgedSize holds the collection to what it was made for.
func TestJudgedSize(t *testing.T) {
	t.Parallel()
	c := collection(t)
	if len(c.Documents) < 400 || len(c.Questions) < 200 {
		t.Errorf("%d entries and %d questions", len(c.Documents), len(c.Questions))
	}
	if results := c.Run(tfidf.Options{}); len(router.Styles(results)) < 8 {
		t.Errorf("only %v", router.Styles(results))
	}
}

// TestJudgedGoldenFileIsFresh holds the figures that people read in the file to its ranks.
func TestJudgedGoldenFileIsFresh(t *testing.T) {
	t.Parallel()
	if *updateGolden {
		t.Skip("it is being written")
	}
	c := collection(t)
	want, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	golden, err := c.Golden(tfidf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := golden.Encode(len(c.Documents))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("the golden file is not what it would be written as now: make golden-search")
	}
}

// TestJudgedNoticesALane is the control: an engine without one of its lanes must move the golden.
func TestJudgedNoticesALane(t *testing.T) {
	t.Parallel()
	for name, off := range map[string]func(w *tfidf.Weights){
		"letters":   func(w *tfidf.Weights) { w.Letters = 0 },
		"nearness":  func(w *tfidf.Weights) { w.Near = 0 },
		"likeness":  func(w *tfidf.Weights) { w.Alike = 0 },
		"title":     func(w *tfidf.Weights) { w.Title = 1 },
		"thesaurus": func(w *tfidf.Weights) { w.Related = 0 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			weights := tfidf.DefaultWeights()
			off(&weights)
			result, err := router.Check(tfidf.Options{Weights: &weights})
			if err != nil {
				t.Fatal(err)
			}
			if result.OK || len(result.Moves) == 0 {
				t.Errorf("nothing moved without %s", name)
			}
			t.Logf("without %s: nDCG@10 %.4f of %.4f, %d moved", name, result.All.NDCG, result.Golden.NDCG, len(result.Moves))
		})
	}
}

// TestJudgedRunsAlike holds that neither the order of putting nor of a map decides.
func TestJudgedRunsAlike(t *testing.T) {
	t.Parallel()
	c := collection(t)
	first, err := json.Marshal(c.Run(tfidf.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(c.Documents)
	second, err := json.Marshal(c.Run(tfidf.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, second) {
		t.Error("a collection that was put in another order answers otherwise")
	}
}

func TestGoldenCompare(t *testing.T) {
	t.Parallel()
	was := &router.Golden{
		Questions: []router.QuestionResult{
			{Query: "stays", NDCG: 1, Ranks: map[string]int{"a": 1}, Top: []string{"a", "b"}},
			{Query: "falls", NDCG: 1, Ranks: map[string]int{"a": 1, "b": 2}, Top: []string{"a", "b"}},
			{Query: "others", NDCG: 1, Ranks: map[string]int{"a": 1}, Top: []string{"a", "b"}},
			{Query: "gone", NDCG: 0.5, Ranks: map[string]int{"a": 3}},
		},
		Routing: []router.RoutingResult{{Query: "who", Class: classify.ClassEpisode, Taken: classify.ClassEpisode}},
	}
	is := &router.Golden{
		Questions: []router.QuestionResult{
			was.Questions[0],
			{Query: "falls", NDCG: 0.4, Ranks: map[string]int{"a": 0, "b": 1}, Top: []string{"b"}},
			{Query: "others", NDCG: 1, Ranks: map[string]int{"a": 1}, Top: []string{"a", "c"}},
			{Query: "new", NDCG: 0.7, Ranks: map[string]int{"a": 2}},
		},
		Routing: []router.RoutingResult{{Query: "who", Class: classify.ClassEpisode, Taken: classify.ClassRecon}},
	}
	var got []string
	for _, m := range was.Compare(is) {
		got = append(got, m.Query+": "+strings.Join(m.Changes, ", "))
	}
	want := []string{
		"who: routed to recon, was episode",
		"falls: a 1 → not found, b 2 → 1",
		"gone: it is no longer asked",
		"others: others than the judged moved, from place 2 on",
		"new: it is new",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if moves := was.Compare(was); len(moves) != 0 {
		t.Errorf("compared with itself: %v", moves)
	}
}

func TestReadCollectionRefuses(t *testing.T) {
	t.Parallel()
	whole := map[string]string{
		"c/entries/a.txt": "=== a gotcha p x,y\nTitle\nText\n\n=== e episode.error - bo 2026-01-02\nTitle\nText\n",
		"c/queries.txt":   "=== question p\nwhat\n1 e\n2 a\n",
		"c/routing.txt":   "episode\twho\n",
	}
	read := func(change map[string]string) (*router.Collection, error) {
		files := fstest.MapFS{}
		for name, text := range whole {
			files[name] = &fstest.MapFile{Data: []byte(text)}
		}
		for name, text := range change {
			files[name] = &fstest.MapFile{Data: []byte(text)}
		}
		return router.ReadCollection(files, "c")
	}
	c, err := read(nil)
	if err != nil || len(c.Documents) != 2 || len(c.Questions) != 1 || c.Questions[0].Grades["a"] != router.GradeAnswer || c.Questions[0].Project != "p" {
		t.Fatalf("the whole one: %+v, %v", c, err)
	}
	for name, change := range map[string]map[string]string{
		"text before the first":     {"c/entries/a.txt": "hello\n=== a b c\nd\ne\n"},
		"no text":                   {"c/entries/a.txt": "=== a b c\nd\n"},
		"an id twice":               {"c/entries/b.txt": "=== a b c\nd\ne\n"},
		"an episode without a day":  {"c/entries/b.txt": "=== z episode.error c bo\nd\ne\n"},
		"an episode of no day":      {"c/entries/b.txt": "=== z episode.error c bo 2026-13-01\nd\ne\n"},
		"an unknown id":             {"c/queries.txt": "=== question\nwhat\n1 nobody\n"},
		"no judgement":              {"c/queries.txt": "=== question\nwhat\n"},
		"no question":               {"c/queries.txt": "=== question\n1 a\n"},
		"the same question twice":   {"c/queries.txt": "=== question\nwhat\n1 a\n=== typo\nwhat\n1 e\n"},
		"too many words in a head":  {"c/queries.txt": "=== question p q\nwhat\n1 a\n"},
		"a class that there is not": {"c/routing.txt": "gossip\twho\n"},
	} {
		if _, err := read(change); err == nil {
			t.Errorf("%s: it was taken", name)
		}
	}
}
