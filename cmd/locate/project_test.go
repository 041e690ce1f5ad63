package locate

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// folders writes files below a new folder, with a home of its own, and returns it.
func folders(t *testing.T, files map[string]string) string {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", filepath.Join(base, "home"))
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(base, "home", "config"))
	for name, text := range files {
		path := filepath.Join(base, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return base
}

const onMain = "ref: refs/heads/main\n"

func TestProject(t *testing.T) {
	base := folders(t, map[string]string{
		"a/shop/.git/HEAD":                         onMain,
		"a/shop/.git/config":                       "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = git@example.org:team/shop.git\n",
		"a/shop/src/deep/x":                        "",
		"a/shop/.git/worktrees/feature/HEAD":       "ref: refs/heads/feature/cart-total\n",
		"a/shop/.git/worktrees/feature/commondir":  "../..\n",
		"a/shop/packages/web/.skillrouter":         "# of this package\nshop-web\nmore: is not read\n",
		"a/shop/packages/web/src/x":                "",
		"a/shop/packages/bad/.skillrouter":         "\x01\x02\n",
		"wt/feature/.git":                          "gitdir: BASE/a/shop/.git/worktrees/feature\n",
		"wt/feature/src/x":                         "",
		"b/shop/.git/HEAD":                         "0123456789012345678901234567890123456789\n",
		"c/shop/.git/HEAD":                         onMain,
		"c/shop/.git/config":                       "[remote \"origin\"]\n\turl = https://user:secret@EXAMPLE.org/team/shop\n",
		"d/copy/.git/HEAD":                         onMain,
		"d/copy/.git/config":                       "[remote \"origin\"]\n\turl = BASE/b/shop\n",
		"bare/tools.git/HEAD":                      onMain,
		"bare/tools.git/worktrees/one/HEAD":        onMain,
		"bare/tools.git/worktrees/one/commondir":   "../..\n",
		"bare/one/.git":                            "gitdir: ../tools.git/worktrees/one\n",
		"a/shop/vendor/lib/.git":                   "gitdir: ../../.git/modules/lib\n",
		"a/shop/.git/modules/lib/HEAD":             onMain,
		"plain/notes/x":                            "",
		"other/notes/x":                            "",
		"home/x":                                   "",
		"a/shop/packages/folder/.skillrouter/data": "a data folder names no project\n",
	})
	for _, name := range []string{"wt/feature/.git", "d/copy/.git/config"} {
		path := filepath.Join(base, name)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text = []byte(filepath.ToSlash(replaceBase(string(text), base)))
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := Place{LookupEnv: func(string) (string, bool) { return "", false }}
	for _, c := range []struct{ dir, want, work string }{
		{"a/shop", "shop", "shop"},
		{"a/shop/src/deep", "shop", "shop"},
		{"wt/feature", "shop", "shop"}, // a worktree
		{"wt/feature/src", "shop", "shop"},
		{"a/shop/packages/web", "shop-web", "shop-web"},
		{"a/shop/packages/web/src", "shop-web", "shop-web"},
		{"a/shop/packages/bad", "shop", "shop"},
		{"a/shop/packages/folder", "shop", "shop"},
		{"a/shop/vendor/lib", "shop", "shop"}, // a submodule belongs to the repository around it
		{"b/shop", "b-shop", "b-shop"},        // another repository of that name
		{"c/shop", "shop", "shop"},            // a clone of the first, by another protocol
		{"d/copy", "b-shop", "b-shop"},        // a clone of the second, from its folder
		{"bare/one", "tools", "tools"},        // a worktree of a bare repository
		{"plain/notes", "", "notes"},          // no repository
		{"plain/notes", "notes", "notes"},     // once an agent worked there
		{"other/notes", "", "other-notes"},    // another folder of that name
		{"home", "", ""},
		{"a/shop", "shop", "shop"}, // and still
		{"b/shop", "b-shop", "b-shop"},
	} {
		if got := p.Project(filepath.Join(base, c.dir)); got != c.want {
			t.Errorf("%s is of %q, not of %q", c.dir, c.want, got)
		}
		if got := p.WorkProject(filepath.Join(base, c.dir)); got != c.work {
			t.Errorf("an agent in %s works on %q, not on %q", c.dir, c.work, got)
		}
	}
	for _, dir := range []string{"", "relative", "/"} {
		if got := p.WorkProject(dir); got != "" {
			t.Errorf("%q is of %q", dir, got)
		}
	}
	p.LookupEnv = func(name string) (string, bool) { return "named", name == "SKILLROUTER_PROJECT" }
	if got := p.Project(filepath.Join(base, "a/shop/packages/web")); got != "named" {
		t.Errorf("the environment names the project, and it is %q", got)
	}
}

func replaceBase(text, base string) string {
	const mark = "BASE"
	for i := 0; i+len(mark) <= len(text); i++ {
		if text[i:i+len(mark)] == mark {
			return text[:i] + base + text[i+len(mark):]
		}
	}
	return text
}

// TestProjectMoves: a repository that went leaves its name to the next, and without
// a register that can be written a folder's name is the project's.
func TestProjectMoves(t *testing.T) {
	base := folders(t, map[string]string{"a/shop/.git/HEAD": onMain, "b/shop/.git/HEAD": onMain})
	p := Place{}
	first, second := filepath.Join(base, "a/shop"), filepath.Join(base, "b/shop")
	if got := p.Project(first); got != "shop" {
		t.Fatalf("%q", got)
	}
	if err := os.Rename(first, filepath.Join(base, "a/gone")); err != nil {
		t.Fatal(err)
	}
	if got := p.Project(second); got != "shop" {
		t.Errorf("the name of a repository that went stays taken: %q", got)
	}
	register := registerPath("projects.jsonl")
	if err := os.WriteFile(register, []byte("no JSON\n{\"name\":7}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := p.Project(second); got != "shop" {
		t.Errorf("with a damaged register: %q", got)
	}
	if err := os.RemoveAll(filepath.Dir(register)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Dir(register), nil, 0o600); err != nil { // no folder can be made there
		t.Fatal(err)
	}
	if got := p.Project(second); got != "shop" {
		t.Errorf("without a register: %q", got)
	}
}

// TestProjectOfMoved: a repository keeps its name where it is moved and called otherwise, though it has no origin. A copy of it, and one
// that is made where it was, are others.
func TestProjectOfMoved(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	base := folders(t, map[string]string{"home/x": ""})
	first, second := filepath.Join(base, "a/shop"), filepath.Join(base, "b/store")
	expect := func(dir, want string) {
		t.Helper()
		if got := (Place{}).Project(dir); got != want {
			t.Errorf("%s is of %q, not of %q", dir, got, want)
		}
	}
	repository(t, first, "main")
	expect(first, "shop")
	if out, err := exec.Command("cp", "-a", first, filepath.Join(base, "a/copy")).CombinedOutput(); err != nil {
		t.Skipf("%v %s", err, out)
	}
	expect(filepath.Join(base, "a/copy"), "copy")
	if err := cmp.Or(os.Mkdir(filepath.Dir(second), 0o755), os.Rename(first, second)); err != nil {
		t.Fatal(err)
	}
	expect(second, "shop")
	repository(t, first, "main")
	expect(first, "a-shop")
	for range 2 {
		expect(second, "shop")
		expect(filepath.Join(base, "a/copy"), "copy")
		expect(first, "a-shop")
	}
}

// TestNamesOfProjectsInAnyCase: the router takes names in another case for one project, so that two repositories have none such.
func TestNamesOfProjectsInAnyCase(t *testing.T) {
	base := folders(t, map[string]string{"a/Shop/.git/HEAD": onMain, "b/shop/.git/HEAD": onMain})
	if one, other := (Place{}).Project(filepath.Join(base, "a/Shop")), (Place{}).Project(filepath.Join(base, "b/shop")); one != "Shop" || other != "b-shop" {
		t.Errorf("they are called %q and %q", one, other)
	}
}

// TestProjectsAtOnce: many that ask at once agree on the names.
func TestProjectsAtOnce(t *testing.T) {
	base := folders(t, map[string]string{"a/shop/.git/HEAD": onMain, "b/shop/.git/HEAD": onMain})
	var asked sync.WaitGroup
	names := make([]string, 32)
	for i := range names {
		asked.Go(func() { names[i] = Place{}.Project(filepath.Join(base, []string{"a", "b"}[i%2], "shop")) })
	}
	asked.Wait()
	for i, name := range names {
		if name != names[i%2] || names[0] == names[1] {
			t.Fatalf("they are called %q", names)
		}
	}
}

func TestCheckout(t *testing.T) {
	base := folders(t, map[string]string{
		"r/.git/HEAD": "ref: refs/heads/fix/cart\n", "d/.git/HEAD": "0123456789012345678901234567890123456789\n", "e/.git": "gitdir:\n",
	})
	for dir, want := range map[string]string{"r": "fix/cart", "d": "", "e": "", "none": ""} {
		c, _ := CheckoutOf(filepath.Join(base, dir))
		if got := c.Branch(); got != want {
			t.Errorf("%s is on %q, not on %q", dir, want, got)
		}
	}
	for address, want := range map[string]string{
		"git@example.org:a/b.git": "example.org/a/b", "ssh://git@Example.org/a/b": "example.org/a/b", "https://u:p@example.org/a/b.git/": "example.org/a/b",
		"/srv/git/b.git": "/srv/git/b", "/srv/shop/.": "/srv/shop", "file:///srv/git/b": "/srv/git/b", "../b": "../b", "": "",
	} {
		if got := plainOrigin(address); got != want {
			t.Errorf("%s is %q, not %q", address, got, want)
		}
	}
}
