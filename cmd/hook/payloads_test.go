package hook_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skillrouter/skillrouter/cmd/hook"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestPayloads reads what agents really sent their hooks (Codex 0.169 with
// functions and in its code mode, Gemini CLI 0.61, opencode 1.18) and holds what is
// understood of it: which tools are our own (D5), and what failed (D3).
func TestPayloads(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/payloads/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal(err, "no payloads")
	}
	var got bytes.Buffer
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		dialect := hook.Dialect(strings.TrimSuffix(name, "-code-mode"))
		if !dialect.Known() {
			t.Fatalf("%s is of no dialect", file)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			var sent struct {
				Event hook.Event      `json:"event"`
				In    json.RawMessage `json:"in"`
			}
			if err := json.Unmarshal(line, &sent); err != nil {
				t.Fatal(err)
			}
			call, err := hook.Read(sent.Event, sent.In)
			if err != nil {
				t.Fatalf("%s: %s: %v", file, line, err)
			}
			if call.Session == "" || call.Dir != "/home/you/shop" {
				t.Errorf("%s: session %q in %q", file, call.Session, call.Dir)
			}
			fmt.Fprintf(&got, "%s %s %s %v", name, sent.Event, call.Tool, call.Args["command"])
			if dialect.Own(call.Tool) {
				fmt.Fprint(&got, " OWN")
			}
			if call.Failed {
				fmt.Fprintf(&got, " FAILED %q", call.Failure[:min(len(call.Failure), 80)])
			}
			fmt.Fprintln(&got)
		}
	}
	const golden = "testdata/payloads.golden"
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Error(diff)
	}
}

// TestRolloutFailures reads a rollout that Codex wrote (shortened): of four
// commands three failed, of which its hooks were told nothing (D3).
func TestRolloutFailures(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/rollout.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	command := func(id, command, said string) hook.Call {
		return hook.Call{ToolUse: id, Tool: "Bash", Dir: "/home/you/shop", Args: map[string]any{"command": command, "cwd": "/home/you/shop"}, Failed: true, Failure: said}
	}
	want := []hook.Call{
		command("call_0000", "cat no-such-file-xyz.txt; exit 3", "cat: no-such-file-xyz.txt: No such file or directory\n"),
		command("call_0020", "false", ""),
		command("call_0021", "sh -c 'echo boom >&2; exit 7'", "boom\n"),
	}
	if diff := cmp.Diff(want, hook.RolloutFailures(text)); diff != "" {
		t.Error(diff)
	}
	item := func(item string) string {
		return `{"type":"event_msg","payload":{"type":"item_completed","item":` + item + "}}\n"
	}
	for name, tc := range map[string]struct {
		lines string
		want  int
	}{
		"a tool of an MCP server":           {item(`{"type":"McpToolCall","id":"c","server":"jira","tool":"find","arguments":{"q":1},"status":"failed","error":{"message":"away"}}`), 0},
		"what a hook refused":               {item(`{"type":"CommandExecution","id":"c","command":["sh","-c","x"],"status":"declined","exit_code":1}`), 0},
		"without a code":                    {item(`{"type":"CommandExecution","id":"c","command":["sh","-c","x"],"status":"failed"}`), 0},
		"what a program wrote about itself": {item(`{"type":"CommandExecution","id":"c","command":["cat","x"],"status":"completed","exit_code":0,"aggregated_output":"\"status\":\"failed\" \"item_completed\""}`), 0},
		"half a line":                       {`{"type":"event_msg","payload":{"type":"item_completed","item":{"status":"failed"`, 0},
		"garbage":                           {"\"item_completed\" \"failed\"\n\x00\xff\n[]\n", 0},
	} {
		if got := hook.RolloutFailures([]byte(tc.lines)); len(got) != tc.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestGeminiFailures holds that only the lines that Gemini CLI adds behind a
// command's output say how it ended (D3).
func TestGeminiFailures(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		tool, content string
		want          bool
	}{
		"a code":                        {`{"command":"x"}`, "<untrusted_context>\nOutput: a\nExit Code: 3\nProcess Group PGID: 9\n</untrusted_context>", true},
		"without marks around it":       {`{"command":"x"}`, "Output: (empty)\nExit Code: 127\nBackground PIDs: 3, 4\nProcess Group PGID: 9", true},
		"a signal":                      {`{"command":"x"}`, "<untrusted_context>\nOutput: (empty)\nSignal: 9\nProcess Group PGID: 9\n</untrusted_context>", true},
		"success":                       {`{"command":"x"}`, "<untrusted_context>\nOutput: a\nProcess Group PGID: 9\n</untrusted_context>", false},
		"the program speaks of a code":  {`{"command":"x"}`, "Output: Exit Code: 3\nExit Code: 4\nall is well\nProcess Group PGID: 9", false},
		"a code of nought":              {`{"command":"x"}`, "Output: a\nExit Code: 0", false},
		"a file that speaks of a code":  {`{"file_path":"log"}`, "Output: a\nExit Code: 3", false},
		"nothing":                       {`{"command":"x"}`, "", false},
		"only lines of the tool's own":  {`{"command":"x"}`, "Process Group PGID: 9", false},
		"a code that is no number":      {`{"command":"x"}`, "Output: a\nExit Code: three", false},
		"marks around nothing, cut off": {`{"command":"x"}`, "</untrusted_context>", false},
	} {
		content, err := json.Marshal(tc.content)
		if err != nil {
			t.Fatal(err)
		}
		call, err := hook.Read(hook.PostToolUse, fmt.Appendf(nil, `{"tool_name":"run_shell_command","tool_input":%s,"tool_response":{"llmContent":%s,"returnDisplay":"a"}}`, tc.tool, content))
		if err != nil {
			t.Fatal(err)
		}
		if call.Failed != tc.want {
			t.Errorf("%s: failed %v, %q", name, call.Failed, call.Failure)
		}
	}
}

// TestOwn holds that our tools are known by each agent's name for them, and no others (D5).
func TestOwn(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		dialect hook.Dialect
		tool    string
		own     bool
	}{
		{hook.ClaudeCode, "mcp__skillrouter__route_query", true},
		{hook.Codex, "mcp__skillrouter__route_query", true},
		{hook.Gemini, "mcp_skillrouter_route_query", true},
		{hook.OpenCode, "skillrouter_route_query", true},
		{hook.ClaudeCode, "mcp__plugin_skillrouter_skillrouter__route_query", true},
		{hook.ClaudeCode, "mcp__plugin_skillrouter_other__route_query", false},
		{hook.ClaudeCode, "mcp__plugin_other_skillrouter__route_query", false},
		{hook.ClaudeCode, "mcp__skillrouter2__x", false},
		{hook.ClaudeCode, "skillrouter_route_query", false},
		{hook.Gemini, "run_shell_command", false},
		{hook.OpenCode, "bash", false},
		{hook.Cursor, "route_query", false},
		{hook.Cursor, "", false},
	} {
		if got := tc.dialect.Own(tc.tool); got != tc.own {
			t.Errorf("%s: %s is our own: %v", tc.dialect, tc.tool, got)
		}
	}
}

// TestTurnEnd holds that a note at the end of a turn is one that Claude Code,
// Codex and Gemini CLI go on with, and that no other agent is told anything there.
func TestTurnEnd(t *testing.T) {
	t.Parallel()
	for _, d := range hook.Dialects() {
		want := ""
		switch d {
		case hook.ClaudeCode, hook.Codex:
			want = `{"decision":"block","reason":"<m> waits"}` + "\n"
		case hook.Gemini:
			want = `{"decision":"deny","reason":"<m> waits"}` + "\n"
		}
		if got := d.Tell(hook.TurnEnd, hook.Note{Text: "<m> waits"}); got != (hook.Answer{Out: want}) {
			t.Errorf("%s tells %+v", d, got)
		}
		if got := d.Tell(hook.TurnEnd, hook.Note{}); got != (hook.Answer{}) {
			t.Errorf("%s tells %+v of nothing", d, got)
		}
	}
}
