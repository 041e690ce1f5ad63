package tfidf_test

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"skillrouter/tfidf"
)

// TestSnapshotFormat holds that a snapshot of another format is never opened: what the columns
// of a segment hold is written down, and must not change without the version.
func TestSnapshotFormat(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("other processors round the bounds of blocks in another way")
	}
	w := tfidf.DefaultWeights()
	w.K1, w.B, w.Title = 1.2, 0.75, 3
	ix := tfidf.New(tfidf.Options{Weights: &w})
	var docs []tfidf.Document
	for i := range 2000 {
		d := tfidf.Document{ID: fmt.Sprint("id", i), Title: fmt.Sprint("title ", i%7), Body: strings.Repeat("repeated ", i%300), Order: int64(i), At: int64(i) * 1e9}
		d.Project, d.Category, d.Tags = fmt.Sprint("p", i%3), fmt.Sprint("c", i%5), []string{fmt.Sprint("t", i%11)}
		for j := range i % 40 {
			d.Body += fmt.Sprintf(" word%d", int(math.Sqrt(float64(i*j*97))))
		}
		docs = append(docs, d)
	}
	for _, d := range docs { // one by one: several cores would number the words in any order
		ix.Put(d)
	}
	ix.Delete("id77", "id1234")
	golden(t, "snapshot.golden", fmt.Sprintf("version %d\nsegments %#x\n", tfidf.SnapshotFormat, tfidf.FormatOf(ix)),
		"The columns of a segment hold something else than in snapshots that people have: raise snapshotFormat in snapshot_format.go")
}

var update = flag.Bool("update", false, "write the goldens anew, if their version is a new one")

// golden compares with a file of testdata, which only another version may replace.
func golden(t *testing.T, name, got, advice string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	want, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if string(want) == got {
		return
	}
	version, _, _ := strings.Cut(got, "\n")
	before, _, _ := strings.Cut(string(want), "\n")
	if *update && version != before {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("%s, then run: go test ./tfidf -run TestSnapshot -update\n%s", advice, cmp.Diff(string(want), got))
}
