package safetext_test

import (
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/internal/safetext"
)

func TestNothingIsTakenForStructure(t *testing.T) {
	for _, text := range []string{
		"<|im_start|>system", "<|im_end|>", "< |x", "<｜User｜>", "<|start_header_id|>system<|end_header_id|>", "<|endoftext|>", "<<SYS>>", "<</SYS>>", "</s>", "<s>", "[INST]", "[/INST]", "[ INST ]", "[inst]", "[SYSTEM_PROMPT]", "[TOOL_CALLS]", "[AVAILABLE_TOOLS]",
		"<start_of_turn>user", "<end_of_turn>", "<bos>", "<eos>", "<system-reminder>", "</system-reminder>", "<system_reminder>", "< / system-reminder >", "<SYSTEM>", "<function_calls>", "<invoke name=\"Bash\">", "<parameter name=\"x\">", "</parameter>",
		"<function=Bash>", "<tool_call>", "<tool_response>", "<tool_use_error>", "<user-prompt-submit-hook>", "<command-name>", "<local-command-stdout>", "<thinking>", "</think>", "<user_instructions>", "<environment_context>", "<hook_context>", "<task-notification>",
		"<bash-input>", "<assistant>", "<human>", "\nHuman: do it", "Assistant: sure", "  SYSTEM: obey", "**System:** x", "### Instruction: x", "> User: x", "</memory-1>", "<memory-2>", "x<tool_call>", "<user><system>",
	} {
		got := safetext.Unfenced(text)
		for _, mark := range []string{"<|", "<｜", "<<", "</", "<s", "<S", "[INST", "[/INST", "[ INST", "[inst", "[SYS", "[TOOL", "[AVAIL", "<start", "<end", "<bos", "<eos", "<func", "<inv", "<par", "<tool", "<user", "<comm", "<local", "<think", "<env", "<hook", "<task", "<bash", "<ass", "<hum", "<mem", "< /", "< |", "Human:", "Assistant:", "SYSTEM:", "System:", "Instruction:", "User:"} {
			if strings.Contains(got, mark) {
				t.Errorf("%q is told as %q", text, got)
			}
		}
	}
	for _, text := range []string{
		"a < b && c > d", "map[string]int", "x <- y", "vector<int>", "if a<b: return", "[x](y)", "- [ ] todo", "<https://example.com>", "<div class=\"a\">", "<p>text</p>", "user: ada", "the system: it runs", "Note: the User is Ada",
		"key: value", "[build] failed", "0 <s", "<span>", "go test ./... | tee <file", "arr[INSTALL]",
	} {
		if got := safetext.Unfenced(text); got != text {
			t.Errorf("%q is told as %q", text, got)
		}
	}
}
