package episode

import (
	"context"
	"time"

	"github.com/google/uuid"

	"skillrouter"
	"skillrouter/learning"
)

// originSpace is the name space of the ids of episodes that stand for an event elsewhere.
var originSpace = uuid.MustParse("5a1f0c1e-4d0b-5b7e-9d55-6f0c3a2e8b41")

// RecordOnce records what happened at a time and elsewhere, under an id that
// follows from origin: the same origin again is the same episode, whatever the
// draft says then. It is for whoever follows another log and may come by the
// same event twice, one call at a time. It needs ScopeAgent, as Record does.
func (l *Episodes) RecordOnce(ctx context.Context, origin string, at time.Time, draft Draft) (Episode, error) {
	author, err := skillrouter.PrincipalOf(ctx).ActingAs("agent_id", draft.AgentID)
	if err != nil {
		return Episode{}, err
	}
	episode, err := Prepare(draft, at)
	if err != nil {
		return Episode{}, err
	}
	if err := CheckSession(draft.SessionID); err != nil {
		return Episode{}, err
	}
	id := uuid.NewSHA1(originSpace, []byte(origin)).String()
	there, err := l.store.Episodes(ctx, []string{id})
	if err != nil || len(there) > 0 {
		return first(there), err
	}
	episode.ID, episode.AgentID = id, author
	if episode.SessionID, err = l.Sessions.Enter(ctx, author, draft.SessionID, episode.CreatedAt); err != nil {
		return Episode{}, err
	}
	event := skillrouter.Event{Type: learning.EventEpisodeRecorded, Subject: id, Agent: author, Project: draft.Project, At: episode.CreatedAt}
	return l.store.AddEpisode(ctx, episode, event, func(e Episode) { l.Put(e) })
}

func first(episodes []Episode) Episode {
	if len(episodes) == 0 {
		return Episode{}
	}
	return episodes[0]
}
