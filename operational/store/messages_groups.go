package store

import (
	"context"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/operational"
)

// takeable is true of a message to a group that an agent may have a copy of: what halts
// others is for those that lived when it was sent, and nobody gets what it sent itself.
// With for_each it may have one copy, and otherwise nobody may have one yet and who bears the group's name, if an
// agent does, may not have acknowledged it.
const takeable = `messages.to_agent IN ? AND messages.copy_of IS NULL AND messages.from_agent <> ? AND lower(trim(messages.signal)) NOT IN ('stop', 'pause', 'resume')
	AND (messages.expires_at IS NULL OR messages.expires_at > ?)
	AND (messages.for_each AND NOT EXISTS (SELECT 1 FROM messages c WHERE c.copy_of = messages.seq AND c.to_agent = ?)
		OR NOT messages.for_each AND NOT EXISTS (SELECT 1 FROM receipts r WHERE r.agent_id = messages.to_agent AND r.seq = messages.seq AND r.acked_at IS NOT NULL)
			AND messages.seq > coalesce((SELECT a.acked_seq FROM agents a WHERE a.id = messages.to_agent), 0))`

// TakeGroupMail gives a member of groups its copies of what was sent to them, the oldest first,
// and says whether there is more. A message that is for the first member alone counts as
// acknowledged under the group's name from then on, so that nobody else takes it. id makes
// the copies' ids. taken gets the copies after the commit and in commit order.
func (s *Store) TakeGroupMail(ctx context.Context, q operational.GroupQuery, id func() (string, error), taken func(copies []operational.Message)) (more bool, err error) {
	var copies []operational.Message
	// Most members find nothing: that is found out without a place in the queue of writes.
	found, err := s.groupMail(s.Read.WithContext(ctx), q)
	if err != nil || len(found) == 0 {
		return false, err
	}
	err = s.Commit.Write(ctx, func(tx *gorm.DB) error {
		copies, more = nil, false
		found, err := s.groupMail(tx, q)
		if err != nil {
			return err
		}
		if len(found) > q.Limit {
			found, more = found[:q.Limit], true
		}
		appends := make([]*operational.MessageAppend, len(found))
		for i, m := range found {
			if !m.Each {
				err := tx.Exec("INSERT INTO receipts (agent_id, seq, acked_at) VALUES (?, ?, ?) ON CONFLICT (agent_id, seq) DO UPDATE SET acked_at = excluded.acked_at",
					m.To, m.Seq, table.Millis(q.Now)).Error
				if err == nil && m.AckRequired {
					err = tx.Exec("UPDATE messages SET settled = true WHERE seq = ?", m.Seq).Error
				}
				if err != nil {
					return err
				}
			}
			m.CopyOf, m.Group, m.To, m.Each, m.IdempotencyKey = m.Seq, m.To, q.AgentID, false, ""
			if m.ID, err = id(); err != nil {
				return err
			}
			appends[i] = &operational.MessageAppend{Message: m}
		}
		if err := insertMessages(tx, appends); err != nil {
			return err
		}
		for _, a := range appends {
			copies = append(copies, a.Message)
		}
		return nil
	}, func() {
		if len(copies) > 0 {
			s.mailed.Ring()
		}
		taken(copies)
	})
	return more, err
}

func (s *Store) groupMail(tx *gorm.DB, q operational.GroupQuery) ([]operational.Message, error) {
	return messages.Find(tx.Where(takeable, q.Groups, q.AgentID, table.Millis(q.Now), q.AgentID).Order("seq").Limit(q.Limit + 1))
}
