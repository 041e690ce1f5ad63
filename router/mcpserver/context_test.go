package mcpserver_test

import (
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/router/mcpserver"
)

// TestBuildContext holds that the text reaches the model as it was built: a
// word more would exceed the budget.
func TestBuildContext(t *testing.T) {
	h := &house{}
	c := dial(t, mcpserver.New(mcpserver.Services{Context: houseContext{h}}, mcpserver.Options{Toolsets: toolsets(t, "all")}))
	text, _, failed := call(t, c, "build_context", map[string]any{"task": "deploy", "budget": 500, "project": "web", "persona": "coder"})
	if failed || !strings.HasPrefix(text, "# Memory\n") || !strings.HasSuffix(text, "\nwebcoder\n</memory-00000000>\n") {
		t.Errorf("%q", text)
	}
	text, _, failed = call(t, c, "build_context", map[string]any{"task": "nothing", "budget": 500})
	if failed || text != "Nothing that is known fits this task. 1 item did not fit into the budget. 1 item came from elsewhere and can be asked for with include_untrusted." {
		t.Errorf("%q", text)
	}
	for name, arguments := range map[string]map[string]any{
		"no budget": {"task": "deploy"}, "no task": {"budget": 500}, "a word as budget": {"task": "deploy", "budget": "much"}, "unknown": {"budget": 500, "x": 1},
	} {
		if text, _, failed := call(t, c, "build_context", arguments); !failed {
			t.Errorf("%s: %q", name, text)
		}
	}
}
