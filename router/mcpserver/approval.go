package mcpserver

import (
	"context"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/learning/guard"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
)

const (
	// approvalShown is how long a question to a person stays open on the client's screen. The approval itself waits longer.
	approvalShown = 10 * time.Minute
	// maxShownCommand bounds, in bytes, what of a command is put before a person there.
	maxShownCommand = 500
)

// showApproval shows the person who sits before a client what an approval waits for, one question at a time: a person answers
// no more. It returns at once. The answer allows nothing: whoever runs the client could give it, and that may be a program that
// the agent runs. A client that is called without a session cannot be asked.
func (s *Server) showApproval(ctx context.Context, action rule.Action, checked guard.Checked) {
	req := requestOf(ctx)
	if req == nil || !lasts(ctx, req.Session) || !checked.Blocked || checked.ApprovalID == "" {
		return
	}
	if _, open := s.asking.LoadOrStore(req.Session, true); open {
		return
	}
	why := ""
	if len(checked.Matches) > 0 {
		why = " (" + visible(checked.Matches[0].Title) + ")"
	}
	question := &mcp.ElicitParams{
		Message: fmt.Sprintf("The guard blocked: %s%s. If it is meant, run in a terminal of your own: skillrouter check approve %s. What you answer here allows nothing.",
			visible(check.Head(check.OneLine(action.Command), maxShownCommand)), why, checked.ApprovalID),
		RequestedSchema: map[string]any{"type": "object", "properties": map[string]any{}},
	}
	go func() {
		defer s.asking.Delete(req.Session)
		// The call has its answer by then. By its values the library would send the question in that call's stream.
		ctx, cancel := context.WithTimeout(valueless{context.WithoutCancel(ctx)}, approvalShown)
		defer cancel()
		_, _ = req.Session.Elicit(ctx, question) // a client that cannot be asked is told by the tool's answer
	}()
}

// valueless is a context without the values of the one in it.
type valueless struct{ context.Context }

func (valueless) Value(any) any { return nil }
