package mcpserver

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"skillrouter/internal/check"
	"skillrouter/learning/guard"
	"skillrouter/learning/guard/rule"
)

const (
	// approvalShown is how long a question to a person stays open on the client's screen. The approval itself waits longer.
	approvalShown = 10 * time.Minute
	// maxShownCommand bounds, in bytes, what of a command is put before a person there.
	maxShownCommand = 500
)

// asker shows the person who sits before the client of [Server.ServeStdio] what an approval waits for. Clients over HTTP
// are called without a session, in which a server cannot ask.
type asker struct {
	session atomic.Pointer[mcp.ServerSession]
	asking  atomic.Bool // one question at a time: a person answers no more
}

// show asks a client that can be asked, and returns at once. The answer allows nothing: whoever runs the client could give it, and
// that may be a program that the agent runs.
func (a *asker) show(ctx context.Context, action rule.Action, checked guard.Checked) {
	session := a.session.Load()
	if session == nil || !checked.Blocked || checked.ApprovalID == "" || !a.asking.CompareAndSwap(false, true) {
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
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), approvalShown) // the call is over before
	go func() {
		defer cancel()
		defer a.asking.Store(false)
		_, _ = session.Elicit(ctx, question) // a client that cannot be asked is told by the tool's answer
	}()
}
