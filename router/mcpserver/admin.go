package mcpserver

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"skillrouter/learning"
	"skillrouter/operational"
	"skillrouter/router"
)

// nothing is the arguments of a tool that takes none.
type nothing struct{}

type diagnosis struct {
	OK     bool                 `json:"ok"`
	Checks []router.SystemCheck `json:"checks"`
}

type tokens struct {
	Tokens []operational.Token `json:"tokens"`
	Notice string              `json:"notice,omitempty"`
}

type tokenRef struct {
	TokenID string `json:"token_id"`
}

type oneToken struct {
	Token operational.Token `json:"token"`
}

// addSystemTools offers how the process itself is.
func (s *Server) addSystemTools() {
	add(s, tool{
		name: "health", title: "Health", set: ToolsetAdmin, effect: reads,
		description: "Whether the router is well, since when it runs, and how much it holds.",
		input:       arguments(), output: holds("status", "version", "uptime_ms", "stats"),
	}, s.health)
	add(s, tool{
		name: "doctor", title: "Doctor", set: ToolsetAdmin, effect: reads,
		description: "Settings, databases, indexes, disk and clock, checked; for the captain.",
		input:       arguments(), output: holds("ok", "checks"),
	}, s.doctor)
}

// addEmbeddingTool offers how far the vectors are.
func (s *Server) addEmbeddingTool() {
	add(s, tool{
		name: "embedding_status", title: "Embedding status", set: ToolsetAdmin, effect: reads,
		description: "How far the vectors are by which search goes by meaning too.",
		input:       arguments(), output: holds("state", "done", "total"),
	}, s.embeddingStatus)
}

// addTokenTools offers the tokens that were issued. Issuing one is left to the
// command line: its secret would stand in a model's context, and in every log of it.
func (s *Server) addTokenTools() {
	add(s, tool{
		name: "list_tokens", title: "List tokens", set: ToolsetAdmin, effect: reads,
		description: "The tokens that were issued, the latest first, without their secrets; for administrators.",
		input:       arguments(), output: holds("tokens"),
	}, s.listTokens)
	add(s, tool{
		name: "revoke_token", title: "Revoke a token", set: ToolsetAdmin, effect: steers,
		description: "End a token at once; for administrators.",
		input:       arguments(required(text("token_id", ""))), output: holds("token"),
	}, s.revokeToken)
}

func (s *Server) health(ctx context.Context, _ nothing) (reply[router.SystemHealth], error) {
	h, err := s.services.System.Health(ctx)
	if err != nil {
		return reply[router.SystemHealth]{}, err
	}
	var counts []string
	for _, name := range slices.Sorted(maps.Keys(h.Stats)) {
		counts = append(counts, fmt.Sprintf("%s %d", visible(name), h.Stats[name]))
	}
	return reply[router.SystemHealth]{h, fmt.Sprintf("The router is %s, version %s, up for %d s. It holds: %s.",
		visible(h.Status), visible(h.Version), h.UptimeMS/1000, strings.Join(counts, ", "))}, nil
}

func (s *Server) doctor(ctx context.Context, _ nothing) (reply[diagnosis], error) {
	found, err := s.services.System.Doctor(ctx)
	if err != nil {
		return reply[diagnosis]{}, err
	}
	out := diagnosis{OK: true, Checks: append([]router.SystemCheck{}, found...)}
	var said strings.Builder
	for _, c := range out.Checks {
		verdict := "ok"
		if !c.OK {
			verdict, out.OK = "NOT OK", false
		}
		fmt.Fprintf(&said, "\n%s: %s, %s", visible(c.Name), verdict, visible(c.Detail))
	}
	if out.OK {
		return reply[diagnosis]{out, "All is well." + said.String()}, nil
	}
	return reply[diagnosis]{out, "Something needs looking at." + said.String()}, nil
}

func (s *Server) embeddingStatus(ctx context.Context, _ nothing) (reply[learning.EmbeddingStatus], error) {
	status, err := s.services.Embeddings.Embeddings(ctx)
	if err != nil {
		return reply[learning.EmbeddingStatus]{}, err
	}
	said := fmt.Sprintf("Vectors are %s: %d of %d.", status.State, status.Done, status.Total)
	if status.LastError != "" {
		said += " Last error: " + visible(status.LastError)
	}
	return reply[learning.EmbeddingStatus]{status, said}, nil
}

func (s *Server) listTokens(ctx context.Context, _ nothing) (reply[tokens], error) {
	found, err := s.services.Tokens.List(ctx)
	if err != nil {
		return reply[tokens]{}, err
	}
	out := tokens{Tokens: append([]operational.Token{}, found...)}
	if len(found) == 0 {
		return reply[tokens]{out, "No token was issued."}, nil
	}
	items := make([][]*string, len(out.Tokens))
	for i := range out.Tokens {
		items[i] = []*string{&out.Tokens[i].Note}
	}
	fitTexts(items)
	out.Notice = notice
	f := newFence("%s, the latest first.", count(len(found), "token", "tokens"))
	f.explain()
	for i, t := range out.Tokens {
		f.add(fmt.Sprintf("%d. %s", i+1, tokenState(t)), attributes("id", t.ID, "agent", t.AgentID, "scopes", fmt.Sprint(t.Scopes)), t.Note)
	}
	return reply[tokens]{out, f.String()}, nil
}

func (s *Server) revokeToken(ctx context.Context, in tokenRef) (reply[oneToken], error) {
	t, err := s.services.Tokens.Revoke(ctx, in.TokenID)
	return reply[oneToken]{oneToken{t}, fmt.Sprintf("The token %s is revoked.", visible(t.ID))}, err
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
