package kind

import (
	"context"
	"time"

	"github.com/skillrouter/skillrouter/internal/tally"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/experience"
	"github.com/skillrouter/skillrouter/router"
)

// Episode is what is known of episodes. As a record it has its outcome, if it is an experience.
var Episode = Kind{
	Name: router.KindEpisode, Plural: "episodes", Searched: 7, Exported: 2, OfProject: true, Walled: true, HasAuthor: true,
	Categories: []string{episode.EventAction, episode.EventError, episode.EventDecision, episode.EventOutcome},
	Decode:     decoded[experience.EpisodeRecord],
	Page: Page{
		Folder: "episodes", Title: "title", Key: []string{"id"}, Text: "content", Parts: []Part{{"Learned", "learned"}}, Drop: []string{"number"},
	},
	Counted: 2, Held: router.HeldMemory{Type: router.EpisodicMemory, Also: "episodes"},
}

// Episodes are the episodes of a service, with the outcomes of another.
func Episodes(service *episode.Episodes, experiences *experience.Experiences, rows interface {
	// EpisodesAfter returns episodes of a project (of all, if it is empty) whose Number is greater than after, in order.
	EpisodesAfter(ctx context.Context, project string, after int64, limit int) ([]experience.EpisodeRecord, error)
	EpisodeHoldings(ctx context.Context, persona string) ([]tally.Tally, error)
},
) Memory {
	return Memory{
		Kind: Episode.holding(rows.EpisodeHoldings, service.Clear), Words: service, Shelf: service,
		Search: func(ctx context.Context, q Question) (Found, error) {
			results, err := service.Search(ctx, episode.Query{
				Query: q.Text, EventType: q.Category, Project: q.Project, PreferProject: q.Prefer, AgentID: q.AgentID, Since: q.Span.From, Until: q.Span.To,
				Limit: q.Limit, Explain: q.Explain, Corpus: q.Corpus,
			})
			return Found{Notice: results.Notice, Corrected: results.Corrected, Hits: hitsOf(results.Results, func(h episode.Hit) Hit {
				return episodeHit(h.Episode).scored(h.RelevanceScore, h.Evidence, h.Why)
			})}, err
		},
		Export: paged(func(ctx context.Context, project string, _ time.Time, last experience.EpisodeRecord, limit int) ([]experience.EpisodeRecord, error) {
			return rows.EpisodesAfter(ctx, project, last.Number, limit)
		}),
		Import: taken(experiences.Take),
		Undo:   Undo{func(ctx context.Context, id string) (any, error) { return service.Episode(ctx, id) }, service.Delete},
		Pages: Pages{
			List: func(ctx context.Context, l Listing) (Found, error) {
				found, next, err := service.List(ctx, episode.Filter{EventType: l.Category, Project: l.Project, Persona: l.Persona, AgentID: l.Author, Limit: l.Limit}, l.Cursor)
				return Found{Next: next, Hits: hitsOf(found, episodeHit)}, err
			},
			Fields: []Field{
				{Member: "title"},
				{Member: "content", Form: Text},
				{Member: "event_type", Among: episode.EventTypes()},
				{Member: "learned", Form: Text},
				{Member: "project"},
				{Member: "importance", Form: Number},
			},
			Change: changing(service.Edit),
		},
	}
}

func episodeHit(e episode.Episode) Hit {
	return Hit{
		ID: e.ID, Title: e.Title, Text: e.Content, Category: e.EventType, Project: e.Project, Author: e.AgentID, Trust: router.TrustAgent, At: e.CreatedAt,
	}
}
