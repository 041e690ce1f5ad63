package store

import (
	"context"

	"gorm.io/gorm"

	"skillrouter/learning/history"
)

var _ history.ProposalStore = (*Store)(nil)

const proposalSelect = `SELECT p.id, p.transcript_id, t.session_id, t.persona, t.agent_id, t.project, p.kind, p.content, p.confidence, p.evidence,
	p.turns, t.extractor, p.status, p.decided_by, p.reason, p.stored_as, p.created_at, p.decided_at
	FROM proposals p JOIN transcripts t ON t.id = p.transcript_id `

// ChangeProposals implements history.ProposalStore.
func (s *Store) ChangeProposals(ctx context.Context, decide func(tx history.ProposalTx) error) error {
	return s.queue(ctx, func(tx *gorm.DB) error { return decide(&transaction{tx}) }, nil)()
}

// Transcript implements history.ProposalStore.
func (s *Store) Transcript(ctx context.Context, id string) (history.TranscriptRecord, bool, error) {
	return first(list(s.read.WithContext(ctx), func(r *history.TranscriptRecord) []any {
		return []any{&r.ID, &r.Persona, &r.AgentID, &r.SessionID, &r.Project, &r.Turns, &r.Bytes, &r.Extractor, &r.Notice, at(&r.CreatedAt)}
	}, `SELECT id, persona, agent_id, session_id, project, turns, bytes, extractor, notice, created_at FROM transcripts WHERE id = ?`, id))
}

// Proposal implements history.ProposalStore.
func (s *Store) Proposal(ctx context.Context, id string) (history.StoredProposal, bool, error) {
	return oneProposal(s.read.WithContext(ctx), id)
}

func oneProposal(db *gorm.DB, id string) (history.StoredProposal, bool, error) {
	return first(proposals(db, "WHERE p.id = ?", id))
}

// Proposals implements history.ProposalStore.
func (s *Store) Proposals(ctx context.Context, filter history.ProposalFilter) ([]history.StoredProposal, error) {
	var c conditions
	c.equal("t.persona", filter.Persona)
	c.equal("p.transcript_id", filter.TranscriptID)
	c.equal("t.session_id", filter.SessionID)
	c.equal("p.kind", string(filter.Kind))
	c.equal("p.status", string(filter.Status))
	return proposals(s.read.WithContext(ctx), c.text+" ORDER BY p.num DESC LIMIT ?", append(c.args, filter.Limit)...)
}

// ProposalsOf implements history.ProposalStore.
func (s *Store) ProposalsOf(ctx context.Context, transcript string) ([]history.StoredProposal, error) {
	return proposals(s.read.WithContext(ctx), "WHERE p.transcript_id = ? ORDER BY p.num", transcript)
}

func proposals(db *gorm.DB, where string, args ...any) ([]history.StoredProposal, error) {
	return list(db, func(p *history.StoredProposal) []any {
		return []any{
			&p.ID, &p.TranscriptID, &p.SessionID, &p.Persona, &p.AgentID, &p.Project, &p.Kind, fromJSON(&p.Content), &p.Confidence, fromJSON(&p.Evidence),
			fromJSON(&p.Turns), &p.Extractor, &p.Status, &p.DecidedBy, &p.Reason, &p.StoredAs, at(&p.CreatedAt), atOrNil(&p.DecidedAt),
		}
	}, proposalSelect+where, args...)
}

// AddTranscript implements history.ProposalTx.
func (tx *transaction) AddTranscript(r history.TranscriptRecord, list []history.StoredProposal) (stored int, added bool, err error) {
	result, err := exec(tx.db, `INSERT INTO transcripts (id, persona, agent_id, session_id, project, turns, bytes, extractor, notice, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`+orKeep,
		r.ID, r.Persona, r.AgentID, r.SessionID, r.Project, r.Turns, r.Bytes, r.Extractor, r.Notice, millis(r.CreatedAt))
	if err != nil {
		return 0, false, err
	}
	if n, err := result.RowsAffected(); err != nil || n == 0 {
		return 0, false, err
	}
	err = insertOr(tx.db, orKeep, "proposals", []string{
		"id", "transcript_id", "kind", "content", "confidence", "evidence", "turns", "status",
		"decided_by", "reason", "stored_as", "created_at", "decided_at", "mark",
	}, len(list), func(i int, row []any) []any {
		p := list[i]
		return append(row, p.ID, r.ID, string(p.Kind), string(p.Content), p.Confidence, listText(p.Evidence), listText(p.Turns), string(p.Status),
			p.DecidedBy, p.Reason, p.StoredAs, millis(p.CreatedAt), millisPtr(p.DecidedAt), mark(p))
	})
	if err != nil {
		return 0, false, err
	}
	_, err = one(tx.db, []any{&stored}, "SELECT count(*) FROM proposals WHERE transcript_id = ?", r.ID)
	return stored, true, err
}

// mark is NULL where a proposal may be made again.
func mark(p history.StoredProposal) any {
	if p.Mark == 0 {
		return nil
	}
	return p.Mark
}

// Proposal implements history.ProposalTx.
func (tx *transaction) Proposal(id string) (history.StoredProposal, bool, error) {
	return oneProposal(tx.db, id)
}

// Decide implements history.ProposalTx.
func (tx *transaction) Decide(p history.StoredProposal) error {
	_, err := exec(tx.db, "UPDATE proposals SET status = ?, decided_by = ?, reason = ?, stored_as = ?, decided_at = ? WHERE id = ?",
		string(p.Status), p.DecidedBy, p.Reason, p.StoredAs, millisPtr(p.DecidedAt), p.ID)
	return err
}
