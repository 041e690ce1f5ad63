package store

import (
	"context"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/learning/history"
)

var _ history.ProposalStore = (*Store)(nil)

var transcripts = table.Of[history.TranscriptRecord]("transcripts")

var proposals = table.Of[history.StoredProposal]("proposals", "SessionID transcripts.session_id", "Persona transcripts.persona", "AgentID transcripts.agent_id",
	"Project transcripts.project", "Extractor transcripts.extractor", "Mark").
	With("mark", func(p *history.StoredProposal) any { return table.OrNull(&p.Mark) }) // NULL where a proposal may be made again

// ofTranscripts reads proposals with what their transcripts say.
func ofTranscripts(db *gorm.DB, where string, args ...any) ([]history.StoredProposal, error) {
	return proposals.List(db, "JOIN transcripts ON transcripts.id = proposals.transcript_id "+where, args...)
}

// ChangeProposals implements history.ProposalStore.
func (s *Store) ChangeProposals(ctx context.Context, decide func(tx history.ProposalTx) error) error {
	return s.queue(ctx, func(tx *gorm.DB) error { return decide(&transaction{tx}) }, nil)()
}

// Transcript implements history.ProposalStore.
func (s *Store) Transcript(ctx context.Context, id string) (history.TranscriptRecord, bool, error) {
	return transcripts.One(s.Read.WithContext(ctx), "WHERE id = ?", id)
}

// Proposal implements history.ProposalStore.
func (s *Store) Proposal(ctx context.Context, id string) (history.StoredProposal, bool, error) {
	return oneProposal(s.Read.WithContext(ctx), id)
}

func oneProposal(db *gorm.DB, id string) (history.StoredProposal, bool, error) {
	return table.First(ofTranscripts(db, "WHERE proposals.id = ?", id))
}

// Proposals implements history.ProposalStore.
func (s *Store) Proposals(ctx context.Context, filter history.ProposalFilter) ([]history.StoredProposal, error) {
	var c table.Conditions
	c.Equal("transcripts.persona", filter.Persona)
	c.Equal("proposals.transcript_id", filter.TranscriptID)
	c.Equal("transcripts.session_id", filter.SessionID)
	c.Equal("proposals.kind", string(filter.Kind))
	c.Equal("proposals.status", string(filter.Status))
	return ofTranscripts(s.Read.WithContext(ctx), c.Text+" ORDER BY proposals.num DESC LIMIT ?", c.With(filter.Limit)...)
}

// ProposalsOf implements history.ProposalStore.
func (s *Store) ProposalsOf(ctx context.Context, transcript string) ([]history.StoredProposal, error) {
	return ofTranscripts(s.Read.WithContext(ctx), "WHERE proposals.transcript_id = ? ORDER BY proposals.num", transcript)
}

// AddTranscript implements history.ProposalTx.
func (tx *transaction) AddTranscript(r history.TranscriptRecord, list []history.StoredProposal) (stored int, added bool, err error) {
	n, err := transcripts.InsertAll(tx.db, []history.TranscriptRecord{r}, table.OrKeep)
	if err != nil || n == 0 {
		return 0, false, err
	}
	for i := range list {
		list[i].TranscriptID = r.ID
	}
	if _, err = proposals.InsertAll(tx.db, list, table.OrKeep); err != nil {
		return 0, false, err
	}
	_, err = table.One(tx.db, []any{&stored}, "SELECT count(*) FROM proposals WHERE transcript_id = ?", r.ID)
	return stored, true, err
}

// Decide implements history.ProposalTx.
func (tx *transaction) Decide(p history.StoredProposal) error {
	return proposals.Update(tx.db, &p, "id", "status", "decided_by", "reason", "stored_as", "decided_at")
}
