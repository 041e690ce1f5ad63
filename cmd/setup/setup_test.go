package setup_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscale/hujson"

	"github.com/skillrouter/skillrouter/cmd/setup"
	"github.com/skillrouter/skillrouter/internal/errs"
)

// TestLaterEdits sees that what people change after a setup outlives its removal.
func TestLaterEdits(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("project/.claude/settings.json", "{\n  // ours alone\n  \"permissions\": {\"allow\": []},\n}")
	p.write("project/CLAUDE.md", "# House rules\n")
	target := p.target(setup.ClaudeCode, false)
	p.set(target, content)

	settings := read(t, p, "project/.claude/settings.json")
	settings = strings.Replace(settings, `"permissions"`, "// mine\n  \"model\": \"opus\",\n  \"permissions\"", 1)
	settings = strings.Replace(settings, `"hooks": [`, `"hooks": [{"type": "command", "command": "./mine.sh"},`, 1) // in the first of our groups
	settings = strings.Replace(settings, "\"PostToolUseFailure\": [", "\"PostToolUseFailure\": [ /* theirs */ {\"hooks\": [{\"type\": \"command\", \"command\": \"./after.sh\"}]},", 1)
	p.write("project/.claude/settings.json", settings)
	p.write("project/CLAUDE.md", "First of all.\n"+read(t, p, "project/CLAUDE.md")+"Last of all.\n")
	p.write("project/.mcp.json", strings.Replace(read(t, p, "project/.mcp.json"), `"mcpServers": {`, `"mcpServers": {"mine": {"command": "m"},`, 1))

	p.remove(target, content)
	if got, want := read(t, p, "project/CLAUDE.md"), "First of all.\n# House rules\nLast of all.\n"; got != want {
		t.Errorf("CLAUDE.md is %q, not %q", got, want)
	}
	settings = read(t, p, "project/.claude/settings.json")
	for _, word := range []string{"// ours alone", "// mine", `"model": "opus"`, "./mine.sh", "/* theirs */", "./after.sh"} {
		if !strings.Contains(settings, word) {
			t.Errorf("%q is lost:\n%s", word, settings)
		}
	}
	if strings.Contains(settings, "skillrouter") || strings.Contains(settings, "SessionEnd") {
		t.Errorf("something of ours is left:\n%s", settings)
	}
	if diff := cmp.Diff(`{"mcpServers":{"mine":{"command":"m"}}}`, plain(t, read(t, p, "project/.mcp.json"))); diff != "" {
		t.Error(diff)
	}
}

// TestProgramMoved sees that a setup with another path writes no second entry,
// and that its removal goes back to before the first.
func TestProgramMoved(t *testing.T) {
	t.Parallel()
	for _, agent := range setup.Agents() {
		p := newPlace(t)
		for path, text := range theirs {
			p.write(path, text)
		}
		before := p.tree()
		target := p.target(agent, true)
		if agent == setup.ClaudeCode {
			target = p.personal(agent)
		}
		p.set(target, setup.Content{Program: "/old/skillrouter", Name: "a"})
		moved := setup.Content{Program: `/new place/it's "ünï" $(code)/skillrouter`, Server: "http://127.0.0.1:9", Prompts: true}
		p.set(target, moved)
		for path, text := range p.tree() {
			if strings.Contains(text, "/old/skillrouter") && !strings.HasSuffix(path, ".bak") {
				t.Errorf("%s: %s still names the old place:\n%s", agent, path, text)
			}
		}
		p.remove(target, moved)
		if diff := cmp.Diff(before, p.tree()); diff != "" {
			t.Errorf("%s: the removal left something else:\n%s", agent, diff)
		}
	}
}

// TestNothingOfThisMachine sees that the project's files that everybody has name no path, address or
// variable of this machine: it is refused or left out, and said. A user's own files may.
func TestNothingOfThisMachine(t *testing.T) {
	t.Parallel()
	for _, agent := range setup.Agents() {
		for _, c := range []setup.Content{
			{Program: "/opt/here/skillrouter"},
			{Program: "skillrouter", Hook: "/opt/here/skillrouter-hook"},
			{Program: "skillrouter", Server: "http://127.0.0.1:8025"},
			{Program: "skillrouter", Server: "http://[::1]:8025"},
			{Program: "skillrouter", Vars: []string{"SKILLROUTER_DATA=/opt/here/data"}},
		} {
			p := newPlace(t)
			plan, err := setup.PlanSetup(p.target(agent, false), c, p.store)
			if err != nil && (errs.CodeOf(err) != errs.Conflict || !strings.Contains(err.Error(), "--user")) {
				t.Fatalf("%s: %v", agent, err)
			}
			for _, change := range plan.Changes {
				if name, _ := filepath.Rel(filepath.Join(p.root, "project"), change.Path); filepath.IsLocal(name) && (strings.Contains(change.Diff, "/opt/here") || strings.Contains(change.Diff, "8025")) {
					t.Errorf("%s: %+v is shared:\n%s", agent, c, change.Diff)
				}
			}
			if agent == setup.Codex && len(c.Vars) > 0 && !strings.Contains(strings.Join(plan.Notes, "\n"), "SKILLROUTER_DATA is set here and is not written") {
				t.Errorf("nothing is said of what was left out: %q", plan.Notes)
			}
			target := p.target(agent, true)
			if agent == setup.ClaudeCode {
				target = p.personal(agent)
			}
			diff := p.set(target, c).Diff()
			if names := strings.Contains(diff, "/opt/here") || strings.Contains(diff, "8025"); agent == setup.ClaudeCode && !names {
				t.Errorf("one's own files do not name %+v:\n%s", c, diff)
			}
		}
	}
}

// TestPersonalAndShared sees that a setup of the one takes the other out again, to the byte, and that
// what others add to the files meanwhile stays.
func TestPersonalAndShared(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("project/.git/HEAD", "ref: refs/heads/main\n")
	p.write("project/CLAUDE.md", "# House rules\n")
	p.write("home/.claude.json", "{\"numStartups\": 3}")
	before := p.tree()
	shared, personal := p.target(setup.ClaudeCode, false), p.personal(setup.ClaudeCode)
	p.set(shared, content)
	all := p.tree()
	p.set(personal, setup.Content{Program: "/opt/here/skillrouter"})
	for _, name := range []string{"project/.mcp.json", "project/.claude/settings.json"} {
		if _, is := p.tree()[name]; is {
			t.Errorf("%s is still there", name)
		}
	}
	if read(t, p, "project/CLAUDE.md") != "# House rules\n" || !strings.Contains(read(t, p, "project/.git/info/exclude"), "/CLAUDE.local.md") {
		t.Error("the shared rules are not as they were, or git is not told to pass the personal ones over")
	}
	if chosen, err := p.store.Chosen(shared); err != nil || chosen.Shared {
		t.Errorf("chosen are the shared files: %v", err)
	}
	state := read(t, p, "home/.claude.json")
	p.write("home/.claude.json", strings.Replace(state, `"mcpServers"`, `"hasTrustDialogAccepted": true, "mcpServers"`, 1))
	p.set(shared, content)
	if got := plain(t, read(t, p, "home/.claude.json")); got != `{"numStartups":3,"projects":{"`+shared.Dir+`":{"hasTrustDialogAccepted":true}}}` {
		t.Errorf("Claude Code's state is %s", got)
	}
	p.write("home/.claude.json", "{\"numStartups\": 3}")
	now := p.tree()
	delete(now, "project/.git/info/") // it stays until the removal
	if diff := cmp.Diff(all, now); diff != "" {
		t.Errorf("shared again:\n%s", diff)
	}
	p.set(personal, content)
	p.remove(personal, content)
	if diff := cmp.Diff(before, p.tree()); diff != "" {
		t.Errorf("the removal left something else:\n%s", diff)
	}
	if left := p.backups(); len(left) > 0 {
		t.Errorf("backups are left: %v", left)
	}
}

// TestSharedBySomebodyElse sees that what a colleague committed is neither doubled nor removed.
func TestSharedBySomebodyElse(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.set(p.target(setup.ClaudeCode, false), content)
	if err := os.RemoveAll(p.store.Dir); err != nil { // it was another machine's
		t.Fatal(err)
	}
	p.write("project/CLAUDE.md", "ours\n")
	before := p.tree()
	plan := p.set(p.personal(setup.ClaudeCode), content)
	for _, name := range []string{"home/.claude.json", "project/.claude/settings.local.json"} {
		if _, is := p.tree()[name]; is {
			t.Errorf("%s is written beside the shared one", name)
		}
	}
	if !strings.Contains(read(t, p, "project/CLAUDE.local.md"), "skillrouter:begin") {
		t.Error("the rules, which nobody shares, are nowhere")
	}
	if n := strings.Count(strings.Join(plan.Notes, "\n"), "nothing is written beside it"); n != 2 {
		t.Errorf("%d notes: %q", n, plan.Notes)
	}
	p.remove(p.personal(setup.ClaudeCode), content)
	if diff := cmp.Diff(before, p.tree()); diff != "" {
		t.Errorf("the removal took more than what was one's own:\n%s", diff)
	}
}

// TestSharedFile sees that AGENTS.md keeps its block while one agent needs it.
func TestSharedFile(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("project/AGENTS.md", "mine\n")
	before := p.tree()
	p.set(p.target(setup.Codex, false), content)
	p.set(p.target(setup.OpenCode, false), content)
	p.set(p.target(setup.Generic, false), content)
	p.remove(p.target(setup.Codex, false), content)
	p.remove(p.target(setup.OpenCode, false), content)
	if !strings.Contains(read(t, p, "project/AGENTS.md"), "skillrouter:begin") {
		t.Error("the block went with the first agent")
	}
	p.remove(p.target(setup.Generic, false), content)
	if diff := cmp.Diff(before, p.tree()); diff != "" {
		t.Error(diff)
	}
}

func TestLostStore(t *testing.T) {
	t.Parallel()
	for _, agent := range setup.Agents() {
		p := newPlace(t)
		p.write("project/CLAUDE.md", "mine\n")
		p.set(p.target(agent, false), content)
		if err := os.RemoveAll(p.store.Dir); err != nil {
			t.Fatal(err)
		}
		p.remove(p.target(agent, false), content)
		for path, text := range p.tree() {
			if strings.Contains(text, "skillrouter") && !strings.HasSuffix(path, ".bak") {
				t.Errorf("%s: %s is left:\n%s", agent, path, text)
			}
		}
	}
}

// TestRefuses sees that what is not understood is named and left alone, with
// all the other files.
func TestRefuses(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		agent setup.Agent
		path  string
		text  string
		say   string
	}{
		{"no JSON", setup.ClaudeCode, ".mcp.json", "{\n  \"a\": 1,\n  oops\n}", ".mcp.json:3: this is no JSON"},
		{"a list", setup.ClaudeCode, ".mcp.json", "[]", "no JSON object"},
		{"a member of another kind", setup.ClaudeCode, ".claude/settings.json", "{\n\n  \"hooks\": []\n}", `settings.json:3: "hooks" is no object`},
		{"an event of another kind", setup.ClaudeCode, ".claude/settings.json", "{\"hooks\":\n{\"PreToolUse\": {}}}", `settings.json:2: "PreToolUse" is no list`},
		{"a mark without its end", setup.ClaudeCode, "CLAUDE.md", "a\n<!-- skillrouter:begin -->\nb\n", "CLAUDE.md:2: a mark"},
		{"an end without its beginning", setup.ClaudeCode, "CLAUDE.md", "a\n\n<!-- skillrouter:end -->\n", "CLAUDE.md:3: a mark"},
		{"two blocks", setup.Codex, "AGENTS.md", "skillrouter:begin\nskillrouter:end\nskillrouter:begin\nskillrouter:end\n", "AGENTS.md:3: a second mark"},
		{"no text", setup.ClaudeCode, "CLAUDE.md", "a\n\x00", "CLAUDE.md:2: this is no text"},
		{"no TOML", setup.Codex, ".codex/config.toml", "a = 1\nb = = 2\n", "config.toml:2: this is no TOML"},
		{"a table of theirs", setup.Codex, ".codex/config.toml", "[mcp_servers.skillrouter]\ncommand = \"x\"\n", "has a table mcp_servers.skillrouter already"},
		{"an inline table", setup.Codex, ".codex/config.toml", "mcp_servers = {}\n", "cannot be added"},
		{"a list of theirs", setup.Aider, ".aider.conf.yml", "read: a.md\n", `has a list "read" already`},
		{"no YAML map", setup.Aider, ".aider.conf.yml", "- a\n- b\n", "no YAML that settings can be added to"},
		{"somebody else's file", setup.Cursor, ".cursor/rules/skillrouter.mdc", "mine", "somebody else's file"},
		{"a folder", setup.Generic, "AGENTS.md/x", "", "this is no file"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.write("project/"+tc.path, tc.text)
			before := p.tree()
			_, err := setup.PlanSetup(p.target(tc.agent, false), content, p.store)
			if err == nil || !strings.Contains(err.Error(), tc.say) || !strings.Contains(err.Error(), "nothing was changed") {
				t.Errorf("refused with %v, not %q", err, tc.say)
			}
			if diff := cmp.Diff(before, p.tree()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLinksAndModes(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("links need rights there")
	}
	p := newPlace(t)
	p.write("dotfiles/claude.md", "mine\n")
	real, link := filepath.Join(p.root, "dotfiles/claude.md"), filepath.Join(p.root, "project/CLAUDE.md")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	p.write("project/.mcp.json", "{}")
	secret := filepath.Join(p.root, "project/.mcp.json")
	if err := os.Chmod(secret, 0o600); err != nil {
		t.Fatal(err)
	}
	target := p.target(setup.ClaudeCode, false)
	plan := p.set(target, content)
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link became %v, %v", info, err)
	}
	if !strings.Contains(read(t, p, "dotfiles/claude.md"), "skillrouter:begin") || !strings.Contains(plan.Diff(), " -> "+real) {
		t.Error("it was not written behind the link, or the diff does not say where")
	}
	matches := append(p.backups(), secret)
	if len(matches) != 3 {
		t.Fatal(matches)
	}
	for _, name := range matches {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has %v, %v", name, info.Mode(), err)
		}
	}
	p.remove(target, content)
	if read(t, p, "dotfiles/claude.md") != "mine\n" || read(t, p, "project/.mcp.json") != "{}" {
		t.Error("the removal left something else")
	}

	if err := os.Remove(real); err != nil {
		t.Fatal(err)
	}
	if _, err := setup.PlanSetup(target, content, p.store); err == nil || !strings.Contains(err.Error(), "leads nowhere") {
		t.Errorf("a link to nothing gives %v", err)
	}
}

// TestNoBackup sees that a backup that cannot be made leaves nothing done.
func TestNoBackup(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("project/.mcp.json", "{}")
	p.write("project/CLAUDE.md", "mine\n")
	target := p.target(setup.ClaudeCode, false)
	p.set(target, content)
	names := p.backups()
	p.remove(target, content)
	if err := os.WriteFile(names[0], []byte("somebody else's"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := p.tree()
	plan, err := setup.PlanSetup(target, content, p.store)
	if err != nil {
		t.Fatal(err)
	}
	if err := plan.Apply(now); err == nil || !strings.Contains(err.Error(), "cannot be backed up") {
		t.Errorf("applied: %v", err)
	}
	if diff := cmp.Diff(before, p.tree()); diff != "" {
		t.Errorf("something is left:\n%s", diff)
	}
}

// TestBackupsLieInTheStore sees that a setup leaves nothing untracked in a
// repository for agents to read and people to commit, that what was there is
// readable by hand meanwhile, and that a removal takes it away, as it does the
// backups beside the files that earlier versions made.
func TestBackupsLieInTheStore(t *testing.T) {
	t.Parallel()
	for _, agent := range setup.Agents() {
		p := newPlace(t)
		for _, name := range []string{"CLAUDE.md", "AGENTS.md", "GEMINI.md"} {
			p.write("project/"+name, "mine\n")
		}
		before := p.tree()
		target := p.target(agent, false)
		plan := p.set(target, content)
		for path := range p.tree() {
			if strings.Contains(path, ".bak") {
				t.Errorf("%s: %s lies in the project", agent, path)
			}
		}
		changed := 0
		for _, c := range plan.Changes {
			if c.Action == setup.Modify {
				changed++
			}
		}
		kept := p.backups()
		if len(kept) != changed {
			t.Errorf("%s: %d files were changed, and the backups are %v", agent, changed, kept)
		}
		if len(kept) > 0 && agent == setup.ClaudeCode { // one of before lay beside its file
			beside := filepath.Join(p.root, "project", "CLAUDE.md.skillrouter-20260101T000000Z.bak")
			if err := os.Rename(kept[0], beside); err != nil {
				t.Fatal(err)
			}
			records, err := filepath.Glob(filepath.Join(p.store.Dir, "*.json"))
			if err != nil || len(records) != 1 {
				t.Fatal(records, err)
			}
			text, err := os.ReadFile(records[0])
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(records[0], bytes.ReplaceAll(text, []byte(kept[0]), []byte(beside)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		p.remove(target, content)
		if diff := cmp.Diff(before, p.tree()); diff != "" {
			t.Errorf("%s:\n%s", agent, diff)
		}
		if left := p.backups(); len(left) > 0 {
			t.Errorf("%s: backups are left: %v", agent, left)
		}
	}
}

// backups are the files that keep what others held before a setup.
func (p *place) backups() []string {
	p.t.Helper()
	found, err := filepath.Glob(filepath.Join(p.store.Dir, "*.bak"))
	if err != nil {
		p.t.Fatal(err)
	}
	return found
}

func TestChangedMeanwhile(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("project/CLAUDE.md", "mine\n")
	plan, err := setup.PlanSetup(p.target(setup.ClaudeCode, false), content, p.store)
	if err != nil {
		t.Fatal(err)
	}
	p.write("project/CLAUDE.md", "mine, and more\n")
	before := p.tree()
	if err := plan.Apply(now); errs.CodeOf(err) != errs.Conflict {
		t.Errorf("applied: %v", err)
	}
	if diff := cmp.Diff(before, p.tree()); diff != "" {
		t.Error(diff)
	}
}

// TestKilled sees that a setup that was killed between two files is taken back.
func TestKilled(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("project/CLAUDE.md", "mine\n")
	p.write("project/.mcp.json", "{}")
	before := p.tree()
	target := p.target(setup.ClaudeCode, false)
	p.set(target, content)
	p.write("project/CLAUDE.md", "mine\n") // as if it had not been reached
	p.remove(target, content)
	if diff := cmp.Diff(before, p.tree()); diff != "" {
		t.Error(diff)
	}
}

func read(t *testing.T, p *place, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(p.root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// plain is a JSON text without what only people read.
func plain(t *testing.T, text string) string {
	t.Helper()
	standard, err := hujson.Standardize([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := json.Compact(&out, standard); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestStrict sees that what is strict says so to the hook before a tool and to nothing else,
// and that a hook's program that is gone opens nothing where the agent can be told so.
func TestStrict(t *testing.T) {
	t.Parallel()
	strict := content
	strict.Strict = true
	for agent, want := range map[setup.Agent]string{
		setup.ClaudeCode: `"onFailure": "block"`, setup.OpenCode: "const strict = true", setup.Codex: "--strict", setup.Gemini: "--strict", setup.Cursor: "--strict",
	} {
		p := newPlace(t)
		before := p.tree()
		diff := p.set(p.target(agent, false), strict).Diff()
		if !strings.Contains(diff, want) || strings.Contains(p.set(p.target(agent, false), content).Diff(), "+"+want) {
			t.Errorf("%s: strict is\n%s", agent, diff)
		}
		if n := strings.Count(diff, "hook pre-tool-use"); n > 0 && strings.Count(diff, " --strict") != n {
			t.Errorf("%s: %d hooks before a tool, and strict is\n%s", agent, n, diff)
		}
		p.remove(p.target(agent, false), content)
		if diff := cmp.Diff(before, p.tree()); diff != "" {
			t.Errorf("%s: the removal left something else:\n%s", agent, diff)
		}
	}
}

// TestReadOnlyProject sees that where one of an agent's files cannot be written none is, and
// that it is said which.
func TestReadOnlyProject(t *testing.T) {
	t.Parallel()
	for agent, folder := range map[setup.Agent]string{
		setup.ClaudeCode: ".claude", setup.Codex: ".codex", setup.Gemini: ".gemini", setup.OpenCode: ".opencode", setup.Cursor: ".cursor",
		"vscode": ".vscode", "zed": ".zed", "amp": ".amp", "kiro": ".kiro", "antigravity": ".agents",
	} {
		p := newPlace(t)
		p.write("project/"+folder, "") // a file where the folder must be, which stops root as well
		before := p.tree()
		plan, err := setup.PlanSetup(p.target(agent, false), content, p.store)
		if err == nil {
			err = plan.Apply(now)
		}
		if err == nil || !strings.Contains(err.Error(), folder) || !strings.Contains(err.Error(), "nothing was changed") {
			t.Errorf("%s: %v", agent, err)
		}
		if diff := cmp.Diff(before, p.tree()); diff != "" {
			t.Errorf("%s: %s", agent, diff)
		}
	}
}

// TestHookOfBefore sees that the hook that earlier versions ran after each tool of Claude Code is taken out, and somebody's own beside it stays.
func TestHookOfBefore(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.write("project/.claude/settings.json", `{"hooks": {"PostToolUse": [
		{"matcher": "Bash", "hooks": [{"type": "command", "command": "./after.sh"}]},
		{"matcher": "Bash", "hooks": [{"type": "command", "command": "skillrouter-hook hook post-tool-use --for claude-code", "async": true}]}]}}`)
	p.set(p.target(setup.ClaudeCode, false), content)
	settings := read(t, p, "project/.claude/settings.json")
	if strings.Contains(settings, "hook post-tool-use ") || !strings.Contains(settings, "./after.sh") || !strings.Contains(settings, "hook pre-tool-use ") {
		t.Error(settings)
	}
	p = newPlace(t)
	p.write("project/.claude/settings.json", `{"hooks": {"PostToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "skillrouter-hook hook post-tool-use --for claude-code"}]}]}}`)
	p.set(p.target(setup.ClaudeCode, false), content)
	if settings := read(t, p, "project/.claude/settings.json"); strings.Contains(settings, `"PostToolUse":`) {
		t.Error(settings)
	}
}
