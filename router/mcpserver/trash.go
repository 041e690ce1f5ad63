package mcpserver

import (
	"skillrouter/router/trash"
)

// trashTools give back what was deleted, and take back what the caller did last.
func trashTools() []tool {
	return []tool{
		{
			name: "list_deleted", title: "What was deleted", effect: reads, holds: "changes count",
			does: trash.Service.Deleted, takes: "kind project cursor limit", none: "Nothing was deleted",
		},
		{name: "restore_deleted", title: "Restore what was deleted", effect: ensure, as: "restored", does: trash.Service.Restore, takes: "kind! id!"},
		{
			name: "undo_change", title: "Take back your last change", effect: steers, as: "undone",
			does: trash.Service.Undo, takes: "project change confirm agent_id",
		},
	}
}
