//go:build unix

package respond_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/skillrouter/skillrouter/cmd/hook/respond"
)

// TestFiles: only regular files of the project and of temporary folders are given, a few of them, and of each what is read.
func TestFiles(t *testing.T) {
	// The temporary folder is another one: what is outside must not lie in it.
	outside, err := os.MkdirTemp(".", "outside")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(outside) })
	project, err := filepath.Abs(filepath.Join(outside, "p"))
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) {
		name = filepath.Join(project, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("x.sh", "rm -rf ~\n")
	write("run.py", "import helper\n")
	write("helper.py", "")
	write("binary", "\x7fELF\x00\x00")
	write("long.sh", strings.Repeat("echo a\n", 20_000)+"r'm' -rf ~\n")
	write("../secret", "token")
	if err := os.Symlink("/etc/passwd", filepath.Join(project, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("x.sh", filepath.Join(project, "inner")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(project, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	files := respond.Files{}
	plain := func(text string) string { return text }
	got := map[string]respond.Content{}
	for _, c := range files.Read(project, []string{"x.sh", project + "/run.py", "binary", "long.sh", "link", "inner", "pipe", "none", "../secret", "/etc/passwd", "."}, plain) {
		got[c.Path] = c
	}
	for name, unread := range map[string]string{
		"x.sh": "", project + "/run.py": "", "binary": "binary", "long.sh": "", "link": "outside", "inner": "", "pipe": "missing", "none": "missing", "../secret": "", "/etc/passwd": "outside", ".": "missing",
	} {
		c := got[name]
		if c.Unread != unread || (unread == "") != (len(c.Hash) == 64) || unread != "" && c.Text != "" {
			t.Errorf("%s: unread %q, hash %q, %d bytes", name, c.Unread, c.Hash, len(c.Text))
		}
	}
	if long := got["long.sh"]; len(long.Text) > 64<<10 || !strings.Contains(" "+long.Rest, " rm ") {
		t.Errorf("a long file: %d bytes, rest %q", len(long.Text), long.Rest)
	}
	if beside := got[project+"/run.py"].Beside; !strings.Contains(strings.Join(beside, " "), "helper.py") {
		t.Errorf("beside: %q", beside)
	}
	before := got["x.sh"].Hash
	write("x.sh", "ls\n")
	again := respond.Files{}
	if c := again.Read(project, []string{"x.sh"}, plain)[0]; c.Hash == before || c.Text != "ls\n" {
		t.Error("a file that was changed has its old hash")
	}
	var many []string
	for range 40 {
		many = append(many, strings.Repeat("./", len(many)+1)+"x.sh")
	}
	given := 0
	for _, c := range again.Read(project, many, plain) {
		if c.Unread == "" {
			given++
		}
	}
	if given != 16 {
		t.Errorf("%d files are given", given)
	}
	// A router on another machine is given what hide leaves.
	far := respond.Files{}
	if c := far.Read(project, []string{"x.sh"}, func(string) string { return "" })[0]; c.Text != "" || c.Hash == "" {
		t.Errorf("%+v", c)
	}
}
