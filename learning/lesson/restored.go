package lesson

import (
	"cmp"
	"time"

	"github.com/skillrouter/skillrouter/internal/eventlog"
)

// RestoreRule lets a demoted rule block again, with a row in its lesson's history and an event.
func RestoreRule(tx PipelineTx, id string, ofLesson bool, by, note string, at time.Time) (restored bool, err error) {
	standing, err := tx.GuardStanding(id)
	if err != nil || standing.DemotedAt == nil {
		return false, err
	}
	standing.DemotedAt, standing.DemotedReason, standing.RecentSuccess, standing.Overriders = nil, "", 0, nil
	if err := tx.PutGuardStanding(standing); err != nil {
		return false, err
	}
	note = cmp.Or(note, "the rule blocks again")
	if ofLesson {
		if err := tx.AddChange(Change{LessonID: id, Kind: "restored", Agent: by, Note: note, At: at}); err != nil {
			return false, err
		}
	}
	return true, AddEvent(tx, eventlog.Event{Type: EventRuleRestored, Subject: id, Agent: by, At: at}, GuardEvent{Reason: note})
}
