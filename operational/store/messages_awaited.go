package store

import (
	"context"
	"time"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/operational"
)

// waitingFor is true of agent a and a message while that is a's to acknowledge.
const waitingFor = "a.joined_seq < messages.seq AND a.id <> messages.from_agent AND a.acked_seq < messages.seq AND NOT EXISTS (SELECT 1 FROM receipts r WHERE r.agent_id = a.id AND r.seq = messages.seq AND r.acked_at IS NOT NULL)"

// Awaited returns messages that want an acknowledgement, were sent before a
// time and are still waiting for one, the oldest first. from, if not empty,
// is their sender, or its sessions are; agents is the most that are named for each.
func (s *Store) Awaited(ctx context.Context, from string, before, now time.Time, limit, agents int) ([]operational.Awaited, error) {
	var c table.Conditions
	c.Add("ack_required AND NOT settled AND NOT for_each AND created_at <= ? AND (expires_at IS NULL OR expires_at > ?)"+
		" AND (to_agent <> '' OR EXISTS (SELECT 1 FROM agents a WHERE "+waitingFor+"))", table.Millis(before), table.Millis(now))
	if from != "" {
		own, args := ofAgent("from_agent", from)
		c.Add(own, args...)
	}
	sent, err := messages.List(s.Read.WithContext(ctx), c.Text+" ORDER BY seq LIMIT ?", c.With(limit)...)
	if err != nil {
		return nil, err
	}
	found := make([]operational.Awaited, len(sent))
	for i, one := range sent {
		found[i].Message = one
		if one.To != "" {
			found[i].Waiting = []string{one.To}
			continue
		}
		err := s.Read.WithContext(ctx).Raw("SELECT a.id FROM agents a, messages WHERE messages.seq = ? AND "+waitingFor+" ORDER BY a.id LIMIT ?", one.Seq, agents).Scan(&found[i].Waiting).Error
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// Unacknowledged returns those of the messages that Sweep would delete which somebody should have acknowledged and nobody did.
func (s *Store) Unacknowledged(ctx context.Context, after int64, cutoff time.Time, window int) ([]operational.Message, error) {
	return messages.List(s.Read.WithContext(ctx), `WHERE seq IN (SELECT seq FROM messages WHERE seq > ? ORDER BY seq LIMIT ?)
		AND created_at < ? AND expires_at IS NULL AND (to_agent = '' AND ack_required AND NOT settled
			OR to_agent <> '' AND NOT EXISTS (SELECT 1 FROM agents a WHERE a.id = messages.to_agent AND a.acked_seq >= messages.seq)
			AND NOT EXISTS (SELECT 1 FROM receipts r WHERE r.agent_id = messages.to_agent AND r.seq = messages.seq AND r.acked_at IS NOT NULL)) ORDER BY seq`,
		after, window, table.Millis(cutoff))
}

// Sweep examines up to window messages after a seq that were sent before cutoff, and deletes them; one that was to expire, once it did so before
// cutoff. At the end of the log it deletes as many marks that no stored message needs.
func (s *Store) Sweep(ctx context.Context, after int64, cutoff time.Time, window int) (operational.Swept, error) {
	var out operational.Swept
	err := s.Commit.Write(committer.Essential(ctx), func(tx *gorm.DB) error {
		out = operational.Swept{}
		var span struct {
			N    int
			Last int64
		}
		err := tx.Raw("SELECT count(*) AS n, coalesce(max(seq), 0) AS last FROM (SELECT seq, created_at FROM messages WHERE seq > ? ORDER BY seq LIMIT ?) AS span WHERE created_at < ?",
			after, window, table.Millis(cutoff)).Scan(&span).Error
		if err != nil {
			return err
		}
		out.Examined = span.N
		named := map[string]any{"after": after, "last": span.Last, "cutoff": table.Millis(cutoff), "window": window}
		if span.N > 0 {
			result := tx.Exec(sweepMessages, named)
			if result.Error != nil {
				return result.Error
			}
			out.Deleted = int(result.RowsAffected)
		}
		if span.N == window {
			out.Next = span.Last
			return nil
		}
		return tx.Exec(sweepMarks, named).Error
	}, func() {
		if out.Deleted > 0 {
			s.swept.Ring()
		}
	})
	return out, err
}

const sweepMessages = `DELETE FROM messages WHERE seq > @after AND seq <= @last AND created_at < @cutoff AND (expires_at IS NULL OR expires_at < @cutoff)`

const sweepMarks = `DELETE FROM marks WHERE (agent_id, kind, seq) IN (SELECT k.agent_id, k.kind, k.seq FROM marks k WHERE k.at < @cutoff
	AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.to_agent = k.agent_id AND m.seq <= k.seq)
	AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.to_agent = '' AND m.seq <= k.seq) LIMIT @window)`
