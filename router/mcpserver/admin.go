package mcpserver

import (
	"context"
	"fmt"
	"strings"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning/shelf"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/contexts"
	"github.com/skillrouter/skillrouter/router/kind"
	"github.com/skillrouter/skillrouter/router/trash"
)

// systemTools are how the process itself is.
func systemTools() []tool {
	return []tool{
		{
			name: "health", title: "Health", effect: reads, holds: "status version uptime_ms stats",
			description: "Whether the router is well, since when it runs, and how much it holds.",
			does:        router.SystemService.Health, without: "server search guard interlock problems",
		},
		{
			name: "doctor", title: "Doctor", effect: reads, holds: "ok checks",
			description: "Settings, databases, indexes, disk and clock, checked; for the captain.",
			does:        router.SystemService.Doctor,
		},
	}
}

// embeddingTools are how far the vectors are.
func embeddingTools() []tool {
	return []tool{{
		name: "embedding_status", title: "Embedding status", effect: reads, holds: "state done total",
		description: "How far the vectors are by which search goes by meaning too.",
		does:        shelf.EmbeddingService.Embeddings,
	}}
}

// tokenTools are the tokens that were issued. Issuing one is left to the command
// line: its secret would stand in a model's context, and in every log of it.
func tokenTools() []tool {
	return []tool{
		{name: "list_tokens", title: "List tokens", effect: reads, as: "tokens", does: operational.TokenService.List, none: "No token was issued"},
		{name: "revoke_token", title: "Revoke a token", effect: steers, as: "token", does: operational.TokenService.Revoke, takes: "token_id!"},
	}
}

// introspectionTools are the persona memory's view of what is remembered.
func introspectionTools() []tool {
	return []tool{
		{
			name: "list_memory_categories", title: "List memory categories", effect: reads, holds: "persona categories count held",
			does: router.IntrospectionService.Categories, takes: "persona", about: words{"persona": whoseMemory},
		},
		{
			name: "memory_stats", title: "Count what is remembered", effect: reads, holds: "count bytes types personas databases",
			does: router.IntrospectionService.Stats, takes: "persona", about: words{"persona": "Only this one's; default everybody's"},
		},
		{
			name: "clear_memory", title: "Clear a memory", effect: steers, readable: true, holds: "persona confirmed count types remaining",
			does: router.IntrospectionService.Clear, takes: "category confirm type persona",
			about: words{"category": "Only this category; default all", "confirm": "true deletes", "type": oneOf(kind.Clearable()...), "persona": whoseMemory},
		},
	}
}

// taskContext is the context, beside the notice.
type taskContext struct {
	contexts.Context
	Notice string `json:"notice,omitempty"`
}

// contextTools are the context of a task, which spans the memories. The text
// is answered as it was built: it is fenced already, and within the budget.
func contextTools() []tool {
	return []tool{{
		name: "show", title: "Show whole texts", effect: reads, walled: true, holds: "text items",
		description: "The whole texts behind handles that an index shows, such as k7f3; ids work too.",
		does:        (*Server).show, takes: "handles!", about: words{"handles": ""},
	}, {
		name: "build_context", title: "Build the context of a task", effect: reads, walled: true, holds: "text tokens items left_out",
		description: "All that is known for a task, from every memory, within a budget of tokens: rules first, then lessons, knowledge, facts, procedures, episodes, open tasks.",
		does:        (*Server).buildContext, takes: "task! start budget! project persona include_untrusted",
		about: words{
			"task": "What is to be done, in plain words; with start empty", "start": "What a session begins with, whatever its task",
			"budget":  fmt.Sprintf("Tokens, %d to %d", contexts.MinBudget, contexts.MaxBudget),
			"persona": whoseMemory, "include_untrusted": "Also what was imported, marked so",
		},
	}}
}

func (s *Server) buildContext(ctx context.Context, r contexts.Request) (out taskContext, text string, err error) {
	out.Context, err = s.services.Context.Build(ctx, r)
	if out.Text == "" {
		return out, strings.TrimSpace("Nothing that is known fits this task. " + leftOutSaid(out.Context)), err
	}
	out.Notice = notice
	return out, out.Text, err
}

func (s *Server) show(ctx context.Context, showing contexts.Showing) (out taskContext, text string, err error) {
	out.Context, err = s.services.Context.Show(ctx, showing)
	out.Notice = notice
	return out, out.Text, err
}

// leftOutSaid says what was left out that the caller could ask for.
func leftOutSaid(c contexts.Context) string {
	budget, untrusted := 0, 0
	for _, l := range c.LeftOut {
		switch l.Reason {
		case "budget":
			budget++
		case "untrusted":
			untrusted++
		}
	}
	var said []string
	if budget > 0 {
		said = append(said, fmt.Sprintf("%s did not fit into the budget.", count(budget, "item", "items")))
	}
	if untrusted > 0 {
		said = append(said, fmt.Sprintf("%s came from elsewhere and can be asked for with include_untrusted.", count(untrusted, "item", "items")))
	}
	return strings.Join(said, " ")
}

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

// settlement is what resolve_escalation takes: which end, and who says so.
type settlement struct {
	operational.EscalationVerdict
	Status operational.EscalationStatus `json:"status"`
}

// escalationTools are what waits for a supervisor's eye.
func escalationTools() []tool {
	return []tool{
		{
			name: "pending_escalations", title: "Pending escalations", effect: reads, as: "escalations",
			description: "Lessons and patterns that wait for a supervisor's eye, the most urgent first.",
			does:        (*Server).pendingEscalations, takes: "agent_id=to limit", about: words{"agent_id": "Only those to this agent"}, none: "Nothing waits",
		},
		{
			name: "resolve_escalation", title: "Settle an escalation", effect: ensure, as: "escalation",
			description: "Say that an escalation was looked at (reviewed), is settled (resolved), or is no matter for its agent (dismissed). Without a status it is resolved.",
			does:        (*Server).settleEscalation, takes: "escalation_id! status notes",
			about: words{"status": oneOf(operational.EscalationReviewed, operational.EscalationResolved, operational.EscalationDismissed)},
		},
	}
}

func (s *Server) pendingEscalations(ctx context.Context, f operational.EscalationFilter) ([]operational.Escalation, error) {
	f.Status = []operational.EscalationStatus{operational.EscalationPending}
	return s.services.Escalations.List(ctx, f)
}

func (s *Server) settleEscalation(ctx context.Context, id string, e settlement) (operational.Escalation, error) {
	switch e.Status {
	case "", operational.EscalationResolved:
		return s.services.Escalations.Resolve(ctx, id, e.EscalationVerdict)
	case operational.EscalationReviewed:
		return s.services.Escalations.Review(ctx, id, e.EscalationVerdict)
	case operational.EscalationDismissed:
		return s.services.Escalations.Dismiss(ctx, id, e.EscalationVerdict)
	default:
		return operational.Escalation{}, errs.InvalidField("status", "must be one of reviewed, resolved, dismissed")
	}
}
