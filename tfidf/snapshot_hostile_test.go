package tfidf_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"skillrouter/tfidf"
)

// savedBytes returns the snapshot of some documents, of which a few are dead.
func savedBytes(t testing.TB, n int) []byte {
	t.Helper()
	ix := tfidf.New(tfidf.Options{})
	docs := corpus(rand.New(rand.NewPCG(3, 3)), n, 12)
	ix.Put(docs...)
	ix.Put(tfidf.Document{ID: "long", Body: strings.Repeat("x", 40) + " and more"})
	for i := range n / 8 {
		ix.Delete(docs[i*5].ID)
	}
	path := filepath.Join(t.TempDir(), "index")
	if err := ix.Capture().Save(path, []byte("mark")); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// openBytes opens a snapshot that consists of b.
func openBytes(t testing.TB, path string, b []byte) (*tfidf.Index, error) {
	t.Helper()
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	ix, _, err := tfidf.Open(path, tfidf.Options{})
	if err != nil && (!errors.Is(err, tfidf.ErrSnapshot) || ix != nil) {
		t.Fatalf("opening answered %v with %v", err, ix)
	}
	return ix, err
}

func TestOpenTruncated(t *testing.T) {
	whole, path := savedBytes(t, 600), filepath.Join(t.TempDir(), "index")
	names, borders := tfidf.Borders(whole)
	names, borders = append(names, "no byte"), append(borders, 0)
	rng := rand.New(rand.NewPCG(4, 4))
	for i := range 100 {
		names, borders = append(names, fmt.Sprint("place ", i)), append(borders, rng.IntN(len(whole)))
	}
	for i, at := range borders {
		for _, n := range []int{at - 1, at, at + 1} {
			if n < 0 || n >= len(whole) {
				continue
			}
			if _, err := openBytes(t, path, whole[:n]); err == nil {
				t.Errorf("%s: %d of %d bytes were opened", names[i], n, len(whole))
			}
		}
	}
	if _, err := openBytes(t, path, append(bytes.Clone(whole), 0)); err == nil {
		t.Error("a byte more was opened")
	}
	if _, err := openBytes(t, path, whole); err != nil {
		t.Errorf("the whole file: %v", err)
	}
}

// TestOpenFlipped changes single bits: every byte of the head and the first of
// every column, and a sample of all others.
func TestOpenFlipped(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, and much of it")
	}
	whole, path := savedBytes(t, 600), filepath.Join(t.TempDir(), "index")
	_, borders := tfidf.Borders(whole)
	at := borders[:len(borders)-1]
	for i := range borders[0] {
		at = append(at, i)
	}
	rng := rand.New(rand.NewPCG(5, 5))
	for range 2000 {
		at = append(at, rng.IntN(len(whole)))
	}
	for _, i := range at {
		if i == len(whole) {
			continue
		}
		whole[i] ^= 1 << (i % 8)
		if _, err := openBytes(t, path, whole); err == nil {
			t.Errorf("byte %d is another, and it was opened", i)
		}
		whole[i] ^= 1 << (i % 8)
	}
}

func TestOpenRefuses(t *testing.T) {
	whole := savedBytes(t, 40)
	folder := t.TempDir()
	path := filepath.Join(folder, "index")
	// number returns the snapshot with another number at a place of its head.
	number := func(at, size int, to uint64) []byte {
		b := bytes.Clone(whole)
		copy(b[at:at+size], binary.LittleEndian.AppendUint64(nil, to))
		return tfidf.Resealed(b)
	}
	for name, b := range map[string][]byte{
		"an empty file":           {},
		"a text":                  []byte(strings.Repeat("no snapshot\n", 1000)),
		"zeros":                   make([]byte, len(whole)),
		"another format":          number(8, 4, tfidf.SnapshotFormat+1),
		"another analysis":        number(12, 4, tfidf.SnapshotAnalysis+1),
		"a head of no size":       number(16, 8, 0),
		"a head of every size":    number(16, 8, 1<<63),
		"a file of another size":  number(24, 8, 1<<62),
		"another order of bytes":  number(32, 8, 0x0102030405060709),
		"other columns":           number(40, 8, 7),
		"another k1":              number(48, 8, 7),
		"another weight of title": number(64, 8, 7),
		"too many words":          number(80, 4, 1<<32-1),
		"too many segments":       number(84, 4, 1<<32-1),
		"too many columns":        number(88, 4, 1<<32-1),
		"too many chunks":         number(92, 4, 1<<32-1),
		"too long a mark":         number(96, 4, 1<<32-1),
		"too many documents":      number(104, 8, 1<<63),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := openBytes(t, path, b); err == nil {
				t.Error("it was opened")
			}
		})
	}
	t.Run("other weights", func(t *testing.T) {
		if _, err := openBytes(t, path, whole); err != nil {
			t.Fatal(err)
		}
		for name, change := range map[string]func(*tfidf.Weights){
			"k1": func(w *tfidf.Weights) { w.K1 = 1.2 }, "b": func(w *tfidf.Weights) { w.B = 0.1 }, "title": func(w *tfidf.Weights) { w.Title = 1 },
		} {
			w := tfidf.DefaultWeights()
			change(&w)
			if _, _, err := tfidf.Open(path, tfidf.Options{Weights: &w}); !errors.Is(err, tfidf.ErrSnapshot) {
				t.Errorf("with another %s: %v", name, err)
			}
		}
		w := tfidf.DefaultWeights()
		w.Letters = 0.1
		if _, _, err := tfidf.Open(path, tfidf.Options{Weights: &w}); err != nil {
			t.Errorf("with a weight that no number in the file depends on: %v", err)
		}
	})
	t.Run("a folder", func(t *testing.T) {
		if _, _, err := tfidf.Open(folder, tfidf.Options{}); !errors.Is(err, tfidf.ErrSnapshot) {
			t.Errorf("it was opened: %v", err)
		}
	})
}

func TestSaveFails(t *testing.T) {
	ix := tfidf.New(tfidf.Options{})
	ix.Put(tfidf.Document{ID: "a", Body: "what is kept"})
	folder := t.TempDir()
	file := filepath.Join(folder, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	taken := filepath.Join(folder, "taken")
	if err := os.MkdirAll(filepath.Join(taken, "inside"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, path := range map[string]string{
		"a folder that is not there": filepath.Join(folder, "none", "index"),
		"a file as folder":           filepath.Join(file, "index"),
		"a folder in its place":      taken,
	} {
		if err := ix.Capture().Save(path, nil); err == nil {
			t.Errorf("%s: it was saved", name)
		}
	}
	if err := ix.Capture().Save(filepath.Join(folder, "index"), make([]byte, 1<<16+1)); err == nil {
		t.Error("a mark that is too long was saved")
	}
	if left, err := filepath.Glob(filepath.Join(folder, "*.tmp")); err != nil || len(left) > 0 {
		t.Errorf("%v was left", left)
	}
	if found(ix.Search(tfidf.Query{Text: "kept"})) != "a" {
		t.Error("the index is another after failing to save")
	}
}

// use does with an index whatever can be done.
func use(t testing.TB, ix *tfidf.Index) {
	t.Helper()
	queries := []string{"kalo mine", "loka sta ve", "kalx", "what is the", "xxxx", strings.Repeat("x", 40), "staka dar pi"}
	for _, q := range queries {
		ix.Search(tfidf.Query{Text: q, Explain: true})
		ix.Search(tfidf.Query{Text: q, Project: "p1", Tags: []string{"t1"}, Limit: tfidf.MaxLimit})
		ix.Frequencies([]string{q})
	}
	ids := ix.IDs()
	ix.Delete(ids[:len(ids)/3]...)
	ix.Put(tfidf.Document{ID: "d000001", Title: "kalo again"}, tfidf.Document{ID: "fresh", Title: "wholly new words"})
	if err := ix.Capture().Save(filepath.Join(t.TempDir(), "again"), nil); err != nil {
		t.Fatal(err)
	}
}

// TestCheckFinds forges the checksums of changed numbers: what Open lets pass,
// Check finds or it can be used.
func TestCheckFinds(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, and much of it")
	}
	whole, path := savedBytes(t, 300), filepath.Join(t.TempDir(), "index")
	names, borders := tfidf.Borders(whole)
	found, passed := 0, 0
	try := func(name string, b []byte) bool {
		ix, err := openBytes(t, path, tfidf.Resealed(b))
		if err != nil {
			return true
		}
		if ix.Check() != nil {
			found++
			return true
		}
		passed++
		use(t, ix)
		return false
	}
	rng := rand.New(rand.NewPCG(6, 6))
	rounds := 2
	if testing.Short() {
		rounds = 1
	}
	for i, name := range names[:len(names)-1] {
		from, to := borders[i], borders[i+1]
		if from == to {
			continue
		}
		for _, value := range []byte{0, 1, 0x7f, 0xff} {
			for range rounds {
				b := bytes.Clone(whole)
				at := from + rng.IntN(to-from)&^7
				for j := range 1 + rng.IntN(8) {
					b[min(at+j, to-1)] = value
				}
				try(name, b)
			}
		}
	}
	for i := range binary.Size([16]uint64{}) * 2 {
		b := bytes.Clone(whole)
		b[i] = 0xff
		try("head", b)
	}
	if found == 0 || passed == 0 {
		t.Errorf("%d were found and %d passed: the test tries nothing", found, passed)
	}
	t.Logf("%d were found, %d passed", found, passed)
}

func FuzzOpen(f *testing.F) {
	whole := savedBytes(f, 40)
	f.Add(0, []byte{1}, true)
	_, borders := tfidf.Borders(whole)
	for _, at := range borders {
		f.Add(at, []byte{0xff, 0xff, 0xff, 0x7f}, true)
		f.Add(at, []byte{1}, false)
	}
	path := filepath.Join(f.TempDir(), "index")
	f.Fuzz(func(t *testing.T, at int, change []byte, forge bool) {
		b := bytes.Clone(whole)
		if at >= 0 && at < len(b) {
			copy(b[at:], change)
		}
		if forge {
			b = tfidf.Resealed(b)
		}
		if ix, err := openBytes(t, path, b); err == nil && ix.Check() == nil {
			use(t, ix)
		}
	})
}
