package httpapi

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"skillrouter/internal/errs"
	"skillrouter/internal/principal"
)

// RecheckEvery is how often the caller of an open stream is looked at again,
// and so for how long the stream of a token that was revoked, or has expired, may stay
// open. It is told nothing more from then on: see principal.Standing.
const RecheckEvery = 10 * time.Second

// stream serves something that does not end by itself for as long as its
// caller is who it was when it began: not beyond the end of its token, or of
// its session with the dashboard, nor without a token once one is needed. The
// request's context then ends with a errs.Unauthenticated error as its cause.
//
// A handler that begins streams gives the request back to net/http, with its
// goroutine and its buffers, and goes on with the connection alone. The request
// is then logged and counted when the stream has ended.
func (s *Server) stream(handler http.Handler) gin.HandlerFunc {
	begins, _ := handler.(interface {
		Begin(w http.ResponseWriter, r *http.Request) (live func() int64)
	})
	return func(c *gin.Context) {
		request := c.Request.Context()
		asked := c.Copy() // c itself is used again for another request
		asked.Request = c.Request.WithContext(context.WithoutCancel(request))
		ctx, end := context.WithCancelCause(asked.Request.Context())
		release := context.AfterFunc(request, func() { end(context.Cause(request)) }) // as long as it is the request's
		was := principal.Of(ctx)
		standing := func() error {
			err := s.still(asked, was)
			if err != nil {
				end(err)
			}
			return err
		}
		ctx = principal.WithStanding(ctx, standing)
		over := recheck(standing)
		ended := func() { end(nil); over() }
		asking := asked.Request.WithContext(ctx)
		if begins == nil {
			defer ended()
			handler.ServeHTTP(c.Writer, asking)
			return
		}
		live := begins.Begin(c.Writer, asking)
		if live == nil {
			ended()
			return
		}
		release()
		call := callOf(ctx)
		call.goesOn, call.status = true, c.Writer.Status()
		go func() {
			sent := live()
			ended()
			s.ended(asked.Request, call, sent)
		}()
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
