package mcpserver_test

import (
	"context"
	"testing"

	"skillrouter/learning"
	"skillrouter/learning/learningtest"
	learningstore "skillrouter/learning/store"
	"skillrouter/router/mcpserver"
)

// toolGuard is the guard as far as tools reach: checking, without what no tool shows.
type toolGuard struct {
	learning.GuardService
	tools *tools
}

func (g toolGuard) Check(ctx context.Context, a learning.Action) (learning.Checked, error) {
	if a.Project != "" {
		return g.GuardService.Check(ctx, a)
	}
	arguments := map[string]any{"proposed_action": a.Command, "context": a.Context, "domain": a.Domain, "tool": a.Tool}
	if a.Args != nil {
		arguments["args"] = a.Args
	}
	return callTool[learning.Checked](ctx, g.tools, a.Agent, "check_before_action", arguments)
}

// TestGuardContract holds the tool to what the guard promises.
func TestGuardContract(t *testing.T) {
	learningtest.RunGuard(t, func(t *testing.T) learning.GuardService {
		db, _ := openDatabase(t, "learning")
		guards := learning.NewGuards(t.Context(), learningstore.New(db.Read, db.Commit), learning.GuardsOptions{})
		return toolGuard{guards, serveTools(t, mcpserver.Services{Guard: guards})}
	})
}
