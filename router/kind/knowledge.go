package kind

import (
	"context"
	"time"

	"skillrouter"
	"skillrouter/learning/knowledge"
	"skillrouter/router"
)

// Knowledge is what is known of the team's knowledge.
var Knowledge = Kind{
	Name: router.KindKnowledge, Plural: "knowledge entries", Searched: 2, Exported: 1, OfProject: true, Walled: true, HasTags: true, HasAuthor: true,
	Decode:  decoded(func(in *knowledgeRecord) *knowledge.Knowledge { return &in.Knowledge }),
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

type knowledgeRecord struct {
	head
	knowledge.Knowledge
}

// Entries are the entries of a base of knowledge.
func Entries(service *knowledge.Base, rows interface {
	// KnowledgeAfter returns entries of a project (of all, if it is empty) whose Number is greater than after, in order.
	KnowledgeAfter(ctx context.Context, project string, after int64, limit int) ([]knowledge.Knowledge, error)
	KnowledgeHoldings(ctx context.Context, persona string) ([]skillrouter.Holding, error)
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
			f := Found{Notice: results.Notice, Corrected: results.Corrected}
			for _, h := range results.Results {
				f.Hits = append(f.Hits, Hit{
					ID: h.ID, Title: h.Title, Text: h.Content, Category: h.Category, Project: h.Project, Author: h.Author, Trust: string(h.Trust), At: h.UpdatedAt,
					Score: h.RelevanceScore, Evidence: h.Evidence, Why: h.Why, SupersededBy: h.SupersededBy, Conflicts: h.Conflicts,
				})
			}
			return f, err
		},
		Export: func(ctx context.Context, project string, _ time.Time, visit func(any) error) error {
			return paged(ctx, func(ctx context.Context, last knowledge.Knowledge, limit int) ([]knowledge.Knowledge, error) {
				return rows.KnowledgeAfter(ctx, project, last.Number, limit)
			}, visit)
		},
		Import: taken(service.Take),
		Undo: Undo{func(ctx context.Context, id string) (any, error) {
			entry, err := service.Entry(ctx, id)
			entry.SupersededBy, entry.Conflicts = "", nil // another entry says so
			return entry, err
		}, service.Delete},
	}
}
