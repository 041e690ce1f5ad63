package store

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"skillrouter/internal/eventlog"
	"skillrouter/operational"
)

// seenBatch is how many last-seen times one statement writes: binding costs
// grow faster than the number of parameters beyond that.
const seenBatch = 100

// agentRow is a row of agents.
type agentRow struct {
	ID           string `gorm:"primaryKey"`
	Role         string
	ConfigName   string
	Project      string
	ProjectPath  string
	Model        string
	PID          int `gorm:"column:pid"`
	State        string
	Status       string
	CurrentTask  string
	Progress     float64
	Gone         bool
	StopSeq      int64
	StopPID      int `gorm:"column:stop_pid"`
	StopReason   string
	StopExpires  *int64
	JoinedSeq    int64
	AckedSeq     int64
	ReadSeq      int64
	DeliveredSeq int64
	StartedAt    int64
	LastSeen     int64
	CreatedAt    int64 `gorm:"autoCreateTime:false"`
}

func (agentRow) TableName() string { return "agents" }

func (r agentRow) record() operational.AgentRecord {
	return operational.AgentRecord{
		Agent: operational.Agent{
			ID: r.ID, Role: r.Role, ConfigName: r.ConfigName, Project: r.Project, ProjectPath: r.ProjectPath,
			Model: r.Model, PID: r.PID, State: operational.AgentState(r.State), Status: r.Status,
			CurrentTask: r.CurrentTask, Progress: int(math.Round(r.Progress)), ShouldStop: r.StopSeq != 0, StopReason: r.StopReason,
			StartedAt: fromMillis(r.StartedAt), LastSeen: fromMillis(r.LastSeen), CreatedAt: fromMillis(r.CreatedAt),
			JoinedSeq: r.JoinedSeq,
		},
		Gone: r.Gone, StopSeq: r.StopSeq, StopPID: r.StopPID, StopExpires: fromMillisPtr(r.StopExpires),
		AckedSeq: r.AckedSeq, ReadSeq: r.ReadSeq, DeliveredSeq: r.DeliveredSeq,
	}
}

// AgentRecords returns every agent.
func (s *Store) AgentRecords(ctx context.Context) ([]operational.AgentRecord, error) {
	return listOf(s.read.WithContext(ctx).Order("id"), agentRow.record)
}

// AgentRecord returns one agent; false: it is not known.
func (s *Store) AgentRecord(ctx context.Context, id string) (operational.AgentRecord, bool, error) {
	found, err := listOf(s.read.WithContext(ctx).Where("id = ?", id), agentRow.record)
	if err != nil || len(found) == 0 {
		return operational.AgentRecord{}, false, err
	}
	return found[0], true, nil
}

// CreateAgent makes an agent known, unless it is known already. Broadcasts up
// to the newest message are not for it; joined, if not nil, puts that border
// elsewhere. A stop signal that waits for it comes into force. created gets
// the agent as it is stored, and whether this call made it, after the commit
// and in commit order.
func (s *Store) CreateAgent(ctx context.Context, a operational.Agent, joined *int64, event eventlog.Event, created func(r operational.AgentRecord, made bool)) error {
	var stored agentRow
	var made bool
	return s.commit.Write(ctx, func(tx *gorm.DB) error {
		made = false
		var last int64
		if err := tx.Raw("SELECT coalesce(max(seq), 0) FROM messages").Scan(&last).Error; err != nil {
			return err
		}
		row := agentRow{
			ID: a.ID, Role: a.Role, ConfigName: a.ConfigName, Project: a.Project, ProjectPath: a.ProjectPath,
			Model: a.Model, PID: a.PID, State: string(a.State), Status: a.Status, CurrentTask: a.CurrentTask,
			Progress: float64(a.Progress), StartedAt: millis(a.StartedAt), LastSeen: millis(a.LastSeen), CreatedAt: millis(a.CreatedAt),
			JoinedSeq: last,
		}
		if joined != nil {
			row.JoinedSeq = min(last, *joined)
		}
		stop, waits, err := waitingStop(tx, a.ID, a.LastSeen)
		if err != nil {
			return err
		}
		if waits {
			row.StopSeq, row.StopPID, row.StopExpires = stop.Seq, a.Run(), stop.ExpiresAt
			row.StopReason = operational.StopReason(stop.message())
		}
		result := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&row)
		if result.Error != nil {
			return result.Error
		}
		stored = row
		if result.RowsAffected == 0 {
			return tx.Where("id = ?", a.ID).Take(&stored).Error
		}
		made = true
		return appendEvent(tx, event)
	}, func() {
		created(stored.record(), made)
		if made {
			s.events.Ring()
		}
	})
}

// SaveAgents writes changes of known agents together; saved runs after the
// commit and in commit order.
func (s *Store) SaveAgents(ctx context.Context, changes []operational.AgentChange, saved func()) error {
	return s.commit.Write(ctx, func(tx *gorm.DB) error {
		for _, c := range changes {
			a := c.Agent
			columns := map[string]any{
				"role": a.Role, "config_name": a.ConfigName, "project": a.Project, "project_path": a.ProjectPath,
				"model": a.Model, "pid": a.PID, "state": string(a.State), "status": a.Status, "current_task": a.CurrentTask,
				"progress": a.Progress, "gone": c.Gone, "started_at": millis(a.StartedAt), "last_seen": millis(a.LastSeen),
			}
			if c.ClearStop {
				columns["stop_seq"], columns["stop_pid"], columns["stop_reason"], columns["stop_expires"] = 0, 0, "", nil
			} else if c.BindStop {
				columns["stop_pid"] = gorm.Expr("CASE WHEN stop_seq <> 0 AND stop_pid <= 0 THEN ? ELSE stop_pid END", a.Run())
			}
			if err := tx.Model(&agentRow{}).Where("id = ?", a.ID).Updates(columns).Error; err != nil {
				return err
			}
			for _, e := range c.Events {
				if err := appendEvent(tx, e); err != nil {
					return err
				}
			}
		}
		return nil
	}, func() {
		saved()
		for _, c := range changes {
			if len(c.Events) > 0 {
				s.events.Ring()
				return
			}
		}
	})
}

// WaitingStop returns the latest stop to an agent that never checked in, if one waits for it and was not taken back.
func (s *Store) WaitingStop(ctx context.Context, agentID string, now time.Time) (stop operational.Message, waits bool, err error) {
	row, waits, err := waitingStop(s.read.WithContext(ctx), agentID, now)
	return row.message(), waits, err
}

func waitingStop(tx *gorm.DB, agentID string, now time.Time) (stop messageRow, waits bool, err error) {
	err = tx.Where("to_agent = ? AND signal IN (?, ?) AND (expires_at IS NULL OR expires_at > ?)", agentID, operational.SignalStop, operational.SignalResume, millis(now)).
		Order("seq DESC").Limit(1).Find(&stop).Error
	return stop, stop.Signal == operational.SignalStop, err
}

// SaveSeen writes when agents were last seen. An older time than the stored one is ignored.
func (s *Store) SaveSeen(ctx context.Context, seen []operational.Seen) error {
	for chunk := range slices.Chunk(seen, seenBatch) {
		args := make([]any, 0, 2*len(chunk))
		for _, one := range chunk {
			args = append(args, one.AgentID, millis(one.At))
		}
		// Each chunk is a write of its own, so that signals are not held up by all of them.
		err := s.commit.Write(ctx, func(tx *gorm.DB) error {
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
	return s.commit.Write(ctx, func(tx *gorm.DB) error {
		return tx.Exec("UPDATE agents SET joined_seq = ?, "+changed+" WHERE id = ? AND joined_seq > ?", seq, agentID, seq).Error
	}, lowered)
}
