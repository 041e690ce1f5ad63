package learning

import (
	"cmp"
	"context"

	"skillrouter"
	"skillrouter/tfidf"
)

// Episodes is the EpisodeService beside the database. Load opens its
// index at start; Run does its background work.
type Episodes struct {
	*Shelf[Episode]
	store    EpisodeStore
	now      skillrouter.Clock
	sessions sessions
}

var _ EpisodeService = (*Episodes)(nil)

// NewEpisodes makes Episodes with an empty index.
func NewEpisodes(store EpisodeStore, options Options) *Episodes {
	options = options.withDefaults()
	return &Episodes{
		Shelf: newShelf(store, shelved[Episode]{
			kind: KeptEpisodes, form: episodeForm, events: []string{"episode.", "experience."}, told: toldOfEpisodes, embedded: EmbeddedEpisode,
			id: func(e *Episode) string { return e.ID }, size: func(e *Episode) int { return len(e.Content) }, document: episodeDocument,
			rows: store.Episodes, scan: store.ScanEpisodes, find: store.FindEpisodes,
		}, options),
		store: store, now: options.Now,
		sessions: sessions{store: store, current: map[string]session{}, begun: map[string]string{}, holders: map[string]string{}, ended: map[string]string{}},
	}
}

// Record implements EpisodeService. It needs ScopeAgent. Secrets are cut out
// before it is stored.
func (l *Episodes) Record(ctx context.Context, draft EpisodeDraft) (Episode, error) {
	writer := skillrouter.PrincipalOf(ctx)
	author, err := writer.ActingAs("agent_id", draft.AgentID)
	if err != nil {
		return Episode{}, err
	}
	episode, err := prepareEpisode(draft, l.now())
	if err != nil {
		return Episode{}, err
	}
	if err := checkSession(draft.SessionID); err != nil {
		return Episode{}, err
	}
	episode.AgentID = author
	if episode.ID, err = newID(); err != nil {
		return Episode{}, err
	}
	if episode.SessionID, err = l.sessions.enter(ctx, author, draft.SessionID, episode.CreatedAt); err != nil {
		return Episode{}, err
	}
	event := skillrouter.Event{Type: EventEpisodeRecorded, Subject: episode.ID, Agent: author, Project: draft.Project, At: episode.CreatedAt}
	return l.store.AddEpisode(ctx, episode, event, func(e Episode) { l.put(e) })
}

// Recent implements EpisodeService. It needs ScopeRead.
func (l *Episodes) Recent(ctx context.Context, filter EpisodeFilter) ([]Episode, error) {
	caller := skillrouter.PrincipalOf(ctx)
	if err := caller.Need(skillrouter.ScopeRead); err != nil {
		return nil, err
	}
	if err := l.resolve(ctx, &filter); err != nil || filter.SessionID == CurrentSession {
		return []Episode{}, err
	}
	return l.store.RecentEpisodes(ctx, filter)
}

// Search implements EpisodeService. It needs ScopeRead.
func (l *Episodes) Search(ctx context.Context, query EpisodeQuery) (EpisodeResults, error) {
	if err := cmp.Or(skillrouter.PrincipalOf(ctx).Need(skillrouter.ScopeRead), checkQuery(query.Query)); err != nil {
		return EpisodeResults{}, err
	}
	filter := EpisodeFilter{
		SessionID: query.SessionID, AgentID: query.AgentID, Persona: query.Persona, Project: query.Project, EventType: query.EventType, Event: query.Event,
		Since: query.Since, Until: query.Until, TimeRange: query.TimeRange, Limit: query.Limit,
	}
	if err := l.resolve(ctx, &filter); err != nil || filter.SessionID == CurrentSession {
		return EpisodeResults{Results: []EpisodeHit{}}, err
	}
	hidden := ""
	if query.Persona == DefaultPersona {
		hidden = "persona:" + DefaultPersona
	}
	found, err := l.ask(ctx, shelfQuery{
		Query: tfidf.Query{
			Text: query.Query, Category: filter.EventType, Project: filter.Project, Tags: episodeTags(filter.AgentID, filter.Persona, filter.SessionID, filter.Event),
			From: moment(filter.Since), To: moment(filter.Until), Limit: filter.Limit, Explain: query.Explain, Corpus: query.Corpus,
		},
		category: "event_type", project: "project", hidden: hidden,
	})
	if err != nil {
		return EpisodeResults{}, err
	}
	results := EpisodeResults{Results: []EpisodeHit{}, Corrected: found.Corrected, Notice: found.Notice, Tried: found.Tried}
	results.LeftOut, err = l.read(ctx, found, func(episode *Episode, hit tfidf.Hit) {
		results.Results = append(results.Results, EpisodeHit{*episode, hit.Score, reasons(hit.Why), hit.Evidence})
	})
	if err != nil {
		return EpisodeResults{}, err
	}
	results.Count = len(results.Results)
	if results.Vain = found.vain(results.Count); results.Vain && query.whole() {
		l.missed(ctx, Miss{Question: query.Query, Project: query.Project, In: GapInEpisodes})
	}
	return results, nil
}

// Run keeps the index until ctx ends, and returns nil.
func (l *Episodes) Run(ctx context.Context) error { return l.RunIndex(ctx) }
