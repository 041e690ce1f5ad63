package episode

import (
	"context"

	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/learning/shelf"
)

// Store keeps episodes. learning/store implements it on learning.db.
type Store interface {
	shelf.IndexStore
	// AddEpisode stores an episode and its event durably, gives it its number, and calls
	// after with it when it is committed, in commit order, before it returns.
	AddEpisode(ctx context.Context, episode Episode, event eventlog.Event, after func(Episode)) (Episode, error)
	// Episodes returns the episodes with the ids that exist, in no order.
	Episodes(ctx context.Context, ids []string) ([]Episode, error)
	// RecentEpisodes returns the episodes that fit the filter, whose Limit is set, newest
	// first; up to MaxAnswer bytes of them.
	RecentEpisodes(ctx context.Context, filter Filter) ([]Episode, error)
	// EpisodeOf returns the episode with an id or a number; ok is false if there is none.
	EpisodeOf(ctx context.Context, ref string) (episode Episode, ok bool, err error)
	// ChangeEpisodes does what decide says of the episodes with these ids or numbers, durably and in
	// one transaction; one that is not there has no id. after is called with it as AddEpisode's is.
	ChangeEpisodes(ctx context.Context, refs []string, decide func(old []Episode) ([]Change, error), after func([]Change)) ([]Change, error)
	// LastEpisode returns the last episode that the agent recorded; ok is false if there is none.
	LastEpisode(ctx context.Context, agentID string) (episode Episode, ok bool, err error)
	// ScanEpisodes visits what is searched of every episode, oldest first, chunk by
	// chunk. visit may keep the chunk.
	ScanEpisodes(ctx context.Context, visit func(chunk []Episode) error) error
	// LastEpisodeNumber returns the greatest number that is there, or 0.
	LastEpisodeNumber(ctx context.Context) (int64, error)
	// ClearEpisodes deletes episodes, with the event that told returns for their ids, in
	// one transaction. after is called with their ids, as AddEpisode's is. It returns how many.
	ClearEpisodes(ctx context.Context, clearing Clearing, told func(ids []string) (eventlog.Event, error), after func(ids []string)) (int, error)
}

// EventExperiencesSwept tells that experiences were forgotten; its Data is an experience.SweptEvent.
const EventExperiencesSwept = "experience.swept"
