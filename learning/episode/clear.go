package episode

import (
	"context"
	"encoding/json"

	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/tally"
)

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
		n, err := l.store.ClearEpisodes(ctx, clearing, func(ids []string) (eventlog.Event, error) {
			data, err := json.Marshal(EpisodesCleared{persona, category, len(ids), ids})
			return eventlog.Event{Type: EventEpisodesCleared, Subject: persona, Agent: principal.Of(ctx).AgentID, At: l.now().UTC(), Data: data}, err
		}, func(ids []string) { l.Remove(ids...) })
		return int64(n), n, err
	})
}
