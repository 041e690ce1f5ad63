package app_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/cmd/app"
	"github.com/skillrouter/skillrouter/cmd/config"
	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/internal/errs"
)

// folderWith makes a data folder whose router was told some entries, and ended cleanly.
func folderWith(t *testing.T, data string, titles ...string) {
	t.Helper()
	cfg := config.Default()
	cfg.Data, cfg.Listen = data, "127.0.0.1:0"
	a, err := app.New(t.Context(), cfg, slog.New(slog.DiscardHandler), app.Options{})
	if err != nil {
		t.Fatal(err)
	}
	stop, ended := begun(t, a)
	for _, title := range titles {
		body, _ := json.Marshal(map[string]string{"category": "gotcha", "title": title, "content": "about " + title})
		answer, err := http.Post(a.URL()+"/api/knowledge", "application/json", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusOK && answer.StatusCode != http.StatusCreated {
			t.Fatal(answer.Status)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

func backupOf(t *testing.T, data string, options app.BackupOptions) []byte {
	t.Helper()
	snapshot, err := app.TakeSnapshot(t.Context(), data, options)
	if err != nil {
		t.Fatal(err)
	}
	var archive bytes.Buffer
	if err := errors.Join(snapshot.Write(&archive), snapshot.Close()); err != nil {
		t.Fatal(err)
	}
	return archive.Bytes()
}

func titlesIn(t *testing.T, data string) []string {
	t.Helper()
	db := openReadOnly(t, data, "learning")
	defer db.Close()
	return column[string](t, db, "SELECT title FROM knowledge ORDER BY num")
}

// tree sums up what a folder holds, its lock file apart.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	sums := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == locate.LockName || strings.HasSuffix(path, "-shm") || strings.HasSuffix(path, "-wal") {
			return err
		}
		text, err := os.ReadFile(path)
		sum := sha256.Sum256(text)
		sums[path] = hex.EncodeToString(sum[:])
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sums
}

func TestBackupAndRestore(t *testing.T) {
	data := t.TempDir()
	folderWith(t, data, "one", "two")
	archive := backupOf(t, data, app.BackupOptions{Version: "v1"})
	found, err := app.VerifyArchive(t.Context(), bytes.NewReader(archive), t.TempDir())
	if err != nil || !found.OK || found.Version != "v1" || found.OwnerToken {
		t.Fatalf("%+v, %v", found, err)
	}
	for _, d := range found.Databases {
		if d.Name == "learning.db" && d.LastEvent != 2 {
			t.Errorf("%+v", d)
		}
	}

	to := filepath.Join(t.TempDir(), "new")
	restored, err := app.Restore(t.Context(), bytes.NewReader(archive), to, app.RestoreOptions{})
	if err != nil || restored.Aside != "" {
		t.Fatalf("%+v, %v", restored, err)
	}
	if got := titlesIn(t, to); !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("restored %q", got)
	}
	folderWith(t, to, "three") // it starts, and goes on

	// Over a folder that holds something only by force; what was there is kept.
	if _, err := app.Restore(t.Context(), bytes.NewReader(archive), to, app.RestoreOptions{}); errs.CodeOf(err) != errs.Conflict {
		t.Errorf("restoring over a folder: %v", err)
	}
	restored, err = app.Restore(t.Context(), bytes.NewReader(archive), to, app.RestoreOptions{Force: true})
	if err != nil || restored.Aside == "" {
		t.Fatalf("%+v, %v", restored, err)
	}
	if got := titlesIn(t, to); !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("restored %q", got)
	}
	if got := titlesIn(t, restored.Aside); !slices.Equal(got, []string{"one", "two", "three"}) {
		t.Errorf("kept %q", got)
	}
	if live, err := app.VerifyFolder(t.Context(), to); err != nil || !live.OK {
		t.Errorf("%+v, %v", live, err)
	}
	if left, _ := filepath.Glob(filepath.Join(to, "*.tmp-*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestBackupOwnerToken(t *testing.T) {
	data, to := t.TempDir(), t.TempDir()
	folderWith(t, data, "one")
	folderWith(t, to)
	theirs, err := locate.ReadOwnerToken(to)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := app.Restore(t.Context(), bytes.NewReader(backupOf(t, data, app.BackupOptions{})), to, app.RestoreOptions{Force: true}); err != nil {
		t.Fatal(err)
	}
	if got, err := locate.ReadOwnerToken(to); err != nil || got != theirs {
		t.Errorf("a backup without the owner's token changed it (%v)", err)
	}
	ours, _ := locate.ReadOwnerToken(data)
	if _, err := app.Restore(t.Context(), bytes.NewReader(backupOf(t, data, app.BackupOptions{OwnerToken: true})), to, app.RestoreOptions{Force: true}); err != nil {
		t.Fatal(err)
	}
	if got, err := locate.ReadOwnerToken(to); err != nil || got != ours {
		t.Errorf("the owner's token was not restored (%v)", err)
	}
}

// tarred is a file of an archive that a test makes.
type tarred struct {
	name string
	text []byte
	kind byte
	link string
}

func unpacked(t *testing.T, archive []byte) (files []tarred) {
	t.Helper()
	zipped, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	for in := tar.NewReader(zipped); ; {
		header, err := in.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		text, readErr := io.ReadAll(in)
		if err != nil || readErr != nil {
			t.Fatal(err, readErr)
		}
		files = append(files, tarred{name: header.Name, text: text, kind: header.Typeflag})
	}
}

func packed(t *testing.T, files []tarred) []byte {
	t.Helper()
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	archive := tar.NewWriter(zipped)
	for _, f := range files {
		header := &tar.Header{Name: f.name, Typeflag: f.kind, Size: int64(len(f.text)), Mode: 0o600, Linkname: f.link}
		if err := archive.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write(f.text); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(archive.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// forged changes an archive's manifest, and its files with it.
func forged(t *testing.T, files []tarred, change func(m *app.Manifest, files []tarred) []tarred) []byte {
	t.Helper()
	var m app.Manifest
	if err := json.Unmarshal(files[0].text, &m); err != nil {
		t.Fatal(err)
	}
	files = change(&m, slices.Clone(files))
	for i := range m.Files {
		for _, f := range files {
			if sum := sha256.Sum256(f.text); f.name == m.Files[i].Name && m.Files[i].SHA256 != "keep" {
				m.Files[i].Bytes, m.Files[i].SHA256 = int64(len(f.text)), hex.EncodeToString(sum[:])
			}
		}
	}
	files[0].text, _ = json.Marshal(m)
	return packed(t, files)
}

// TestRestoreRefuses holds that nothing of a folder changes unless the whole
// archive is sound.
func TestRestoreRefuses(t *testing.T) {
	data := t.TempDir()
	folderWith(t, data, "one")
	whole := backupOf(t, data, app.BackupOptions{})
	files := unpacked(t, whole)
	with := func(more ...tarred) []byte { return packed(t, append(slices.Clone(files), more...)) }
	edit := func(db string, statements ...string) func(m *app.Manifest, files []tarred) []tarred {
		return func(_ *app.Manifest, files []tarred) []tarred {
			for i, f := range files {
				if f.name == db {
					files[i].text = edited(t, f.text, statements...)
				}
			}
			return files
		}
	}
	flipped := slices.Clone(whole)
	flipped[len(flipped)/2] ^= 1
	tests := []struct {
		name    string
		archive []byte
		want    string
	}{
		{"nothing", nil, "no backup"},
		{"something else", []byte("SQLite format 3\x00 and so on"), "no backup"},
		{"another archive", packed(t, []tarred{{name: "learning.db", text: []byte("x"), kind: tar.TypeReg}}), "does not begin with a manifest"},
		{"cut in half", whole[:len(whole)/2], "truncated"},
		{"without its last byte", whole[:len(whole)-1], "truncated"},
		{"a bit flipped", flipped, "damaged"},
		{"followed by something", append(slices.Clone(whole), "more"...), "followed"},
		{"a file beside", with(tarred{name: "extra", text: []byte("x"), kind: tar.TypeReg}), `"extra"`},
		{"a file above", with(tarred{name: "../escaped", text: []byte("x"), kind: tar.TypeReg}), "escaped"},
		{"an absolute file", with(tarred{name: "/tmp/escaped", text: []byte("x"), kind: tar.TypeReg}), "escaped"},
		{"a link", with(tarred{name: "learning.db", kind: tar.TypeSymlink, link: "/etc/passwd"}), "does not name"},
		{"a database twice", with(files[1]), "names already"},
		{"a database that is a link", packed(t, []tarred{files[0], {name: files[1].name, kind: tar.TypeSymlink, link: "/etc/passwd"}, files[2]}), "does not name"},
		{"a database less", packed(t, files[:2]), "lacks learning.db"},
		{"a manifest that names another file", forged(t, files, func(m *app.Manifest, files []tarred) []tarred {
			m.Files = append(m.Files, app.ArchivedFile{Name: "../.bashrc", Bytes: 1})
			return append(files, tarred{name: "../.bashrc", text: []byte("x"), kind: tar.TypeReg})
		}), "no part of a backup"},
		{"a claim to be huge", forged(t, files, func(m *app.Manifest, files []tarred) []tarred {
			m.Files[0].SHA256, m.Files[0].Bytes = "keep", 1<<45
			return files
		}), "needed"},
		{"a later form", forged(t, files, func(m *app.Manifest, files []tarred) []tarred { m.FormatVersion = 2; return files }), "form 2"},
		{"a newer database", forged(t, files, edit("learning.db", "INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)")), "9999"},
		{"a trigger of its own", forged(t, files, edit("learning.db", "CREATE TRIGGER planted AFTER INSERT ON knowledge BEGIN DELETE FROM knowledge; END")), "trigger planted"},
		{"a table less", forged(t, files, edit("operational.db", "DROP TABLE receipts")), "receipts"},
		{"a cursor that leads", forged(t, files, edit("operational.db", "UPDATE cursors SET seq = 99 WHERE name = 'crossing.learning'")), "ahead of the last event"},
		{"a database of the other kind", forged(t, files, func(_ *app.Manifest, files []tarred) []tarred {
			files[1].text, files[2].text = files[2].text, files[1].text
			return files
		}), "is not the"},
	}
	to := t.TempDir()
	folderWith(t, to, "theirs")
	before := tree(t, to)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := app.Restore(t.Context(), bytes.NewReader(test.archive), to, app.RestoreOptions{Force: true})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, and should say %q", err, test.want)
			}
			if after := tree(t, to); fmt.Sprint(after) != fmt.Sprint(before) {
				t.Error("the folder was changed")
			}
			fresh := filepath.Join(t.TempDir(), "fresh")
			if _, err := app.Restore(t.Context(), bytes.NewReader(test.archive), fresh, app.RestoreOptions{}); err == nil {
				t.Error("restored to a new folder")
			}
			if _, err := os.Stat(fresh); !errors.Is(err, fs.ErrNotExist) {
				t.Error("a folder was left behind")
			}
		})
	}
	if _, err := app.Restore(t.Context(), bytes.NewReader(packed(t, files)), to, app.RestoreOptions{Force: true}); err != nil {
		t.Errorf("the archive that the others were made of is refused: %v", err)
	}
}

// edited runs statements on a database.
func edited(t *testing.T, database []byte, statements ...string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "edited.db")
	if err := os.WriteFile(path, database, 0o600); err != nil {
		t.Fatal(err)
	}
	execute(t, path, statements...)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// execute runs statements on a database file.
func execute(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, statement := range statements {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRestoreRefusesAHeldFolder(t *testing.T) {
	data := t.TempDir()
	folderWith(t, data, "one")
	archive := backupOf(t, data, app.BackupOptions{})
	lock, err := app.Acquire(data, locate.Holder{PID: 4711, Listen: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	_, err = app.Restore(t.Context(), bytes.NewReader(archive), data, app.RestoreOptions{Force: true})
	if errs.CodeOf(err) != errs.Conflict || !strings.Contains(err.Error(), "4711") {
		t.Errorf("%v", err)
	}
	if _, err := app.Hold(data); errs.CodeOf(err) != errs.Conflict {
		t.Errorf("%v", err)
	}
}

// FuzzUnpack feeds archives to the reader: it must say what is wrong with each, and never more.
func FuzzUnpack(f *testing.F) {
	var empty bytes.Buffer
	zipped := gzip.NewWriter(&empty)
	_ = zipped.Close()
	f.Add(empty.Bytes())
	f.Add([]byte("\x1f\x8b\x08"))
	f.Fuzz(func(t *testing.T, archive []byte) {
		if m, err := app.CheckArchive(bytes.NewReader(archive)); err == nil && len(m.Files) < 2 {
			t.Errorf("%+v passes", m)
		}
	})
}

// FuzzUnpackTar is FuzzUnpack without the compression, which stops most inputs.
func FuzzUnpackTar(f *testing.F) {
	var out bytes.Buffer
	archive := tar.NewWriter(&out)
	text := `{"format":"skillrouter-backup","format_version":1,"files":[{"name":"learning.db","bytes":1,"contents":{}},{"name":"operational.db","bytes":0,"contents":{}}]}`
	_ = archive.WriteHeader(&tar.Header{Name: "manifest.json", Typeflag: tar.TypeReg, Size: int64(len(text)), Mode: 0o600})
	_, _ = archive.Write([]byte(text))
	_ = archive.WriteHeader(&tar.Header{Name: "learning.db", Typeflag: tar.TypeReg, Size: 1, Mode: 0o600})
	_, _ = archive.Write([]byte("x"))
	_ = archive.Close()
	f.Add(out.Bytes())
	f.Fuzz(func(_ *testing.T, tarred []byte) {
		var out bytes.Buffer
		zipped := gzip.NewWriter(&out)
		_, _ = zipped.Write(tarred)
		_ = zipped.Close()
		_, _ = app.CheckArchive(&out)
	})
}
