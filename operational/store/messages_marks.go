package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/operational"
)

const (
	// idBatch is how many ids one IN list holds.
	idBatch = 100
	// deliveryBatch is how many delivery marks one write holds: it is small, so
	// that a signal that waits behind it waits for a millisecond.
	deliveryBatch = 40
)

// markColumn is where each kind of mark is kept in receipts, and cumulatively in agents.
var markColumn = map[operational.MarkKind]struct{ at, through string }{
	operational.MarkDelivered: {"delivered_at", "delivered_seq"},
	operational.MarkRead:      {"read_at", "read_seq"},
	operational.MarkAcked:     {"acked_at", "acked_seq"},
}

// changed numbers a change of what waits for an agent, in an UPDATE of its row: it leaves no event,
// and another process that counts what waits must learn of it.
const changed = "changed = (SELECT max(changed) + 1 FROM agents)"

// Mark records that an agent's messages have reached a step. marked gets what
// that changed, after the commit and in commit order.
func (s *Store) Mark(ctx context.Context, r operational.MarkRequest, marked func(operational.Marked)) error {
	var out operational.Marked
	return s.Commit.Write(ctx, func(tx *gorm.DB) error {
		out = operational.Marked{}
		agent := operational.AgentRecord{Agent: operational.Agent{ID: r.AgentID}}
		known, err := table.One(tx, []any{&agent.JoinedSeq, &agent.AckedSeq, &agent.ReadSeq, &agent.DeliveredSeq},
			"SELECT joined_seq, acked_seq, read_seq, delivered_seq FROM agents WHERE id = ?", r.AgentID)
		if err != nil {
			return err
		}
		if !known {
			return errs.Errorf(errs.NotFound, "no agent %q is known", r.AgentID)
		}
		out.Through = map[operational.MarkKind]int64{
			operational.MarkDelivered: agent.DeliveredSeq, operational.MarkRead: agent.ReadSeq, operational.MarkAcked: agent.AckedSeq,
		}[r.Kind]
		if len(r.IDs) == 0 {
			return markThrough(tx, agent, r, &out)
		}
		return markSingle(tx, agent, r, &out)
	}, func() { marked(out) })
}

// markThrough moves a cumulative mark.
func markThrough(tx *gorm.DB, agent operational.AgentRecord, r operational.MarkRequest, out *operational.Marked) error {
	column := markColumn[r.Kind]
	if r.Seq <= out.Through {
		return nil
	}
	unmarked := "NOT EXISTS (SELECT 1 FROM receipts r WHERE r.agent_id = ? AND r.seq = m.seq AND r." + column.at + " IS NOT NULL)"
	err := tx.Raw("SELECT (SELECT count(*) FROM messages m WHERE m.to_agent = ? AND m.seq > ? AND m.seq <= ? AND "+unmarked+
		") + (SELECT count(*) FROM messages m WHERE m.to_agent = '' AND m.from_agent <> ? AND m.seq > ? AND m.seq <= ? AND "+unmarked+")",
		agent.ID, out.Through, r.Seq, agent.ID, agent.ID, max(out.Through, agent.JoinedSeq), r.Seq, agent.ID).Scan(&out.Count).Error
	if err != nil {
		return err
	}
	out.Through = r.Seq
	set := column.through + " = ?"
	if r.Kind == operational.MarkAcked {
		set += ", " + changed
	}
	if err := tx.Exec("UPDATE agents SET "+set+" WHERE id = ?", r.Seq, agent.ID).Error; err != nil {
		return err
	}
	if r.Kind == operational.MarkAcked {
		err := tx.Exec("UPDATE messages SET settled = true WHERE to_agent = ? AND seq <= ? AND ack_required AND NOT settled", agent.ID, r.Seq).Error
		if err != nil {
			return err
		}
	}
	return tx.Exec("INSERT INTO marks (agent_id, kind, seq, at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", agent.ID, string(r.Kind), r.Seq, table.Millis(r.At)).Error
}

// markSingle marks messages one by one. One that is not the agent's fails all.
func markSingle(tx *gorm.DB, agent operational.AgentRecord, r operational.MarkRequest, out *operational.Marked) error {
	column := markColumn[r.Kind]
	ids := slices.Compact(slices.Sorted(slices.Values(r.IDs)))
	var greatest int64
	for chunk := range slices.Chunk(ids, idBatch) {
		rows, err := table.List(tx, func(m *operational.Message) []any { return []any{&m.Seq, &m.From, &m.To, &m.AckRequired} },
			"SELECT seq, from_agent, to_agent, ack_required FROM messages WHERE id IN ("+table.Marks(len(chunk))+")", table.Anys(chunk)...)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if row.To != agent.ID && (row.To != "" || row.From == agent.ID) {
				return notTheirs()
			}
			greatest = max(greatest, row.Seq)
			if row.Seq <= out.Through {
				continue
			}
			result := tx.Exec("INSERT INTO receipts (agent_id, seq, "+column.at+") VALUES (?, ?, ?) ON CONFLICT (agent_id, seq) DO UPDATE SET "+
				column.at+" = excluded."+column.at+" WHERE receipts."+column.at+" IS NULL", agent.ID, row.Seq, table.Millis(r.At))
			if result.Error != nil {
				return result.Error
			}
			out.Count += result.RowsAffected
			if r.Kind == operational.MarkAcked && row.AckRequired && row.To != "" {
				if err := tx.Exec("UPDATE messages SET settled = true WHERE seq = ?", row.Seq).Error; err != nil {
					return err
				}
			}
		}
		if len(rows) < len(chunk) {
			return notTheirs()
		}
	}
	if r.Kind != operational.MarkAcked || out.Count == 0 {
		return nil
	}
	through, err := contiguous(tx, agent, r.At, max(greatest, out.Through))
	if err != nil {
		return err
	}
	out.Through = max(out.Through, through)
	return tx.Exec("UPDATE agents SET acked_seq = ?, "+changed+" WHERE id = ?", out.Through, agent.ID).Error
}

func notTheirs() error {
	return &errs.Error{Code: errs.NotFound, Field: "message_ids", Message: "holds an id that no message of this agent has"}
}

// contiguous returns up to where an agent has acknowledged everything that is
// not expired, looking no further than last. This is where its own cursor moves to.
func contiguous(tx *gorm.DB, agent operational.AgentRecord, now time.Time, last int64) (int64, error) {
	text, args := mailOf(operational.MailQuery{AgentID: agent.ID, JoinedSeq: agent.JoinedSeq, AckedSeq: agent.AckedSeq, Unacked: true, Now: now}, 1)
	first, err := table.Scalar[int64](tx, "SELECT coalesce(min(seq), ?) FROM ("+text+") AS mail", append([]any{last + 1}, args...)...)
	return min(first-1, last), err
}

// SaveDeliveries writes which messages were handed to whom.
func (s *Store) SaveDeliveries(ctx context.Context, deliveries []operational.Delivery) error {
	for chunk := range slices.Chunk(deliveries, deliveryBatch) {
		var through, single, marks []any
		for _, d := range chunk {
			if d.Through {
				through = append(through, d.AgentID, d.Seq)
				marks = append(marks, d.AgentID, string(operational.MarkDelivered), d.Seq, table.Millis(d.At))
			} else {
				single = append(single, d.AgentID, d.Seq, table.Millis(d.At))
			}
		}
		// Each chunk is a write of its own, so that signals are not held up by all of them.
		err := s.Commit.Write(ctx, func(tx *gorm.DB) error {
			if n := len(through) / 2; n > 0 {
				err := tx.Exec("WITH d(id, seq) AS (VALUES (?,CAST(? AS BIGINT))"+strings.Repeat(",(?,?)", n-1)+
					") UPDATE agents SET delivered_seq = d.seq FROM d WHERE agents.id = d.id AND agents.delivered_seq < d.seq", through...).Error
				if err != nil {
					return err
				}
				err = tx.Exec("INSERT INTO marks (agent_id, kind, seq, at) VALUES (?,?,?,?)"+strings.Repeat(",(?,?,?,?)", n-1)+" ON CONFLICT DO NOTHING", marks...).Error
				if err != nil {
					return err
				}
			}
			if n := len(single) / 3; n > 0 {
				// A message may be swept away between its delivery and this; then there is nothing to mark.
				return tx.Exec("WITH d(id, seq, at) AS (VALUES (?,CAST(? AS BIGINT),CAST(? AS BIGINT))"+strings.Repeat(",(?,?,?)", n-1)+
					") INSERT INTO receipts (agent_id, seq, delivered_at) SELECT d.id, d.seq, d.at FROM d JOIN messages m ON m.seq = d.seq WHERE true"+
					" ON CONFLICT (agent_id, seq) DO UPDATE SET delivered_at = excluded.delivered_at WHERE receipts.delivered_at IS NULL", single...).Error
			}
			return nil
		}, nil)
		if err != nil {
			return err
		}
	}
	return nil
}

// AckedAfter returns the seqs after a seq that an agent has acknowledged one by one, at most limit.
func (s *Store) AckedAfter(ctx context.Context, agentID string, after int64, limit int) ([]int64, error) {
	return table.List(s.Read.WithContext(ctx), table.Value[int64], "SELECT seq FROM receipts WHERE agent_id = ? AND seq > ? AND acked_at IS NOT NULL ORDER BY seq LIMIT ?", agentID, after, limit)
}

var receipts = table.Of[operational.Receipt]("receipts")

// ReceiptsBetween returns the marks on single messages of an agent in a range of seqs, both ends included.
func (s *Store) ReceiptsBetween(ctx context.Context, agentID string, first, last int64) ([]operational.Receipt, error) {
	return receipts.List(s.Read.WithContext(ctx), "WHERE agent_id = ? AND seq BETWEEN ? AND ?", agentID, first, last)
}

// reached are the columns of an agent's receipt of message m. What is marked one by one counts before a cumulative mark. A
// cumulative delivery says nothing of a message that could expire: those are marked one by one.
func reached(agent string) string {
	columns := ""
	for _, kind := range [...]operational.MarkKind{operational.MarkDelivered, operational.MarkRead, operational.MarkAcked} {
		column := markColumn[kind].at
		through := "(SELECT min(k.at) FROM marks k WHERE k.agent_id = " + agent + " AND k.kind = '" + string(kind) + "' AND k.seq >= m.seq)"
		if kind == operational.MarkDelivered {
			through = "CASE WHEN m.expires_at IS NULL THEN " + through + " END"
		}
		columns += ", coalesce((SELECT r." + column + " FROM receipts r WHERE r.agent_id = " + agent + " AND r.seq = m.seq), " + through + ") AS " + column
	}
	return columns
}

// BroadcastReceipts returns how far a message to everybody has come with each recipient, in the
// order of their ids; at most limit of them.
func (s *Store) BroadcastReceipts(ctx context.Context, m operational.Message, limit int) ([]operational.Receipt, error) {
	return table.List(s.Read.WithContext(ctx), receipts.Fields, "SELECT a.id AS agent_id, m.seq"+reached("a.id")+
		" FROM (SELECT id FROM agents WHERE joined_seq < ? AND id <> ? ORDER BY id LIMIT ?) a, messages m WHERE m.seq = ? ORDER BY a.id", m.Seq, m.From, limit, m.Seq)
}

// ReceiptsOf returns how far messages to somebody have come, by their seqs, at most limit of them in all. A message to a group has the receipts
// of its copies, each of its members', and its own where there is no copy.
func (s *Store) ReceiptsOf(ctx context.Context, seqs []int64, limit int) (map[int64]operational.SentReceipts, error) {
	type copied struct {
		origin int64
		from   string
		operational.Receipt
	}
	of, args := table.Marks(len(seqs)), table.Anys(seqs)
	rows, err := table.List(s.Read.WithContext(ctx), func(c *copied) []any { return append([]any{&c.origin, &c.from}, receipts.Fields(&c.Receipt)...) }, "SELECT m.origin, m.from_agent, m.to_agent AS agent_id, m.seq"+reached("m.to_agent")+
		" FROM (SELECT seq AS origin, seq, from_agent, to_agent, expires_at FROM messages WHERE seq IN ("+of+") AND to_agent <> ''"+
		" UNION ALL SELECT copy_of AS origin, seq, from_agent, to_agent, expires_at FROM messages WHERE copy_of IN ("+of+")) m ORDER BY m.origin, m.seq LIMIT ?",
		append(slices.Concat(args, args), limit)...)
	found := map[int64]operational.SentReceipts{}
	for _, r := range rows {
		one := found[r.origin]
		if r.Seq != r.origin && len(one.Receipts) == 1 && one.Receipts[0].Seq == r.origin {
			one.Receipts = nil // members have it, and nobody of the group's name
		}
		one.From, one.Receipts = r.from, append(one.Receipts, r.Receipt)
		found[r.origin] = one
	}
	return found, err
}
