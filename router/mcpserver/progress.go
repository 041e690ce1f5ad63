//lint:file-ignore SA1019 protocol 2026-07-28 deprecates log messages, and clients of the earlier ones ask for them

package mcpserver

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/errs"
)

// progressEvery is how often a call under way says that it is, if its client
// wants to know: clients give up on calls that they hear nothing of, mostly
// after a minute, and start their clock anew at each such word.
const progressEvery = time.Second

// tellProgress tells a client that gave a token for it that its call is still
// under way, for how long, and when it is done.
func (s *Server) tellProgress(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		params, ok := req.GetParams().(mcp.RequestParams)
		session, isServer := req.GetSession().(*mcp.ServerSession)
		if !ok || !isServer || method != "tools/call" && method != "prompts/get" && method != "resources/read" || params.GetProgressToken() == nil {
			return next(ctx, method, req)
		}
		if call, ok := req.GetParams().(*mcp.CallToolParamsRaw); ok && s.tools[call.Name].name == "" {
			return next(ctx, method, req) // a tool that is none of ours tells its own
		}
		begin := time.Now()
		underWay, answered := context.WithCancel(ctx)
		var telling sync.WaitGroup
		telling.Go(func() {
			for committer.Pause(underWay, s.progressEvery) == nil {
				_ = session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ // the client may be gone
					ProgressToken: params.GetProgressToken(), Progress: time.Since(begin).Seconds(), Message: "under way",
				})
			}
		})
		defer telling.Wait() // nothing may be said after the answer
		defer answered()
		return next(ctx, method, req)
	}
}

// tellFailure tells a client that wants to be told that a tool failed for
// another reason than its arguments.
func (s *Server) tellFailure(ctx context.Context, session *mcp.ServerSession, tool string, err error) {
	level := mcp.LoggingLevel("warning")
	switch errs.CodeOf(err) {
	case errs.Invalid, errs.NotFound, errs.Conflict:
		level = "info"
	case errs.Internal, errs.StorageFull:
		level = "error"
	}
	_ = session.Log(ctx, &mcp.LoggingMessageParams{ // the client may be gone
		Level: level, Logger: "skillrouter", Data: map[string]any{"tool": tool, "code": errs.CodeOf(err), "message": errs.MessageOf(err)},
	})
}

// atLeast is a log handler that lets through what has the level or more.
type atLeast struct {
	slog.Handler
	level slog.Level
}

func (h atLeast) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= h.level && h.Handler.Enabled(ctx, level)
}

func (h atLeast) WithAttrs(attrs []slog.Attr) slog.Handler {
	return atLeast{h.Handler.WithAttrs(attrs), h.level}
}

func (h atLeast) WithGroup(name string) slog.Handler {
	return atLeast{h.Handler.WithGroup(name), h.level}
}
