package httpapi

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
)

// RecheckEvery is how often the caller of an open stream is looked at again,
// and so for how long the stream of a token that was revoked, or has expired, may stay
// open. It is told nothing more from then on: see principal.Standing.
const RecheckEvery = 10 * time.Second

// stream serves something that does not end by itself for as long as its
// caller is who it was when it began: not beyond the end of its token, or of
// its session with the dashboard, nor without a token once one is needed. The
// request's context then ends with a errs.Unauthenticated error as its cause.
func (s *Server) stream(handler http.Handler) gin.HandlerFunc {
	return func(c *gin.Context) {
		ctx, end := context.WithCancelCause(c.Request.Context())
		defer end(nil)
		was := principal.Of(ctx)
		asked := c.Copy() // for looks at the caller
		asked.Request = c.Request.WithContext(context.WithoutCancel(ctx))
		standing := func() error {
			err := s.still(asked, was)
			if err != nil {
				end(err)
			}
			return err
		}
		defer recheck(standing)()
		handler.ServeHTTP(c.Writer, c.Request.WithContext(principal.WithStanding(ctx, standing)))
	}
}

// still returns an error unless the caller of a request is who it was.
func (s *Server) still(asked *gin.Context, was principal.Principal) error {
	is, err := s.caller(asked)
	if err != nil || is.AgentID != was.AgentID || !slices.Equal(is.Scopes, was.Scopes) || !slices.Equal(is.Projects(), was.Projects()) {
		return errs.Errorf(errs.Unauthenticated, "the token is no longer valid")
	}
	return nil
}

// recheck looks at the caller of a request until its right ends or stop is called, which waits for a look under way.
// It needs no goroutine: an idle stream has enough of them.
func recheck(standing func() error) (stop func()) {
	var mu sync.Mutex
	mu.Lock()
	defer mu.Unlock()
	ended := false
	var tick *time.Timer
	tick = time.AfterFunc(RecheckEvery, func() {
		mu.Lock()
		defer mu.Unlock()
		if !ended && standing() == nil {
			tick.Reset(RecheckEvery)
		}
	})
	return func() {
		mu.Lock()
		defer mu.Unlock()
		ended = true
		tick.Stop()
	}
}
