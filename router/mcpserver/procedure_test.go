package mcpserver_test

import (
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/router/mcpserver"
)

// TestProcedureTools holds what the tools say in words to what there is, and
// what agents wrote inside of the fence.
func TestProcedureTools(t *testing.T) {
	client := dial(t, mcpserver.New(new(house).services(), mcpserver.Options{Toolsets: toolsets(t, "procedures")}))
	for _, c := range []struct {
		tool      string
		arguments map[string]any
		says      []string
	}{
		{"remember_procedure", map[string]any{"name": "deploy", "steps": []any{map[string]any{"action": "x"}}}, []string{"name: deploy", "version: 2", "password"}},
		{"recall_procedure", map[string]any{"name": "nobody"}, []string{"no such procedure", "one may be what you need", "name: deploy"}},
		{"recall_procedure", map[string]any{"name": "roll it out"}, []string{"runs: 4", "success_rate: 0.75", "git push", "execute_procedure"}},
		{"list_procedures", map[string]any{}, []string{"name: deploy", "ask again with next as after"}},
		{"execute_procedure", map[string]any{"name": "deploy"}, []string{"Run r is running", "Step 0 is handed out", "Run: git push"}},
		{"get_run", map[string]any{"run_id": "r", "again": true}, []string{"was handed out before, and how it went is unknown"}},
		{"report_step", map[string]any{"run_id": "r", "index": 0, "status": "succeeded"}, []string{"Run r is succeeded"}},
	} {
		said, _, _ := call(t, client, c.tool, c.arguments)
		for _, want := range c.says {
			if !strings.Contains(said, want) {
				t.Errorf("%s does not say %q:\n%s", c.tool, want, said)
			}
		}
		if at := strings.Index(said, injection); at >= 0 && !strings.Contains(said[:at], "<memory-") {
			t.Errorf("%s shows what an agent wrote outside of the fence:\n%s", c.tool, said)
		}
	}
}
