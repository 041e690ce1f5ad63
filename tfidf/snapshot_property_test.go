package tfidf_test

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"skillrouter/tfidf"
)

// small draws a document of few words, so that documents have much in common.
func small(t *rapid.T) tfidf.Document {
	text := func(most int, label string) string {
		var s []string
		for range rapid.IntRange(0, most).Draw(t, label) {
			s = append(s, rapid.SampledFrom([]string{
				"lock", "locked", "locking", "database", "databases", "writer", "parseJSONBody", "parse_json_body", "E0308", "v1.2.3",
				"yesterday", "the", "what", "数据库", "ошибка", "filename", "file", "name", "anIdentifierThatIsLongerThanItsEntry", "\x00", "\xff", "🚀",
			}).Draw(t, "word"))
		}
		return strings.Join(s, " ")
	}
	d := tfidf.Document{
		ID: fmt.Sprint("id", rapid.IntRange(0, 400).Draw(t, "id")), Title: text(3, "title"), Body: text(12, "body"),
		Project:  rapid.SampledFrom([]string{"", "p1", "p2"}).Draw(t, "project"),
		Category: rapid.SampledFrom([]string{"", "gotcha"}).Draw(t, "category"),
		Order:    rapid.Int64Range(0, 50).Draw(t, "order"), At: rapid.Int64Range(0, 9).Draw(t, "at"),
	}
	if rapid.Bool().Draw(t, "tagged") {
		d.Tags = []string{"t1", "t2"}
	}
	return d
}

var smallQueries = []tfidf.Query{
	{Text: "locked database"},
	{Text: "why is the databse locked"},
	{Text: "parsejsonbody E0308 v1.2.3", Limit: 100},
	{Text: "when was the file name locked", Project: "p1"},
	{Text: "ошибки 数据", Tags: []string{"t1"}},
	{Text: "writer", Category: "gotcha", From: 3, To: 8},
	{Text: "anidentifierthatislongerthanitsentry"},
	{Text: "what the"},
	{Text: "unheard of"},
}

// TestSnapshotAnyOrder holds that an index that was saved and opened in between any
// puts, replacements and deletes equals one that is built afresh.
func TestSnapshotAnyOrder(t *testing.T) {
	folder := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		path := filepath.Join(folder, "index")
		ix := tfidf.New(tfidf.Options{})
		held := map[string]tfidf.Document{}
		put := func(n int) {
			docs := make([]tfidf.Document, n)
			for i := range docs {
				docs[i] = small(t)
				held[docs[i].ID] = docs[i]
			}
			ix.Put(docs...)
		}
		t.Repeat(map[string]func(*rapid.T){
			"put one":  func(*rapid.T) { put(1) },
			"put some": func(t *rapid.T) { put(rapid.IntRange(2, 30).Draw(t, "documents")) },
			"put many": func(t *rapid.T) { // the tail becomes a segment
				docs := make([]tfidf.Document, rapid.IntRange(256, 300).Draw(t, "documents"))
				one := small(t)
				for i := range docs {
					docs[i] = one
					docs[i].ID = fmt.Sprint("id", i)
					held[docs[i].ID] = docs[i]
				}
				ix.Put(docs...)
			},
			"delete": func(t *rapid.T) {
				ids := rapid.SliceOfN(rapid.IntRange(0, 400), 1, 200).Draw(t, "ids")
				for _, id := range ids {
					delete(held, fmt.Sprint("id", id))
					ix.Delete(fmt.Sprint("id", id))
				}
			},
			"compact": func(*rapid.T) { ix.Compact() },
			"save": func(t *rapid.T) {
				if err := ix.Capture().Save(path, nil); err != nil {
					t.Fatal(err)
				}
			},
			"save and open": func(t *rapid.T) {
				if err := ix.Capture().Save(path, nil); err != nil {
					t.Fatal(err)
				}
				opened, _, err := tfidf.Open(path, tfidf.Options{})
				if err != nil {
					t.Fatal(err)
				}
				ix = opened
			},
		})
		fresh := tfidf.New(tfidf.Options{})
		for _, d := range held {
			fresh.Put(d)
		}
		same(t, ix, fresh, smallQueries)
		for _, q := range smallQueries {
			last := math.Inf(1)
			for _, h := range ix.Search(q).Hits {
				if !(h.Score > 0) || h.Score > last || math.IsInf(h.Score, 0) {
					t.Fatalf("%q: a score of %v after %v", q.Text, h.Score, last)
				}
				last = h.Score
			}
		}
		ids := ix.IDs()
		slices.Sort(ids)
		if len(slices.Compact(ids)) != len(held) {
			t.Fatalf("%d ids, want %d", len(ids), len(held))
		}
	})
}
