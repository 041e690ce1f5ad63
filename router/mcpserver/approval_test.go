package mcpserver_test

import (
	"context"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillrouter/skillrouter/learning/guard"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
	"github.com/skillrouter/skillrouter/router/mcpserver"
)

// blocking is a guard that blocks, and offers an approval unless the command says "never".
type blocking struct{ guard.Service }

func (blocking) Check(_ context.Context, a rule.Action) (guard.Checked, error) {
	var checked guard.Checked
	checked.Decision, checked.Blocked, checked.CheckID = rule.DecisionBlock, true, "c1"
	checked.Matches = []rule.Match{{Title: "Overwriting \x1b[2Jwhat others pulled"}}
	if !strings.Contains(a.Command, "never") {
		checked.ApprovalID = "87596398-f5f1-80ba-a78a-d749f7b25003"
	}
	return checked, nil
}

// TestApprovalIsShown has a client that a person sits before shown what waits for an approval: once at a time, without holding up the
// call, and without a way to allow it there. A client that cannot be asked is not asked.
func TestApprovalIsShown(t *testing.T) {
	server := mcpserver.New(mcpserver.Services{Guard: blocking{}}, mcpserver.Options{})
	asked, answer := make(chan *mcp.ElicitParams, 10), make(chan bool)
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(ctx context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			asked <- r.Params
			select {
			case <-answer:
			case <-ctx.Done():
			}
			return &mcp.ElicitResult{Action: "accept"}, nil
		},
	}).Connect(t.Context(), pipes(t, server), inSession)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	check := func(command string) map[string]any {
		_, fields, failed := call(t, client, "check_before_action", map[string]any{"proposed_action": command})
		if failed || fields["blocked"] != true {
			t.Fatalf("%q: %v", command, fields)
		}
		return fields
	}
	check("never do this")
	check("git push --force origin \x1b]52;c;main")
	question := <-asked // the calls are answered, and the question is open
	for _, part := range []string{"git push --force origin", "skillrouter check approve 87596398-f5f1-80ba-a78a-d749f7b25003", "allows nothing"} {
		if !strings.Contains(question.Message, part) {
			t.Errorf("%q lacks %q", question.Message, part)
		}
	}
	if strings.Contains(question.Message, "\x1b") {
		t.Errorf("%q would reach the person's terminal", question.Message)
	}
	if fields := check("git push --force again"); fields["approval_id"] == nil {
		t.Errorf("%v", fields)
	}
	if len(asked) != 0 {
		t.Error("a second question came while the first was open")
	}
	close(answer)
	if fields := check("git push --force origin main"); fields["blocked"] != true { // an accepted question allows nothing
		t.Errorf("%v", fields)
	}

	// One that cannot be asked.
	plain := dial(t, mcpserver.New(mcpserver.Services{Guard: blocking{}}, mcpserver.Options{}))
	if _, fields, failed := call(t, plain, "check_before_action", map[string]any{"proposed_action": "x"}); failed || fields["approval_id"] == nil {
		t.Errorf("%v", fields)
	}
}
