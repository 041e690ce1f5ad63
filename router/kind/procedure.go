package kind

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/strictjson"
	"github.com/skillrouter/skillrouter/internal/tally"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/procedure"
	"github.com/skillrouter/skillrouter/router"
)

// Procedure is what is known of procedures.
var Procedure = Kind{
	Name: router.KindProcedure, Plural: "procedures", Searched: 3, Exported: 6, HasAuthor: true,
	Decode:  decoded[procedure.Procedure],
	Page:    Page{Folder: "procedures", Title: "name", Key: []string{"persona", "name"}, Text: "description"},
	Counted: 3, Held: router.HeldMemory{Type: router.ProceduralMemory, Also: "procedures"},
	Events: []Event{
		{procedure.EventSaved, procedureMembers, "a procedure is new or changed"},
		{procedure.EventDeleted, procedureMembers, "a procedure was deleted"},
		{procedure.EventRunStarted, runMembers, "a run of a procedure began"},
		{procedure.EventRunStep, runMembers, "a step was handed out"},
		{procedure.EventRunEnded, runMembers, "a run ended"},
	},
}

// What the events tell of.
const (
	runMembers       = "persona, procedure, version, status, step?, index?, attempt?"
	procedureMembers = "persona, name, version, category"
)

// unprovenConfidence is how far a procedure without runs is believed: nobody has judged it.
const unprovenConfidence = 0.5

// Procedures are the procedures of a service.
func Procedures(service *procedure.Procedures, rows interface {
	// ProceduresAfter returns procedures whose number is greater than after, in order, and the number of the last.
	ProceduresAfter(ctx context.Context, after int64, limit int) ([]procedure.Procedure, int64, error)
	ProcedureHoldings(ctx context.Context, persona string) ([]tally.Tally, error)
},
) Memory {
	return Memory{
		Kind: Procedure.holding(rows.ProcedureHoldings, service.Clear), Words: service, Shelf: service,
		Search: func(ctx context.Context, q Question) (Found, error) {
			results, err := service.Search(ctx, procedure.Query{
				Persona: q.Persona, Query: q.Text, Category: q.Category, AgentID: q.AgentID, Since: q.Span.From, Until: q.Span.To, Limit: q.Limit, Explain: q.Explain, Corpus: q.Corpus,
			})
			f := Found{Corrected: results.Corrected}
			for _, h := range results.Results {
				hit := procedureHit(h.Procedure).scored(h.RelevanceScore, h.Evidence, h.Why)
				if q.Persona == "" {
					hit.ID = h.Name
				}
				f.Hits = append(f.Hits, hit)
			}
			return f, err
		},
		Nominate: func(ctx context.Context, work Work) (Found, error) {
			results, err := service.Search(ctx, procedure.Query{Query: work.Task, Persona: work.Persona, Limit: work.Limit})
			f := Found{Corrected: results.Corrected}
			for _, h := range results.Results {
				hit := Hit{ID: h.Name, Title: h.Name, Author: h.Author, Trust: string(h.Trust), At: h.UpdatedAt, Confidence: unprovenConfidence}
				if h.Runs > 0 {
					hit.Confidence = h.SuccessRate
				}
				parts := []string{h.Description}
				for i, step := range h.Steps {
					parts = append(parts, strings.TrimSuffix(fmt.Sprintf("%d. %s: %s", i+1, step.Name, cmp.Or(step.Description, step.Action, step.Run)), ": "))
				}
				hit.Text = Paragraphs(parts...)
				f.Hits = append(f.Hits, hit)
			}
			return f, err
		},
		Export: func(ctx context.Context, project string, now time.Time, visit func(any) error) error {
			var number int64
			return paged(func(ctx context.Context, _ string, _ time.Time, _ procedure.Procedure, limit int) (page []procedure.Procedure, err error) {
				page, number, err = rows.ProceduresAfter(ctx, number, limit)
				return page, err
			})(ctx, project, now, visit)
		},
		Import: taken(service.Take),
		Undo: Undo{func(ctx context.Context, ref string) (any, error) {
			p, err := service.Procedure(ctx, procedureRef(ref))
			p.File = "" // it is written a moment later
			return p, err
		}, func(ctx context.Context, ref string) error { return service.Delete(ctx, procedureRef(ref)) }},
		Pages: Pages{
			List: func(ctx context.Context, l Listing) (Found, error) {
				page, err := service.List(ctx, procedure.Filter{Persona: l.Persona, Category: l.Category, After: l.Cursor, Limit: l.Limit})
				return Found{Next: page.Next, Hits: hitsOf(page.Procedures, procedureHit)}, err
			},
			Personas: func(ctx context.Context) ([]string, error) {
				stats, err := service.Stats(ctx)
				return append(slices.Sorted(maps.Keys(stats.Personas)), episode.EveryPersona), err
			},
			Versions: func(ctx context.Context, ref string) (versions []Version, err error) {
				before, err := service.History(ctx, procedureRef(ref))
				for _, p := range before {
					versions = append(versions, Version{ID: strconv.FormatInt(p.Version, 10), Author: p.Author, At: p.UpdatedAt, Row: p})
				}
				return versions, err
			},
			Fields: []Field{{Member: "description", Form: Text}, {Member: "category"}, {Member: "params", Form: Raw}, {Member: "steps", Form: Raw}},
			Change: func(ctx context.Context, ref string, patch []byte) error {
				p, err := service.Procedure(ctx, procedureRef(ref))
				if err != nil {
					return err
				}
				draft := procedure.Draft{Persona: p.Persona, Name: p.Name, Description: p.Description, Category: p.Category, Params: p.Params, Steps: p.Steps, LearnedFrom: p.LearnedFrom}
				var set struct {
					Description *string            `json:"description"`
					Category    *string            `json:"category"`
					Params      *[]procedure.Param `json:"params"`
					Steps       *[]procedure.Step  `json:"steps"`
				}
				if err := strictjson.Decode(patch, &set); err != nil {
					return err
				}
				draft.Description, draft.Category = *cmp.Or(set.Description, &draft.Description), *cmp.Or(set.Category, &draft.Category)
				draft.Params, draft.Steps = *cmp.Or(set.Params, &draft.Params), *cmp.Or(set.Steps, &draft.Steps)
				_, err = service.Save(ctx, draft)
				return err
			},
		},
	}
}

func procedureHit(p procedure.Procedure) Hit {
	return Hit{
		ID: procedure.ID(p.Persona, p.Name), Title: p.Name, Text: p.Description, Category: p.Category, Author: p.Author, Trust: string(p.Trust), At: p.UpdatedAt,
	}
}

func procedureRef(id string) procedure.Ref {
	persona, name, _ := strings.Cut(id, "/")
	return procedure.Ref{Persona: persona, Name: name}
}
