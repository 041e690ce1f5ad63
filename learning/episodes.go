package learning

import (
	"context"
	"sync/atomic"

	"skillrouter"
	"skillrouter/tfidf"
)

// Episodes is the EpisodeService beside the database. Load opens its
// index at start; Run does its background work.
type Episodes struct {
	store    EpisodeStore
	kept     *tfidf.Keeper
	now      skillrouter.Clock
	sessions sessions
	vectors  atomic.Pointer[Vectors] // nil: there are none
	repairs  repairs
	gaps     *Gaps // is told of searches in vain; may be nil
}

var _ EpisodeService = (*Episodes)(nil)

// NewEpisodes makes Episodes with an empty index.
func NewEpisodes(store EpisodeStore, options Options) *Episodes {
	options = options.withDefaults()
	l := &Episodes{
		store: store, now: options.Now,
		sessions: sessions{store: store, current: map[string]session{}, begun: map[string]string{}, holders: map[string]string{}, ended: map[string]string{}},
	}
	l.kept = keep(keptSource{
		KeptStore: store, kind: KeptEpisodes, prefixes: []string{"episode.", "experience."}, told: toldOfEpisodes, scan: l.scanDocuments, documents: l.documents,
		find: func(ctx context.Context, search KeptSearch, visit func(docs []tfidf.Document) bool) error {
			return store.FindEpisodes(ctx, search, func(found []Episode) bool { return visit(episodeDocuments(found)) })
		},
	}, options)
	return l
}

// Record implements EpisodeService. It needs ScopeAgent. Secrets are cut out
// before it is stored.
func (l *Episodes) Record(ctx context.Context, draft EpisodeDraft) (Episode, error) {
	writer := skillrouter.PrincipalOf(ctx)
	author, err := authorOf(writer, draft.AgentID)
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
	return l.store.AddEpisode(ctx, episode, event, l.put)
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
	if err := skillrouter.PrincipalOf(ctx).Need(skillrouter.ScopeRead); err != nil {
		return EpisodeResults{}, err
	}
	if err := checkQuery(query.Query); err != nil {
		return EpisodeResults{}, err
	}
	filter := EpisodeFilter{
		SessionID: query.SessionID, AgentID: query.AgentID, Persona: query.Persona, Project: query.Project, EventType: query.EventType, Event: query.Event,
		Since: query.Since, Until: query.Until, TimeRange: query.TimeRange, Limit: query.Limit,
	}
	if err := l.resolve(ctx, &filter); err != nil || filter.SessionID == CurrentSession {
		return EpisodeResults{Results: []EpisodeHit{}}, err
	}
	meaning := l.vectors.Load().ask(EmbeddedEpisode, query.Query)
	request := tfidf.Query{
		Text: query.Query, Category: filter.EventType, Project: filter.Project, Tags: episodeTags(filter.AgentID, filter.Persona, filter.SessionID, filter.Event),
		From: moment(filter.Since), To: moment(filter.Until), Limit: meaning.depth(filter.Limit), Explain: query.Explain, Corpus: query.Corpus,
	}
	found, rebuilding := l.kept.Search(ctx, request)
	results := EpisodeResults{Results: []EpisodeHit{}, Corrected: found.Corrected}
	hits, notice := meaning.fuse(ctx, found.Hits, request, filter.Limit)
	results.Notice = notices(rebuilding, notice)
	if len(hits) == 0 && rebuilding == "" {
		hidden := ""
		if query.Persona == DefaultPersona {
			hidden = "persona:" + DefaultPersona
		}
		results.Tried, results.Notice = l.repairs.try(ctx, l.kept.Index(), request, &found, filtersOf(request, "event_type", "project", hidden), results.Notice)
		hits, results.Corrected = found.Hits, found.Corrected
	}
	var err error
	results.LeftOut, err = fetch(ctx, hits, l.store.Episodes, func(e *Episode) (string, int) { return e.ID, len(e.Content) },
		func(episode *Episode, hit tfidf.Hit) {
			results.Results = append(results.Results, EpisodeHit{*episode, hit.Score, reasons(hit.Why), hit.Evidence})
		})
	if err != nil {
		return EpisodeResults{}, err
	}
	results.Count = len(results.Results)
	vainly := len(results.Tried) > 0 || vain(found, results.Count, query.Query) && (meaning == nil || results.Count == 0)
	if results.Vain = rebuilding == "" && vainly; results.Vain && query.whole() {
		l.gaps.Missed(ctx, Miss{Question: query.Query, Project: query.Project, In: GapInEpisodes})
	}
	return results, nil
}

// Len returns how many episodes can be found.
func (l *Episodes) Len() int { return l.kept.Len() }

// IndexState tells how the search index is doing.
func (l *Episodes) IndexState() tfidf.KeeperState { return l.kept.State() }

// Load opens the index, and leaves to Run what takes long. It is called once,
// before the first search. Episodes may be recorded before, and are found.
func (l *Episodes) Load(ctx context.Context) error { return l.kept.Load(ctx) }

// Run keeps the index until ctx ends, and returns nil.
func (l *Episodes) Run(ctx context.Context) error { return l.kept.Run(ctx) }

// Rebuild builds the index anew from the database. Episodes may be recorded
// and searched meanwhile.
func (l *Episodes) Rebuild(ctx context.Context) error { return l.kept.Rebuild(ctx) }

// scanDocuments visits what is searched of every episode, oldest first.
func (l *Episodes) scanDocuments(ctx context.Context, visit func(docs []tfidf.Document) error) error {
	return l.store.ScanEpisodes(ctx, func(chunk []Episode) error { return visit(episodeDocuments(chunk)) })
}

// documents returns what is searched of episodes.
func (l *Episodes) documents(ctx context.Context, ids []string) ([]tfidf.Document, error) {
	episodes, err := l.store.Episodes(ctx, ids)
	return episodeDocuments(episodes), err
}

func episodeDocuments(episodes []Episode) []tfidf.Document {
	docs := make([]tfidf.Document, len(episodes))
	for i, e := range episodes {
		docs[i] = episodeDocument(e)
	}
	return docs
}

// Check compares the index with the database. Episodes that are recorded
// meanwhile may show as missing or surplus.
func (l *Episodes) Check(ctx context.Context) (IndexCheck, error) {
	return checkIndex(l.kept.Index().IDs(), func(visit func(id string)) error { return l.store.EpisodeIDs(ctx, visit) })
}

// put keeps the index in step with commits; it runs in commit order.
func (l *Episodes) put(e Episode) {
	l.kept.Put(episodeDocument(e))
	l.vectors.Load().touch(EmbeddedEpisode, e.ID)
}

// remove takes episodes out of the index after the commit that forgot them.
func (l *Episodes) remove(ids ...string) {
	l.kept.Delete(ids...)
	l.vectors.Load().touch(EmbeddedEpisode, ids...)
}
