package respond

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/skillrouter/skillrouter/cmd/hook"
	"github.com/skillrouter/skillrouter/internal/errs"
)

// ofSession is a hook of the session s with a cache of its own. Its router is call.
func ofSession(t *testing.T, call Call) *Hook {
	t.Helper()
	for _, name := range []string{"XDG_CACHE_HOME", "HOME", "LocalAppData"} { // each system's
		t.Setenv(name, t.TempDir())
	}
	none := func(string) (string, bool) { return "", false }
	return &Hook{Event: hook.SessionEnd, Dialect: hook.ClaudeCode, router: call, process: Process{LookupEnv: none}, call: hook.Call{Session: "s"}}
}

// TestEndGoesOn has the router refuse how checks ended: the rest of the session's end is done all the same.
func TestEndGoesOn(t *testing.T) {
	for code, want := range map[errs.Code][]string{
		errs.NotFound:    {"/check/offline", "/check/outcome", "/check/outcome", "learn", "/api/consolidations"},
		errs.Conflict:    {"/check/offline", "/check/outcome", "/check/outcome", "learn", "/api/consolidations"},
		errs.Forbidden:   {"/check/offline", "/check/outcome", "/check/outcome", "learn", "/api/consolidations"},
		errs.Unavailable: {"/check/offline", "/check/outcome", "learn", "/api/consolidations"},
	} {
		t.Run(string(code), func(t *testing.T) {
			var done []string
			h := ofSession(t, func(_ context.Context, _, path string, _, _ any) error {
				done = append(done, path)
				if path == "/check/outcome" {
					return errs.Errorf(code, "no")
				}
				return nil
			})
			h.process.Learn = func(context.Context, Call, Record) error {
				done = append(done, "learn")
				return nil
			}
			h.call.Messages = []byte(`[{"role":"user"}]`)
			for _, use := range []string{"1", "2"} {
				h.call.ToolUse = use
				h.remember("c" + use)
			}
			keep(filepath.Join(h.spoolPath(), "c1"), `{"check_id":"c1"}`)
			if err := h.end(t.Context()); errs.CodeOf(err) != code || !slices.Equal(done, want) {
				t.Errorf("did %q, want %q: %v", done, want, err)
			}
		})
	}
}

// TestEndWithoutTemporaryFolder: the end of a session is handed on where there is no folder for temporary files.
func TestEndWithoutTemporaryFolder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the program is a shell script")
	}
	dir := t.TempDir()
	program, got := filepath.Join(dir, "program"), filepath.Join(dir, "got")
	if err := os.WriteFile(program, []byte("#!/bin/sh\ncat > '"+got+".part' && mv '"+got+".part' '"+got+"'\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	h := ofSession(t, nil)
	h.process.Program = func() (string, error) { return program, nil }
	t.Setenv("TMPDIR", filepath.Join(dir, "none"))
	if err := h.leave([]byte("the end")); err != nil {
		t.Fatal(err)
	}
	for t.Context().Err() == nil {
		if text, err := os.ReadFile(got); err == nil {
			if string(text) != "the end" {
				t.Errorf("handed on: %q", text)
			}
			return
		}
		runtime.Gosched()
	}
}
