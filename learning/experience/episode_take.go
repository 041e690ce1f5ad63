package experience

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/episode"
)

// takenEpisode is an episode that was checked.
type takenEpisode struct {
	episode     episode.Episode
	experience  *Experience
	fingerprint int64
}

// Take takes in episodes of another router, with their outcomes. Their figures
// count from then on; patterns are carried by themselves. It needs ScopeCaptain.
func (x *Experiences) Take(ctx context.Context, records []EpisodeRecord, t learning.Taking) ([]learning.Taken, error) {
	now := x.now.Stamp()
	return learning.Taker[EpisodeRecord, takenEpisode, Tx]{
		ID:     func(r *EpisodeRecord) string { return r.ID },
		Check:  func(r EpisodeRecord) (takenEpisode, error) { return takeEpisode(r, now) },
		Change: x.store.ChangeExperiences,
		Put: func(tx Tx, _ int, e *takenEpisode) (bool, error) {
			numbers, err := tx.EpisodeNumbers([]string{e.episode.ID})
			if _, there := numbers[e.episode.ID]; err != nil || there {
				return there, err
			}
			event, err := insertTaken(tx, e, now)
			if err != nil {
				return false, err
			}
			return false, tx.AddEvents(event)
		},
		Stored: func(stored []takenEpisode) {
			for _, e := range stored {
				x.episodes.Put(e.episode)
			}
		},
	}.Take(ctx, records, t)
}

func insertTaken(tx Tx, e *takenEpisode, now time.Time) (eventlog.Event, error) {
	event := eventlog.Event{Type: learning.EventEpisodeRecorded, Subject: e.episode.ID, Agent: e.episode.AgentID, Project: e.episode.Project, At: now}
	if e.experience == nil {
		return event, tx.InsertEpisode(&e.episode)
	}
	x := *e.experience
	operation, err := tx.Operation(x.OperationType, now.Add(-RecencyWindow))
	if err != nil {
		return event, err
	}
	if err := tx.InsertExperience(&x, &e.episode, e.fingerprint); err != nil {
		return event, err
	}
	return event, tx.SetOperation(operation.With(x.Outcome, x.Utility, x.At))
}

func takeEpisode(r EpisodeRecord, now time.Time) (t takenEpisode, err error) {
	if err := cmp.Or(
		learning.CheckID("id", r.ID),
		learning.CheckAuthor("agent_id", r.AgentID),
		episode.CheckSession(r.SessionID),
	); err != nil {
		return t, err
	}
	learning.Moments(now, now, &r.CreatedAt)
	if r.Experience == nil {
		t.episode, err = episode.Prepare(episode.Draft{
			Persona: r.Persona, EventType: r.EventType, Event: r.Event, Title: r.Title, Content: r.Content, Context: r.Context, Learned: r.Learned,
			Project: r.Project, Importance: &r.Importance,
		}, r.CreatedAt)
	} else {
		t, err = take(*r.Experience, r.AgentID, r.CreatedAt)
	}
	t.episode.ID, t.episode.AgentID, t.episode.SessionID, t.episode.CreatedAt = r.ID, r.AgentID, r.SessionID, r.CreatedAt
	return t, err
}

func take(x Experience, author string, at time.Time) (t takenEpisode, err error) {
	draft := Draft{
		OperationType: x.OperationType, ServerName: x.ServerName, Outcome: x.Outcome, QualityScore: x.QualityScore, DurationMS: x.DurationMS,
		Notes: x.Notes, Project: x.Project,
	}
	for _, part := range []struct {
		field string
		text  json.RawMessage
		into  any
	}{{"problem", x.Problem, &draft.Problem}, {"solution", x.Solution, &draft.Solution}, {"metadata", x.Metadata, &draft.Metadata}} {
		if len(part.text) > 0 {
			if err := json.Unmarshal(part.text, part.into); err != nil {
				return t, errs.InvalidField("experience."+part.field, "cannot be read")
			}
		}
	}
	if err := cmp.Or(
		check.Range("experience.novelty_score", x.Novelty, 0, 1),
		check.Range("experience.effectiveness_score", x.Effectiveness, 0, 1),
		check.Range("experience.generalizability_score", x.Generalizability, 0, 1),
		check.Range("experience.utility_score", x.Utility, 0, 1),
	); err != nil {
		return t, err
	}
	p, err := prepare(draft, author)
	if err != nil {
		return t, err
	}
	e := p.experience
	e.Novelty, e.Effectiveness, e.Generalizability, e.Utility = x.Novelty, x.Effectiveness, x.Generalizability, x.Utility
	e.At, e.Timestamp = at, at.UnixMilli()
	t.episode, t.experience, t.fingerprint = p.episode, &e, p.fingerprint
	t.episode.Importance = e.Utility
	return t, nil
}

// EpisodeRecord is an episode as it is carried: with its outcome, if it is an experience.
type EpisodeRecord struct {
	episode.Episode
	Experience *Experience `json:"experience,omitempty"`
}
