package mcpserver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
)

// agentParameter is the parameter of the endpoint's URL by which a client's
// configuration may say which agent it is for while the router is open, or
// when its token may act as any: http://127.0.0.1:8025/mcp?agent_id=builder-1
const agentParameter = "agent_id"

// projectParameter is the parameter of the endpoint's URL by which a client's
// configuration may say which project it works in.
const projectParameter = "project"

// hereParameters say where the client works: its project, and in which folder and on which branch of it.
var hereParameters = []string{projectParameter, "folder", "branch"}

type agentKey struct{}

type hereKey string // one of hereParameters

// actor returns the agent that a call is made for: the one that the call
// names, else the URL's, else the token's, else the server's own. Whether the
// caller may act as that agent is the services' to decide.
func (s *Server) actor(ctx context.Context, asked string) string {
	if asked != "" {
		return asked
	}
	if agent, _ := ctx.Value(agentKey{}).(string); agent != "" {
		return agent
	}
	if agent := principal.Of(ctx).AgentID; agent != "" {
		return agent
	}
	return s.agent
}

// place returns what a call belongs to which does not name it: the value of one of hereParameters.
func place(ctx context.Context, parameter string) string {
	value, _ := ctx.Value(hereKey(parameter)).(string)
	return value
}

// contextKey is where a request's context holds itself on its way through the
// check, and valuesMember where the outcome of the check holds it after.
type contextKey struct{}

const valuesMember = "context"

// identified hands each request's context, and an identity for its caller, to
// the library in the one form that it carries to the handlers and holds
// sessions to: as the result of checking a bearer token. The frame has checked
// the real one already; here it is replaced, so that the library keeps no
// secret, and so that the check also passes while the router is open.
func identified(next http.Handler) http.Handler {
	checked := auth.RequireBearerToken(func(ctx context.Context, owner string, _ *http.Request) (*auth.TokenInfo, error) {
		values, ok := ctx.Value(contextKey{}).(context.Context)
		if !ok {
			return nil, errors.New("the request carries no identity")
		}
		return &auth.TokenInfo{UserID: owner, Extra: map[string]any{valuesMember: values}}, nil
	}, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		if agent := r.URL.Query().Get(agentParameter); agent != "" {
			ctx = context.WithValue(ctx, agentKey{}, agent)
		}
		for _, parameter := range hereParameters {
			if value := r.URL.Query().Get(parameter); value != "" {
				if parameter == projectParameter {
					value = principal.Of(ctx).Named(value)
				}
				ctx = context.WithValue(ctx, hereKey(parameter), value)
			}
		}
		if r.Header.Get(versionHeader) >= statelessFrom {
			ctx = context.WithValue(ctx, statelessKey{}, true)
		}
		ctx, err := withToolsets(ctx, r)
		if err != nil {
			refuse(w, http.StatusBadRequest, jsonrpc.CodeInvalidParams, "toolsets "+errs.MessageOf(err))
			return
		}
		inner := r.Clone(context.WithValue(ctx, contextKey{}, ctx))
		inner.Header.Set("Authorization", "Bearer "+owner(r))
		checked.ServeHTTP(w, inner)
	})
}

// owner names whoever sent the request, so that a session opened with one
// token can be used with no other, not even one of the same agent.
func owner(r *http.Request) string {
	p := principal.Of(r.Context())
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", p.AgentID, p.Scopes, r.Header.Get("Authorization")))
	return hex.EncodeToString(sum[:])
}

// requestValues returns the context of the HTTP request that carried the
// call, or nil if none did.
func requestValues(req mcp.Request) context.Context {
	extra := req.GetExtra()
	if extra == nil || extra.TokenInfo == nil {
		return nil
	}
	values, _ := extra.TokenInfo.Extra[valuesMember].(context.Context)
	return values
}
