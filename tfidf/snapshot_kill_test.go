package tfidf_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"skillrouter/tfidf"
)

// The environment of a process that saves for ever: where, and whether right.
const (
	savesTo    = "SKILLROUTER_TEST_SAVES_TO"
	savesRight = "SKILLROUTER_TEST_SAVES_RIGHT"
)

// generation returns an index of which the number of documents follows from n.
func generation(n int) (docs []tfidf.Document) {
	for i := range 200 + n%7 {
		docs = append(docs, tfidf.Document{ID: fmt.Sprint(i), Title: fmt.Sprint("title", n), Body: "what all of them hold " + fmt.Sprint("word", i)})
	}
	return docs
}

// TestSaveForever is not a test but the process that TestSaveKilled kills.
func TestSaveForever(t *testing.T) {
	path := os.Getenv(savesTo)
	if path == "" {
		t.Skip("it is started by TestSaveKilled")
	}
	for n := 0; ; n++ {
		ix := tfidf.New(tfidf.Options{})
		ix.Put(generation(n)...)
		to := path
		if os.Getenv(savesRight) == "" {
			to = filepath.Join(t.TempDir(), "aside")
		}
		if err := ix.Capture().Save(to, []byte(strconv.Itoa(n))); err != nil {
			t.Fatal(err)
		}
		fmt.Println("saved", n)
		for to != path {
			overwrite(t, to, path)
		}
	}
}

// overwrite copies a file over another, as one must not.
func overwrite(t *testing.T, from, to string) {
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(b); i += 512 {
		if _, err := f.Write(b[i:min(i+512, len(b))]); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// killed runs a process that saves, kills it after some saves, and opens what it left.
func killed(t *testing.T, path string, right string, saves int) error {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSaveForever$")
	cmd.Env = append(os.Environ(), savesTo+"="+path, savesRight+"="+right)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	last := -1
	for in := bufio.NewScanner(out); last < saves && in.Scan(); {
		if _, err := fmt.Sscanf(in.Text(), "saved %d", &last); err != nil {
			t.Fatalf("the process says %q", in.Text())
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	ix, mark, err := tfidf.Open(path, tfidf.Options{})
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(string(mark))
	if err != nil || n < last {
		t.Fatalf("the mark is %q after %d had been saved", mark, last)
	}
	if err := ix.Check(); err != nil || ix.Len() != len(generation(n)) {
		t.Fatalf("generation %d holds %d documents: %v", n, ix.Len(), err)
	}
	return nil
}

// TestSaveKilled kills a process while it saves: the file is always the old
// snapshot or the new one, and what was left beside it hinders nobody.
func TestSaveKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index")
	rounds := 30
	if testing.Short() {
		rounds = 5
	}
	for i := range rounds {
		if err := killed(t, path, "yes", i%7); err != nil {
			t.Fatalf("round %d: %v", i, err)
		}
	}
}

// TestOverwriteKilled is the negative control: of a process that writes over
// the file in place, one of the kills leaves half a file.
func TestOverwriteKilled(t *testing.T) {
	for range 100 {
		if err := killed(t, filepath.Join(t.TempDir(), "index"), "", 0); err != nil {
			return
		}
	}
	t.Error("no kill did any harm: the test cannot fail")
}
