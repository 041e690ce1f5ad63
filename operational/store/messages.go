package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"gorm.io/gorm"

	"skillrouter/internal/database/table"
	"skillrouter/internal/errs"
	"skillrouter/operational"
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
		stored, found, err := messages.Take(tx.Where("from_agent = ? AND idempotency_key = ?", k.from, k.key))
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

// plainColumns is how many columns a message has that has nothing but them, as most have.
const plainColumns = 6

// insertMessages stores messages in their order. A batch of plain ones binds half as much.
func insertMessages(tx *gorm.DB, all []*operational.MessageAppend) error {
	rows, leading := make([]*operational.Message, len(all)), plainColumns
	for i, a := range all {
		m := &a.Message
		if rows[i] = m; m.Priority != 0 || m.ThreadID != "" || m.AckRequired || m.IdempotencyKey != "" || m.ExpiresAt != nil || m.Group != "" || m.Each {
			leading = 0
		}
	}
	return messages.InsertMany(tx, rows, leading)
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

// messageColumns are those of messages m.
var messageColumns = sync.OnceValue(func() string { return strings.ReplaceAll(messages.Columns(), "messages.", "m.") })

// Mail returns the messages for an agent that a query selects, in the order of
// their seq, and whether there are more.
func (s *Store) Mail(ctx context.Context, q operational.MailQuery) (mail []operational.Message, more bool, err error) {
	err = s.snapshot(ctx, func(tx *gorm.DB) error {
		mail, more, err = mailPage(tx, q)
		return err
	})
	return mail, more, err
}

func mailPage(tx *gorm.DB, q operational.MailQuery) (page []operational.Message, more bool, err error) {
	// Two queries that each walk an index in the order of seq and stop early,
	// merged here, instead of one that would sort all that waits for the agent.
	// Both must see the same log: who goes on after the page would miss what the first did not see yet.
	direct, cut, err := mailSide(tx, q, "m.to_agent = ?", q.After, 0, q.AgentID)
	if err != nil {
		return nil, false, err
	}
	border := int64(0)
	if cut {
		border, more = direct[len(direct)-1].Seq, true
	}
	condition, args := "m.to_agent = '' AND m.from_agent <> ?", []any{q.AgentID}
	if q.Speakers != nil {
		list, err := json.Marshal(q.Speakers)
		if err != nil {
			return nil, false, err
		}
		condition, args = condition+" AND m.from_agent IN (SELECT value FROM {elements ?})", append(args, string(list))
	}
	general, cut, err := mailSide(tx, q, condition, max(q.After, q.JoinedSeq), border, args...)
	if err != nil {
		return nil, false, err
	}
	if cut {
		border, more = general[len(general)-1].Seq, true
	}
	size := 0
	for len(direct)+len(general) > 0 {
		var m operational.Message
		if len(general) == 0 || len(direct) > 0 && direct[0].Seq < general[0].Seq {
			m, direct = direct[0], direct[1:]
		} else {
			m, general = general[0], general[1:]
		}
		if border > 0 && m.Seq > border || len(page) == q.Limit || q.MaxBytes > 0 && size > q.MaxBytes {
			return page, true, nil
		}
		size += len(m.Context)
		page = append(page, m)
	}
	return page, more, nil
}

// mailSide reads one side of Mail: what matches the condition, after and, if until
// is not 0, up to until. cut tells that there may be more.
func mailSide(tx *gorm.DB, q operational.MailQuery, condition string, after, until int64, args ...any) (side []operational.Message, cut bool, err error) {
	text := "SELECT " + messageColumns() + " FROM messages m WHERE " + condition + " AND m.seq > ? AND (m.expires_at IS NULL OR m.expires_at > ?)"
	if q.Unacked {
		after = max(after, q.AckedSeq)
	}
	args = append(args, after, table.Millis(q.Now))
	if until > 0 {
		text += " AND m.seq <= ?"
		args = append(args, until)
	}
	if q.Unacked {
		text += " AND " + notAcked
		args = append(args, q.AgentID)
	}
	if q.Thread != "" {
		text += " AND m.thread_id <> '' AND m.thread_id = ?"
		args = append(args, q.Thread)
	}
	rows, err := tx.Raw(text+" ORDER BY m.seq LIMIT ?", append(args, q.Limit+1)...).Rows()
	if err != nil {
		return nil, false, err
	}
	defer rows.Close()
	size := 0
	for rows.Next() {
		if len(side) == q.Limit || q.MaxBytes > 0 && size > q.MaxBytes {
			return side, true, nil
		}
		m, err := scanMessage(rows)
		if err != nil {
			return nil, false, err
		}
		size += len(m.Context)
		side = append(side, m)
	}
	return side, false, rows.Err()
}

const notAcked = "NOT EXISTS (SELECT 1 FROM receipts r WHERE r.agent_id = ? AND r.seq = m.seq AND r.acked_at IS NOT NULL)"

// scanMessage reads messageColumns. Replays are the hot path, hence no column that scans itself.
func scanMessage(rows *sql.Rows) (operational.Message, error) {
	var m operational.Message
	var content sql.RawBytes
	var key sql.NullString
	var created int64
	var expires, of sql.NullInt64
	if err := rows.Scan(&m.Seq, &m.ID, &m.From, &m.To, &m.Signal, &content, &created, &m.Priority, &m.ThreadID, &m.AckRequired, &key, &expires, &m.Group, &of, &m.Each); err != nil {
		return m, err
	}
	if content != nil {
		m.Context = append(json.RawMessage(nil), content...)
	}
	m.IdempotencyKey, m.CopyOf, m.CreatedAt = key.String, of.Int64, table.FromMillis(created)
	if expires.Valid {
		m.ExpiresAt = new(table.FromMillis(expires.Int64))
	}
	return m, nil
}

// Message returns the message with an id.
func (s *Store) Message(ctx context.Context, id string) (operational.Message, error) {
	return need(messages, s.Read.WithContext(ctx).Where("id = ?", id), "no message has this id")
}

// CountUnacked returns how many messages an agent has not acknowledged, at
// most the query's limit, and when the next of them expires (zero: never).
func (s *Store) CountUnacked(ctx context.Context, q operational.MailQuery) (int, time.Time, error) {
	var row struct {
		N       int
		Expires *int64
	}
	const side = "SELECT m.expires_at FROM messages m WHERE "
	const rest = " AND m.seq > ? AND (m.expires_at IS NULL OR m.expires_at > ?) AND " + notAcked + " LIMIT ?"
	now := table.Millis(q.Now)
	err := s.Read.WithContext(ctx).Raw(
		"SELECT count(*) AS n, min(expires_at) AS expires FROM (SELECT * FROM ("+side+"m.to_agent = ?"+rest+") AS own UNION ALL SELECT * FROM ("+side+"m.to_agent = '' AND m.from_agent <> ?"+rest+") AS general) AS mail",
		q.AgentID, q.AckedSeq, now, q.AgentID, q.Limit, q.AgentID, max(q.AckedSeq, q.JoinedSeq), now, q.AgentID, q.Limit).Scan(&row).Error
	if err != nil {
		return 0, time.Time{}, err
	}
	var next time.Time
	if row.Expires != nil {
		next = table.FromMillis(*row.Expires)
	}
	return min(row.N, q.Limit), next, nil
}

// MailWaiting returns what waits in an agent's mailbox, by sender: the messages to
// it alone that it has not acknowledged.
func (s *Store) MailWaiting(ctx context.Context, q operational.MailQuery) (waiting []operational.Waiting, err error) {
	err = s.Read.WithContext(ctx).Raw(`SELECT m.from_agent AS "from", count(*) AS count, coalesce(sum(octet_length(m.context)), 0) AS bytes FROM messages m WHERE m.to_agent = ? AND m.seq > ?`+
		" AND (m.expires_at IS NULL OR m.expires_at > ?) AND "+notAcked+" GROUP BY m.from_agent", q.AgentID, q.AckedSeq, table.Millis(q.Now), q.AgentID).Scan(&waiting).Error
	return waiting, err
}
