package keep_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"skillrouter/tfidf"
	"skillrouter/tfidf/keep"
)

// saved is a shelf of n entries whose index was saved.
func saved(t *testing.T, n int) (s *shelf, path string) {
	t.Helper()
	s, path = newShelf(n), filepath.Join(t.TempDir(), "index", "shelf.index")
	k := s.keep(path)
	load(t, k)
	if err := errors.Join(k.Rebuild(t.Context()), k.Save(t.Context())); err != nil {
		t.Fatal(err)
	}
	return s, path
}

func load(t *testing.T, k *keep.Keeper) {
	t.Helper()
	if err := k.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestASnapshotIsCaughtUpWithTheLog(t *testing.T) {
	s, path := saved(t, 50)
	for name, write := range map[string]func(){
		"nothing":          func() {},
		"a new one":        func() { s.write(entry(60, "the kubelet")) },
		"a changed one":    func() { s.write(entry(7, "the kubelet")) },
		"a deleted one":    func() { s.remove("e8") },
		"new, then gone":   func() { s.write(entry(61, "kubelet")); s.remove("e61") },
		"gone, then again": func() { s.remove("e9"); s.write(entry(9, "kubelet")) },
		"many": func() {
			for i := range 400 {
				s.write(entry(100+i, "flaky"))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s.mu.Lock()
			s.keeper = nil // what is written now, nobody puts
			s.mu.Unlock()
			write()
			scans := s.scans
			k := s.keep(path)
			load(t, k)
			if state := k.State(); state.Stage != keep.Complete || state.Refused != "" || state.Saved.IsZero() || s.scans != scans {
				t.Errorf("%+v after %d scans", state, s.scans-scans)
			}
			s.check(t, k)
		})
	}
}

func TestManyChangesAreCaughtUpInTheBackground(t *testing.T) {
	s, path := saved(t, 50)
	s.keeper = nil
	for i := range 700 {
		s.write(entry(100+i, "flaky"))
	}
	s.write(entry(7, "the kubelet was evicted"))
	s.remove("e8")
	k := s.keep(path)
	load(t, k)
	if state := k.State(); state.Stage != keep.CatchingUp || state.Documents != 50 {
		t.Errorf("%+v", state)
	}
	s.write(entry(900, "the kubelet came back"))
	found, notice := k.Search(t.Context(), tfidf.Query{Text: "kubelet"})
	if len(found.Hits) != 2 || !strings.Contains(notice, "catching up") {
		t.Errorf("%v, notice %q", found.Hits, notice)
	}
	run(t, k)
	await(t, k)
	s.check(t, k)
}

func TestASnapshotThatCannotBeUsedIsRefusedAndReplaced(t *testing.T) {
	for _, tt := range []struct {
		name, refused string
		spoil         func(t *testing.T, s *shelf, path string)
	}{
		{"gone", "there is none yet", func(t *testing.T, _ *shelf, path string) { must(t, os.Remove(path)) }},
		{"a bit flipped", "cannot be used", func(t *testing.T, _ *shelf, path string) {
			text, err := os.ReadFile(path)
			must(t, err)
			text[len(text)/2] ^= 4
			must(t, os.WriteFile(path, text, 0o600))
		}},
		{"cut off", "cannot be used", func(t *testing.T, _ *shelf, path string) { must(t, os.Truncate(path, 5000)) }},
		{"empty", "cannot be used", func(t *testing.T, _ *shelf, path string) { must(t, os.Truncate(path, 0)) }},
		{"a folder", "cannot be used", func(t *testing.T, _ *shelf, path string) {
			must(t, errors.Join(os.Remove(path), os.Mkdir(path, 0o700)))
		}},
		{"of another log", "another database", func(_ *testing.T, s *shelf, _ string) { s.name = "b" }},
		{"of a later state", "another database", func(_ *testing.T, s *shelf, _ string) { s.log = s.log[:10] }},
		{"a gap in the log", "does not tell everything", func(_ *testing.T, s *shelf, _ string) { s.log = append(s.log, "") }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, path := saved(t, 50)
			s.keeper = nil
			tt.spoil(t, s, path)
			k := s.keep(path)
			load(t, k)
			if state := k.State(); state.Stage != keep.Rebuilding || !strings.Contains(state.Refused, tt.refused) || !state.Saved.IsZero() {
				t.Errorf("%+v", state)
			}
			if found, notice := k.Search(t.Context(), tfidf.Query{Text: "flaky"}); len(found.Hits) == 0 || notice == "" {
				t.Errorf("while it is rebuilt: %v, %q", found.Hits, notice)
			}
			must(t, k.Rebuild(t.Context()))
			s.check(t, k)
			if err := k.Save(t.Context()); err != nil && tt.name != "a folder" {
				t.Fatal(err)
			} else if err != nil {
				return // it is in the way, and State says so
			}
			again := s.keep(path)
			load(t, again)
			if state := again.State(); state.Refused != "" || state.Stage != keep.Complete {
				t.Errorf("after it was saved again: %+v", state)
			}
			s.check(t, again)
		})
	}
}

func TestASnapshotOfAnotherFormIsRefused(t *testing.T) {
	s, path := saved(t, 20)
	k := keep.New(s, keep.Options{Path: path, Form: "shelf 2"})
	load(t, k)
	if state := k.State(); !strings.Contains(state.Refused, `"shelf 1", not "shelf 2"`) {
		t.Errorf("%+v", state)
	}
}

func TestSavingFailsQuietlyAndIsRepeated(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a file in a folder's place is another error there")
	}
	synctest.Test(t, func(t *testing.T) {
		var told bytes.Buffer
		folder := filepath.Join(t.TempDir(), "index")
		must(t, os.WriteFile(folder, nil, 0o600)) // in the way
		s := newShelf(300)
		k := keep.New(s, keep.Options{Path: filepath.Join(folder, "x"), Form: "shelf 1", Log: slog.New(slog.NewTextHandler(&told, nil))})
		s.keeper = k
		load(t, k)
		run(t, k)
		await(t, k)
		<-time.After(5 * time.Minute)
		if n := strings.Count(told.String(), "cannot be saved"); n != 1 || k.State().SaveFailed == "" {
			t.Errorf("told %d times: %s", n, told.String())
		}
		s.write(entry(400, "kubelet"))
		s.check(t, k)
		must(t, os.Remove(folder))
		<-time.After(2 * time.Minute)
		if state := k.State(); state.SaveFailed != "" || state.Unsaved != 0 || time.Since(state.Saved) > 2*time.Minute {
			t.Errorf("when the way is free: %+v", state)
		}
	})
}

func TestSnapshotsAreSavedInTimeAndAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, path := saved(t, 1000)
		k := s.keep(path)
		load(t, k)
		ended := make(chan error)
		ctx, cancel := cancelable(t)
		go func() { ended <- k.Run(ctx) }()
		for i := range 10 {
			s.write(entry(2000+i, "kubelet"))
		}
		<-time.After(time.Minute)
		if n := k.State().Unsaved; n != 10 {
			t.Errorf("a handful is saved at once: %d are not", n)
		}
		for i := range 300 {
			s.write(entry(3000+i, "kubelet"))
		}
		<-time.After(time.Minute)
		if n := k.State().Unsaved; n != 0 {
			t.Errorf("after many changes and a quiet moment %d are not saved", n)
		}
		s.write(entry(5000, "kubelet"))
		<-time.After(2 * time.Hour)
		if n := k.State().Unsaved; n != 0 {
			t.Errorf("after hours %d are not saved", n)
		}
		s.write(entry(5001, "kubelet"))
		cancel()
		must(t, <-ended)
		if n := k.State().Unsaved; n != 0 {
			t.Errorf("after the end %d are not saved", n)
		}
	})
}

// TestAnUnchangedSnapshotFollowsTheLog lets the log grow by records of other
// documents: a start need not go over them, and the snapshot is not written again.
func TestAnUnchangedSnapshotFollowsTheLog(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spoil func(t *testing.T, s *shelf, path string)
		told  int
	}{
		{"it follows", func(*testing.T, *shelf, string) {}, 3},
		{"the note is gone", func(t *testing.T, _ *shelf, path string) { must(t, os.Remove(path+".at")) }, 10_003},
		{"the note is damaged", func(t *testing.T, _ *shelf, path string) { must(t, os.WriteFile(path+".at", []byte("{"), 0o600)) }, 10_003},
		{"the note is of another log", func(_ *testing.T, s *shelf, _ string) { s.log[len(s.log)-4] = "other" }, 10_003},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, path := saved(t, 50)
				before, err := os.Stat(path)
				must(t, err)
				k := s.keep(path)
				load(t, k)
				ctx, cancel := cancelable(t)
				ended := make(chan error)
				go func() { ended <- k.Run(ctx) }()
				s.mu.Lock()
				for range 10_000 {
					s.log = append(s.log, "-")
				}
				s.mu.Unlock()
				<-time.After(2 * time.Minute)
				cancel()
				must(t, <-ended)
				if after, err := os.Stat(path); err != nil || !after.ModTime().Equal(before.ModTime()) {
					t.Errorf("the snapshot was written again: %v", err)
				}
				s.keeper, s.told = nil, 0
				s.log = append(s.log, "-", "-")
				s.write(entry(7, "the kubelet"))
				tt.spoil(t, s, path)
				again := s.keep(path)
				load(t, again)
				if s.told != tt.told {
					t.Errorf("a start went over %d records", s.told)
				}
				s.check(t, again)
			})
		})
	}
}

// TestAnyHistoryIsCaughtUp writes, saves, restarts and dies in any order: what is
// found is always what a fresh index finds.
func TestAnyHistoryIsCaughtUp(t *testing.T) {
	dir := t.TempDir()
	round := 0
	rapid.Check(t, func(rt *rapid.T) {
		round++
		path := filepath.Join(dir, fmt.Sprint(round), "x")
		s := newShelf(0)
		k := s.keep(path)
		load(t, k)
		restart := func() {
			k = s.keep(path)
			load(t, k)
			if !k.Complete() {
				must(t, k.Rebuild(t.Context()))
			}
		}
		for range rapid.IntRange(1, 30).Draw(rt, "steps") {
			switch rapid.IntRange(0, 9).Draw(rt, "step") {
			case 0, 1, 2, 3, 4:
				s.write(entry(rapid.IntRange(0, 12).Draw(rt, "id"), rapid.SampledFrom([]string{"flaky", "kubelet entry", "flaky flaky tests", ""}).Draw(rt, "text")))
			case 5, 6:
				s.remove(fmt.Sprint("e", rapid.IntRange(0, 12).Draw(rt, "gone")))
			case 7:
				must(t, k.Save(t.Context()))
			case 8:
				restart()
			case 9:
				must(t, k.Rebuild(t.Context()))
			}
		}
		restart()
		s.check(t, k)
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
