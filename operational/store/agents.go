package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/operational"
)

// seenBatch is how many last-seen times one statement writes: binding costs
// grow faster than the number of parameters beyond that.
const seenBatch = 100

var agents = table.Of[operational.AgentRecord]("agents", "ShouldStop")

// shown tells an agent's record whether the agent shall stop.
func shown(r operational.AgentRecord) operational.AgentRecord {
	r.ShouldStop = r.StopSeq != 0
	return r
}

// AgentRecords returns every agent.
func (s *Store) AgentRecords(ctx context.Context) ([]operational.AgentRecord, error) {
	all, err := agents.List(s.Read.WithContext(ctx), "ORDER BY id")
	for i := range all {
		all[i] = shown(all[i])
	}
	return all, err
}

// AgentRecord returns one agent; false: it is not known.
func (s *Store) AgentRecord(ctx context.Context, id string) (operational.AgentRecord, bool, error) {
	found, known, err := agents.One(s.Read.WithContext(ctx), "WHERE id = ?", id)
	return shown(found), known, err
}

// CreateAgent makes an agent known, unless it is known already. Broadcasts up
// to the newest message are not for it; joined, if not nil, puts that border
// elsewhere. A stop signal that waits for it comes into force. created gets
// the agent as it is stored, and whether this call made it, after the commit
// and in commit order.
func (s *Store) CreateAgent(ctx context.Context, a operational.Agent, joined *int64, event eventlog.Event, created func(r operational.AgentRecord, made bool)) error {
	var stored operational.AgentRecord
	var made bool
	return s.Commit.Write(ctx, func(tx *gorm.DB) error {
		known, found, err := agents.One(tx, "WHERE id = ?", a.ID)
		if stored, made = known, !found; err != nil || found {
			return err
		}
		stored.Agent = a
		if stored.JoinedSeq, err = table.Scalar[int64](tx, "SELECT coalesce(max(seq), 0) FROM messages"); err != nil {
			return err
		}
		if joined != nil {
			stored.JoinedSeq = min(stored.JoinedSeq, *joined)
		}
		stop, waits, err := waitingStop(tx, a.ID, a.LastSeen)
		if err != nil {
			return err
		}
		stored.StopReason = ""
		if waits {
			stored.StopSeq, stored.StopPID, stored.StopExpires, stored.StopReason = stop.Seq, a.Run(), stop.ExpiresAt, operational.StopReason(stop)
		}
		if err := agents.Insert(tx, &stored); err != nil {
			return err
		}
		return table.AppendEvents(tx, event)
	}, func() {
		created(shown(stored), made)
		if made {
			s.EventBell().Ring()
		}
	})
}

// presence are the columns that a change of an agent writes.
var presence = []string{
	"role", "config_name", "project", "project_path", "model", "pid", "state", "status", "current_task", "progress", "gone", "started_at", "last_seen",
}

// SaveAgents writes changes of known agents together; saved runs after the
// commit and in commit order.
func (s *Store) SaveAgents(ctx context.Context, changes []operational.AgentChange, saved func()) error {
	return s.Commit.Write(ctx, func(tx *gorm.DB) error {
		for _, c := range changes {
			record, columns := operational.AgentRecord{Agent: c.Agent, Gone: c.Gone}, presence
			if c.ClearStop {
				record.StopReason = ""
				columns = slices.Concat(presence, []string{"stop_seq", "stop_pid", "stop_reason", "stop_expires"})
			}
			if err := agents.Update(tx, &record, "id", columns...); err != nil {
				return err
			}
			if c.BindStop && !c.ClearStop {
				if err := tx.Exec("UPDATE agents SET stop_pid = ? WHERE id = ? AND stop_seq <> 0 AND stop_pid <= 0", c.Agent.Run(), c.Agent.ID).Error; err != nil {
					return err
				}
			}
			if err := table.AppendEvents(tx, c.Events...); err != nil {
				return err
			}
		}
		return nil
	}, func() {
		saved()
		for _, c := range changes {
			if len(c.Events) > 0 {
				s.EventBell().Ring()
				return
			}
		}
	})
}

// WaitingStop returns the latest stop to an agent that never checked in, if one waits for it and was not taken back.
func (s *Store) WaitingStop(ctx context.Context, agentID string, now time.Time) (stop operational.Message, waits bool, err error) {
	return waitingStop(s.Read.WithContext(ctx), agentID, now)
}

func waitingStop(tx *gorm.DB, agentID string, now time.Time) (stop operational.Message, waits bool, err error) {
	stop, _, err = messages.One(tx, "WHERE to_agent = ? AND signal IN (?, ?) AND (expires_at IS NULL OR expires_at > ?) ORDER BY seq DESC LIMIT 1", agentID, operational.SignalStop, operational.SignalResume, table.Millis(now))
	return stop, stop.Signal == operational.SignalStop, err
}

// SaveSeen writes when agents were last seen. An older time than the stored one is ignored.
func (s *Store) SaveSeen(ctx context.Context, seen []operational.Seen) error {
	for chunk := range slices.Chunk(seen, seenBatch) {
		args := make([]any, 0, 2*len(chunk))
		for _, one := range chunk {
			args = append(args, one.AgentID, table.Millis(one.At))
		}
		// Each chunk is a write of its own, so that signals are not held up by all of them.
		err := s.Commit.Write(ctx, func(tx *gorm.DB) error {
			return tx.Exec("WITH seen(id, at) AS (VALUES (?,CAST(? AS BIGINT))"+strings.Repeat(",(?,?)", len(chunk)-1)+
				") UPDATE agents SET last_seen = seen.at FROM seen WHERE agents.id = seen.id AND agents.last_seen < seen.at", args...).Error
		}, nil)
		if err != nil {
			return err
		}
	}
	return nil
}

// LowerJoined lets an agent have broadcasts from before it was known, those after seq.
func (s *Store) LowerJoined(ctx context.Context, agentID string, seq int64, lowered func()) error {
	return s.Commit.Write(ctx, func(tx *gorm.DB) error {
		return tx.Exec("UPDATE agents SET joined_seq = ?, "+changed+" WHERE id = ? AND joined_seq > ?", seq, agentID, seq).Error
	}, lowered)
}
