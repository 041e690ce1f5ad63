package folder_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/folder"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// bench is a folder and a router beside each other.
type bench struct {
	t      testing.TB
	name   string
	router *router
}

func newBench(t testing.TB, seed bool) *bench {
	b := &bench{t, filepath.Join(t.TempDir(), "docs", "lessons"), newRouter()}
	for _, dir := range []string{b.name, filepath.Join(b.name, "..", "..", ".git")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if seed {
		if err := os.CopyFS(b.name, os.DirFS(filepath.FromSlash("testdata/seed"))); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// take imports the folder, and give exports the router's lessons to it.
func (b *bench) take(options folder.Options) folder.Result {
	b.t.Helper()
	result, err := b.try(func(ctx context.Context, dir *folder.Dir) (folder.Result, error) {
		return folder.Import(ctx, dir, b.router, options)
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return result
}

func (b *bench) give(options folder.Options) folder.Result {
	b.t.Helper()
	result, err := b.try(func(ctx context.Context, dir *folder.Dir) (folder.Result, error) {
		return folder.Export(ctx, dir, b.router, options, noon)
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return result
}

func (b *bench) try(do func(ctx context.Context, dir *folder.Dir) (folder.Result, error)) (folder.Result, error) {
	b.t.Helper()
	dir, err := folder.Open(b.name, false)
	if err != nil {
		b.t.Fatal(err)
	}
	defer dir.Close()
	return do(context.Background(), dir)
}

func (b *bench) read(name string) string {
	b.t.Helper()
	text, err := os.ReadFile(filepath.Join(b.name, filepath.FromSlash(name)))
	if err != nil {
		b.t.Fatal(err)
	}
	return string(text)
}

func (b *bench) write(name, text string) {
	b.t.Helper()
	name = filepath.Join(b.name, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) replace(name, old, new string) {
	b.t.Helper()
	text := b.read(name)
	if !strings.Contains(text, old) {
		b.t.Fatalf("%s does not hold %q:\n%s", name, old, text)
	}
	b.write(name, strings.Replace(text, old, new, 1))
}

// tree is what lies in the folder, by name.
func (b *bench) tree() map[string]string {
	files := map[string]string{}
	err := fs.WalkDir(os.DirFS(b.name), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files[name] = b.read(name)
		}
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return files
}

func counts(t testing.TB, result folder.Result, want map[folder.Action]int) {
	t.Helper()
	if !maps.Equal(result.Counts, want) {
		t.Errorf("%v, want %v: %+v", result.Counts, want, result.Steps)
	}
}

func step(t testing.TB, result folder.Result, id string) folder.Step {
	t.Helper()
	for _, s := range result.Steps {
		if s.ID == id || s.Path == id {
			return s
		}
	}
	t.Fatalf("nothing is said of %s: %+v", id, result.Steps)
	return folder.Step{}
}

type tally = map[folder.Action]int

func TestSeedFolder(t *testing.T) {
	b := newBench(t, true)
	before := b.tree()
	counts(t, b.take(folder.Options{DryRun: true}), tally{folder.ActionReport: 4})
	if len(b.router.ids) > 0 || !maps.Equal(before, b.tree()) {
		t.Error("a dry run changed something")
	}
	counts(t, b.take(folder.Options{}), tally{folder.ActionReport: 4})
	l := b.router.lessons["case-docker-cache"]
	if l.InitialConfidence != 0.6 || l.Status != lesson.StatusValidated || l.LastValidatedAt.Format(time.DateOnly) != "2026-10-02" ||
		!strings.Contains(l.Body, "\n---\n\n## Fix\n\n    docker build") {
		t.Errorf("%+v", l)
	}
	for round := range 2 {
		counts(t, b.take(folder.Options{}), tally{folder.ActionAgreed: 4})
		counts(t, b.give(folder.Options{}), tally{folder.ActionAgreed: 4})
		after := b.tree()
		for name, text := range before {
			if after[name] != text {
				t.Errorf("round %d changed %s: %s", round, name, cmp.Diff(text, after[name]))
			}
		}
	}
	if b.router.calls["edit"] != 0 || len(b.router.occurred) != 0 {
		t.Errorf("bringing what agrees called the router: %v %v", b.router.calls, b.router.occurred)
	}
}

func TestIndex(t *testing.T) {
	b := newBench(t, true)
	b.take(folder.Options{})
	b.give(folder.Options{})
	golden(t, "testdata/index.golden.json", b.read("index.json"))
	if again := b.give(folder.Options{}); again.Index {
		t.Error("an index that says the same was written again")
	}
	b.replace("cases/case-npm-lock.md", "confidence: 2", "confidence: 4")
	if again := b.give(folder.Options{}); !again.Index || !strings.Contains(b.read("index.json"), `"confidence": 4`) {
		t.Error("the index was not written again")
	}
}

// TestDifferingSides: what differs is left and named on both sides.
func TestDifferingSides(t *testing.T) {
	const id, name = "case-npm-lock", "cases/case-npm-lock.md"
	differing := func(t *testing.T) *bench {
		b := newBench(t, true)
		b.take(folder.Options{})
		b.replace(name, "Use `npm ci`.", "Use `npm ci` always.")
		b.router.change(id, func(l *lesson.Lesson) { l.Solution = "npm ci\n\n  --no-audit" })
		return b
	}
	inFile := func(b *bench) bool { return strings.Contains(b.read(name), "--no-audit") }
	inRouter := func(b *bench) bool { return strings.Contains(b.router.lessons[id].Body, "npm ci` always") }
	b := differing(t)
	for _, result := range []folder.Result{b.take(folder.Options{}), b.give(folder.Options{}), b.take(folder.Options{DryRun: true}), b.give(folder.Options{DryRun: true})} {
		if got := step(t, result, name); !result.DryRun && got.Action != folder.ActionLeft || !strings.Contains(got.Why, "solution") || !strings.Contains(got.Why, "body") {
			t.Errorf("%+v", got)
		}
	}
	if inFile(b) || inRouter(b) {
		t.Error("something was written over")
	}
}

func TestDeletedFileDeletesNothing(t *testing.T) {
	const id, name = "case-npm-lock", "cases/case-npm-lock.md"
	b := newBench(t, true)
	b.take(folder.Options{})
	if err := os.Remove(filepath.Join(b.name, filepath.FromSlash(name))); err != nil {
		t.Fatal(err)
	}
	counts(t, b.take(folder.Options{}), tally{folder.ActionAgreed: 3})
	if b.router.lessons[id].Status == lesson.StatusRetired {
		t.Error("retired unasked")
	}
	if got := step(t, b.give(folder.Options{}), id); got.Action != folder.ActionWrite || !strings.Contains(b.read(name), "npm ci") {
		t.Errorf("%+v", got)
	}
}

func TestBrokenFileStays(t *testing.T) {
	const id, name = "case-npm-lock", "cases/case-npm-lock.md"
	b := newBench(t, true)
	b.take(folder.Options{})
	b.replace(name, "level: case", "level: case\nlevel: case")
	broken := b.read(name)
	for _, result := range []folder.Result{b.take(folder.Options{}), b.give(folder.Options{})} {
		if result.Counts[folder.ActionRefused] == 0 {
			t.Errorf("%+v", result)
		}
		if got := step(t, result, name); !strings.Contains(got.Why, "line 4") {
			t.Errorf("%+v", got)
		}
	}
	if b.read(name) != broken || b.router.lessons[id].Title == "" {
		t.Error("something was done about a file that could not be read")
	}
}

func TestExportToEmptyFolderAndBack(t *testing.T) {
	b := newBench(t, true)
	b.take(folder.Options{})
	b.router.change("case-npm-lock", func(l *lesson.Lesson) {
		l.Type, l.Domain, l.Severity = learning.LessonAntiPattern, "web", learning.SeverityCritical
		l.RelatedCommands, l.BlockAction, l.TriggerPattern = []string{"npm install"}, true, `^npm install\b`
		l.Alternatives, l.Body, l.InitialConfidence = []string{"npm ci", "pnpm i --frozen-lockfile"}, "\r\ntext\r\n", 0.83
	})
	other := newBench(t, false)
	other.router = b.router
	counts(t, other.give(folder.Options{}), tally{folder.ActionWrite: 4})
	golden(t, "testdata/npm.golden.md", other.read("cases/case-npm-lock.md"))

	third := newBench(t, false)
	third.name = other.name
	counts(t, third.take(folder.Options{}), tally{folder.ActionReport: 4})
	for id, want := range b.router.lessons {
		if diff := cmp.Diff(folder.Of(want), folder.Of(third.router.lessons[id]), cmpopts.EquateEmpty()); diff != "" {
			t.Error(diff)
		}
	}
	before := third.tree()
	counts(t, third.give(folder.Options{}), tally{folder.ActionAgreed: 4})
	if diff := cmp.Diff(before, third.tree()); diff != "" {
		t.Error(diff)
	}
}

func TestTwinUnderAnotherID(t *testing.T) {
	b := newBench(t, true)
	b.write("cases/again.md", "---\nid: again\ntitle: NPM install changed the lockfile in CI\n---\nOther text.\n")
	b.write("cases/drawn.md", "---\nid: drawn\nsource_case_ids: [again, case-npm-lock]\n---\n")
	result := b.take(folder.Options{})
	counts(t, result, tally{folder.ActionReport: 5, folder.ActionAgreed: 1})
	if len(b.router.ids) != 5 || len(b.router.occurred) != 1 {
		t.Errorf("%v %v", b.router.ids, b.router.occurred)
	}
}

func TestSourcesInACircleAndUnknown(t *testing.T) {
	b := newBench(t, false)
	file := func(id, sources string) {
		b.write("cases/"+id+".md", "---\nid: "+id+"\nsource_case_ids: ["+sources+"]\n---\n")
	}
	file("a", "b")
	file("b", "c")
	file("c", "a")
	file("d", "a") // rests on what is refused
	file("e", "nowhere")
	file("f", "g, h")
	file("g", "")
	file("h", "g")
	result := b.take(folder.Options{})
	counts(t, result, tally{folder.ActionRefused: 5, folder.ActionReport: 3})
	for id, want := range map[string]string{"a": "own ancestor", "b": "own ancestor", "c": "own ancestor", "d": "a, which is not there", "e": "nowhere, which is not there"} {
		if got := step(t, result, id); !strings.Contains(got.Why, want) {
			t.Errorf("%s: %q", id, got.Why)
		}
	}
	if !slices.Equal(b.router.ids, []string{"g", "h", "f"}) {
		t.Error(b.router.ids)
	}
}

func TestLongChainOfSources(t *testing.T) {
	b := newBench(t, false)
	const n = 2000
	name := func(i int) string { return "c" + strings.Repeat("0", 4-len(itoa(i))) + itoa(i) }
	for i := range n {
		sources := ""
		if i+1 < n {
			sources = name(i + 1)
		}
		b.write("cases/"+name(i)+".md", "---\nid: "+name(i)+"\nsource_case_ids: ["+sources+"]\n---\n")
	}
	counts(t, b.take(folder.Options{}), tally{folder.ActionReport: n})
}

func TestHostileFolder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("makes links and pipes")
	}
	b := newBench(t, true)
	if err := os.CopyFS(filepath.Join(b.name, "cases"), os.DirFS("testdata/hostile")); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(t.TempDir(), "secret.md")
	if err := os.WriteFile(outside, []byte("---\nid: secret\n---\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"cases/out.md": outside, "cases/dir": filepath.Dir(outside), "cases/in.md": "case-npm-lock.md", "cases/dangling.md": "nothing"} {
		if err := os.Symlink(to, filepath.Join(b.name, link)); err != nil {
			t.Fatal(err)
		}
	}
	pipe(t, filepath.Join(b.name, "cases", "pipe.md"))
	b.write("cases/huge.md", "---\nid: huge\n---\n"+strings.Repeat("x", 10<<20))
	b.write("cases/twin.md", "---\nid: case-npm-lock\n---\n")
	b.write("cases/README.md", "# Cases\n")
	b.write("cases/notes.txt", "x")
	b.write("cases/.draft.md", "x")
	b.write("cases/latin1.md", "---\nid: latin1\n---\n\xe9")
	b.write("cases/Shout.md", "---\nid: shout-1\n---\n")
	b.write("cases/shout.md", "---\nid: shout-2\n---\n")
	b.write("cases/deep/er/fine.md", "---\nid: fine\n---\n")
	result := b.take(folder.Options{})
	for name, want := range map[string]string{
		"cases/out.md": "symbolic link", "cases/dir": "symbolic link", "cases/in.md": "symbolic link", "cases/dangling.md": "symbolic link",
		"cases/pipe.md": "no regular file", "cases/huge.md": "larger than", "cases/twin.md": "has the id of", "cases/case-npm-lock.md": "has the id of",
		"cases/latin1.md": "UTF-8", "cases/Shout.md": "case alone", "cases/shout.md": "case alone", "cases/bomb.md": "aliases",
		"cases/duplicate.md": "already defined", "cases/unknown.md": "unknown field", "cases/nofront.md": "no front matter",
	} {
		if got := step(t, result, name); got.Action != folder.ActionRefused || !strings.Contains(got.Why, want) {
			t.Errorf("%s: %+v, want %q", name, got, want)
		}
	}
	// The good ones went through, but what rests on the twins did not.
	for _, id := range []string{"case-docker-cache", "fine", "bom", "crlf"} {
		if _, ok := b.router.lessons[id]; !ok {
			t.Errorf("%s was not taken", id)
		}
	}
	if _, ok := b.router.lessons["secret"]; ok {
		t.Error("read a file outside of the folder")
	}
	if len(result.Skipped) != 3 {
		t.Errorf("skipped %+v", result.Skipped)
	}
}

func TestWritesStayInside(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("makes links")
	}
	b := newBench(t, true)
	b.take(folder.Options{})
	outside := t.TempDir()
	other := newBench(t, false)
	other.router = b.router
	if err := os.Symlink(outside, filepath.Join(other.name, "cases")); err != nil {
		t.Fatal(err)
	}
	if _, err := other.try(func(ctx context.Context, dir *folder.Dir) (folder.Result, error) {
		return folder.Export(ctx, dir, other.router, folder.Options{}, noon)
	}); err != nil && errs.CodeOf(err) == errs.Internal {
		t.Error(err)
	}
	if left, _ := os.ReadDir(outside); len(left) > 0 {
		t.Errorf("%v", left)
	}
}

func TestEmptyFolder(t *testing.T) {
	b := newBench(t, false)
	counts(t, b.give(folder.Options{}), tally{})
	var index folder.Index
	if err := json.Unmarshal([]byte(b.read("index.json")), &index); err != nil || index.Lessons == nil || index.Stats.Total != 0 {
		t.Errorf("%+v %v", index, err)
	}
}

func TestRefusalsAndFailures(t *testing.T) {
	b := newBench(t, true)
	b.router.refuse = func(title string) error {
		if strings.Contains(title, "lockfile") {
			return errs.InvalidField("title", "is not wanted")
		}
		return nil
	}
	result := b.take(folder.Options{})
	if got := step(t, result, "case-npm-lock"); got.Action != folder.ActionRefused || got.Why != "title is not wanted" {
		t.Errorf("%+v", got)
	}
	if _, ok := b.router.lessons["case-docker-cache"]; !ok {
		t.Error("a refusal stopped the others")
	}
	other := newBench(t, true)
	other.router.failing = errs.Errorf(errs.Unavailable, "away")
	result, err := other.try(func(ctx context.Context, dir *folder.Dir) (folder.Result, error) {
		return folder.Import(ctx, dir, other.router, folder.Options{})
	})
	if !errors.Is(err, other.router.failing) || len(result.Steps) > 0 {
		t.Errorf("%v %+v", err, result)
	}
}
