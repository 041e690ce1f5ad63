package httpapi

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"skillrouter"
	"skillrouter/router"
)

// maxImport bounds the body of an import, in bytes: a request has many records.
const maxImport = 16 << 20

type importRecords struct {
	Body struct {
		Records []json.RawMessage `json:"records" doc:"Each is a memory with its kind, as an export has them" maxItems:"1000"`
		DryRun  bool              `json:"dry_run,omitempty" doc:"Change nothing, and say what would become of them"`
	}
}

func (s *Server) importRoute(transfer router.TransferService) {
	op := operation(http.MethodPost, "/api/import", "memory", "Take memories of another router in, each once")
	op.Description = "Records keep their ids, authors and times. What is there already stays as it is, so that the same request again changes nothing. " +
		"A record that is refused stops no other. It needs the scope captain."
	op.MaxBodyBytes = maxImport
	register(s, op, func(ctx context.Context, in *importRecords) (*answer[router.Imported], error) {
		request := router.ImportRequest{DryRun: in.Body.DryRun, Records: make([]router.Record, len(in.Body.Records))}
		for i, text := range in.Body.Records {
			if err := request.Records[i].UnmarshalJSON(text); err != nil {
				return nil, err
			}
		}
		imported, err := transfer.Import(ctx, request)
		if err != nil {
			return nil, err
		}
		return reply(imported), nil
	})
}

func (s *Server) exportRoute() {
	s.engine.GET("/api/export", s.export)
	op := operation(http.MethodGet, "/api/export", "memory", "Everything that is remembered, one JSON object a line")
	op.Description = "Each line is a memory with its kind. What was stored before the call is in it unless it is deleted meanwhile. It needs the scope captain. " +
		`The last line is {"kind":"end","records":N}; if the router cannot finish, the connection breaks and there is none.`
	op.Parameters = []*huma.Param{
		described("query", "kinds", "Only these, comma-separated: knowledge, episode, lesson, pattern, fact, procedure, reminder", text()),
		described("query", "project", "Only what belongs to this project", text()),
	}
	s.describe(func(api huma.API) {
		own := op
		own.Responses = map[string]*huma.Response{
			"200":     {Description: "The memories", Content: map[string]*huma.MediaType{"application/x-ndjson": {Schema: text()}}},
			"default": problemResponse(api.OpenAPI()),
		}
		api.OpenAPI().AddOperation(&own)
	})
}

// exportQuery reads what an export is asked for.
func exportQuery(c *gin.Context) (q router.ExportQuery, err error) {
	if err := onlyQuery(c, "kinds", "project"); err != nil {
		return q, err
	}
	q.Project = c.Query("project")
	for kind := range strings.SplitSeq(c.Query("kinds"), ",") {
		if kind = strings.TrimSpace(kind); kind != "" {
			q.Kinds = append(q.Kinds, router.Kind(kind))
		}
	}
	return q, q.Check()
}

func (s *Server) export(c *gin.Context) {
	ctx := c.Request.Context()
	err := skillrouter.PrincipalOf(ctx).Need(skillrouter.ScopeCaptain)
	query, wrong := exportQuery(c)
	if err == nil {
		err = wrong
	}
	if err != nil {
		abort(c, s.fail(ctx, err))
		return
	}
	c.Header("Content-Type", "application/x-ndjson")
	c.Header("Cache-Control", "no-store")
	c.Status(http.StatusOK)
	out := bufio.NewWriterSize(patient(ctx, c.Writer), 64<<10)
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	records := 0
	err = s.services.Transfer.Export(ctx, query, func(r router.Record) error {
		records++
		return lines.Encode(r)
	})
	if err == nil {
		err = lines.Encode(map[string]any{"kind": "end", "records": records})
	}
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		if ctx.Err() == nil {
			s.log.WarnContext(ctx, "an export broke off", "error", err)
		}
		panic(http.ErrAbortHandler) // a proper end would make it look whole
	}
}
