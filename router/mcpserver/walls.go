package mcpserver

import (
	"context"

	"skillrouter/internal/principal"
)

// keepsWalls are the tools that keep to the projects of a token that is bound to some. All others
// are refused to such a token, so that a tool that joins shows it nothing.
var keepsWalls = map[string]bool{
	findTools: true, callTool: true, // what is called says itself
	"search_all": true, "route_query": true, "build_context": true, "check_before_action": true, "check_outcome": true,
	"store_knowledge": true, "search_knowledge": true, "get_knowledge": true, "update_knowledge": true, "delete_knowledge": true,
	"record_episode": true, "get_recent_episodes": true, "search_episodes": true,
	"report_lesson": true, "get_relevant_lessons": true, "list_lessons": true, "get_lesson": true, "lesson_history": true,
	"validate_lesson": true, "retire_lesson": true, "restore_lesson": true,
	"check_in": true, "report_status": true, "list_agents": true, "get_agent": true, "send_signal": true, "check_messages": true,
}

// walled returns an error if the caller is bound to projects, and a tool does not keep to them.
func walled(ctx context.Context, tool string) error {
	if principal.Of(ctx).Walled() && !keepsWalls[tool] {
		return principal.Unkept("the tool " + tool)
	}
	return nil
}
