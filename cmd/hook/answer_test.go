package hook_test

import (
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/cmd/hook"
)

// TestJudge holds the answers to what each agent documents.
func TestJudge(t *testing.T) {
	t.Parallel()
	const claude = `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"<no> \"way\""}}` + "\n"
	const claudeWarn = `{"hookSpecificOutput":{"additionalContext":"<no> \"way\"","hookEventName":"PreToolUse"},"systemMessage":"<no> \"way\""}` + "\n"
	for _, tc := range []struct {
		dialect     hook.Dialect
		block, warn hook.Answer
	}{
		{hook.ClaudeCode, hook.Answer{Out: claude}, hook.Answer{Out: claudeWarn}},
		{hook.Codex, hook.Answer{Out: claude}, hook.Answer{Out: claudeWarn}},
		{hook.OpenCode, hook.Answer{Out: claude}, hook.Answer{Out: claudeWarn}},
		{hook.Gemini, hook.Answer{Out: `{"decision":"deny","reason":"<no> \"way\""}` + "\n"}, hook.Answer{Out: `{"systemMessage":"<no> \"way\""}` + "\n"}},
		{
			hook.Cursor,
			hook.Answer{Out: `{"agent_message":"<no> \"way\"","permission":"deny","user_message":"<no> \"way\""}` + "\n"},
			hook.Answer{Out: `{"agent_message":"<no> \"way\"","permission":"ask","user_message":"<no> \"way\""}` + "\n"},
		},
		{hook.Generic, hook.Answer{Err: "<no> \"way\"\n", Code: 2}, hook.Answer{Err: "<no> \"way\"\n"}},
	} {
		if got := tc.dialect.Judge(hook.Block, `<no> "way"`, hook.Note{}); got != tc.block {
			t.Errorf("%s blocks with %+v", tc.dialect, got)
		}
		if got := tc.dialect.Judge(hook.Warn, `<no> "way"`, hook.Note{}); got != tc.warn {
			t.Errorf("%s warns with %+v", tc.dialect, got)
		}
		if got := tc.dialect.Judge(hook.Pass, "x", hook.Note{}); got != (hook.Answer{}) {
			t.Errorf("%s passes with %+v", tc.dialect, got)
		}
	}
}

func TestInject(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		dialect hook.Dialect
		event   hook.Event
		want    string
	}{
		{hook.ClaudeCode, hook.SessionStart, `{"hookSpecificOutput":{"additionalContext":"# <m>","hookEventName":"SessionStart"}}` + "\n"},
		{hook.ClaudeCode, hook.UserPrompt, `{"hookSpecificOutput":{"additionalContext":"# <m>","hookEventName":"UserPromptSubmit"}}` + "\n"},
		{hook.Codex, hook.UserPrompt, `{"hookSpecificOutput":{"additionalContext":"# <m>","hookEventName":"UserPromptSubmit"}}` + "\n"},
		{hook.Gemini, hook.UserPrompt, `{"hookSpecificOutput":{"additionalContext":"# <m>","hookEventName":"BeforeAgent"}}` + "\n"},
		{hook.Cursor, hook.SessionStart, `{"additional_context":"# <m>"}` + "\n"},
		{hook.Cursor, hook.UserPrompt, ""},
		{hook.Generic, hook.SessionStart, "# <m>"},
	} {
		if got := tc.dialect.Inject(tc.event, "# <m>", ""); got != (hook.Answer{Out: tc.want}) {
			t.Errorf("%s at %s says %+v", tc.dialect, tc.event, got)
		}
		if got := tc.dialect.Inject(tc.event, "", "nobody"); got != (hook.Answer{}) {
			t.Errorf("%s at %s says %+v of nothing", tc.dialect, tc.event, got)
		}
	}
}

// TestTell holds where each agent's hooks have room for a note, and that none of
// them says more than that: no decision, no end.
func TestTell(t *testing.T) {
	t.Parallel()
	note := hook.Note{Text: "<m> waits", Person: "stop"}
	const both = `{"hookSpecificOutput":{"additionalContext":"<m> waits","hookEventName":"%"},"systemMessage":"stop"}` + "\n"
	as := func(name string) string { return strings.Replace(both, "%", name, 1) }
	for _, tc := range []struct {
		dialect               hook.Dialect
		before, after, failed string
	}{
		{hook.ClaudeCode, as("PreToolUse"), "", as("PostToolUseFailure")},
		{hook.Codex, as("PreToolUse"), as("PostToolUse"), ""},
		{hook.OpenCode, as("PreToolUse"), as("PostToolUse"), ""},
		{hook.Gemini, "", as("AfterTool"), ""},
		{hook.Cursor, "", "", ""},
		{hook.Generic, "<m> waits\n", "<m> waits\n", "<m> waits\n"},
	} {
		for event, want := range map[hook.Event]string{
			hook.PreToolUse: tc.before, hook.PostToolUse: tc.after, hook.PostFailure: tc.failed, hook.SessionEnd: "",
		} {
			if got := tc.dialect.Tell(event, note); got != (hook.Answer{Out: want}) {
				t.Errorf("%s at %s tells %+v", tc.dialect, event, got)
			}
			if got := tc.dialect.Tell(event, hook.Note{}); got != (hook.Answer{}) {
				t.Errorf("%s at %s tells %+v of nothing", tc.dialect, event, got)
			}
		}
		if got := tc.dialect.Judge(hook.Pass, "", note); got != (hook.Answer{Out: tc.before}) {
			t.Errorf("%s passes with %+v", tc.dialect, got)
		}
		blocked := tc.dialect.Judge(hook.Block, "no", note)
		if told := strings.Contains(blocked.Out+blocked.Err, "waits"); told != (tc.before != "") || !strings.Contains(blocked.Out+blocked.Err, "no") {
			t.Errorf("%s blocks with %+v", tc.dialect, blocked)
		}
	}
}
