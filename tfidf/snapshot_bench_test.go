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

// benchmarkSnapshot measures what capturing, saving and opening an index takes.
func benchmarkSnapshot(b *testing.B, n int) {
	ix := tfidf.New(tfidf.Options{})
	c := newBench(n)
	for part := range slices.Chunk(c.docs, 1000) {
		ix.Put(part...)
	}
	queries := c.queries(1000)
	c = nil
	runtime.GC()
	path := filepath.Join(b.TempDir(), "index")
	from := time.Now()
	capture := ix.Capture()
	b.ReportMetric(float64(time.Since(from).Microseconds())/1000, "capture-ms")
	before := processor()
	if err := capture.Save(path, nil); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64((processor() - before).Milliseconds()), "save-cpu-ms")
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(info.Size())/(1<<20), "file-MB")
	ix, capture = nil, nil
	empty := heap()
	var opened *tfidf.Index
	before = processor()
	opens := 0
	for b.Loop() {
		if opened, _, err = tfidf.Open(path, tfidf.Options{}); err != nil {
			b.Fatal(err)
		}
		opens++
	}
	b.ReportMetric(float64((processor()-before).Microseconds())/1000/float64(opens), "cpu-ms/op")
	b.ReportMetric(float64(int64(heap())-int64(empty))/(1<<20), "heap-MB")
	from = time.Now()
	for _, q := range queries[:100] {
		opened.Search(tfidf.Query{Text: q})
	}
	b.ReportMetric(float64(time.Since(from).Microseconds())/1000/100, "first-100-ms")
	from = time.Now()
	opened.Put(tfidf.Document{ID: "new", Title: "what comes after"})
	b.ReportMetric(float64(time.Since(from).Microseconds())/1000, "first-put-ms")
	runtime.KeepAlive(opened)
}

func BenchmarkSnapshot100k(b *testing.B) { benchmarkSnapshot(b, 100_000) }

func BenchmarkSnapshot1M(b *testing.B) {
	if testing.Short() {
		b.Skip("it takes a minute to build")
	}
	benchmarkSnapshot(b, 1_000_000)
}
