package runbooks_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/internal/database/databasetest"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning/procedure"
	"github.com/skillrouter/skillrouter/learning/runbooks"
	"github.com/skillrouter/skillrouter/learning/store"
)

// world is procedures on a database, and a folder of them.
type world struct {
	*procedure.Procedures
	t      *testing.T
	folder string
	ctx    context.Context // the router's own
	files  *runbooks.Folder
}

func newWorld(t *testing.T) *world {
	w := &world{Procedures: openProcedures(t, t.TempDir()), t: t, folder: filepath.Join(t.TempDir(), "procedures")}
	w.ctx = principal.With(t.Context(), principal.System())
	w.open()
	return w
}

// open begins anew, as a router does that was started again.
func (w *world) open() {
	w.t.Helper()
	var err error
	if w.files, err = runbooks.Open(w.folder, w.Procedures, runbooks.Options{}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) sync() {
	w.t.Helper()
	if err := w.files.Sync(w.ctx); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) put(name, text string) {
	w.t.Helper()
	file := filepath.Join(w.folder, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) text(name string) string {
	text, err := os.ReadFile(filepath.Join(w.folder, name))
	if err != nil {
		return ""
	}
	return string(text)
}

func (w *world) save(name, action string) {
	w.t.Helper()
	if _, err := w.Save(w.ctx, procedure.Draft{Name: name, Steps: []procedure.Step{{Action: action}}}); err != nil {
		w.t.Fatal(err)
	}
}

// stands holds a procedure of the persona default to its version and the action of its first step; version 0: there is none.
func (w *world) stands(name string, version int64, action string) {
	w.t.Helper()
	p, err := w.Procedure(w.ctx, procedure.Ref{Name: name})
	switch {
	case version == 0 && errs.CodeOf(err) != errs.NotFound:
		w.t.Errorf("%s is there: version %d, error %v", name, p.Version, err)
	case version > 0 && (err != nil || p.Version != version || p.Steps[0].Action != action):
		w.t.Errorf("%s is version %d, %v, error %v; not version %d, %s", name, p.Version, p.Steps, err, version, action)
	}
}

func (w *world) problems() string {
	list, err := w.Problems(w.ctx)
	if err != nil {
		w.t.Fatal(err)
	}
	var all []string
	for _, p := range list {
		all = append(all, p.File+": "+p.Problem)
	}
	return strings.Join(all, "\n")
}

const one = "steps:\n  - action: one\n"

func TestFolderBothWays(t *testing.T) {
	w := newWorld(t)
	w.put("default/deploy.yaml", one)
	w.save("backup", "dump")
	w.sync()
	w.stands("deploy", 1, "one")
	if !strings.Contains(w.text("default/backup.yaml"), "action: dump") {
		t.Errorf("the file is %q", w.text("default/backup.yaml"))
	}
	if w.text("default/deploy.yaml") != one {
		t.Error("a file that people wrote was rewritten")
	}
	w.put("default/backup.yaml", strings.Replace(w.text("default/backup.yaml"), "dump", "dump it all", 1))
	w.save("deploy", "two")
	w.sync()
	w.stands("backup", 2, "dump it all")
	w.stands("deploy", 2, "two")
	if !strings.Contains(w.text("default/deploy.yaml"), "two") {
		t.Errorf("the file is %q", w.text("default/deploy.yaml"))
	}
	for range 3 { // nothing goes round in circles
		w.sync()
	}
	w.stands("backup", 2, "dump it all")
	w.stands("deploy", 2, "two")
	if got := w.problems(); got != "" {
		t.Errorf("problems: %s", got)
	}
}

func TestFolderDeletions(t *testing.T) {
	w := newWorld(t)
	w.put("default/a.yaml", one)
	w.save("b", "one")
	w.save("c", "one")
	w.sync()
	if err := os.Remove(filepath.Join(w.folder, "default/a.yaml")); err != nil {
		t.Fatal(err)
	}
	if err := w.Delete(w.ctx, procedure.Ref{Name: "b"}); err != nil {
		t.Fatal(err)
	}
	w.put("default/c.yaml", "steps: [")
	w.sync()
	w.stands("a", 0, "")
	w.stands("b", 0, "")
	if w.text("default/b.yaml") != "" {
		t.Error("the file of a deleted procedure is there")
	}
	w.stands("c", 1, "one") // a file that cannot be read deletes nothing
	if got := w.problems(); !strings.HasPrefix(got, "default/c.yaml: ") {
		t.Errorf("problems: %s", got)
	}
	w.put("default/c.yaml", one+"description: mended\n")
	w.put("default/b.yaml", one)
	w.sync()
	w.stands("b", 2, "one")
	w.stands("c", 2, "one")
	if got := w.problems(); got != "" {
		t.Errorf("problems: %s", got)
	}
}

// TestFolderAtStart has both change while the router is down.
func TestFolderAtStart(t *testing.T) {
	w := newWorld(t)
	w.put("default/both.yaml", one)
	w.put("default/file.yaml", one)
	w.put("default/row.yaml", one)
	w.put("default/gone.yaml", one)
	w.put("default/saved.yaml", one)
	w.sync()
	w.save("both", "by an agent")
	w.put("default/both.yaml", "steps:\n  - action: by a person\n")
	w.put("default/file.yaml", "steps:\n  - action: by a person\n")
	w.save("row", "by an agent")
	w.save("saved", "by an agent")
	for _, name := range []string{"gone", "saved"} {
		if err := os.Remove(filepath.Join(w.folder, "default", name+".yaml")); err != nil {
			t.Fatal(err)
		}
	}
	w.open()
	w.sync()
	w.stands("both", 3, "by a person")
	w.stands("file", 2, "by a person")
	w.stands("row", 2, "by an agent")
	w.stands("gone", 0, "")
	w.stands("saved", 2, "by an agent") // what the folder never had is written, and not deleted
	if !strings.Contains(w.text("default/saved.yaml"), "by an agent") || !strings.Contains(w.text("default/row.yaml"), "by an agent") {
		t.Error("what was saved is not in its file")
	}
	old, err := w.Procedure(w.ctx, procedure.Ref{Name: "both", Version: 2})
	if err != nil || old.Steps[0].Action != "by an agent" {
		t.Errorf("what the file replaced is %+v, error %v", old, err)
	}
}

// TestFolderCrash has the router die between the file and its row.
func TestFolderCrash(t *testing.T) {
	w := newWorld(t)
	w.save("a", "one")
	w.sync()
	w.save("a", "two")
	file := w.text("default/a.yaml")
	w.put("default/a.yaml", strings.Replace(file, "one", "two", 1)) // it was written, and nobody noted it
	w.put("default/.a.yaml.tmp-0011", "half a fi")
	w.open()
	w.sync()
	w.stands("a", 2, "two")
	w.sync()
	w.stands("a", 2, "two")
	if got := w.problems(); got != "" {
		t.Errorf("problems: %s", got)
	}
}

func TestFolderVanishes(t *testing.T) {
	w := newWorld(t)
	w.save("a", "one")
	w.put("coder/b.yaml", one)
	w.sync()
	if err := os.RemoveAll(w.folder); err != nil {
		t.Fatal(err)
	}
	w.sync()
	w.stands("a", 1, "one")
	if w.text("default/a.yaml") == "" || w.text("coder/b.yaml") == "" {
		t.Error("the files were not written anew")
	}
}

func TestFolderHostile(t *testing.T) {
	w := newWorld(t)
	outside := filepath.Join(t.TempDir(), "outside.yaml")
	if err := os.WriteFile(outside, []byte(one), 0o600); err != nil {
		t.Fatal(err)
	}
	w.put("default/a.yaml", one)
	w.put("coder/a.yaml", "persona: default\n"+one)
	w.put("../escaped.yaml", one)
	w.put("default/notes.txt", "not one")
	w.put(".git/x.yaml", one)
	w.put("default/big.yaml", "# "+strings.Repeat("x", runbooks.MaxFile))
	w.put("bad persona/x.yaml", one)
	for link, to := range map[string]string{"default/link.yaml": outside, "default/dir": filepath.Dir(outside)} {
		if err := os.Symlink(to, filepath.Join(w.folder, link)); err != nil {
			t.Skip(err)
		}
	}
	w.sync()
	list, err := w.List(w.ctx, procedure.Filter{Persona: "*"})
	if err != nil || list.Count != 1 || list.Procedures[0].Name != "a" {
		t.Errorf("procedures %+v, error %v", list, err)
	}
	got := w.problems()
	for _, want := range []string{"default/link.yaml: is no file of its own", "default/a.yaml: is the procedure default/a, and so is coder/a.yaml", "default/big.yaml: is larger", "bad persona/x.yaml: persona must be"} {
		if !strings.Contains(got, want) {
			t.Errorf("the problems do not say %q:\n%s", want, got)
		}
	}
}

// TestFolderIsWatched edits files as editors do, beside a running Folder.
func TestFolderIsWatched(t *testing.T) {
	w := newWorld(t)
	ctx, stop := context.WithCancel(w.ctx)
	var running sync.WaitGroup
	running.Go(func() {
		if err := w.files.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	defer running.Wait()
	defer stop()
	until := func(what string, held func() bool) {
		t.Helper()
		limit := time.After(20 * time.Second)
		for {
			synced := w.files.Synced()
			if held() {
				return
			}
			select {
			case <-synced:
			case <-limit:
				t.Fatalf("it never came that %s", what)
			}
		}
	}
	version := func(persona, name string) int64 {
		p, _ := w.Procedure(w.ctx, procedure.Ref{Persona: persona, Name: name})
		return p.Version
	}
	w.put("default/a.yaml", one)
	until("a new file is read", func() bool { return version("default", "a") == 1 })
	w.put("coder/procedural/deep/b.yaml", one)
	until("a file in new folders is read", func() bool { return version("coder", "b") == 1 })
	w.put("default/.a.yaml.swp", "steps:\n  - action: renamed over\n")
	if err := os.Rename(filepath.Join(w.folder, "default/.a.yaml.swp"), filepath.Join(w.folder, "default/a.yaml")); err != nil {
		t.Fatal(err)
	}
	until("a file is replaced", func() bool { return version("default", "a") == 2 })
	w.put("coder/procedural/deep/b.yaml", "steps:\n  - action: edited in place\n")
	until("a file is edited", func() bool { return version("coder", "b") == 2 })
	w.save("c", "saved")
	until("what is saved is written", func() bool { return w.text("default/c.yaml") != "" })
	if err := os.Remove(filepath.Join(w.folder, "default/a.yaml")); err != nil {
		t.Fatal(err)
	}
	until("a file is deleted", func() bool { return version("default", "a") == 0 })
}

// openProcedures opens procedures on a database in dir.
func openProcedures(t *testing.T, dir string) *procedure.Procedures {
	t.Helper()
	db, err := databasetest.OpenIn(t, dir, "learning", time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() { _ = db.Commit.Run(t.Context()) })
	t.Cleanup(func() { // t.Context() has ended by now
		running.Wait()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return procedure.NewProcedures(store.New(db.Read, db.Commit), procedure.Options{})
}
