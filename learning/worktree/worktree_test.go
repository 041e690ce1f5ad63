package worktree_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/learning/worktree"
)

// trees makes the trees of the collection, and returns their folders by name.
func trees(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("testdata/trees.txt")
	if err != nil {
		t.Fatal(err)
	}
	folders, at, name := map[string]string{}, "", ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "tree "):
			at = filepath.Join(t.TempDir(), line[len("tree "):])
			folders[line[len("tree "):]] = at
		case strings.HasPrefix(line, "|"):
			write(t, name, strings.TrimPrefix(strings.TrimPrefix(line, "|"), " ")+"\n")
		default:
			name = filepath.Join(at, filepath.FromSlash(line))
			write(t, name, "")
		}
	}
	return folders
}

// write adds to a file.
func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func look(t *testing.T, folder string, texts []worktree.Text) [][]string {
	t.Helper()
	all, ok := worktree.Gone(t.Context(), folder, texts)
	if !ok {
		t.Fatal("nobody looked")
	}
	return all
}

// entry is a line of a collection.
type entry struct{ tree, text, gone string }

func entries(t *testing.T, name string, least int) (list []entry) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		tree, rest, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "["), "] ")
		if line[0] == '#' || !ok {
			continue
		}
		said, gone, _ := strings.Cut(rest, " => ")
		list = append(list, entry{tree, strings.ReplaceAll(said, "|", "\n"), gone})
	}
	if len(list) < least {
		t.Fatalf("%s has %d entries", name, len(list))
	}
	return list
}

// TestCollection holds what the rule finds in the two collections, which were written before it; docs/benchmarks.md says what its
// first run gave.
func TestCollection(t *testing.T) {
	folders := trees(t)
	gone := func(e entry) []string {
		return look(t, folders[e.tree], []worktree.Text{{Text: e.text}})[0]
	}
	marked, dangling := 0, entries(t, "dangling.txt", 50)
	for _, e := range dangling {
		if found := gone(e); len(found) == 1 && found[0] == e.gone {
			marked++
		} else {
			t.Logf("not marked: [%s] %s: %q", e.tree, e.text, found)
		}
	}
	wrong, live := 0, entries(t, "live.txt", 200)
	for _, e := range live {
		if found := gone(e); len(found) > 0 {
			wrong++
			t.Logf("marked wrongly: [%s] %s: %q", e.tree, e.text, found)
		}
	}
	t.Logf("%d of %d dangling ones are marked, and %d of %d live ones", marked, len(dangling), wrong, len(live))
	if marked < 36 || wrong > 1 {
		t.Error("the collections are not told apart")
	}
}

// TestStaysBelow: a look follows no link out of the tree, leaves what is no file alone, and believes no path that leaves it.
func TestStaysBelow(t *testing.T) {
	outside, tree := t.TempDir(), t.TempDir()
	write(t, filepath.Join(outside, "secret", "key.sh"), "x")
	write(t, filepath.Join(tree, "src", "main.go"), "x")
	write(t, filepath.Join(tree, "real.sh"), "x")
	if err := os.Symlink(filepath.Join(outside, "secret"), filepath.Join(tree, "linked")); err != nil {
		t.Skip(err)
	}
	for text, want := range map[string]int{
		"run `bash linked/key.sh`":                             0, // what lies behind a link that leads out is not known
		"run `bash linked/other.sh`":                           0,
		"run `bash ../" + filepath.Base(outside) + "/none.sh`": 0,
		"run `bash " + outside + "/none.sh`":                   0,
		"run `bash src/none.sh`":                               1,
	} {
		if gone := look(t, tree, []worktree.Text{{Text: text}})[0]; len(gone) != want {
			t.Errorf("%s: %q", text, gone)
		}
	}
	for _, folder := range []string{"", "relative", filepath.Join(tree, "none"), filepath.Join(tree, "real.sh")} {
		if gone := look(t, folder, []worktree.Text{{Text: "run `bash src/none.sh`"}})[0]; gone != nil {
			t.Errorf("%q is looked into: %q", folder, gone)
		}
	}
	empty := t.TempDir()
	if gone := look(t, empty, []worktree.Text{{Text: "run `bash src/none.sh`"}})[0]; gone != nil {
		t.Errorf("an empty folder is a tree: %q", gone)
	}
}

// TestKinds: a text that nobody knows to be of this tree is marked only beside its like, and of a command only what it runs.
func TestKinds(t *testing.T) {
	folders := trees(t)
	for _, c := range []struct {
		text worktree.Text
		want string
	}{
		{worktree.Text{Text: "scripts/none.sh deploys", Loose: true}, "scripts/none.sh"},
		{worktree.Text{Text: "other/none.sh deploys", Loose: true}, ""},
		{worktree.Text{Text: "we use lodash", Loose: true}, ""},
		{worktree.Text{Text: "make none", Command: true}, "make none"},
		{worktree.Text{Text: "cat docs/none.md && npm run none", Command: true}, "npm run none"},
		{worktree.Text{Text: "bash scripts/none.sh tests/none.py", Command: true}, "scripts/none.sh"},
		{worktree.Text{Text: "python -m pytest tests/none.py", Command: true}, ""},
	} {
		gone := strings.Join(look(t, folders["shop"], []worktree.Text{c.text})[0], " ")
		if gone != c.want {
			t.Errorf("%+v: %q", c.text, gone)
		}
	}
}

func FuzzGone(f *testing.F) {
	tree := f.TempDir()
	if err := os.WriteFile(filepath.Join(tree, "Makefile"), []byte("a: b\ninclude c\n"), 0o600); err != nil {
		f.Fatal(err)
	}
	for _, text := range []string{"`make", "make", "npm run", "`bash `", "./`./", "use the", "```\n$ make x\n```", "a/b/.c.go:1:2", "@/x use @a/b"} {
		f.Add(text, false)
		f.Add(text, true)
	}
	f.Fuzz(func(t *testing.T, text string, command bool) {
		if gone := look(t, tree, []worktree.Text{{Text: text, Command: command}})[0]; len(gone) > 3 {
			t.Errorf("%q: %q", text, gone)
		}
	})
}

// TestBranch: a command that goes to a branch names it, and a repository that cannot be read has any branch.
func TestBranch(t *testing.T) {
	tree := t.TempDir()
	write(t, filepath.Join(tree, ".git", "refs", "heads", "main"), "x")
	write(t, filepath.Join(tree, ".git", "refs", "heads", "feat", "cart"), "x")
	write(t, filepath.Join(tree, ".git", "refs", "remotes", "origin", "next"), "x")
	write(t, filepath.Join(tree, ".git", "packed-refs"), "# pack-refs\n0123 refs/heads/packed\n4567 refs/tags/v1.2\n")
	write(t, filepath.Join(tree, "docs", "x.md"), "x")
	for command, want := range map[string]bool{
		"git checkout main": false, "git switch feat/cart": false, "git merge next": false, "git checkout packed": false, "git checkout v1.2": false,
		"git checkout docs": false, "git switch v2-client": true, "make x && git rebase gone": true, "git checkout -b new": false, "git checkout 0123abc": false, "git merge FETCH_HEAD": false,
	} {
		if gone := look(t, tree, []worktree.Text{{Text: command, Command: true}})[0]; (len(gone) > 0) != (want || strings.Contains(command, "make x")) {
			t.Errorf("%s: %q", command, gone)
		}
	}
	if gone := look(t, tree, []worktree.Text{{Text: "go there by `git switch v2-client` first"}})[0]; len(gone) > 0 {
		t.Errorf("prose: %q", gone)
	}
	if gone := look(t, t.TempDir(), []worktree.Text{{Text: "git switch v2-client", Command: true}})[0]; len(gone) > 0 {
		t.Errorf("without a repository: %q", gone)
	}
	write(t, filepath.Join(tree, ".git", "packed-refs"), strings.Repeat("0123 refs/tags/nightly\n", 1<<13)+"4567 refs/heads/v2-client\n")
	if gone := look(t, tree, []worktree.Text{{Text: "git switch v2-client", Command: true}})[0]; len(gone) > 0 {
		t.Errorf("more branches than are read: %q", gone)
	}
}

// TestInstructions: of a folder's instructions only small files of the folder are read, and a look that nobody waits for says so.
func TestInstructions(t *testing.T) {
	tree := t.TempDir()
	write(t, filepath.Join(tree, "AGENTS.md"), "Use make quick.")
	write(t, filepath.Join(tree, "CLAUDE.md"), strings.Repeat("x", 1<<20))
	if err := os.Symlink("/etc/hostname", filepath.Join(tree, "GEMINI.md")); err != nil {
		t.Skip(err)
	}
	if said := worktree.Instructions(t.Context(), tree); strings.TrimSpace(said) != "Use make quick." {
		t.Errorf("%.80q", said)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, ok := worktree.Gone(over, tree, []worktree.Text{{Text: "./none.sh", Command: true}}); ok {
		t.Log("it was in time")
	}
}
