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
	"pgregory.net/rapid"

	"skillrouter/internal/errs"
	"skillrouter/learning"
	"skillrouter/learning/folder"
	"skillrouter/learning/lesson"
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

func (b *bench) sync(settings folder.Settings) folder.Result {
	b.t.Helper()
	result, err := b.try(settings)
	if err != nil {
		b.t.Fatal(err)
	}
	return result
}

func (b *bench) try(settings folder.Settings) (folder.Result, error) {
	b.t.Helper()
	dir, err := folder.Open(b.name, false)
	if err != nil {
		b.t.Fatal(err)
	}
	defer dir.Close()
	ctx := context.Background()
	if t, ok := b.t.(*testing.T); ok {
		ctx = t.Context()
	}
	return folder.Sync(ctx, dir, b.router, settings, noon)
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

func TestSyncSeedFolder(t *testing.T) {
	b := newBench(t, true)
	before := b.tree()
	counts(t, b.sync(folder.Settings{DryRun: true}), tally{folder.ActionReport: 4})
	if len(b.router.ids) > 0 || !maps.Equal(before, b.tree()) {
		t.Error("a dry run changed something")
	}
	counts(t, b.sync(folder.Settings{}), tally{folder.ActionReport: 4})
	if got := b.router.ids; got[3] != "principle-reproduce-first" || got[2] != "pattern-pin-inputs" {
		t.Errorf("reported in the order %v", got)
	}
	l := b.router.lessons["case-docker-cache"]
	if l.InitialConfidence != 0.6 || l.Status != lesson.StatusValidated || l.LastValidatedAt.Format(time.DateOnly) != "2026-10-02" ||
		!strings.Contains(l.Body, "\n---\n\n## Fix\n\n    docker build") {
		t.Errorf("%+v", l)
	}
	for round := range 2 {
		counts(t, b.sync(folder.Settings{}), tally{folder.ActionAgreed: 4})
		after := b.tree()
		for name, text := range before {
			if after[name] != text {
				t.Errorf("round %d changed %s: %s", round, name, cmp.Diff(text, after[name]))
			}
		}
	}
	if b.router.calls["edit"] != 0 || len(b.router.occurred) != 0 {
		t.Errorf("syncing what agrees called the router: %v %v", b.router.calls, b.router.occurred)
	}
}

func TestIndex(t *testing.T) {
	b := newBench(t, true)
	b.sync(folder.Settings{})
	golden(t, "testdata/index.golden.json", b.read("index.json"))
	if again := b.sync(folder.Settings{}); again.Index {
		t.Error("an index that says the same was written again")
	}
	b.replace("cases/case-npm-lock.md", "confidence: 2", "confidence: 4")
	if again := b.sync(folder.Settings{}); !again.Index || !strings.Contains(b.read("index.json"), `"confidence": 4`) {
		t.Error("the index was not written again")
	}
}

func TestSyncThreeWay(t *testing.T) {
	const id, name = "case-npm-lock", "cases/case-npm-lock.md"
	inFile := func(b *bench) { b.replace(name, "Use `npm ci`.", "Use `npm ci` always.") }
	inRouter := func(b *bench) {
		b.router.change(id, func(l *lesson.Lesson) { l.Solution = "npm ci\n\n  --no-audit" })
	}
	for _, test := range []struct {
		name     string
		change   []func(*bench)
		settings folder.Settings
		want     folder.Action
		file     bool // the file holds the router's change afterwards
		router   bool // the router holds the file's change afterwards
	}{
		{"file changed", []func(*bench){inFile}, folder.Settings{}, folder.ActionEdit, false, true},
		{"file changed, import", []func(*bench){inFile}, folder.Settings{Direction: folder.ToRouter}, folder.ActionEdit, false, true},
		{"file changed, export", []func(*bench){inFile}, folder.Settings{Direction: folder.ToFolder}, folder.ActionLeft, false, false},
		{"file changed, export, prefer router", []func(*bench){inFile}, folder.Settings{Direction: folder.ToFolder, Prefer: folder.PreferRouter}, folder.ActionLeft, false, false},
		{"router changed", []func(*bench){inRouter}, folder.Settings{}, folder.ActionWrite, true, false},
		{"router changed, export", []func(*bench){inRouter}, folder.Settings{Direction: folder.ToFolder}, folder.ActionWrite, true, false},
		{"router changed, import", []func(*bench){inRouter}, folder.Settings{Direction: folder.ToRouter}, folder.ActionLeft, false, false},
		{"both", []func(*bench){inFile, inRouter}, folder.Settings{}, folder.ActionConflict, false, false},
		{"both, prefer folder", []func(*bench){inFile, inRouter}, folder.Settings{Prefer: folder.PreferFolder}, folder.ActionEdit, false, true},
		{"both, prefer router", []func(*bench){inFile, inRouter}, folder.Settings{Prefer: folder.PreferRouter}, folder.ActionWrite, true, false},
		{"both, export, prefer folder", []func(*bench){inFile, inRouter}, folder.Settings{Direction: folder.ToFolder, Prefer: folder.PreferFolder}, folder.ActionConflict, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t, true)
			b.sync(folder.Settings{})
			for _, change := range test.change {
				change(b)
			}
			result := b.sync(test.settings)
			if got := step(t, result, id); got.Action != test.want || got.Why == "" {
				t.Errorf("%+v, want %s", got, test.want)
			}
			if result.Open() != (test.want == folder.ActionConflict) {
				t.Error("open:", result.Open())
			}
			if got := strings.Contains(b.read(name), "--no-audit"); got != test.file {
				t.Errorf("the file holds the router's change: %v\n%s", got, b.read(name))
			}
			if got := strings.Contains(b.router.lessons[id].Body, "always"); got != test.router {
				t.Errorf("the router holds the file's change: %v", got)
			}
			if test.file || test.router {
				counts(t, b.sync(folder.Settings{}), tally{folder.ActionAgreed: 4})
			}
		})
	}
}

func TestSyncFirstMeetingIsNoOverwrite(t *testing.T) {
	b := newBench(t, true)
	b.sync(folder.Settings{})
	if err := os.Remove(filepath.Join(b.name, folder.StateName)); err != nil {
		t.Fatal(err)
	}
	b.replace("cases/case-npm-lock.md", "Use `npm ci`.", "Other.")
	result := b.sync(folder.Settings{})
	counts(t, result, tally{folder.ActionAgreed: 3, folder.ActionConflict: 1})
}

func TestSyncDeletedFile(t *testing.T) {
	const id, name = "case-npm-lock", "cases/case-npm-lock.md"
	b := newBench(t, true)
	b.sync(folder.Settings{})
	if err := os.Remove(filepath.Join(b.name, filepath.FromSlash(name))); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := step(t, b.sync(folder.Settings{}), id); got.Action != folder.ActionDeleted {
			t.Errorf("%+v", got)
		}
	}
	if b.router.lessons[id].Status == lesson.StatusRetired {
		t.Error("retired unasked")
	}
	if got := step(t, b.sync(folder.Settings{Direction: folder.ToFolder}), id); got.Action != folder.ActionWrite || !strings.Contains(b.read(name), "npm ci") {
		t.Errorf("%+v", got)
	}
	if err := os.Remove(filepath.Join(b.name, filepath.FromSlash(name))); err != nil {
		t.Fatal(err)
	}
	if got := step(t, b.sync(folder.Settings{Retire: true}), id); got.Action != folder.ActionRetire || b.router.calls["retire"] != 1 {
		t.Errorf("%+v", got)
	}
	counts(t, b.sync(folder.Settings{Retire: true}), tally{folder.ActionAgreed: 4})
}

func TestSyncBrokenFileIsNotDeleted(t *testing.T) {
	const id, name = "case-npm-lock", "cases/case-npm-lock.md"
	b := newBench(t, true)
	b.sync(folder.Settings{})
	b.replace(name, "level: case", "level: case\nlevel: case")
	broken := b.read(name)
	for _, direction := range []folder.Direction{folder.Both, folder.ToFolder, folder.ToRouter} {
		result := b.sync(folder.Settings{Direction: direction, Retire: true})
		counts(t, result, tally{folder.ActionAgreed: 3, folder.ActionRefused: 1})
		if got := step(t, result, name); !strings.Contains(got.Why, "line 4") {
			t.Errorf("%+v", got)
		}
	}
	if b.read(name) != broken || b.router.calls["retire"] > 0 || b.router.lessons[id].Title == "" {
		t.Error("something was done about a file that could not be read")
	}
}

func TestExportToEmptyFolderAndBack(t *testing.T) {
	b := newBench(t, true)
	b.sync(folder.Settings{})
	b.router.change("case-npm-lock", func(l *lesson.Lesson) {
		l.Type, l.Domain, l.Severity = learning.LessonAntiPattern, "web", learning.SeverityCritical
		l.RelatedCommands, l.BlockAction, l.TriggerPattern = []string{"npm install"}, true, `^npm install\b`
		l.Alternatives, l.Body, l.InitialConfidence = []string{"npm ci", "pnpm i --frozen-lockfile"}, "\r\ntext\r\n", 0.83
	})
	other := newBench(t, false)
	other.router = b.router
	counts(t, other.sync(folder.Settings{Direction: folder.ToFolder}), tally{folder.ActionWrite: 4})
	golden(t, "testdata/npm.golden.md", other.read("cases/case-npm-lock.md"))

	third := newBench(t, false)
	third.name = other.name
	counts(t, third.sync(folder.Settings{Direction: folder.ToRouter}), tally{folder.ActionReport: 4})
	for id, want := range b.router.lessons {
		if got := folder.Of(third.router.lessons[id]); got.Hash() != folder.Of(want).Hash() {
			t.Error(cmp.Diff(folder.Of(want), got))
		}
	}
	before := third.tree()
	counts(t, third.sync(folder.Settings{}), tally{folder.ActionAgreed: 4})
	if diff := cmp.Diff(before, third.tree()); diff != "" {
		t.Error(diff)
	}
}

func TestSyncWhatTheRouterChanges(t *testing.T) {
	b := newBench(t, true)
	b.router.rewrite = func(l *lesson.Lesson) { l.Body = strings.ReplaceAll(l.Body, "npm ci", "[redacted: token]") }
	b.sync(folder.Settings{})
	counts(t, b.sync(folder.Settings{}), tally{folder.ActionAgreed: 4})
	if !strings.Contains(b.read("cases/case-npm-lock.md"), "npm ci") {
		t.Error("the file lost its text")
	}
	b.replace("cases/case-npm-lock.md", "Use", "Always use")
	counts(t, b.sync(folder.Settings{}), tally{folder.ActionAgreed: 3, folder.ActionEdit: 1})
	counts(t, b.sync(folder.Settings{}), tally{folder.ActionAgreed: 4})
}

func TestSyncTwinUnderAnotherID(t *testing.T) {
	b := newBench(t, true)
	b.write("cases/again.md", "---\nid: again\ntitle: NPM install changed the lockfile in CI\n---\nOther text.\n")
	result := b.sync(folder.Settings{})
	counts(t, result, tally{folder.ActionReport: 5})
	if len(b.router.ids) != 4 {
		t.Errorf("%v", b.router.ids)
	}
	twins := []string{step(t, result, "again").Lesson, step(t, result, "case-npm-lock").Lesson}
	slices.Sort(twins)
	if twins[0] != "" || twins[1] == "" {
		t.Errorf("%q", twins)
	}
	for range 2 {
		counts(t, b.sync(folder.Settings{}), tally{folder.ActionAgreed: 5})
	}
	if len(b.router.occurred) != 1 {
		t.Errorf("%v", b.router.occurred)
	}
}

func TestEditCannotChangeEverything(t *testing.T) {
	const name = "cases/case-npm-lock.md"
	b := newBench(t, true)
	b.sync(folder.Settings{})
	b.replace(name, "status: candidate", "status: validated")
	b.replace(name, "level: case", "level: pattern")
	b.replace(name, "confidence: 2", "confidence: 3")
	got := step(t, b.sync(folder.Settings{}), "case-npm-lock")
	notes := strings.Join(got.Notes, "; ")
	if got.Action != folder.ActionEdit || !strings.Contains(notes, "2 independent cases") || !strings.Contains(notes, "level") {
		t.Errorf("%+v", got)
	}
	l := b.router.lessons["case-npm-lock"]
	if l.Status != lesson.StatusValidated || l.Level != lesson.LevelCase || l.InitialConfidence != 0.6 {
		t.Errorf("%s %s %g", l.Status, l.Level, l.InitialConfidence)
	}
	if again := step(t, b.sync(folder.Settings{}), "case-npm-lock"); len(again.Notes) == 0 {
		t.Errorf("what is left is not said again: %+v", again)
	}
	if b.router.calls["promote"] != 0 {
		t.Error("a file's change of level drew a pattern")
	}
	b.replace("patterns/pattern-pin-inputs.md", "level: pattern", "level: principle")
	if b.sync(folder.Settings{}); b.router.lessons["pattern-pin-inputs"].Level != lesson.LevelPrinciple {
		t.Error("not promoted")
	}
	b.replace(name, "status: validated", "status: retired")
	if b.sync(folder.Settings{}); b.router.calls["retire"] != 0 {
		t.Error("retired unasked")
	}
	if b.sync(folder.Settings{Retire: true}); b.router.calls["retire"] != 1 {
		t.Error("not retired")
	}
}

func TestPromotionMovesTheFile(t *testing.T) {
	b := newBench(t, true)
	b.sync(folder.Settings{})
	b.router.change("case-npm-lock", func(l *lesson.Lesson) { l.Level = lesson.LevelPattern })
	got := step(t, b.sync(folder.Settings{}), "case-npm-lock")
	if got.Path != "patterns/case-npm-lock.md" || !strings.Contains(b.read(got.Path), "level: pattern") {
		t.Errorf("%+v", got)
	}
	if _, there := b.tree()["cases/case-npm-lock.md"]; there {
		t.Error("the file stayed behind")
	}
	counts(t, b.sync(folder.Settings{}), tally{folder.ActionAgreed: 4})
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
	result := b.sync(folder.Settings{})
	counts(t, result, tally{folder.ActionRefused: 5, folder.ActionReport: 3})
	for id, want := range map[string]string{"a": "circle", "b": "circle", "c": "circle", "d": "which is refused", "e": "nowhere, which is neither"} {
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
	counts(t, b.sync(folder.Settings{}), tally{folder.ActionReport: n})
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
	result := b.sync(folder.Settings{})
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
	if !result.Open() {
		t.Error("nothing is open")
	}
}

func TestWritesStayInside(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("makes links")
	}
	b := newBench(t, true)
	b.sync(folder.Settings{})
	outside := t.TempDir()
	other := newBench(t, false)
	other.router = b.router
	if err := os.Symlink(outside, filepath.Join(other.name, "cases")); err != nil {
		t.Fatal(err)
	}
	counts(t, other.sync(folder.Settings{Direction: folder.ToFolder}), tally{folder.ActionRefused: 3, folder.ActionWrite: 2})
	if left, _ := os.ReadDir(outside); len(left) > 0 {
		t.Errorf("%v", left)
	}
}

func TestEmptyFolder(t *testing.T) {
	b := newBench(t, false)
	counts(t, b.sync(folder.Settings{}), tally{})
	var index folder.Index
	if err := json.Unmarshal([]byte(b.read("index.json")), &index); err != nil || index.Lessons == nil || index.Stats.Total != 0 {
		t.Errorf("%+v %v", index, err)
	}
}

func TestSyncRefusalsAndFailures(t *testing.T) {
	b := newBench(t, true)
	b.router.refuse = func(title string) error {
		if strings.Contains(title, "lockfile") {
			return errs.InvalidField("title", "is not wanted")
		}
		return nil
	}
	result := b.sync(folder.Settings{})
	if got := step(t, result, "case-npm-lock"); got.Action != folder.ActionRefused || got.Why != "title is not wanted" {
		t.Errorf("%+v", got)
	}
	if _, ok := b.router.lessons["case-docker-cache"]; !ok {
		t.Error("a refusal stopped the others")
	}
	b.router.failing = errs.Errorf(errs.Unavailable, "away")
	if _, err := b.try(folder.Settings{}); !errors.Is(err, b.router.failing) {
		t.Error(err)
	}
	b.router.failing = nil
	b.write(folder.StateName, `{"version": 1, "lessons": {}, "lessons": {}}`)
	if _, err := b.try(folder.Settings{}); errs.CodeOf(err) != errs.Invalid {
		t.Error(err)
	}
}

// TestSyncSettles: whatever is changed on either side, a sync with a
// preference and then another leave both sides agreed.
func TestSyncSettles(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := newBench(t, true)
		b.sync(folder.Settings{})
		prefer := rapid.SampledFrom(folder.Preferences()).Draw(rt, "prefer")
		for _, id := range b.router.ids {
			path := map[string]string{"case": "cases/", "patt": "patterns/", "prin": "principles/"}[id[:4]] + id + ".md"
			if rapid.Bool().Draw(rt, "file") {
				b.write(path, b.read(path)+filled(lines()).Draw(rt, "text"))
			}
			if rapid.Bool().Draw(rt, "router") {
				b.router.change(id, func(l *lesson.Lesson) { l.Context = filled(lines()).Draw(rt, "context") })
			}
		}
		b.sync(folder.Settings{Prefer: prefer})
		if again := b.sync(folder.Settings{}); again.Counts[folder.ActionAgreed] != 4 || len(again.Counts) != 1 {
			rt.Fatalf("%+v", again)
		}
	})
}
