package mcpserver

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"skillrouter/learning/shelf"
	"skillrouter/operational"
	"skillrouter/router"
)

// nothing is what a tool takes that has no parameters.
type nothing struct{}

func none(*params, *nothing) {}

// plainly calls a service that takes nothing.
func plainly[Found any](ask func(context.Context) (Found, error)) func(context.Context, nothing) (Found, error) {
	return func(ctx context.Context, _ nothing) (Found, error) { return ask(ctx) }
}

type diagnosis struct {
	OK     bool                 `json:"ok"`
	Checks []router.SystemCheck `json:"checks"`
}

type tokens struct {
	Tokens []operational.Token `json:"tokens"`
	Notice string              `json:"notice,omitempty"`
}

type oneToken struct {
	Token operational.Token `json:"token"`
}

// addSystemTools offers how the process itself is.
func (s *Server) addSystemTools() {
	add(s, tool{
		name: "health", title: "Health", set: ToolsetAdmin, effect: reads, holds: "status version uptime_ms stats",
		description: "Whether the router is well, since when it runs, and how much it holds.",
	}, none, then(plainly(s.services.System.Health), func(h router.SystemHealth) (router.SystemHealth, string) {
		var counts []string
		for _, name := range slices.Sorted(maps.Keys(h.Stats)) {
			counts = append(counts, fmt.Sprintf("%s %d", visible(name), h.Stats[name]))
		}
		return h, fmt.Sprintf("The router is %s, version %s, up for %d s. It holds: %s.", visible(h.Status), visible(h.Version), h.UptimeMS/1000, strings.Join(counts, ", "))
	}))
	add(s, tool{
		name: "doctor", title: "Doctor", set: ToolsetAdmin, effect: reads, holds: "ok checks",
		description: "Settings, databases, indexes, disk and clock, checked; for the captain.",
	}, none, then(plainly(s.services.System.Doctor), shownDiagnosis))
}

// addEmbeddingTool offers how far the vectors are.
func (s *Server) addEmbeddingTool() {
	add(s, tool{
		name: "embedding_status", title: "Embedding status", set: ToolsetAdmin, effect: reads, holds: "state done total",
		description: "How far the vectors are by which search goes by meaning too.",
	}, none, then(plainly(s.services.Embeddings.Embeddings), func(status shelf.EmbeddingStatus) (shelf.EmbeddingStatus, string) {
		said := fmt.Sprintf("Vectors are %s: %d of %d.", status.State, status.Done, status.Total)
		if status.LastError != "" {
			said += " Last error: " + visible(status.LastError)
		}
		return status, said
	}))
}

// addTokenTools offers the tokens that were issued. Issuing one is left to the
// command line: its secret would stand in a model's context, and in every log of it.
func (s *Server) addTokenTools() {
	add(s, tool{
		name: "list_tokens", title: "List tokens", set: ToolsetAdmin, effect: reads, holds: "tokens",
		description: "The tokens that were issued, the latest first, without their secrets; for administrators.",
	}, none, then(plainly(s.services.Tokens.List), func(found []operational.Token) (tokens, string) {
		out := tokens{Tokens: owned(found)}
		return out, listing(out.Tokens, &out.Notice, tokenEntry, "No token was issued.", "%s, the latest first.", count(len(found), "token", "tokens")).String()
	}))
	add(s, tool{
		name: "revoke_token", title: "Revoke a token", set: ToolsetAdmin, effect: steers, holds: "token",
		description: "End a token at once; for administrators.",
	}, func(p *params, id *string) { p.must("token_id", id, "") }, then(s.services.Tokens.Revoke, func(t operational.Token) (oneToken, string) {
		return oneToken{t}, fmt.Sprintf("The token %s is revoked.", visible(t.ID))
	}))
}

func shownDiagnosis(found []router.SystemCheck) (diagnosis, string) {
	out := diagnosis{OK: true, Checks: owned(found)}
	var said strings.Builder
	for _, c := range out.Checks {
		verdict := "ok"
		if !c.OK {
			verdict, out.OK = "NOT OK", false
		}
		fmt.Fprintf(&said, "\n%s: %s, %s", visible(c.Name), verdict, visible(c.Detail))
	}
	if out.OK {
		return out, "All is well." + said.String()
	}
	return out, "Something needs looking at." + said.String()
}

func tokenEntry(t *operational.Token) entry {
	return entry{[]*string{&t.Note}, func(int) (string, []string) {
		return tokenState(*t), []string{attributes("id", t.ID, "agent", t.AgentID, "scopes", fmt.Sprint(t.Scopes), "projects", strings.Join(t.Projects, ",")), t.Note}
	}}
}

func tokenState(t operational.Token) string {
	switch {
	case t.RevokedAt != nil:
		return "revoked"
	case t.ExpiresAt != nil:
		return "expires " + t.ExpiresAt.UTC().Format("2006-01-02 15:04")
	default:
		return "until it is revoked"
	}
}
