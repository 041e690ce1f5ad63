package hook_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skillrouter/skillrouter/cmd/hook"
)

func TestRead(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		event hook.Event
		text  string
		want  hook.Call
	}{
		{
			"Claude Code before a command", hook.PreToolUse,
			`{"session_id":"s","transcript_path":"/t.jsonl","cwd":"/w","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"toolu_1"}`,
			hook.Call{Session: "s", Dir: "/w", Transcript: "/t.jsonl", Tool: "Bash", ToolUse: "toolu_1", Args: map[string]any{"command": "ls", "cwd": "/w"}},
		},
		{
			"Claude Code after a failure", hook.PostFailure,
			`{"session_id":"s","cwd":"/w","hook_event_name":"PostToolUseFailure","tool_name":"Bash","tool_input":{"command":"go test"},"tool_use_id":"t","error":"Exit code 1\nFAIL","is_interrupt":false}`,
			hook.Call{Session: "s", Dir: "/w", Tool: "Bash", ToolUse: "t", Args: map[string]any{"command": "go test", "cwd": "/w"}, Failed: true, Failure: "Exit code 1\nFAIL"},
		},
		{
			"Claude Code after an interruption", hook.PostFailure,
			`{"session_id":"s","tool_name":"Bash","tool_input":{},"error":"stopped","is_interrupt":true}`,
			hook.Call{Session: "s", Tool: "Bash", Args: map[string]any{}, Failed: true, Stopped: true, Failure: "stopped"},
		},
		{
			"Codex after a command that failed", hook.PostToolUse,
			`{"session_id":"s","turn_id":"1","transcript_path":null,"cwd":"/w","hook_event_name":"PostToolUse","model":"m","permission_mode":"default","tool_name":"Bash","tool_input":{"command":"false"},"tool_response":"Exit code: 1\nWall time: 0 seconds\nOutput:\nno","tool_use_id":"c"}`,
			hook.Call{Session: "s", Dir: "/w", Tool: "Bash", ToolUse: "c", Model: "m", Args: map[string]any{"command": "false", "cwd": "/w"}, Failed: true, Failure: "Exit code: 1\nWall time: 0 seconds\nOutput:\nno"},
		},
		{
			"Codex after a command that went well", hook.PostToolUse,
			`{"session_id":"s","tool_name":"Bash","tool_input":{"command":"true"},"tool_response":"Exit code: 0\nOutput:\n"}`,
			hook.Call{Session: "s", Tool: "Bash", Args: map[string]any{"command": "true"}},
		},
		{
			"Gemini after an error", hook.PostToolUse,
			`{"session_id":"s","cwd":"/w","hook_event_name":"AfterTool","timestamp":"2026-11-21T10:00:00Z","tool_name":"run_shell_command","tool_input":{"command":"x"},"tool_response":{"llmContent":"x: not found","returnDisplay":"","error":{"message":"exit 127","type":"shell_execute_error"}}}`,
			hook.Call{Session: "s", Dir: "/w", Tool: "run_shell_command", Args: map[string]any{"command": "x", "cwd": "/w"}, Failed: true, Failure: "exit 127"},
		},
		{
			"Gemini at the first prompt, before which it puts what the session's start was told", hook.UserPrompt,
			`{"session_id":"s","hook_event_name":"BeforeAgent","prompt":"<hook_context># Memory\n&lt;memory-1 knowledge&gt;\nUse pnpm\n&lt;/memory-1&gt;</hook_context>\n\nWhich one belongs here?"}`,
			hook.Call{Session: "s", Prompt: "Which one belongs here?"},
		},
		{
			"Gemini after success", hook.PostToolUse,
			`{"session_id":"s","tool_name":"read_file","tool_input":{"path":"a"},"tool_response":{"llmContent":"error: is a word","error":null}}`,
			hook.Call{Session: "s", Tool: "read_file", Args: map[string]any{"path": "a"}},
		},
		{
			"Cursor before a command", hook.PreToolUse,
			`{"conversation_id":"c","generation_id":"g","hook_event_name":"beforeShellExecution","workspace_roots":["/w"],"command":"git push","cwd":""}`,
			hook.Call{Session: "c", Dir: "/w", Tool: "Shell", Args: map[string]any{"command": "git push", "cwd": "/w"}},
		},
		{
			"Cursor after a failure", hook.PostFailure,
			`{"conversation_id":"c","tool_name":"Shell","tool_input":{"command":"npm test"},"cwd":"/w","error_message":"timed out","failure_type":"timeout"}`,
			hook.Call{Session: "c", Dir: "/w", Tool: "Shell", Args: map[string]any{"command": "npm test", "cwd": "/w"}, Failed: true, Failure: "timed out"},
		},
		{
			"Cursor with arguments in a string", hook.PreToolUse,
			`{"conversation_id":"c","tool_name":"MCP:query","tool_input":"{\"query\":\"DROP TABLE a\"}"}`,
			hook.Call{Session: "c", Tool: "MCP:query", Args: map[string]any{"query": "DROP TABLE a"}},
		},
		{
			"a person's own refusal is no failure", hook.PostFailure,
			`{"conversation_id":"c","tool_name":"Shell","tool_input":{},"error_message":"no","failure_type":"permission_denied"}`,
			hook.Call{Session: "c", Tool: "Shell", Args: map[string]any{}, Failed: true, Stopped: true, Failure: "no"},
		},
		{
			"a prompt", hook.UserPrompt, `{"session_id":"s","cwd":"/w","prompt":"mend it"}`,
			hook.Call{Session: "s", Dir: "/w", Prompt: "mend it"},
		},
		{
			"the end of a turn that a hook gave", hook.TurnEnd, `{"session_id":"s","cwd":"/w","hook_event_name":"Stop","stop_hook_active":true}`,
			hook.Call{Session: "s", Dir: "/w", Continued: true},
		},
		{
			"opencode's end with what was said", hook.SessionEnd, `{"session_id":"s","cwd":"/w","transcript":[{"role":"user","content":"hi"}]}`,
			hook.Call{Session: "s", Dir: "/w", Messages: json.RawMessage(`[{"role":"user","content":"hi"}]`)},
		},
		{
			"a code in the metadata", hook.PostToolUse, `{"tool_name":"bash","tool_input":{"command":"x"},"tool_output":{"output":"boom","metadata":{"exit":1,"exit_code":2}}}`,
			hook.Call{Tool: "bash", Args: map[string]any{"command": "x"}, Failed: true, Failure: "boom"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, err := hook.Read(tc.event, []byte(tc.text))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"nothing": "", "no JSON": "hello", "a list": "[]", "a number": "1", "a wrong type": `{"session_id":5}`,
	} {
		if _, err := hook.Read(hook.PreToolUse, []byte(text)); err == nil {
			t.Errorf("%s was read", name)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("pre-tool-use", `{"session_id":"s","tool_name":"Bash","tool_input":{"command":"ls"}}`)
	f.Add("post-tool-use", `{"tool_response":"{\"metadata\":{\"metadata\":{\"exit_code\":1}}}"}`)
	f.Add("post-tool-use-failure", `{"error":{"message":5},"tool_input":"x"}`)
	f.Fuzz(func(t *testing.T, event, text string) {
		call, err := hook.Read(hook.Event(event), []byte(text))
		if err != nil {
			return
		}
		if call.Failed && event == "pre-tool-use" {
			t.Error("what has not been done has failed")
		}
		for _, d := range hook.Dialects() {
			for _, verdict := range []hook.Verdict{hook.Pass, hook.Warn, hook.Block} {
				answer := d.Judge(verdict, call.Failure, hook.Note{})
				if verdict == hook.Pass && answer != (hook.Answer{}) {
					t.Errorf("%s: a pass says %+v", d, answer)
				}
			}
		}
	})
}
