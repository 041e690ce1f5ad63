package file_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/skillrouter/skillrouter/internal/file"
)

// TestReplaceFile: the new text is there with its mode, and a file that cannot be replaced leaves nothing beside it.
func TestReplaceFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for _, text := range []string{"old", "new"} {
		if err := file.Replace(path, []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("%q, %v is there, want %q", got, err, text)
		}
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
		t.Errorf("the file is %v, %v", info, err)
	}
	folder := filepath.Join(dir, "folder")
	if err := os.MkdirAll(filepath.Join(folder, "below"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := file.Replace(folder, nil, 0o600); err == nil {
		t.Error("a folder is replaced by a file")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Errorf("%v, %v are there", entries, err)
	}
}

// TestWriteIn: a file below a root is written with its folders, keeps its permissions, and neither a link nor a folder is written over.
func TestWriteIn(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, text := range []string{"old", "new"} {
		if err := file.WriteIn(root, "a/b/c", []byte(text), true); err != nil {
			t.Fatal(err)
		}
		if got, err := root.ReadFile("a/b/c"); err != nil || string(got) != text {
			t.Errorf("%q, %v is there, want %q", got, err, text)
		}
		if err := root.Chmod("a/b/c", 0o640); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := root.Stat("a/b/c"); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
		t.Errorf("the file is %v, %v", info, err)
	}
	if err := file.WriteIn(root, "a/b", nil, false); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a folder is replaced by a file: %v", err)
	}
	if err := file.WriteIn(root, "../out", nil, false); err == nil {
		t.Error("a file outside of the root is written")
	}
	if entries, err := os.ReadDir(filepath.Join(dir, "a", "b")); err != nil || len(entries) != 1 {
		t.Errorf("%v, %v are there", entries, err)
	}
}
