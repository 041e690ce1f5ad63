package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/cmd/locate"
)

// damage is something that is done to a file of the data folder.
type damage struct {
	name string
	do   func(path string) error
	only string // the one file to which it can be done; "": any
}

var damages = []damage{
	{name: "a flipped bit", do: func(path string) error {
		return rewrite(path, func(text []byte) []byte {
			if len(text) > 0 {
				text[rand.IntN(len(text))] ^= 1 << rand.IntN(8)
			}
			return text
		})
	}},
	{name: "a page of noise", do: func(path string) error {
		return rewrite(path, func(text []byte) []byte {
			if at := len(text) / 2 / 4096 * 4096; at < len(text) {
				for i := at; i < min(at+4096, len(text)); i++ {
					text[i] = byte(rand.Uint32())
				}
			}
			return text
		})
	}},
	{name: "cut in half", do: func(path string) error { return rewrite(path, func(text []byte) []byte { return text[:len(text)/2] }) }},
	{name: "emptied", do: func(path string) error { return os.Truncate(path, 0) }},
	{name: "deleted", do: os.Remove},
}

func rewrite(path string, change func([]byte) []byte) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, change(text), 0o600)
}

// deleteRows is damage that no file shows: what was acknowledged is taken out of a sound database.
func deleteRows(path string) error {
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		return err
	}
	_, err = db.Exec("DELETE FROM tasks WHERE number = (SELECT min(number) FROM tasks)")
	return errors.Join(err, db.Close())
}

// unsaid lists what may go wrong without a word, and why nobody can tell.
var unsaid = []struct{ file, damage, why string }{
	{".db", "a flipped bit", "SQLite has no checksums of pages; content_hash covers entries of knowledge alone, and is compared by doctor and verify"},
}

func mayBeSilent(file string, d damage) bool {
	return slices.ContainsFunc(unsaid, func(u struct{ file, damage, why string }) bool {
		return strings.HasSuffix(file, u.file) && (u.damage == "" || u.damage == d.name)
	})
}

// corruption damages files of a folder in some way, each in each unless that is
// more than most, and looks what the router makes of it: it refuses, with a reason; or it answers
// rightly; or it says that something is wrong.
func corruption(ctx context.Context, program string, damages []damage, most int, out *result) error {
	dir, err := os.MkdirTemp("", "soak-corrupt")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, clean := range []bool{true, false} {
		base := filepath.Join(dir, fmt.Sprint("clean-", clean))
		s := newScene(program, base, out)
		s.followers = nil
		if err := s.fill(ctx, clean); err != nil {
			return err
		}
		files, err := filesIn(base)
		if err != nil {
			return err
		}
		n := len(files) * len(damages)
		for _, i := range rand.Perm(n)[:min(n, most)] {
			file, d := files[i/len(damages)], damages[i%len(damages)]
			if d.only != "" && d.only != file {
				continue
			}
			if err := s.damaged(ctx, base, filepath.Join(dir, "try"), file, d); err != nil {
				return fmt.Errorf("%s, %s: %w", file, d.name, err)
			}
		}
	}
	return nil
}

// fill gives the folder something to lose, and ends the router, cleanly or not.
func (s *scene) fill(ctx context.Context, clean bool) error {
	for range 2 { // the second end leaves an index of what the first load wrote
		r, err := start(ctx, s.program, s.data)
		if err != nil {
			return err
		}
		loading, stop := context.WithTimeout(ctx, longestLoad)
		s.load.run(loading, r)
		stop()
		s.load.model.ended(time.Now().Add(time.Hour))
		if clean {
			if err := r.stop(); err != nil {
				return err
			}
			continue
		}
		s.load.model.ended(time.Now())
		s.noted()
		r.kill()
	}
	return s.load.model.check(ctx, s.data, s.out)
}

// noted waits until the router has noted how far its logs have come. It notes
// that after each gathering of its feed, some milliseconds late and more on a
// busy machine. What is killed in between and damaged as well loses writes that
// nothing knows of: that is documented, and not what is looked for here.
func (s *scene) noted() {
	const quiet, longest = 200 * time.Millisecond, 5 * time.Second
	name := filepath.Join(s.data, "high-water")
	was, _ := os.ReadFile(name)
	for deadline := time.Now().Add(longest); time.Now().Before(deadline); {
		time.Sleep(quiet)
		now, err := os.ReadFile(name)
		if err == nil && bytes.Equal(now, was) {
			return
		}
		was = now
	}
}

func filesIn(dir string) (files []string, err error) {
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && !strings.HasSuffix(path, ".backup") {
			name, _ := filepath.Rel(dir, path)
			files = append(files, name)
		}
		return err
	})
	return files, err
}

// damaged starts the router on a damaged copy of the folder.
func (s *scene) damaged(ctx context.Context, base, try, file string, d damage) error {
	if err := os.RemoveAll(try); err != nil {
		return err
	}
	_ = os.Remove(filepath.Join(base, locate.SocketName)) // of a router that was killed
	if err := os.CopyFS(try, os.DirFS(base)); err != nil {
		return err
	}
	if err := private(try); err != nil {
		return err
	}
	if err := d.do(filepath.Join(try, file)); err != nil {
		return err
	}
	s.out.count("damaged files", 1)
	r, err := spawn(s.program, try)
	if err != nil {
		return err
	}
	defer r.kill()
	err = r.up(ctx)
	what := file + ", " + d.name
	if panics(r.log.String()) {
		s.out.fault("%s: it panics: %.500s", what, r.log)
	}
	var refused *refusedError
	switch {
	case errors.As(err, &refused):
		s.out.count("refused with a reason", 1)
		if refused.code != 1 || !strings.Contains(refused.log, filepath.Base(try)) {
			s.out.fault("%s: it ends with %d and does not say which file: %s", what, refused.code, lastLine(refused.log))
		}
		return nil
	case err != nil:
		s.out.fault("%s: %v", what, err)
		return nil
	}
	wrong := newResult()
	copied := s.load.copy()
	if err := copied.model.check(ctx, try, wrong); err != nil {
		return err
	}
	t := &scene{program: s.program, data: try, load: copied, out: wrong}
	t.searchable(ctx, r)
	said := saidSo(ctx, r)
	switch {
	case !wrong.faulty():
		s.out.count("right answers", 1)
	case said:
		s.out.count("wrong answers, and it said so: "+what, 1)
	case mayBeSilent(file, d):
		s.out.count("wrong answers without a word, listed: "+what, 1)
	default:
		s.out.fault("%s: wrong answers without a word: %s", what, wrong.faults[0])
	}
	return nil
}

// private gives a copied folder the modes that a router's has: doctor complains of others.
func private(dir string) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			return os.Chmod(path, 0o700)
		}
		return os.Chmod(path, 0o600)
	})
}

// copy is a load with a copy of the model: what a check of a damaged folder finds changes it.
func (l *load) copy() *load {
	m := newModel()
	l.model.mu.Lock()
	defer l.model.mu.Unlock()
	m.gone = l.model.gone
	for name, rows := range l.model.rows {
		for marker, r := range rows {
			kept := *r
			m.rows[name][marker] = &kept
		}
	}
	for name, values := range l.model.values {
		for key, v := range values {
			kept := *v
			m.values[name][key] = &kept
		}
	}
	return &load{model: m, writers: l.writers}
}

// saidSo says whether the router told, in its log, its health or its doctor, that something is wrong.
func saidSo(ctx context.Context, r *router) bool {
	log := r.log.String()
	if strings.Contains(log, "level=WARN") || strings.Contains(log, "level=ERROR") {
		return true
	}
	var health struct{ Status string }
	if _, raw, err := r.call(ctx, http.MethodGet, "/health", nil); err == nil && json.Unmarshal(raw, &health) == nil && health.Status != "ok" && health.Status != "healthy" {
		return true
	}
	var doctor struct{ OK bool }
	_, raw, err := r.call(ctx, http.MethodGet, "/api/doctor", nil)
	return err == nil && json.Unmarshal(raw, &doctor) == nil && !doctor.OK
}
