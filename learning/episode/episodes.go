// Package episode stores what happened to agents: events in the order in which they were recorded,
// each with its session. It owns the checks of an episode and what is searched in it. It knows no
// other kind of memory.
package episode

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/trace"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/shelf"
	"github.com/skillrouter/skillrouter/tfidf"
)

// Episodes is the Service beside the database. Load opens its
// index at start; Run does its background work.
type Episodes struct {
	*shelf.Shelf[Episode]
	store    Store
	now      clock.Clock
	Sessions sessions
}

var _ Service = (*Episodes)(nil)

// NewEpisodes makes Episodes with an empty index.
func NewEpisodes(store Store, options learning.Options) *Episodes {
	options = options.WithDefaults()
	return &Episodes{
		Shelf: shelf.NewShelf(store, shelf.Shelved[Episode]{
			Kind: IndexKind, Events: []string{"episode.", "experience."}, Told: toldOfEpisodes, Embedded: shelf.EmbeddedEpisode,
			ID: func(e *Episode) string { return e.ID }, Size: func(e *Episode) int { return len(e.Content) }, Document: Document,
			Rows: store.Episodes, Scan: store.ScanEpisodes,
		}, options),
		store: store, now: options.Now,
		Sessions: sessions{store: store, current: map[string]session{}, begun: map[string]string{}, holders: map[string]string{}, ended: map[string]string{}},
	}
}

// Record implements Service. It needs ScopeAgent. Secrets are cut out
// before it is stored.
func (l *Episodes) Record(ctx context.Context, draft Draft) (_ Episode, err error) {
	ctx, span := trace.StartMemory(ctx, "create_memory", "episode")
	defer func() { span.Finish(err) }()
	writer := principal.Of(ctx).Keeping()
	if draft.AgentID, err = writer.ActingAs("agent_id", draft.AgentID); err != nil {
		return Episode{}, err
	}
	if err := writer.Into("project", &draft.Project); err != nil {
		return Episode{}, err
	}
	return l.add(ctx, check.NewID(), l.now(), draft)
}

// add stores what happened at a time under an id, in the session that its draft names. Its author is known.
func (l *Episodes) add(ctx context.Context, id string, at time.Time, draft Draft) (Episode, error) {
	episode, err := Prepare(draft, at)
	if err = cmp.Or(err, CheckSession(draft.SessionID)); err != nil {
		return Episode{}, err
	}
	episode.ID, episode.AgentID = id, draft.AgentID
	if episode.SessionID, err = l.Sessions.Enter(ctx, episode.AgentID, draft.SessionID, episode.CreatedAt); err != nil {
		return Episode{}, err
	}
	event := eventlog.Event{Type: learning.EventEpisodeRecorded, Subject: episode.ID, Agent: episode.AgentID, Project: draft.Project, At: episode.CreatedAt}
	return l.store.AddEpisode(ctx, episode, event, func(e Episode) { l.Put(e) })
}

// Recent implements Service. It needs ScopeRead.
func (l *Episodes) Recent(ctx context.Context, filter Filter) ([]Episode, error) {
	caller := principal.Of(ctx).Keeping()
	if err := caller.Need(principal.ScopeRead); err != nil {
		return nil, err
	}
	if err := l.resolve(ctx, &filter); err != nil || filter.SessionID == CurrentSession {
		return []Episode{}, err
	}
	filter.Within = caller.Projects()
	return l.store.RecentEpisodes(ctx, filter)
}

// Search implements Service. It needs ScopeRead.
func (l *Episodes) Search(ctx context.Context, query Query) (Results, error) {
	if err := cmp.Or(principal.Of(ctx).Keeping().Need(principal.ScopeRead), learning.CheckQuery(query.Query), check.Name("prefer_project", query.PreferProject), learning.CheckRelevance(query.MinRelevance)); err != nil {
		return Results{}, err
	}
	filter := Filter{
		SessionID: query.SessionID, AgentID: query.AgentID, Persona: query.Persona, Project: query.Project, EventType: query.EventType, Event: query.Event,
		Since: query.Since, Until: query.Until, TimeRange: query.TimeRange, Limit: query.Limit,
	}
	if err := l.resolve(ctx, &filter); err != nil || filter.SessionID == CurrentSession {
		return Results{Results: []Hit{}}, err
	}
	hidden := ""
	if query.Persona == learning.DefaultPersona {
		hidden = "persona:" + learning.DefaultPersona
	}
	found, err := l.Ask(ctx, shelf.ShelfQuery{
		Query: tfidf.Query{
			Text: query.Query, Category: filter.EventType, Project: filter.Project, Tags: tags(filter.AgentID, filter.Persona, filter.SessionID, filter.Event),
			From: shelf.Moment(filter.Since), To: shelf.Moment(filter.Until), Limit: filter.Limit, Explain: query.Explain, Corpus: query.Corpus,
		},
		Category: "event_type", Project: "project", Hidden: hidden, Prefer: query.PreferProject,
	})
	if err != nil {
		return Results{}, err
	}
	results := Results{Results: []Hit{}, Corrected: found.Corrected, Notice: found.Notice, Repairs: found.Repairs}
	results.LeftOut, err = l.Fetch(ctx, found, func(episode *Episode, hit tfidf.Hit) {
		results.Results = append(results.Results, Hit{*episode, hit.Score, shelf.Relevance(hit.Evidence), shelf.Reasons(hit.Why), hit.Evidence})
	})
	if err != nil {
		return Results{}, err
	}
	results.Results = learning.Relevant(results.Results, query.MinRelevance, query.Shown, func(h Hit) float64 { return h.Relevance })
	results.Count = len(results.Results)
	if results.NoMatch = found.NoMatch(results.Count); results.NoMatch && !results.Shown() && query.unfiltered() {
		l.Missed(ctx, learning.Miss{Question: query.Query, Project: query.Project})
	}
	return results, nil
}

// Shown tells whether a person is shown any of it.
func (r *Results) Shown() bool {
	return slices.ContainsFunc(r.Results, func(h Hit) bool { return h.Relevance >= learning.ShownRelevance })
}

// Run keeps the index until ctx ends, and returns nil.
func (l *Episodes) Run(ctx context.Context) error { return l.RunIndex(ctx) }

// originSpace is the name space of the ids of episodes that stand for an event elsewhere.
var originSpace = uuid.MustParse("5a1f0c1e-4d0b-5b7e-9d55-6f0c3a2e8b41")

// RecordOnce records what happened at a time and elsewhere, under an id that
// follows from origin: the same origin again is the same episode, whatever the
// draft says then. It is for whoever follows another log and may come by the
// same event twice, one call at a time. It needs ScopeAgent, as Record does.
func (l *Episodes) RecordOnce(ctx context.Context, origin string, at time.Time, draft Draft) (Episode, error) {
	var err error
	if draft.AgentID, err = principal.Of(ctx).ActingAs("agent_id", draft.AgentID); err != nil {
		return Episode{}, err
	}
	id := uuid.NewSHA1(originSpace, []byte(origin)).String()
	there, err := l.store.Episodes(ctx, []string{id})
	if err != nil {
		return Episode{}, err
	}
	if len(there) > 0 {
		return there[0], nil
	}
	return l.add(ctx, id, at, draft)
}

// IndexKind is the kind of the index of episodes.
const IndexKind shelf.IndexKind = "episodes"

// Document is what is searched of an episode. The engine's category,
// project and tags hold what episodes are filtered by.
func Document(e *Episode) tfidf.Document {
	return tfidf.Document{
		ID: e.ID, Title: e.Title, Body: e.searched(), Category: e.EventType, Project: e.Project, Order: e.Number, At: shelf.Moment(e.CreatedAt),
		Tags: tags(e.AgentID, e.Persona, e.SessionID, e.Event),
	}
}

// toldOfEpisodes returns the ids of the episodes that a sweep or a clearing
// deleted. Events of programs that did not write them down do not say.
func toldOfEpisodes(kind string, data []byte) (ids []string, special, ok bool) {
	if kind != EventExperiencesSwept && kind != EventEpisodesCleared {
		return nil, false, true
	}
	var told struct {
		Count int      `json:"count"`
		IDs   []string `json:"ids"`
	}
	if json.Unmarshal(data, &told) != nil || len(told.IDs) != told.Count {
		return nil, true, false
	}
	return told.IDs, true, true
}
