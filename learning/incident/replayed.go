package incident

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"skillrouter"
)

// ReplayDraft is a replay that somebody hands over to be looked at.
type ReplayDraft struct {
	Lines int               `json:"brief_lines" doc:"Of all briefs"`
	Each  []ReplayedSession `json:"each" doc:"In their order"`
}

// StoredReplay is the replay that was handed over last; the zero one: none was.
type StoredReplay struct {
	Replayed
	At time.Time `json:"stored_at,omitzero"`
	By string    `json:"stored_by,omitempty"`
}

// Bounds of a replay that is stored.
const (
	// MaxReplayedSessions is how many sessions it has: years of one person's, and about 3 MB.
	MaxReplayedSessions = 10_000
	// maxReplayedCount bounds each of its figures: more commands than the longest records hold, and sums of them are far from an overflow.
	maxReplayedCount = 1_000_000_000
)

// StoreReplay implements Service.
func (n *Incidents) StoreReplay(ctx context.Context, draft ReplayDraft) (replay StoredReplay, err error) {
	principal := skillrouter.PrincipalOf(ctx)
	if err := cmp.Or(principal.Need(skillrouter.ScopeCaptain), draft.check()); err != nil {
		return replay, err
	}
	replay = StoredReplay{Replayed{Sessions: len(draft.Each), Lines: draft.Lines, Each: append([]ReplayedSession{}, draft.Each...)}, n.now.Stamp(), cmp.Or(principal.Person, principal.AgentID)}
	for _, s := range draft.Each {
		replay.Total.Add(s.ReplayedCounts)
	}
	err = n.store.ChangeIncidents(ctx, func(tx Tx) error { return tx.PutReplay(replay) })
	return replay, err
}

// LastReplay implements Service.
func (n *Incidents) LastReplay(ctx context.Context) (replay StoredReplay, err error) {
	if err := skillrouter.PrincipalOf(ctx).Need(skillrouter.ScopeRead); err != nil {
		return replay, err
	}
	replay, err = n.store.LastReplay(ctx)
	replay.Each = skillrouter.GivenList(replay.Each)
	return replay, err
}

// check refuses what no replay measures.
func (d *ReplayDraft) check() error {
	if len(d.Each) > MaxReplayedSessions {
		return &skillrouter.Error{Code: skillrouter.TooLarge, Field: "each", Message: fmt.Sprintf("has more than %d sessions: measure the latest with --since", MaxReplayedSessions)}
	}
	if d.Lines < 0 || d.Lines > maxReplayedCount {
		return skillrouter.InvalidField("brief_lines", "must be 0 to %d", maxReplayedCount)
	}
	for i, s := range d.Each {
		at := fmt.Sprintf("each[%d]", i)
		if err := cmp.Or(skillrouter.CheckText(at+".session_id", s.Session, maxSession), skillrouter.CheckName(at+".project", s.Project)); err != nil {
			return err
		}
		for _, p := range s.parts() {
			if *p.part < 0 || *p.part > p.of {
				return skillrouter.InvalidField(at+"."+p.name, "must be 0 to %d", p.of)
			}
		}
	}
	return nil
}

// counted is a figure, and what it is a part of.
type counted struct {
	name string
	part *int
	of   int
}

// parts are the figures, each with what it is a part of.
func (c *ReplayedCounts) parts() []counted {
	return []counted{
		{"commands", &c.Commands, maxReplayedCount},
		{"mistakes", &c.Mistakes, c.Commands},
		{"repeats", &c.Repeats, c.Mistakes},
		{"warned", &c.Warned, c.Repeats},
		{"known", &c.Known, c.Repeats},
		{"named", &c.Named, c.Known},
		{"fixable", &c.Fixable, c.Known},
		{"answered", &c.Answered, c.Fixable},
		{"compared", &c.Compared, c.Answered},
		{"same", &c.Same, c.Compared},
		{"saved", &c.Saved, maxReplayedCount},
		{"fine", &c.Fine, c.Commands},
		{"false", &c.False, c.Fine},
	}
}
