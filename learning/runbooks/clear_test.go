package runbooks_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/procedure"
	"github.com/skillrouter/skillrouter/learning/runbooks"
)

// clear clears what the persona default has.
func (w *world) clear(want int64) {
	w.t.Helper()
	if n, err := w.Clear(w.ctx, learning.DefaultPersona, "", 1000); err != nil || n != want {
		w.t.Errorf("%d procedures were cleared and not %d, error %v", n, want, err)
	}
}

// none holds the persona default to having neither procedures nor files, also after another start.
func (w *world) none() {
	w.t.Helper()
	for range 2 {
		w.open()
		w.sync()
		list, err := w.List(w.ctx, procedure.Filter{})
		if err != nil || list.Count != 0 {
			w.t.Errorf("procedures are there again: %+v, error %v", list.Procedures, err)
		}
		files, err := filepath.Glob(filepath.Join(w.folder, "default", "*"))
		if err != nil || len(files) != 0 {
			w.t.Errorf("files are left: %q, error %v", files, err)
		}
	}
}

// TestFolderClear clears procedures that stand to their files in every way.
func TestFolderClear(t *testing.T) {
	w := newWorld(t)
	w.put("default/read.yaml", one)
	w.put("coder/another.yaml", one)
	w.save("written", "first")
	w.save("replaced", "first")
	w.sync()
	w.save("replaced", "second") // its file says the first yet
	w.save("unwritten", "it has no file yet")
	w.clear(4)
	w.none()
	if w.text("coder/another.yaml") != one {
		t.Error("another persona's file is gone")
	}
	w.save("read", "anew")
	w.sync()
	w.stands("read", 2, "anew")
}

// TestFolderClearOutOfSight clears a procedure whose file cannot be seen when
// the folder is looked at next: when it can, it is removed, and brings nothing back.
func TestFolderClearOutOfSight(t *testing.T) {
	for _, c := range []struct {
		name       string
		hide, show func(w *world, folder, text string)
	}{
		{"it is broken for a while", func(w *world, _, _ string) { w.put("default/a.yaml", "steps: [") }, func(w *world, _, text string) { w.put("default/a.yaml", text) }},
		{"another folder is kept for a while", func(w *world, _, _ string) { w.folder = filepath.Join(w.t.TempDir(), "other") }, func(w *world, folder, _ string) { w.folder = folder }},
		{"it is a link for a while", func(w *world, folder, _ string) {
			name := filepath.Join(folder, "default", "a.yaml")
			if err := os.Remove(name); err != nil {
				w.t.Fatal(err)
			}
			if err := os.Symlink("elsewhere", name); err != nil {
				w.t.Skip(err)
			}
		}, func(w *world, folder, text string) {
			if err := os.Remove(filepath.Join(folder, "default", "a.yaml")); err != nil {
				w.t.Fatal(err)
			}
			w.put("default/a.yaml", text)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.save("a", "one")
			w.sync()
			folder, text := w.folder, w.text("default/a.yaml")
			w.clear(1)
			c.hide(w, folder, text)
			w.open()
			w.sync()
			c.show(w, folder, text)
			w.none()
		})
	}
}

// slow is procedures that are cleared while one of them is being written to its file.
type slow struct {
	*procedure.Procedures
	w *world
}

func (s slow) Written(ctx context.Context, ref procedure.Ref, file procedure.FileMark) error {
	s.w.clear(1)
	return s.Procedures.Written(ctx, ref, file)
}

func TestFolderClearBesideWriting(t *testing.T) {
	for _, first := range []bool{true, false} {
		w := newWorld(t)
		w.save("a", "one")
		if !first {
			w.sync()
			w.save("a", "two")
		}
		files, err := runbooks.Open(w.folder, slow{w.Procedures, w}, runbooks.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := files.Sync(w.ctx); err != nil {
			t.Fatal(err)
		}
		w.none()
	}
}
