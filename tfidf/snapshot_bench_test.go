//go:build unix

package tfidf_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"skillrouter/tfidf"
)

// processor returns the processor time that the process has used.
func processor() time.Duration {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		panic(err)
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

// benchmarkSnapshot measures what compacting, capturing, saving and opening an index takes.
func benchmarkSnapshot(b *testing.B, n int) {
	empty := heap()
	ix := tfidf.New(tfidf.Options{})
	c := newBench(n)
	for part := range slices.Chunk(c.docs, 1000) {
		ix.Put(part...)
	}
	queries := c.queries(1000)
	c = nil
	figures := map[string]float64{"built-heap-MB": float64(int64(heap())-int64(empty)) / (1 << 20)}
	timed := func(name string, f func()) {
		before := processor()
		f()
		figures[name] = float64((processor() - before).Microseconds()) / 1000
	}
	path := filepath.Join(b.TempDir(), "index")
	var capture *tfidf.Capture
	timed("compact-cpu-ms", ix.Compact)
	timed("capture-cpu-ms", func() { capture = ix.Capture() })
	timed("save-cpu-ms", func() {
		if err := capture.Save(path, nil); err != nil {
			b.Fatal(err)
		}
	})
	capture = nil
	figures["saved-heap-MB"] = float64(int64(heap())-int64(empty)) / (1 << 20)
	runtime.KeepAlive(ix)
	ix = nil
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	figures["file-MB"] = float64(info.Size()) / (1 << 20)
	var opened *tfidf.Index
	before, opens := processor(), 0
	for b.Loop() {
		if opened, _, err = tfidf.Open(path, tfidf.Options{}); err != nil {
			b.Fatal(err)
		}
		opens++
	}
	figures["open-cpu-ms"] = float64((processor() - before).Microseconds()) / 1000 / float64(opens)
	figures["opened-heap-MB"] = float64(int64(heap())-int64(empty)) / (1 << 20)
	timed("first-100-searches-cpu-ms", func() {
		for _, q := range queries[:100] {
			opened.Search(tfidf.Query{Text: q})
		}
	})
	timed("next-100-searches-cpu-ms", func() {
		for _, q := range queries[100:200] {
			opened.Search(tfidf.Query{Text: q})
		}
	})
	timed("first-put-cpu-ms", func() { opened.Put(tfidf.Document{ID: "new", Title: "what comes after"}) })
	timed("check-cpu-ms", func() {
		if err := opened.Check(); err != nil {
			b.Fatal(err)
		}
	})
	for name, x := range figures {
		b.ReportMetric(x, name)
	}
}

func BenchmarkSnapshot100k(b *testing.B) { benchmarkSnapshot(b, 100_000) }

func BenchmarkSnapshot1M(b *testing.B) {
	if testing.Short() {
		b.Skip("it takes a minute to build")
	}
	benchmarkSnapshot(b, 1_000_000)
}
