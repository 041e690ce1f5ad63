package history

import (
	"context"
	"encoding/json"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	kept "github.com/skillrouter/skillrouter/learning/lesson"
)

// proposedRules are the rules that wait for somebody to confirm them, the latest first, if a filter asks for such.
func (c *Consolidation) proposedRules(ctx context.Context, filter ProposalFilter) ([]Proposal, error) {
	if c.ports.Rules == nil || filter.Kind != "" && filter.Kind != ProposalRule || filter.Status != "" && filter.Status != ProposalPending ||
		filter.TranscriptID+filter.SessionID+filter.Persona != "" {
		return nil, nil
	}
	page, err := c.ports.Rules.List(ctx, kept.Filter{Type: learning.LessonAntiPattern, Proposed: true, Limit: min(filter.Limit, learning.MaxLimit)})
	if err != nil {
		return nil, err
	}
	out := make([]Proposal, len(page.Lessons))
	for i, l := range page.Lessons {
		if out[i], err = ruleProposal(l); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// proposedRule is the proposal that a lesson is; false if it is none.
func (c *Consolidation) proposedRule(ctx context.Context, id string) (p Proposal, is bool, err error) {
	if c.ports.Rules == nil {
		return p, false, nil
	}
	l, err := c.ports.Rules.Lesson(ctx, id)
	if errs.CodeOf(err) == errs.NotFound || errs.CodeOf(err) == errs.Invalid {
		return p, false, nil
	}
	if is = l.Proposed && l.Status != kept.StatusRetired; err != nil || !is {
		return p, false, err
	}
	p, err = ruleProposal(l)
	return p, true, err
}

// decideRule confirms or refutes a proposed rule, as lesson.Service has it: who learned it itself may not confirm it. It tells
// whether the proposal is such a rule.
func (c *Consolidation) decideRule(ctx context.Context, id string, status ProposalStatus, reason string) (p Proposal, is bool, err error) {
	if p, is, err = c.proposedRule(ctx, id); err != nil || !is {
		return p, is, err
	}
	draft, done := kept.ValidationDraft{Type: kept.ValidationConfirmed, By: decider(principal.Of(ctx)), Notes: reason}, learning.Accepted
	if status == ProposalRejected {
		draft.Type, done = kept.ValidationRefuted, learning.Declined
	}
	l, err := c.ports.Rules.Validate(learning.Noting(ctx, c.now.Stamp(), done, "lesson", p.ID), p.ID, draft)
	if err != nil {
		return p, true, err
	}
	p.Status, p.DecidedBy, p.DecidedAt, p.Reason = status, draft.By, &l.UpdatedAt, reason
	if status == ProposalAccepted {
		p.StoredAs = l.ID
	}
	return p, true, nil
}

func ruleProposal(l kept.Lesson) (Proposal, error) {
	d := l.Draft()
	content, err := json.Marshal(d)
	return Proposal{
		ID: l.ID, Persona: check.DefaultPersona, AgentID: l.SourceAgent, Kind: ProposalRule, Content: content, Confidence: l.Confidence, Evidence: []string{l.Title},
		Extractor: RulesExtractor, Status: ProposalPending, CreatedAt: l.CreatedAt,
	}, err
}
