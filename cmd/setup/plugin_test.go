package setup_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skillrouter/skillrouter/cmd/setup"
)

const pluginDir = "../../scripts/package/claude-code"

// wiring is what an agent is told to run, by its event: matcher, our event and seconds.
type wiring struct {
	Matcher, Event string
	Timeout        int
}

// wiringOf reads hooks as Claude Code and Gemini CLI have them.
func wiringOf(t *testing.T, file string) map[string]wiring {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var settings struct {
		Hooks map[string][]struct {
			Matcher string
			Hooks   []struct {
				Command string
				Timeout int
			}
		}
	}
	if err := json.Unmarshal(text, &settings); err != nil {
		t.Fatal(err)
	}
	found := map[string]wiring{}
	for event, groups := range settings.Hooks {
		if len(groups) != 1 || len(groups[0].Hooks) != 1 {
			t.Fatalf("%s has %d groups", event, len(groups))
		}
		command := groups[0].Hooks[0].Command
		for _, sign := range []string{`hook.sh" `, "hook "} { // the plugin's script, or the program
			if _, rest, ok := strings.Cut(command, sign); ok {
				command = rest
				break
			}
		}
		word, _, _ := strings.Cut(command, " ")
		found[event] = wiring{groups[0].Matcher, word, groups[0].Hooks[0].Timeout}
	}
	return found
}

// TestPlugin holds that what is installed as a plugin or an extension listens to what setup writes.
func TestPlugin(t *testing.T) {
	t.Parallel()
	for agent, files := range map[setup.Agent][2]string{
		setup.ClaudeCode: {".claude/settings.json", pluginDir + "/hooks/hooks.json"},
		setup.Gemini:     {".gemini/settings.json", "../../scripts/package/gemini/hooks/hooks.json"},
	} {
		home := t.TempDir()
		target := setup.Target{Agent: agent, Home: home, Env: func(string) string { return "" }}
		plan, err := setup.PlanSetup(target, setup.Content{Program: "skillrouter", Prompts: true}, setup.Store{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		if err := plan.Apply(now); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(wiringOf(t, filepath.Join(home, files[0])), wiringOf(t, files[1])); diff != "" {
			t.Errorf("%s: setup writes -, %s has +:\n%s", agent, files[1], diff)
		}
		if agent == setup.Gemini {
			rules, err := os.ReadFile("../../scripts/package/gemini/GEMINI.md")
			if err != nil {
				t.Fatal(err)
			}
			written, err := os.ReadFile(filepath.Join(home, ".gemini/GEMINI.md"))
			if err != nil || !strings.Contains(string(written), strings.TrimSpace(string(rules))) {
				t.Errorf("the extension has other rules than setup writes: %v\n%s", err, written)
			}
		}
	}
}

// TestPluginHook runs the script that the plugin for Claude Code answers events with, beside programs that note how they were called.
func TestPluginHook(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stand-ins are scripts of a POSIX shell")
	}
	t.Parallel()
	const start, tool = `{"session_id":"0a-1","hook_event_name":"SessionStart"}`, `{"session_id":"0a-2","hook_event_name":"PreToolUse"}`
	const missing = `{"systemMessage":"Skill Router: the program skillrouter is not in the PATH`
	type call struct{ event, input, want string }
	put := func(t *testing.T, file, name string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("#!/bin/sh\necho "+name+" \"$@\"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, test := range map[string]struct {
		arrange func(t *testing.T, home string)
		calls   []call
	}{
		"no program": {nil, []call{
			{"session-start", start, missing},
			{"pre-tool-use", strings.ReplaceAll(start, "SessionStart", "PreToolUse"), ""},
			{"pre-tool-use", tool, missing},
			{"pre-tool-use", tool, ""},
			{"pre-tool-use", "", missing},
			{"pre-tool-use", "not JSON", ""},
		}},
		"both programs": {func(t *testing.T, home string) {
			put(t, home+"/bin/skillrouter", "whole")
			put(t, home+"/bin/skillrouter-hook", "small")
		}, []call{
			{"session-start", start, "small hook session-start --for claude-code --start\n"},
			{"pre-tool-use", tool, "small hook pre-tool-use --for claude-code\n"},
		}},
		"the whole program alone": {func(t *testing.T, home string) { put(t, home+"/bin/skillrouter", "whole") }, []call{
			{"turn-end", tool, "whole hook turn-end --for claude-code\n"},
		}},
		"npm's launcher": {func(t *testing.T, home string) {
			put(t, home+"/lib/node_modules/skillrouter/bin/skillrouter.js", "launcher")
			put(t, home+"/lib/node_modules/skillrouter/node_modules/@skillrouter/linux-x64/bin/skillrouter-hook", "native")
			if err := os.Symlink("../lib/node_modules/skillrouter/bin/skillrouter.js", home+"/bin/skillrouter"); err != nil {
				t.Fatal(err)
			}
		}, []call{{"pre-tool-use", tool, "native hook pre-tool-use --for claude-code\n"}}},
		"beside setup for the user": {func(t *testing.T, home string) {
			put(t, home+"/bin/skillrouter-hook", "small")
			put(t, home+"/.claude/settings.json", "/usr/bin/skillrouter-hook hook session-start --for claude-code --start")
		}, []call{{"session-start", start, ""}, {"pre-tool-use", tool, ""}}},
		"beside setup for the project": {func(t *testing.T, home string) {
			put(t, home+"/bin/skillrouter-hook", "small")
			put(t, home+"/project/.claude/settings.local.json", "skillrouter-hook hook session-start --for claude-code --start")
		}, []call{{"session-start", start, ""}}},
		"beside setup of another agent": {func(t *testing.T, home string) {
			put(t, home+"/bin/skillrouter-hook", "small")
			put(t, home+"/.claude/settings.json", "skillrouter-hook hook session-start --for codex")
		}, []call{{"turn-end", start, "small hook turn-end --for claude-code\n"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			for _, dir := range []string{"bin", "data", "project"} {
				if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			if test.arrange != nil {
				test.arrange(t, home)
			}
			for _, c := range test.calls {
				cmd := exec.CommandContext(t.Context(), "/bin/sh", pluginDir+"/hook.sh", c.event)
				cmd.Env = []string{"HOME=" + home, "PATH=" + home + "/bin:/usr/bin:/bin", "CLAUDE_PLUGIN_DATA=" + home + "/data", "CLAUDE_PROJECT_DIR=" + home + "/project"}
				cmd.Stdin = strings.NewReader(c.input)
				text, err := cmd.CombinedOutput()
				if got := string(text); err != nil || got != c.want && (c.want != missing || !strings.HasPrefix(got, missing)) {
					t.Errorf("%s %s: %q, %v, want %q", c.event, c.input, got, err, c.want)
				}
				if c.want == missing && !json.Valid(text) {
					t.Errorf("no JSON: %s", text)
				}
			}
		})
	}
}

// TestCommandLineOfWindows: each agent starts its hooks in a shell of its own there, and a folder may have a blank in its name.
func TestCommandLineOfWindows(t *testing.T) {
	t.Parallel()
	c := setup.Content{Program: `C:\Users\A B\skillrouter.exe`, Hook: `C:\Users\A B\skillrouter-hook.exe`}
	for agent, want := range map[setup.Agent]string{
		setup.ClaudeCode: `"C:\Users\A B\skillrouter-hook.exe" hook turn-end --for claude-code`,
		setup.Gemini:     `& "C:\Users\A B\skillrouter-hook.exe" hook turn-end --for gemini`, // PowerShell
	} {
		if got := c.CommandLine("windows", agent, "turn-end"); got != want || !setup.IsHook(got) {
			t.Errorf("%s: %s, want %s", agent, got, want)
		}
	}
	c = setup.Content{Program: "skillrouter", Hook: "skillrouter-hook"}
	if got := c.CommandLine("windows", setup.Gemini, "turn-end"); got != "skillrouter-hook hook turn-end --for gemini" {
		t.Error(got)
	}
}
