package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/operational"
)

// messages are read and written by the thousand.
var messages = table.Listed("messages", []string{
	"seq", "id", "from_agent", "to_agent", "signal", "context", "created_at",
	"priority", "thread_id", "ack_required", "idempotency_key", "expires_at", "to_group", "copy_of", "for_each",
}, func(m *operational.Message) []any {
	return []any{
		&m.Seq, &m.ID, &m.From, &m.To, &m.Signal, table.Raw(&m.Context), table.At(&m.CreatedAt),
		&m.Priority, &m.ThreadID, &m.AckRequired, table.OrNull(&m.IdempotencyKey), table.AtOrNil(&m.ExpiresAt), &m.Group, table.OrNull(&m.CopyOf), &m.Each,
	}
}).Numbered("seq")

// LastSeq returns the greatest seq that a message ever had, also if it is swept away since.
func (s *Store) LastSeq(ctx context.Context) (int64, error) {
	return table.Scalar[int64](s.Read.WithContext(ctx), "SELECT coalesce({last messages}, 0)")
}

// AppendMessages stores a batch of messages in its order, in one transaction
// with the stops that it brings into force. take is called when the
// transaction begins, at most once, so that the batch gathers until then.
// stored runs after the commit and in commit order.
func (s *Store) AppendMessages(ctx context.Context, take func() []*operational.MessageAppend, stored func()) error {
	var batch []*operational.MessageAppend
	var asked []operational.Message
	return s.Commit.Write(ctx, func(tx *gorm.DB) error {
		if batch == nil {
			batch = take()
			for _, a := range batch {
				asked = append(asked, a.Message)
			}
		}
		for i, a := range batch { // the write may be run again
			*a = operational.MessageAppend{Message: asked[i], Full: a.Full}
		}
		fresh, repeats, err := settleKeys(tx, batch)
		if err != nil {
			return err
		}
		if err := insertMessages(tx, fresh); err != nil {
			return err
		}
		for _, r := range repeats {
			r.settle()
		}
		for _, a := range fresh {
			if err := putStop(tx, a.Message); err != nil {
				return err
			}
		}
		return nil
	}, func() {
		s.mailed.Ring()
		if stored != nil {
			stored()
		}
	})
}

// repetition is a message whose idempotency key its sender has used before.
type repetition struct {
	again *operational.MessageAppend
	first *operational.Message
}

// settle answers with the first message if the content is the same, with a refusal if not.
func (r repetition) settle() {
	if !r.again.Message.SameContent(*r.first) {
		r.again.Err = &errs.Error{
			Code: errs.Conflict, Field: "idempotency_key",
			Message: "was used by the same sender for a different message",
		}
		return
	}
	r.again.Message, r.again.Duplicate = *r.first, true
}

// settleKeys finds the messages whose idempotency key was used before, in the
// log or earlier in the batch, and returns the others. The repetitions are to
// be settled once the others have their seq.
func settleKeys(tx *gorm.DB, batch []*operational.MessageAppend) (fresh []*operational.MessageAppend, repeats []repetition, err error) {
	type key struct{ from, key string }
	used := map[key]*operational.Message{}
	fresh = make([]*operational.MessageAppend, 0, len(batch))
	for _, a := range batch {
		if a.Message.IdempotencyKey == "" {
			fresh = append(fresh, a)
			continue
		}
		k := key{a.Message.From, a.Message.IdempotencyKey}
		if first := used[k]; first != nil {
			repeats = append(repeats, repetition{a, first})
			continue
		}
		stored, found, err := messages.One(tx, "WHERE from_agent = ? AND idempotency_key = ?", k.from, k.key)
		switch {
		case err != nil:
			return nil, nil, err
		case found:
			used[k] = &stored
			repeats = append(repeats, repetition{a, &stored})
		case a.Full != nil:
			a.Err = a.Full
		default:
			used[k] = &a.Message
			fresh = append(fresh, a)
		}
	}
	return fresh, repeats, nil
}

func insertMessages(tx *gorm.DB, all []*operational.MessageAppend) error {
	rows := make([]*operational.Message, len(all))
	for i, a := range all {
		rows[i] = &a.Message
	}
	return messages.InsertMany(tx, rows)
}

// putStop brings a stop signal into force for those it is addressed to, and takes it back by a resume. One to all is for those that have
// not said goodbye: the session that comes tomorrow is not told of it.
func putStop(tx *gorm.DB, m operational.Message) error {
	put := "UPDATE agents SET stop_seq = ?, stop_reason = ?, stop_expires = ?, stop_pid = CASE WHEN gone THEN 0 WHEN pid > 0 THEN pid WHEN state = ? THEN 0 ELSE -1 END WHERE "
	args := []any{m.Seq, operational.StopReason(m), table.MillisOrNil(m.ExpiresAt), operational.AgentOffline}
	switch m.Signal {
	case operational.SignalStop:
	case operational.SignalResume:
		put, args = "UPDATE agents SET stop_seq = 0, stop_pid = 0, stop_reason = '', stop_expires = NULL WHERE ", nil
	default:
		return nil
	}
	if m.To != "" {
		return tx.Exec(put+"id = ?", append(args, m.To)...).Error
	}
	return tx.Exec(put+"id <> ? AND NOT gone", append(args, m.From)...).Error
}

// Mail returns the messages for an agent that a query selects, in the order of
// their seq, and whether there are more.
func (s *Store) Mail(ctx context.Context, q operational.MailQuery) (mail []operational.Message, more bool, err error) {
	text, args := mailOf(q, q.Limit+1)
	size := 0
	err = table.Each(table.Query(s.Read.WithContext(ctx), messages.Select()+"WHERE seq IN (SELECT seq FROM ("+text+") AS mail ORDER BY seq LIMIT ?) ORDER BY seq", append(args, q.Limit+1)...)).
		Visit(func(rows *sql.Rows) (bool, error) {
			if more = len(mail) == q.Limit || q.MaxBytes > 0 && size > q.MaxBytes; more {
				return false, nil
			}
			var m operational.Message
			err := rows.Scan(messages.Fields(&m)...)
			size += len(m.Context)
			mail = append(mail, m)
			return true, err
		})
	return mail, more, err
}

// mailOf selects seq and expires_at of the messages that a query does, without its bounds: at most limit of those that are the agent's own, and of
// those to everybody. Each walks an index in the order of seq and stops early.
func mailOf(q operational.MailQuery, limit int) (text string, args []any) {
	side := func(condition string, after int64, of ...any) string {
		var c table.Conditions
		c.Add(condition, of...)
		if q.Unacked {
			after = max(after, q.AckedSeq)
		}
		c.Add("seq > ? AND (expires_at IS NULL OR expires_at > ?)", after, table.Millis(q.Now))
		if q.Unacked {
			c.Add(notAcked, q.AgentID)
		}
		c.Given("thread_id <> '' AND thread_id = ?", q.Thread)
		args = append(args, c.With(limit)...)
		return "SELECT * FROM (SELECT seq, expires_at FROM messages " + c.Text + " ORDER BY seq LIMIT ?) AS side"
	}
	text = side("to_agent = ?", q.After, q.AgentID) + " UNION ALL "
	general, from := "to_agent = '' AND from_agent <> ?", []any{q.AgentID}
	if q.Speakers != nil {
		list, _ := json.Marshal(q.Speakers) // strings cannot fail
		general, from = general+" AND from_agent IN (SELECT value FROM {elements ?})", append(from, string(list))
	}
	return text + side(general, max(q.After, q.JoinedSeq), from...), args
}

const notAcked = "NOT EXISTS (SELECT 1 FROM receipts r WHERE r.agent_id = ? AND r.seq = messages.seq AND r.acked_at IS NOT NULL)"

// Message returns the message with an id.
func (s *Store) Message(ctx context.Context, id string) (operational.Message, error) {
	return need(messages, s.Read.WithContext(ctx), "no message has this id", "WHERE id = ?", id)
}

// CountUnacked returns how many messages an agent has not acknowledged, at
// most the query's limit, and when the next of them expires (zero: never).
func (s *Store) CountUnacked(ctx context.Context, q operational.MailQuery) (n int, next time.Time, err error) {
	text, args := mailOf(q, q.Limit)
	var expires *time.Time
	_, err = table.One(s.Read.WithContext(ctx), []any{&n, table.AtOrNil(&expires)}, "SELECT count(*), min(expires_at) FROM ("+text+") AS mail", args...)
	if expires != nil {
		next = *expires
	}
	return min(n, q.Limit), next, err
}

// MailWaiting returns what waits in an agent's mailbox, by sender: the messages to
// it alone that it has not acknowledged.
func (s *Store) MailWaiting(ctx context.Context, q operational.MailQuery) (waiting []operational.Waiting, err error) {
	err = s.Read.WithContext(ctx).Raw(`SELECT from_agent AS "from", count(*) AS count, coalesce(sum(octet_length(context)), 0) AS bytes FROM messages WHERE to_agent = ? AND seq > ?`+
		" AND (expires_at IS NULL OR expires_at > ?) AND "+notAcked+" GROUP BY from_agent", q.AgentID, q.AckedSeq, table.Millis(q.Now), q.AgentID).Scan(&waiting).Error
	return waiting, err
}
