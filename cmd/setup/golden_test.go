package setup_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skillrouter/skillrouter/cmd/setup"
)

var update = flag.Bool("update", false, "write the golden files anew")

var now = time.Date(2026, 11, 21, 20, 0, 0, 0, time.UTC)

// place is a home, a project in it and a store of their own.
type place struct {
	t     *testing.T
	root  string
	store setup.Store
	env   map[string]string
}

func newPlace(t *testing.T) *place {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, root: root, store: setup.Store{Dir: filepath.Join(root, "store")}, env: map[string]string{}}
	for _, dir := range []string{"home", "project"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func (p *place) target(agent setup.Agent, user bool) setup.Target {
	t := setup.Target{Agent: agent, Dir: filepath.Join(p.root, "project"), Shared: true, Home: filepath.Join(p.root, "home"), Env: func(name string) string { return p.env[name] }}
	if user {
		t.Dir, t.Shared = "", false
	}
	return t
}

// personal is the project's target of files that are one person's alone.
func (p *place) personal(agent setup.Agent) setup.Target {
	t := p.target(agent, false)
	t.Shared = false
	return t
}

func (p *place) write(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// tree is every file of the place but the store's, and every folder.
func (p *place) tree() map[string]string {
	p.t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(p.root, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(p.root, path)
		if name == "store" {
			return filepath.SkipDir
		}
		if d.IsDir() {
			found[name+"/"] = ""
			return nil
		}
		text, err := os.ReadFile(path)
		found[name] = string(text)
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return found
}

var content = setup.Content{Program: "skillrouter"}

// set sets up, and sees that a second time finds nothing to do.
func (p *place) set(target setup.Target, c setup.Content) setup.Plan {
	p.t.Helper()
	plan, err := setup.PlanSetup(target, c, p.store)
	if err != nil {
		p.t.Fatal(err)
	}
	if err := plan.Apply(now); err != nil {
		p.t.Fatal(err)
	}
	again, err := setup.PlanSetup(target, c, p.store)
	if err != nil {
		p.t.Fatal(err)
	}
	if len(again.Pending()) > 0 {
		p.t.Fatalf("a second setup would change more:\n%s", again.Diff())
	}
	return plan
}

func (p *place) remove(target setup.Target, c setup.Content) setup.Plan {
	p.t.Helper()
	plan, err := setup.PlanRemoval(target, c, p.store)
	if err != nil {
		p.t.Fatal(err)
	}
	if err := plan.Apply(now); err != nil {
		p.t.Fatal(err)
	}
	return plan
}

// theirs is what people may have in the files already.
var theirs = map[string]string{
	"project/.mcp.json":                         "{\n\t\"mcpServers\": {\n\t\t\"other\": {\"command\": \"other\"}\n\t}\n}\n",
	"project/.claude/settings.json":             "{\n  // ours alone\n  \"permissions\": {\"allow\": [\"Bash(ls:*)\"]},\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"matcher\": \"Bash\", \"hooks\": [{\"type\": \"command\", \"command\": \"./check.sh\"}]},\n    ],\n  }, // the end\n}",
	"project/CLAUDE.md":                         "# House rules\n\nUse tabs.",
	"project/AGENTS.md":                         "Be kind.\r\nTest first.\r\n",
	"project/GEMINI.md":                         "",
	"project/.codex/config.toml":                "# mine\nmodel = \"o9\"\n\n[mcp_servers.other]\ncommand = \"x\"\n",
	"project/.codex/hooks.json":                 "{}",
	"project/.gemini/settings.json":             "{\"theme\": \"dark\"}",
	"project/opencode.jsonc":                    "{\n    \"$schema\": \"https://opencode.ai/config.json\", /* four spaces */\n    \"mcp\": {}\n}\n",
	"project/.cursor/mcp.json":                  "{}\n",
	"project/.cursor/hooks.json":                "{\"version\": 1, \"hooks\": {\"stop\": [{\"command\": \"./bell\"}]}}\n",
	"project/.aider.conf.yml":                   "model: gpt-9 # the good one\n",
	"home/.claude.json":                         "{\"numStartups\": 12345678901234567890, \"projects\": {}}",
	"home/.claude/settings.json":                "{}\n",
	"home/.codex/config.toml":                   "model = \"o9\"",
	"home/.gemini/settings.json":                "{\n  \"mcpServers\": {},\n  \"hooks\": {\"BeforeTool\": []}\n}\n",
	"home/.config/opencode/opencode.json":       "{\"mcp\": {\"a\": {\"type\": \"remote\", \"url\": \"http://a\"}}}",
	"home/.cursor/hooks.json":                   "{\"version\": 1, \"hooks\": {}}",
	"home/.aider.conf.yml":                      "---\nmodel: x\n",
	"home/AGENTS.md":                            "mine\n\n\n",
	"project/.cursor/rules/mine.mdc":            "mine",
	"project/.opencode/plugins/mine.js":         "// mine",
	"home/.claude/CLAUDE.md":                    "mine\n",
	"home/.codex/AGENTS.md":                     "\n",
	"home/.gemini/GEMINI.md":                    "x",
	"home/.config/opencode/AGENTS.md":           "# y\n",
	"home/.config/opencode/plugins/another.js":  "",
	"home/.codex/hooks.json":                    "{\"hooks\": {\"Stop\": []}}",
	"home/.cursor/mcp.json":                     "{\n}",
	"home/.config/opencode/plugins/.gitkeep":    "",
	"project/.claude/commands/fix.md":           "x",
	"project/deep/er/than/that/AGENTS.md":       "x",
	"home/.claude/projects/p/transcript.jsonl":  "{}",
	"home/.config/skillrouter/config.yaml":      "",
	"home/.local/share/skillrouter/learning.db": "",
}

// TestGolden holds what is written for every agent, and that taking it out
// leaves every file and folder as it was.
func TestGolden(t *testing.T) {
	t.Parallel()
	for _, agent := range setup.Agents() {
		scopes := []string{"project", "user"}
		if agent == setup.ClaudeCode {
			scopes = append(scopes, "personal")
		}
		for _, scope := range scopes {
			for _, empty := range []bool{true, false} {
				name := string(agent) + "-" + scope
				if !empty {
					name += "-existing"
				}
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					p := newPlace(t)
					if !empty {
						for path, text := range theirs {
							p.write(path, text)
						}
					}
					target := p.target(agent, scope == "user")
					if scope == "personal" {
						target = p.personal(agent)
						p.write("project/.git/HEAD", "ref: refs/heads/main\n")
						p.write("home/CLAUDE.local.md", "mine\n")
					}
					before := p.tree()
					plan := p.set(target, content)
					got := plan.Diff()
					for _, note := range plan.Notes {
						got += "\n> " + strings.ReplaceAll(note, "\n", "\n> ") + "\n"
					}
					got = strings.ReplaceAll(got, p.root, "")
					golden(t, name+".diff", got)
					p.remove(target, content)
					if diff := cmp.Diff(before, p.tree()); diff != "" {
						t.Errorf("the removal left something else:\n%s", diff)
					}
					if entries, _ := os.ReadDir(p.store.Dir); len(entries) > 0 {
						t.Errorf("the store keeps %v", entries)
					}
				})
			}
		}
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "golden", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-update writes it anew):\n%s", path, diff)
	}
}
