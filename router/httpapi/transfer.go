package httpapi

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
)

// streamStep is how long a client may take to accept one piece of a stream
// that is read in one go: a backup, an export.
const streamStep = 30 * time.Second

// Archive is a backup that is ready to be sent. It must be closed.
type Archive interface {
	Write(w io.Writer) error
	Close() error
}

// transferRoutes mounts what takes everything out of the router, and in.
func (s *Server) transferRoutes() {
	if s.services.Transfer != nil {
		s.importRoute(s.services.Transfer)
		s.engine.GET("/api/export", s.export)
	}
	if s.services.Backup != nil {
		s.engine.GET("/api/backup", s.backup)
	}
}

func (s *Server) backup(c *gin.Context) {
	ctx := c.Request.Context()
	archive, err := s.prepareBackup(ctx, c)
	if err != nil {
		abort(c, s.fail(ctx, err))
		return
	}
	defer func() {
		if err := archive.Close(); err != nil {
			s.log.WarnContext(ctx, "the copies of a backup cannot be removed", "error", err)
		}
	}()
	c.Header("Content-Type", "application/gzip")
	c.Header("Content-Disposition", `attachment; filename="skillrouter-`+s.now().UTC().Format("20060102T150405Z")+`.tar.gz"`)
	c.Header("Cache-Control", "no-store")
	c.Status(http.StatusOK)
	if err := archive.Write(patient(ctx, c.Writer)); err != nil {
		if ctx.Err() == nil {
			s.log.WarnContext(ctx, "a backup broke off", "error", err)
		}
		panic(http.ErrAbortHandler) // a proper end would make it look whole
	}
}

func (s *Server) prepareBackup(ctx context.Context, c *gin.Context) (Archive, error) {
	if err := principal.Of(ctx).Need(principal.ScopeCaptain); err != nil {
		return nil, err
	}
	if err := onlyQuery(c, "owner_token"); err != nil {
		return nil, err
	}
	ownerToken, err := strconv.ParseBool(c.DefaultQuery("owner_token", "false"))
	if err != nil {
		return nil, errs.InvalidField("owner_token", "must be true or false")
	}
	if ownerToken {
		if err := principal.Of(ctx).Need(principal.ScopeAdmin); err != nil {
			return nil, err
		}
	}
	_ = http.NewResponseController(c.Writer).SetWriteDeadline(time.Time{}) // copying takes as long as it takes
	return s.services.Backup(ctx, ownerToken)
}

// onlyQuery refuses parameters that a plain route does not know, as typed ones do.
func onlyQuery(c *gin.Context, known ...string) error {
	for name := range c.Request.URL.Query() {
		if !slices.Contains(known, name) {
			return errs.InvalidField("query", "has a parameter that is not known here")
		}
	}
	return nil
}

// patientWriter gives the client more time with each piece that it is sent.
type patientWriter struct {
	ctx     context.Context
	to      io.Writer
	control *http.ResponseController
}

func patient(ctx context.Context, w http.ResponseWriter) *patientWriter {
	return &patientWriter{ctx: ctx, to: w, control: http.NewResponseController(w)}
}

// Write implements io.Writer.
func (w *patientWriter) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	_ = w.control.SetWriteDeadline(time.Now().Add(streamStep)) // of the system's clock, as all deadlines of connections
	return w.to.Write(p)
}
