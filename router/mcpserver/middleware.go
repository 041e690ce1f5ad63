package mcpserver

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillrouter/skillrouter/internal/errs"
)

// recoverPanics turns a panic into an answer and a log entry: the library
// would let it end the process, and with it everyone else's work.
func (s *Server) recoverPanics(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (result mcp.Result, err error) {
		defer func() {
			p := recover()
			if p == nil {
				return
			}
			s.log.ErrorContext(ctx, "panic in an MCP call", "method", method, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			fault := errs.Errorf(errs.Internal, "something went wrong inside the router; its log has the cause")
			if call, ok := req.GetParams().(*mcp.CallToolParamsRaw); ok {
				result, err = failure(call.Name, fault), nil
				return
			}
			result, err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: fault.Message}
		}()
		return next(ctx, method, req)
	}
}

// refuseSubscriptions refuses the call that would hold a stream open for
// notices of change to a client that keeps no session: its lists never
// change, and so such a stream is only a cost. Such a client is told that there are none.
func refuseSubscriptions(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if stateless, _ := ctx.Value(statelessKey{}).(bool); !stateless {
			return next(ctx, method, req)
		}
		if method == methodListen {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "without a session this server's lists never change: there is nothing to subscribe to"}
		}
		result, err := next(ctx, method, req)
		if found, ok := result.(*mcp.DiscoverResult); ok && found.Capabilities != nil && found.Capabilities.Tools != nil {
			found.Capabilities.Tools.ListChanged = false // the library made a copy for this answer
		}
		return result, err
	}
}

// methodListen subscribes to notifications, for as long as the call is under way.
const methodListen = "subscriptions/listen"

// toolsChanged is the notification that a list of tools is another now.
const toolsChanged = "notifications/tools/list_changed"

// tellOfTools lets the notification that the list of tools has changed through
// to those sessions whose list it is. The library sends it to all. That a
// client does not listen is no failure.
func (s *Server) tellOfTools(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if method != toolsChanged {
			return next(ctx, method, req)
		}
		session, _ := req.GetSession().(*mcp.ServerSession)
		if session == nil || !s.sessions.tell(session) {
			return nil, nil
		}
		result, err := next(ctx, method, req)
		if err != nil {
			s.log.DebugContext(ctx, "a client was not told of its new tools", "error", err)
		}
		return result, nil
	}
}

// withRequestValues gives a call the values of the HTTP request that carried
// it. Without this, every call of a session would be made with those of the
// request that opened the session, its principal among them.
func withRequestValues(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if values := requestValues(req); values != nil {
			ctx = valuesOf{ctx, values}
		}
		return next(ctx, method, req)
	}
}

// valuesOf is a context that ends with the one and looks values up in the
// other first.
type valuesOf struct {
	context.Context
	values context.Context
}

func (v valuesOf) Value(key any) any {
	if value := v.values.Value(key); value != nil {
		return value
	}
	return v.Context.Value(key)
}
