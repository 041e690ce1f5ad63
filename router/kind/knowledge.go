package kind

import (
	"context"
	"strconv"
	"time"

	"github.com/skillrouter/skillrouter/internal/tally"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/router"
)

// Knowledge is what is known of the team's knowledge.
var Knowledge = Kind{
	Name: router.KindKnowledge, Plural: "knowledge entries", Searched: 2, Exported: 1, OfProject: true, Walled: true, HasTags: true, HasAuthor: true,
	Decode:  decoded[knowledge.Knowledge],
	Page:    Page{Folder: "knowledge", Title: "title", Key: []string{"id"}, Text: "content"},
	Counted: 6, Held: router.HeldMemory{
		Type: router.TeamKnowledge, Team: true, Keep: "knowledge is the whole team's: delete it an entry at a time",
	},
	Events: []Event{
		{knowledge.EventStored, "", "an entry is new"},
		{knowledge.EventUpdated, "", "an entry was changed"},
		{knowledge.EventDeleted, "", "an entry was deleted"},
	},
}

// Entries are the entries of a base of knowledge.
func Entries(service *knowledge.Base, rows interface {
	// KnowledgeAfter returns entries of a project (of all, if it is empty) whose Number is greater than after, in order.
	KnowledgeAfter(ctx context.Context, project string, after int64, limit int) ([]knowledge.Knowledge, error)
	KnowledgeHoldings(ctx context.Context, persona string) ([]tally.Tally, error)
	// KnowledgeIDs returns at most so many ids that begin or end so, the newest first. It is the same for other kinds.
},
) Memory {
	return Memory{
		Kind: Knowledge.holding(rows.KnowledgeHoldings, nil), Words: service, Shelf: service,
		Search: func(ctx context.Context, q Question) (Found, error) {
			results, err := service.Find(ctx, knowledge.Query{
				Query: q.Text, Category: q.Category, Project: q.Project, PreferProject: q.Prefer, Tags: q.Tags, AgentID: q.AgentID, Since: q.Span.From, Until: q.Span.To,
				Limit: q.Limit, Explain: q.Explain, Corpus: q.Corpus,
			})
			return Found{Notice: results.Notice, Corrected: results.Corrected, Hits: hitsOf(results.Results, func(h knowledge.Hit) Hit {
				return entryHit(h.Knowledge).scored(h.RelevanceScore, h.Evidence, h.Why)
			})}, err
		},
		Export: paged(func(ctx context.Context, project string, _ time.Time, last knowledge.Knowledge, limit int) ([]knowledge.Knowledge, error) {
			return rows.KnowledgeAfter(ctx, project, last.Number, limit)
		}),
		Import: taken(service.Take),
		Undo: Undo{func(ctx context.Context, id string) (any, error) {
			entry, err := service.Entry(ctx, id)
			entry.SupersededBy = "" // another entry says so
			return entry, err
		}, service.Delete},
		ReadAll: func(ctx context.Context, ids []string) (map[string]any, error) {
			entries, err := service.Entries(ctx, ids...)
			all := map[string]any{}
			for _, entry := range entries {
				entry.SupersededBy = ""
				all[entry.ID] = entry
			}
			return all, err
		},
		Pages: Pages{
			List: func(ctx context.Context, l Listing) (Found, error) {
				page, err := service.List(ctx, knowledge.Filter{Category: l.Category, Project: l.Project, AgentID: l.Author, Cursor: l.Cursor, Limit: l.Limit})
				return Found{Next: page.Next, Hits: hitsOf(page.Results, entryHit)}, err
			},
			Versions: func(ctx context.Context, id string) (versions []Version, err error) {
				before, err := service.History(ctx, id)
				for _, e := range before {
					versions = append(versions, Version{ID: strconv.FormatInt(e.Number, 10), At: e.UpdatedAt, Row: e})
				}
				return versions, err
			},
			Fields: []Field{
				{Member: "title"}, {Member: "content", Form: Text}, {Member: "category"}, {Member: "tags", Form: List}, {Member: "source"}, {Member: "project"},
			},
			Change: changing(service.Update),
		},
	}
}

func entryHit(e knowledge.Knowledge) Hit {
	return Hit{
		ID: e.ID, Title: e.Title, Text: e.Content, Category: e.Category, Project: e.Project, Author: e.Author, Trust: string(e.Trust), At: e.UpdatedAt,
		SupersededBy: e.SupersededBy,
	}
}
