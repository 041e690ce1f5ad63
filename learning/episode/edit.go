package episode

import (
	"cmp"
	"context"

	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/overlay"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/tally"
	"github.com/skillrouter/skillrouter/learning"
)

// The types of the events of one episode that is changed or deleted; the episode's id is their Subject.
const (
	EventEdited  = "episode.edited"
	EventDeleted = "episode.deleted"
)

// Patch changes what an episode says; what is nil stays as it is. When it happened, to whom
// and in which session is never changed.
type Patch struct {
	EventType  *string  `json:"event_type,omitempty" doc:"action, error, decision or outcome" among:"action,error,decision,outcome"`
	Title      *string  `json:"title,omitempty" doc:"Its line"`
	Content    *string  `json:"content,omitempty" doc:"What happened" long:"true" help:"What happened; - reads standard input"`
	Learned    *string  `json:"learned,omitempty" doc:"What it taught"`
	Project    *string  `json:"project,omitempty" doc:"\"\": none"`
	Importance *float64 `json:"importance,omitempty" doc:"0 to 1"`
}

// Change is what becomes of an episode.
type Change struct {
	Now   Episode         // as it is from now on, unless it is deleted
	Gone  bool            // it is deleted
	Event *eventlog.Event // nil: nothing changes
}

func noEpisode() error {
	return errs.Errorf(errs.NotFound, "no episode has this id or number")
}

// Episode implements Service. It needs ScopeRead.
func (l *Episodes) Episode(ctx context.Context, ref string) (Episode, error) {
	if err := cmp.Or(principal.Of(ctx).Keeping().Need(principal.ScopeRead), learning.CheckID("id", ref)); err != nil {
		return Episode{}, err
	}
	episode, ok, err := l.store.EpisodeOf(ctx, ref)
	if err == nil && (!ok || !principal.Of(ctx).Sees(episode.Project)) {
		return Episode{}, noEpisode()
	}
	return episode, err
}

// Edit implements Service. It needs ScopeAgent, and the agent that it happened to or
// ScopeCaptain. A changed episode is held to what a new one is.
func (l *Episodes) Edit(ctx context.Context, ref string, patch Patch) (Episode, error) {
	caller := principal.Of(ctx).Keeping()
	if err := cmp.Or(caller.Need(principal.ScopeAgent), learning.CheckID("id", ref)); err != nil {
		return Episode{}, err
	}
	ctx = learning.Noting(ctx, l.now().UTC(), learning.Edited, "episode", ref)
	changes, err := l.change(ctx, []string{ref}, func(old []Episode) ([]Change, error) {
		change, err := l.edited(ctx, old[0], patch)
		return []Change{change}, err
	})
	if err != nil {
		return Episode{}, err
	}
	return changes[0].Now, nil
}

// edited is what becomes of an episode by a patch.
func (l *Episodes) edited(ctx context.Context, old Episode, patch Patch) (Change, error) {
	caller := principal.Of(ctx).Keeping()
	draft := Draft{
		Persona: old.Persona, EventType: old.EventType, Event: old.Event, Title: old.Title, Content: old.Content, Context: old.Context,
		Learned: old.Learned, Project: old.Project, Place: old.Place, Importance: &old.Importance,
	}
	overlay.Put(&draft, &patch)
	if err := cmp.Or(learning.Still(ctx, old), caller.Into("project", &draft.Project)); err != nil {
		return Change{}, err
	}
	now, err := Prepare(draft, old.CreatedAt)
	if err != nil {
		return Change{}, err
	}
	now.ID, now.Number, now.SessionID, now.AgentID = old.ID, old.Number, old.SessionID, old.AgentID
	if said(now) == said(old) {
		return Change{Now: now}, nil
	}
	return Change{Now: now, Event: l.told(EventEdited, now, caller)}, nil
}

// Delete implements Service. It needs ScopeAgent, and the agent that it happened to or
// ScopeCaptain. Lessons that were learned from it, and their patterns, stay.
func (l *Episodes) Delete(ctx context.Context, ref string) error {
	ctx = committer.Essential(ctx) // it makes room
	caller := principal.Of(ctx).Keeping()
	if err := cmp.Or(caller.Need(principal.ScopeAgent), learning.CheckID("id", ref)); err != nil {
		return err
	}
	ctx = learning.Noting(ctx, l.now().UTC(), learning.Deleted, "episode", ref)
	_, err := l.change(ctx, []string{ref}, func(old []Episode) ([]Change, error) {
		return []Change{l.gone(old[0], caller)}, nil
	})
	return err
}

func (l *Episodes) gone(old Episode, by principal.Principal) Change {
	return Change{Now: old, Gone: true, Event: l.told(EventDeleted, old, by)}
}

// change has decide say what becomes of episodes, in one transaction. The caller must be allowed to change each.
func (l *Episodes) change(ctx context.Context, refs []string, decide func(old []Episode) ([]Change, error)) ([]Change, error) {
	caller := principal.Of(ctx).Keeping()
	return l.store.ChangeEpisodes(ctx, refs, func(old []Episode) ([]Change, error) {
		for _, e := range old {
			if e.ID == "" || !caller.Sees(e.Project) {
				return nil, noEpisode()
			}
			if err := learning.MayChange(caller, e.AgentID, "recorded this episode: only that agent"); err != nil {
				return nil, err
			}
		}
		return decide(old)
	}, func(changes []Change) {
		for _, c := range changes {
			switch {
			case c.Event == nil:
			case c.Gone:
				l.Remove(c.Now.ID)
			default:
				l.Put(c.Now)
			}
		}
	})
}

// told is the event of what somebody did with an episode.
func (l *Episodes) told(kind string, e Episode, by principal.Principal) *eventlog.Event {
	return &eventlog.Event{Type: kind, Subject: e.ID, Agent: cmp.Or(by.AgentID, e.AgentID), Project: e.Project, At: l.now().UTC()}
}

// said is what can be changed of an episode.
func said(e Episode) any {
	return [...]any{e.EventType, e.Title, e.Content, e.Learned, e.Project, e.Importance}
}

// clearStep is how many episodes one transaction of Clear deletes: each
// takes several statements more than a fact does.
const clearStep = 100

// EventEpisodesCleared is the type of the event of a step of Clear. Its Subject
// is the persona, its Data an EpisodesCleared.
const EventEpisodesCleared = "episode.cleared"

// EpisodesCleared is the Data of EventEpisodesCleared.
type EpisodesCleared struct {
	Persona  string `json:"persona"`
	Category string `json:"category,omitempty"`
	Count    int    `json:"count"`
	// IDs are those of the episodes, by which whoever follows the log knows what is gone.
	IDs []string `json:"ids"`
}

// Clearing is which episodes ClearEpisodes deletes.
type Clearing struct {
	Persona string
	// Category is the name of an event or, for episodes that name none, their type; empty: all.
	Category string
	UpTo     int64 // only those of this number or a lesser one
	Limit    int
}

// Clear deletes a persona's episodes, of one category or, if that is empty, of
// all: those that were there when it was called, at most most of them, and
// returns how many. Lessons that were learned from them, and their patterns,
// stay. It needs ScopeCaptain.
func (l *Episodes) Clear(ctx context.Context, persona, category string, most int) (deleted int64, err error) {
	return tally.Clear(ctx, persona, most, clearStep, l.store.LastEpisodeNumber, func(ctx context.Context, persona string, last int64, limit int) (int64, int, error) {
		clearing := Clearing{Persona: persona, Category: category, UpTo: last, Limit: limit}
		n, err := l.store.ClearEpisodes(ctx, clearing, func(ids []string) eventlog.Event {
			event := eventlog.Event{Type: EventEpisodesCleared, Subject: persona, Agent: principal.Of(ctx).AgentID, At: l.now().UTC()}
			return event.With(EpisodesCleared{persona, category, len(ids), ids})
		}, func(ids []string) { l.Remove(ids...) })
		return int64(n), n, err
	})
}
