package httpapi

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"skillrouter"
)

// RecheckEvery is how often the caller of an open stream is looked at again,
// and so for how long a token that was revoked, or has expired, may still be
// told what happens. It costs a digest and a look into memory.
const RecheckEvery = 10 * time.Second

// stream serves something that does not end by itself for as long as its
// caller is who it was when it began: not beyond the end of its token, or of
// its session with the dashboard, nor without a token once one is needed. The
// request's context then ends with a skillrouter.Unauthenticated error as its cause.
func (s *Server) stream(handler http.Handler) gin.HandlerFunc {
	return func(c *gin.Context) {
		ctx, end := context.WithCancelCause(c.Request.Context())
		asked := c.Copy() // c itself is used again for another request
		var looks sync.WaitGroup
		looks.Go(func() { s.recheck(ctx, asked, end) })
		defer looks.Wait()
		defer end(nil)
		handler.ServeHTTP(c.Writer, c.Request.WithContext(ctx))
	}
}

// recheck looks at the caller of a request until ctx ends, and ends it once that one is another or nobody.
func (s *Server) recheck(ctx context.Context, asked *gin.Context, end context.CancelCauseFunc) {
	was := skillrouter.PrincipalOf(ctx)
	tick := time.NewTicker(RecheckEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		is, err := s.caller(asked)
		if err != nil || is.AgentID != was.AgentID || !slices.Equal(is.Scopes, was.Scopes) {
			end(skillrouter.Errorf(skillrouter.Unauthenticated, "the token is no longer valid"))
			return
		}
	}
}
