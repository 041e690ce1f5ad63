package tfidf_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/tfidf"
)

func found(r tfidf.Result) string {
	var ids []string
	for _, h := range r.Hits {
		ids = append(ids, h.ID)
	}
	return strings.Join(ids, " ")
}

func TestSearch(t *testing.T) {
	ix := tfidf.New(tfidf.Options{})
	ix.Put(
		tfidf.Document{ID: "lock", Title: "database is locked", Body: "SQLite answers SQLITE_BUSY when two writers meet; use one writer.", Category: "gotcha", Project: "a", Tags: []string{"db", "sqlite"}},
		tfidf.Document{ID: "json", Title: "parseJSONBody fails", Body: "The JSON parser refuses trailing commas in config.yaml", Category: "error_solution", Project: "a", Tags: []string{"parser"}},
		tfidf.Document{ID: "e0308", Title: "mismatched types", Body: "error[E0308] expected u32, found String", Category: "error_solution", Project: "b", Tags: []string{"rust"}},
		tfidf.Document{ID: "deploy", Title: "Deployment", Body: "Run the deployment script from the build server, never from a laptop.", Category: "best_practice", Project: "b"},
		tfidf.Document{ID: "zh", Title: "数据库连接", Body: "数据库连接池已满", Project: "b"},
		tfidf.Document{ID: "ru", Title: "Ошибка", Body: "Ошибка соединения с сервером", Project: "b"},
		tfidf.Document{ID: "file", Title: "filename", Body: "What a file name may hold."},
	)
	for name, tt := range map[string]struct {
		q    tfidf.Query
		want string
	}{
		"one word":                  {tfidf.Query{Text: "locked"}, "lock"},
		"a stem":                    {tfidf.Query{Text: "deploying"}, "deploy"},
		"a question":                {tfidf.Query{Text: "why is the database locked?"}, "lock"},
		"any word is enough":        {tfidf.Query{Text: "sqlite zebra"}, "lock"},
		"part of an identifier":     {tfidf.Query{Text: "json"}, "json"},
		"whole identifier":          {tfidf.Query{Text: "parsejsonbody"}, "json"},
		"identifier in other style": {tfidf.Query{Text: "parse_json_body"}, "json"},
		"error code":                {tfidf.Query{Text: "E0308"}, "e0308"},
		"file":                      {tfidf.Query{Text: "config.yaml"}, "json"},
		"two words for one":         {tfidf.Query{Text: "file name"}, "file"},
		"typo":                      {tfidf.Query{Text: "databse"}, "lock"},
		"swapped letters":           {tfidf.Query{Text: "dpeloyment"}, "deploy"},
		"chinese":                   {tfidf.Query{Text: "连接池"}, "zh"},
		"one chinese character":     {tfidf.Query{Text: "池"}, "zh"},
		"russian, other form":       {tfidf.Query{Text: "ошибки"}, "ru"},
		"category":                  {tfidf.Query{Text: "error locked types", Category: "gotcha"}, "lock"},
		"project":                   {tfidf.Query{Text: "locked types", Project: "b"}, "e0308"},
		"tags, all of them":         {tfidf.Query{Text: "locked types", Tags: []string{"db", "sqlite", "db"}}, "lock"},
		"tags that none has":        {tfidf.Query{Text: "locked types", Tags: []string{"db", "rust"}}, ""},
		"unknown tag":               {tfidf.Query{Text: "locked", Tags: []string{"nope"}}, ""},
		"unknown project":           {tfidf.Query{Text: "locked", Project: "A"}, ""},
		"stop words only":           {tfidf.Query{Text: "what is the"}, "lock deploy file"},
		"nothing":                   {tfidf.Query{}, ""},
		"punctuation":               {tfidf.Query{Text: "?! -- ... \x00"}, ""},
		"unknown":                   {tfidf.Query{Text: "xylophonist"}, ""},
		"a code is not corrected":   {tfidf.Query{Text: "E0309"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := strings.Fields(found(ix.Search(tt.q)))
			want := strings.Fields(tt.want)
			if name != "stop words only" {
				if found(ix.Search(tt.q)) != tt.want {
					t.Errorf("found %q, want %q", got, want)
				}
				return
			}
			if len(got) == 0 {
				t.Error("found nothing")
			}
		})
	}
	if r := ix.Search(tfidf.Query{Text: "databse zzzz"}); !reflect.DeepEqual(r.Corrected, map[string]string{"databse": "database"}) || !reflect.DeepEqual(r.Unknown, []string{"zzzz"}) {
		t.Errorf("corrected %v, unknown %v", r.Corrected, r.Unknown)
	}
	if r := ix.Search(tfidf.Query{Text: "database", Limit: -1}); len(r.Hits) != 1 {
		t.Errorf("a negative limit: %v", r.Hits)
	}
}

func TestTitleCountsMore(t *testing.T) {
	ix := tfidf.New(tfidf.Options{})
	ix.Put(tfidf.Document{ID: "a", Title: "one two", Body: "alpha beta"}, tfidf.Document{ID: "b", Title: "alpha beta", Body: "one two"})
	if got := found(ix.Search(tfidf.Query{Text: "alpha"})); got != "b a" {
		t.Errorf("found %q", got)
	}
}

func TestNearnessCounts(t *testing.T) {
	ix := tfidf.New(tfidf.Options{})
	ix.Put(
		tfidf.Document{ID: "a", Body: "connection one two three four five six seven eight nine ten pool"},
		tfidf.Document{ID: "b", Body: "one two three four five connection pool six seven eight nine ten"},
	)
	r := ix.Search(tfidf.Query{Text: "connection pool", Explain: true})
	if got := found(r); got != "b a" {
		t.Errorf("found %q: %+v", got, r.Hits)
	}
}

func TestReplaceAndDelete(t *testing.T) {
	ix := tfidf.New(tfidf.Options{})
	ix.Put(tfidf.Document{ID: "a", Body: "first"}, tfidf.Document{ID: "a", Body: "second"})
	ix.Put(tfidf.Document{ID: "b", Body: "third"})
	if n := ix.Len(); n != 2 {
		t.Errorf("Len = %d, want 2", n)
	}
	if got := found(ix.Search(tfidf.Query{Text: "first"})); got != "" {
		t.Errorf("the replaced version is found: %q", got)
	}
	if got := found(ix.Search(tfidf.Query{Text: "second"})); got != "a" {
		t.Errorf("second: %q", got)
	}
	ix.Delete("a", "nobody", "a")
	if got := found(ix.Search(tfidf.Query{Text: "second third"})); got != "b" {
		t.Errorf("after delete: %q", got)
	}
	ix.Delete("b")
	if r := ix.Search(tfidf.Query{Text: "third"}); len(r.Hits) != 0 || ix.Len() != 0 {
		t.Errorf("an emptied index has %d documents and finds %v", ix.Len(), r.Hits)
	}
	ix.Put()
	ix.Delete()
}

// corpus makes documents of words drawn from a Zipf-like vocabulary.
func corpus(rng *rand.Rand, n, words int) []tfidf.Document {
	z := rand.NewZipf(rng, 1.2, 4, 1999)
	text := func(n int) string {
		var b strings.Builder
		for range n {
			fmt.Fprintf(&b, "%s ", word(z.Uint64()))
		}
		return b.String()
	}
	docs := make([]tfidf.Document, n)
	for i := range docs {
		docs[i] = tfidf.Document{
			ID: fmt.Sprintf("d%06d", i), Title: text(1 + rng.IntN(4)), Body: text(1 + rng.IntN(words)),
			Project: fmt.Sprintf("p%d", rng.IntN(20)), Category: fmt.Sprintf("c%d", rng.IntN(3)), Tags: []string{fmt.Sprintf("t%d", rng.IntN(5))}, Order: int64(i + 1),
		}
	}
	return docs
}

// word returns the n-th word of a made-up language.
func word(n uint64) string {
	syllables := []string{"ka", "lo", "mi", "ne", "ru", "sta", "ve", "zo", "pi", "dar"}
	s := ""
	for n += 10; n > 0; n /= 10 {
		s += syllables[n%10]
	}
	return s
}

func query(rng *rand.Rand) tfidf.Query {
	z := rand.NewZipf(rng, 1.2, 4, 2100) // some words that no document has
	var words []string
	for range 1 + rng.IntN(8) {
		words = append(words, word(z.Uint64()))
	}
	q := tfidf.Query{Text: strings.Join(words, " "), Limit: 1 + rng.IntN(150), Explain: rng.IntN(2) == 0}
	if rng.IntN(4) == 0 {
		q.Project = fmt.Sprintf("p%d", rng.IntN(21))
	}
	if rng.IntN(4) == 0 {
		q.Category = fmt.Sprintf("c%d", rng.IntN(3))
	}
	if rng.IntN(6) == 0 {
		q.Tags = []string{fmt.Sprintf("t%d", rng.IntN(5))}
	}
	return q
}

// TestAnyOrder builds one state by a wild sequence of puts, replacements and
// deletes, and afresh, and compares what both answer.
func TestAnyOrder(t *testing.T) {
	for seed := range uint64(6) {
		rng := rand.New(rand.NewPCG(seed, 3))
		docs := corpus(rng, 3000, 20)
		other := corpus(rng, 3000, 20)
		wild := tfidf.New(tfidf.Options{})
		wild.Put(other[:1500]...)
		live := map[string]tfidf.Document{}
		for _, d := range other[:1500] {
			live[d.ID] = d
		}
		for at := 0; at < len(docs); {
			n := min(1+rng.IntN(400), len(docs)-at)
			batch := docs[at : at+n]
			wild.Put(batch...)
			for _, d := range batch {
				live[d.ID] = d
			}
			at += n
			var gone []string
			for range rng.IntN(300) {
				id := docs[rng.IntN(len(docs))].ID
				gone = append(gone, id)
				delete(live, id)
			}
			wild.Delete(gone...)
		}
		var rest []tfidf.Document
		for _, d := range live {
			rest = append(rest, d)
		}
		fresh := tfidf.New(tfidf.Options{})
		fresh.Put(rest...)
		if wild.Len() != len(live) || fresh.Len() != len(live) {
			t.Fatalf("seed %d: %d and %d documents, want %d", seed, wild.Len(), fresh.Len(), len(live))
		}
		if err := wild.Check(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for range 200 {
			q := query(rng)
			if a, b := wild.Search(q), fresh.Search(q); !reflect.DeepEqual(a, b) {
				t.Fatalf("seed %d: %+v:\nwild  %+v\nfresh %+v", seed, q, a, b)
			}
		}
	}
}

// TestScores checks that every score is finite and positive, that none is
// greater than the one before, and that the reasons add up to it exactly.
func TestScores(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	ix := tfidf.New(tfidf.Options{})
	ix.Put(corpus(rng, 3000, 30)...)
	for range 300 {
		q := query(rng)
		q.Explain = true
		before := math.Inf(1)
		for _, h := range ix.Search(q).Hits {
			if !(h.Score > 0) || math.IsInf(h.Score, 0) || h.Score > before {
				t.Fatalf("%+v: score %v after %v", q, h.Score, before)
			}
			before = h.Score
			sum := 0.0
			for _, r := range h.Why {
				sum += r.Weight
			}
			if sum != h.Score {
				t.Fatalf("%+v: the reasons %+v add up to %v, the score is %v", q, h.Why, sum, h.Score)
			}
		}
	}
}
