package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/cmd/app"
	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
)

// crashImage fills a router and returns a folder as a kill -9 leaves it: the
// files are copied while it runs and nothing is being written.
func crashImage(t *testing.T, fill func(a *app.App)) string {
	t.Helper()
	data, image := t.TempDir(), t.TempDir()
	a, err := begin(t, data, app.Options{}, quietLog)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	fill(a)
	copyInto(t, image, data)
	stop()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	return image
}

func send(t *testing.T, a *app.App, path string, body any) {
	t.Helper()
	raw, _ := json.Marshal(body)
	answer, err := http.Post(a.URL()+path, "application/json", bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode/100 != 2 {
		t.Fatal(path, answer.Status)
	}
}

// noted waits until the folder says that the logs have come so far.
func noted(t *testing.T, a *app.App, data string, messages, entries int) {
	t.Helper()
	limit := time.After(startTime)
	for look := time.NewTicker(5 * time.Millisecond); ; {
		var h struct{ Learning, Messages int }
		text, _ := os.ReadFile(filepath.Join(data, "high-water"))
		if json.Unmarshal(text, &h) == nil && h.Messages >= messages && h.Learning >= entries {
			return
		}
		select {
		case <-look.C:
		case <-limit:
			t.Fatalf("the marks stay at %s", text)
		}
	}
}

// TestTornLogIsSaid holds B6: after a crash, a bit flipped in a write-ahead log,
// or the log emptied, cut or gone, took what had been answered with it, and
// nothing said so: no line in the log, health and doctor well.
func TestTornLogIsSaid(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a router over and over, one after the other")
	}
	const messages, entries = 40, 12
	image := crashImage(t, func(a *app.App) {
		for n := range messages {
			send(t, a, "/signal", map[string]any{"from_agent_id": "a", "to_agent_id": "b", "signal": "message", "context": map[string]any{"n": n, "text": strings.Repeat("x", 500)}})
		}
		for n := range entries {
			send(t, a, "/api/knowledge", map[string]any{"category": "gotcha", "title": fmt.Sprint("entry ", n), "content": fmt.Sprint("content ", n)})
		}
		noted(t, a, dataOf(a), messages, entries)
	})
	flip := func(part float64) func(t *testing.T, wal string) {
		return func(t *testing.T, wal string) {
			text, err := os.ReadFile(wal)
			if err != nil {
				t.Fatal(err)
			}
			text[int(float64(len(text))*part)] ^= 4
			put(t, wal, string(text))
		}
	}
	damages := map[string]func(t *testing.T, wal string){
		"a bit in its header": func(t *testing.T, wal string) { flip(0)(t, wal) },
		"a bit at a quarter":  flip(0.25),
		"a bit in the middle": flip(0.5),
		"a bit near the end":  flip(0.9),
		"cut in half":         func(t *testing.T, wal string) { truncate(t, wal, size(t, wal)/2) },
		"emptied":             func(t *testing.T, wal string) { truncate(t, wal, 0) },
		"gone": func(t *testing.T, wal string) {
			if err := os.Remove(wal); err != nil {
				t.Fatal(err)
			}
		},
	}
	for _, name := range []string{"operational", "learning"} {
		for what, damage := range damages {
			t.Run(name+" "+what, func(t *testing.T) {
				data := t.TempDir()
				copyInto(t, data, image)
				damage(t, filepath.Join(data, name+".db-wal"))
				if found, err := app.VerifyFolder(t.Context(), copyOf(t, data)); err != nil || found.OK {
					t.Errorf("verify finds nothing: %+v, %v", found, err)
				}
				var said bytes.Buffer
				a, err := begin(t, data, app.Options{}, slog.New(slog.NewTextHandler(&said, nil)))
				if err != nil {
					if strings.Contains(err.Error(), name+".db") { // a start that is refused, with the file, is no silence
						return
					}
					t.Fatal(err)
				}
				if !strings.Contains(said.String(), "level=ERROR") || !strings.Contains(said.String(), name+".db") {
					t.Errorf("the log says only\n%s", said.String())
				}
				health(t, a, "degraded", name+".db")
				finish(t, a)
				// It is still said after a restart, and until somebody has seen to it.
				if a, err = begin(t, data, app.Options{}, quietLog); err != nil {
					t.Fatal(err)
				}
				health(t, a, "degraded", name+".db")
				finish(t, a)
				if err := os.Remove(filepath.Join(data, "lost-writes.log")); err != nil {
					t.Fatal(err)
				}
				said.Reset()
				if a, err = begin(t, data, app.Options{}, slog.New(slog.NewTextHandler(&said, nil))); err != nil {
					t.Fatal(err)
				}
				health(t, a, "", "")
				finish(t, a)
				if strings.Contains(said.String(), "level=ERROR") {
					t.Errorf("it is told again:\n%s", said.String())
				}
			})
		}
	}
	t.Run("a kill alone", func(t *testing.T) {
		var said bytes.Buffer
		a, err := begin(t, copyOf(t, image), app.Options{}, slog.New(slog.NewTextHandler(&said, nil)))
		if err != nil {
			t.Fatal(err)
		}
		health(t, a, "", "")
		finish(t, a)
		if strings.Contains(said.String(), "level=ERROR") || strings.Contains(said.String(), "level=WARN") {
			t.Errorf("it says\n%s", said.String())
		}
	})
}

func copyOf(t *testing.T, data string) string {
	t.Helper()
	to := t.TempDir()
	copyInto(t, to, data)
	return to
}

// copyInto copies a data folder. CopyFS lets others read its files, which the router's own are not.
func copyInto(t *testing.T, to, data string) {
	t.Helper()
	err := copyFiles(to, data)
	if err == nil {
		err = os.Chmod(filepath.Join(to, "guard.key"), 0o600)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
}

func dataOf(a *app.App) string { return app.DataOf(a) }

// health looks at GET /health and at doctor: what they say must hold a text, or nothing if status is empty.
func health(t *testing.T, a *app.App, status, says string) {
	t.Helper()
	ctx := principal.With(t.Context(), principal.System())
	h, checks := app.HealthOf(ctx, a), app.DoctorOf(ctx, a)
	at := slices.IndexFunc(checks, func(c app.DoctorCheck) bool { return c.Name == "stored writes" })
	if status == "" {
		if h.Status == "degraded" || len(h.Problems) > 0 || at < 0 || !checks[at].OK {
			t.Errorf("health says %s %q, doctor %+v", h.Status, h.Problems, checks)
		}
		return
	}
	if h.Status != status || !strings.Contains(strings.Join(h.Problems, " "), says) || at < 0 || checks[at].OK || !strings.Contains(checks[at].Detail, says) {
		t.Errorf("health says %s %q, doctor %+v", h.Status, h.Problems, checks)
	}
}

// TestLostTokensKeepTheDoorClosed holds B3 and B6 together: the write-ahead log
// that holds the first token goes, and the router would let everybody in.
func TestLostTokensKeepTheDoorClosed(t *testing.T) {
	image := crashImage(t, func(a *app.App) {
		owner, err := locate.ReadOwnerToken(dataOf(a))
		if err != nil {
			t.Fatal(err)
		}
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, a.URL()+"/api/tokens", strings.NewReader(`{"agent_id":"builder","scopes":["agent"]}`))
		r.Header.Set("Authorization", "Bearer "+owner)
		r.Header.Set("Content-Type", "application/json")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode/100 != 2 {
			t.Fatal(answer.Status)
		}
		limit := time.After(startTime)
		for look := time.NewTicker(5 * time.Millisecond); ; {
			if text, _ := os.ReadFile(filepath.Join(dataOf(a), "high-water")); strings.Contains(string(text), `"tokens":true`) {
				return
			}
			select {
			case <-look.C:
			case <-limit:
				t.Fatal("the token is not noted")
			}
		}
	})
	if err := os.Remove(filepath.Join(image, "operational.db-wal")); err != nil {
		t.Fatal(err)
	}
	a, err := begin(t, image, app.Options{}, quietLog)
	if err == nil {
		finish(t, a)
		t.Fatal("it starts, and needs no token")
	}
	if !strings.Contains(errs.MessageOf(err), "token") || !strings.Contains(errs.MessageOf(err), "--create-missing") {
		t.Errorf("%v", err)
	}
	if a, err = begin(t, image, app.Options{CreateMissing: true}, quietLog); err != nil {
		t.Fatal(err)
	}
	finish(t, a)
	folderWith(t, image, "one")
}

// TestAlteredRowIsNamed holds B7: a row that was changed on the disk was served
// as it is, and neither verify nor doctor compared it with its hash.
func TestAlteredRowIsNamed(t *testing.T) {
	data := t.TempDir()
	folderWith(t, data, "one", "two", "three")
	execute(t, filepath.Join(data, "learning.db"), "UPDATE knowledge SET content = 'about twp' WHERE title = 'two'")
	db := openReadOnly(t, data, "learning")
	id := column[string](t, db, "SELECT id FROM knowledge WHERE title = 'two'")[0]
	db.Close()
	found, err := app.VerifyFolder(t.Context(), data)
	if err != nil || found.OK || len(found.Altered) != 1 || !strings.Contains(found.Altered[0], id) || !strings.Contains(found.Altered[0], "1 of 3") {
		t.Errorf("verify: %+v, %v", found, err)
	}
	a, err := begin(t, data, app.Options{}, quietLog)
	if err != nil {
		t.Fatal(err)
	}
	checks := app.DoctorOf(principal.With(t.Context(), principal.System()), a)
	if at := slices.IndexFunc(checks, func(c app.DoctorCheck) bool { return c.Name == "knowledge hashes" }); at < 0 || checks[at].OK || !strings.Contains(checks[at].Detail, id) {
		t.Errorf("doctor: %+v", checks)
	}
	finish(t, a)
	// A backup of it is told of, and can be restored: the other rows are sound.
	archive := backupOf(t, data, app.BackupOptions{})
	restored, err := app.Restore(t.Context(), bytes.NewReader(archive), filepath.Join(t.TempDir(), "to"), app.RestoreOptions{})
	if err != nil || restored.OK || len(restored.Altered) != 1 {
		t.Errorf("restore: %+v, %v", restored, err)
	}
	execute(t, filepath.Join(data, "learning.db"), "UPDATE knowledge SET content = 'about two' WHERE title = 'two'")
	if found, err := app.VerifyFolder(t.Context(), data); err != nil || !found.OK {
		t.Errorf("verify, mended: %+v, %v", found, err)
	}
}
