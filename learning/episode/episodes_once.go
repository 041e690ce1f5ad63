package episode

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/skillrouter/skillrouter/internal/principal"
)

// originSpace is the name space of the ids of episodes that stand for an event elsewhere.
var originSpace = uuid.MustParse("5a1f0c1e-4d0b-5b7e-9d55-6f0c3a2e8b41")

// RecordOnce records what happened at a time and elsewhere, under an id that
// follows from origin: the same origin again is the same episode, whatever the
// draft says then. It is for whoever follows another log and may come by the
// same event twice, one call at a time. It needs ScopeAgent, as Record does.
func (l *Episodes) RecordOnce(ctx context.Context, origin string, at time.Time, draft Draft) (Episode, error) {
	author, err := principal.Of(ctx).ActingAs("agent_id", draft.AgentID)
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
	if err != nil {
		return Episode{}, err
	}
	if len(there) > 0 {
		return there[0], nil
	}
	episode.ID, episode.AgentID = id, author
	return l.add(ctx, episode, draft)
}
