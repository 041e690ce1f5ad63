package learning

import (
	"context"
	"strings"
	"sync"
	"time"

	"skillrouter"
	"skillrouter/tfidf"
)

// Episodes is the EpisodeService beside the database. Rebuild fills its
// index at start; Run does its background work.
type Episodes struct {
	store    EpisodeStore
	index    *tfidf.Index
	now      skillrouter.Clock
	sessions sessions

	mu      sync.Mutex
	changed map[string]bool // ids recorded while a Rebuild runs, nil while none does
}

var _ EpisodeService = (*Episodes)(nil)

// NewEpisodes makes Episodes with an empty index.
func NewEpisodes(store EpisodeStore, options Options) *Episodes {
	options = options.withDefaults()
	return &Episodes{
		store: store, index: tfidf.New(tfidf.Options{}), now: options.Now,
		sessions: sessions{store: store, current: map[string]session{}},
	}
}

// Record implements EpisodeService. It needs ScopeAgent. Secrets in title and
// content are cut out before they are stored.
func (l *Episodes) Record(ctx context.Context, draft EpisodeDraft) (Episode, error) {
	writer := skillrouter.PrincipalOf(ctx)
	author, err := authorOf(writer, draft.AgentID)
	if err != nil {
		return Episode{}, err
	}
	if err := checkEpisode(draft); err != nil {
		return Episode{}, err
	}
	id, err := newID()
	if err != nil {
		return Episode{}, err
	}
	importance := DefaultImportance
	if draft.Importance != nil {
		importance = *draft.Importance
	}
	at := l.now().UTC().Truncate(time.Millisecond)
	episode := Episode{
		ID: id, SessionID: draft.SessionID, AgentID: author, EventType: draft.EventType,
		Project: draft.Project, Importance: importance, CreatedAt: at,
	}
	episode.Title, _ = skillrouter.Redact(cleanLine(draft.Title))
	episode.Content, _ = skillrouter.Redact(draft.Content)
	if episode.SessionID, err = l.sessions.enter(ctx, author, draft.SessionID, at); err != nil {
		return Episode{}, err
	}
	event := skillrouter.Event{Type: EventEpisodeRecorded, Subject: id, Agent: author, Project: draft.Project, At: at}
	return l.store.AddEpisode(ctx, episode, event, l.put)
}

// Recent implements EpisodeService. It needs ScopeRead.
func (l *Episodes) Recent(ctx context.Context, filter EpisodeFilter) ([]Episode, error) {
	caller := skillrouter.PrincipalOf(ctx)
	if err := caller.Need(skillrouter.ScopeRead); err != nil {
		return nil, err
	}
	if err := checkFilter(filter); err != nil {
		return nil, err
	}
	var err error
	if filter.Limit, err = skillrouter.Limit(filter.Limit, DefaultEpisodeLimit, MaxLimit); err != nil {
		return nil, err
	}
	if filter.SessionID == CurrentSession {
		agent := filter.AgentID
		if agent == "" {
			agent = caller.AgentID
		}
		if filter.SessionID, err = l.sessions.now(ctx, agent, l.now()); err != nil || filter.SessionID == "" {
			return []Episode{}, err
		}
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
	if err := checkFilter(EpisodeFilter{AgentID: query.AgentID, Project: query.Project, EventType: query.EventType}); err != nil {
		return EpisodeResults{}, err
	}
	limit, err := skillrouter.Limit(query.Limit, DefaultEpisodeLimit, MaxLimit)
	if err != nil {
		return EpisodeResults{}, err
	}
	request := tfidf.Query{Text: query.Query, Category: query.EventType, Project: query.Project, Limit: limit, Explain: query.Explain}
	if query.AgentID != "" {
		request.Tags = []string{query.AgentID}
	}
	found := l.index.Search(request)
	results := EpisodeResults{Results: []EpisodeHit{}, Corrected: found.Corrected}
	results.LeftOut, err = fetch(ctx, found.Hits, l.store.Episodes, func(e *Episode) (string, int) { return e.ID, len(e.Content) },
		func(episode *Episode, hit tfidf.Hit) {
			results.Results = append(results.Results, EpisodeHit{*episode, hit.Score, reasons(hit.Why)})
		})
	results.Count = len(results.Results)
	return results, err
}

// Len returns how many episodes can be found.
func (l *Episodes) Len() int { return l.index.Len() }

// Run tidies the index until ctx ends, and returns nil.
func (l *Episodes) Run(ctx context.Context) error { return l.index.Run(ctx) }

// Rebuild fills the index from the database. Episodes may be recorded and
// searched meanwhile; a search does not find what has not been read yet.
func (l *Episodes) Rebuild(ctx context.Context) error {
	l.mu.Lock()
	l.changed = map[string]bool{}
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		l.changed = nil
		l.mu.Unlock()
	}()
	return rebuild(ctx, func(ctx context.Context, chunks chan<- []tfidf.Document) error {
		return l.store.ScanEpisodes(ctx, func(chunk []Episode) error {
			docs := make([]tfidf.Document, len(chunk))
			for i, e := range chunk {
				docs[i] = episodeDocument(e)
			}
			return send(ctx, chunks, docs)
		})
	}, func(docs []tfidf.Document) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.index.Put(unchanged(docs, l.changed)...)
	})
}

// Check compares the index with the database. Episodes that are recorded
// meanwhile may show as missing or surplus.
func (l *Episodes) Check(ctx context.Context) (IndexCheck, error) {
	return checkIndex(l.index.IDs(), func(visit func(id string)) error { return l.store.EpisodeIDs(ctx, visit) })
}

// put keeps the index in step with commits; it runs in commit order.
func (l *Episodes) put(e Episode) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.changed != nil {
		l.changed[e.ID] = true
	}
	l.index.Put(episodeDocument(e))
}

// remove takes episodes out of the index after the commit that forgot them.
func (l *Episodes) remove(ids ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range ids {
		if l.changed != nil {
			l.changed[id] = true
		}
		l.index.Delete(id)
	}
}

// episodeDocument is what is searched of an episode. The engine's category
// and tag hold what episodes are filtered by.
func episodeDocument(e Episode) tfidf.Document {
	doc := tfidf.Document{ID: e.ID, Title: e.Title, Body: e.Content, Category: e.EventType, Project: e.Project, Order: e.Number}
	if e.AgentID != "" {
		doc.Tags = []string{e.AgentID}
	}
	return doc
}

func checkEpisode(draft EpisodeDraft) error {
	if draft.EventType == "" {
		return skillrouter.InvalidField("event_type", "is required: one of %s", strings.Join(eventTypes(), ", "))
	}
	if err := checkEventType(draft.EventType); err != nil {
		return err
	}
	if err := checkTitle(draft.Title); err != nil {
		return err
	}
	if err := checkContent(draft.Content); err != nil {
		return err
	}
	if err := checkSession(draft.SessionID); err != nil {
		return err
	}
	if err := skillrouter.CheckName("project", draft.Project); err != nil {
		return err
	}
	if draft.Importance == nil {
		return nil
	}
	return skillrouter.CheckRange("importance", *draft.Importance, 0, 1)
}

func checkFilter(filter EpisodeFilter) error {
	if err := checkSession(filter.SessionID); err != nil {
		return err
	}
	if filter.AgentID != "" {
		if err := skillrouter.CheckAgentID("agent_id", filter.AgentID); err != nil {
			return err
		}
	}
	if err := skillrouter.CheckName("project", filter.Project); err != nil {
		return err
	}
	if filter.EventType != "" {
		if err := checkEventType(filter.EventType); err != nil {
			return err
		}
	}
	return checkSpan(filter.Since, filter.Until)
}
