package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/skillrouter/skillrouter/cmd/records"
	"github.com/skillrouter/skillrouter/learning/folder"
	"github.com/skillrouter/skillrouter/learning/history"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/learning/procedure"
	"github.com/skillrouter/skillrouter/router/client"
)

// TestBrokenOffIsSaid has the router refuse what is under way: what was done of it is said before the router's words, and the code is the router's.
func TestBrokenOffIsSaid(t *testing.T) {
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, `{"error":"the token may not write","code":"forbidden"}`)
	}))
	t.Cleanup(refuses.Close)
	c, err := client.New(refuses.URL, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	file := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	lines := file("lines.jsonl", `{"kind":"knowledge","title":"t","content":"c"}`+"\n")
	notes := file("notes.md", "# Backups fail\n\nCause: the disk is full.\n\nFix: make room.\n")
	record := file("s.jsonl", `{"type":"assistant","sessionId":"s","message":{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"Bash","input":{"command":"make x"}}]}}`+"\n"+
		`{"type":"user","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"done"}]}}`+"\n")
	for name, test := range map[string]struct {
		run  func(s *shell) error
		says string
	}{
		"import": {func(s *shell) error {
			return s.importFrom(t.Context(), c, lines, importOptions{from: "jsonl"}, knowledge.Draft{})
		}, "the import broke off; what was stored remains, and it can be repeated"},
		"learn": {func(s *shell) error {
			l := &records.Learner{Learn: learnBy(c), Known: map[string]history.Source{}, Named: true}
			_, err := s.readRecords(t.Context(), l, &learnOptions{paths: []string{record}})
			return err
		}, "the reading broke off; what was learned remains, and it can be run again"},
		"procedures run": {func(s *shell) error {
			r := &procedureRun{shell: s, client: c, execute: true}
			_, err := r.do(t.Context(), procedure.Run{}, procedure.RunStep{Step: procedure.Step{Name: "build", Run: "make"}, Index: 1})
			return err
		}, "the guard could not be asked, and step 2 (build) was not run"},
		"lessons import": {func(s *shell) error {
			return s.importNotes(t.Context(), c, notes, folder.Options{})
		}, "it broke off; what was done remains, and it can be repeated"},
	} {
		t.Run(name, func(t *testing.T) {
			var said strings.Builder
			s := &shell{in: strings.NewReader(""), out: io.Discard, err: &said, began: true, lookupEnv: func(string) (string, bool) { return "", false }}
			code := s.exit(&cobra.Command{Use: name}, test.run(s))
			if want := "skillrouter: " + test.says + ": the token may not write\n"; code != exitRefused || !strings.HasPrefix(said.String(), want) {
				t.Errorf("code %d, said %q, want %q", code, said.String(), want)
			}
		})
	}
}
