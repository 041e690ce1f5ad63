package history

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/decision"
	"github.com/skillrouter/skillrouter/learning/episode"
	kept "github.com/skillrouter/skillrouter/learning/lesson"
)

// Rules is the Extractor that asks no model. It finds errors with what fixed
// them, sequences of commands that were gone through more than once, what a person decided, and ports, addresses and
// commands that somebody states. The same transcript gives the same proposals.
type Rules struct{}

var _ Extractor = Rules{}

// Name implements Extractor.
func (Rules) Name() string { return RulesExtractor }

// Said is what is proposed of a session at its end, when nobody asked: what a person said that is to be kept to, and
// the values that a person stated. What failed is learned from the agent's record, and what an assistant says is no evidence.
func (Rules) Said(ctx context.Context, t Transcript) ([]ProposalDraft, error) {
	t = t.typed()
	drafts := append(t.standing(), readScene(t).facts()...)
	return drafts, errs.Wrap(errs.Unavailable, ctx.Err(), "the call ended before the transcript was read")
}

// typed is a transcript with what a person typed alone. The others' places are kept: evidence names turns.
func (t Transcript) typed() Transcript {
	t.Turns = slices.Clone(t.Turns)
	for i := range t.Turns {
		if turn := &t.Turns[i]; turn.Role != roleUser || len(turn.Content) > decision.MaxTyped {
			turn.Content = ""
		}
	}
	return t
}

// Extract implements Extractor.
func (Rules) Extract(ctx context.Context, t Transcript) ([]ProposalDraft, error) {
	scene := readScene(t)
	drafts := slices.Concat(scene.fixes(), scene.routines(), scene.facts(), t.typed().standing())
	return drafts, errs.Wrap(errs.Unavailable, ctx.Err(), "the call ended before the transcript was read")
}

// What the confidence of an extracted proposal is made of. Each begins with what
// its kind is worth and moves with what speaks for it; docs/learning.md
// has the table, and TestRulesQuality what they give.
const (
	// An error with its fix.
	fixBase    = 0.55 // a command failed, something was changed, the command went through
	fixSameRun = 0.15 // it was the very same command
	fixOne     = 0.05 // one thing was changed
	fixMany    = -0.15

	// A sequence of commands.
	routineBase  = 0.55
	routineAgain = 0.1 // each time beyond the second, up to two

	// A stated value, by who states it.
	factUser      = 0.8
	factSystem    = 0.7
	factAssistant = 0.6
)

// standingConfidence is what a sentence that is to be kept to is worth: a person said it, of whatever it is.
const standingConfidence = 0.75

// standing proposes what a person said that is to be kept to from then on.
func (t Transcript) standing() (drafts []ProposalDraft) {
	for i, turn := range t.Turns {
		for _, s := range decision.Said(turn.Content) {
			if !s.Back {
				drafts = append(drafts, ProposalDraft{
					Kind: ProposalEpisode, Confidence: standingConfidence, Evidence: []string{s.Text}, Turns: []int{i},
					Episode: &episode.Draft{EventType: episode.EventDecision, Title: s.Text, Content: "A person said so to an agent: " + s.Text},
				})
			}
		}
	}
	return drafts
}

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
		out[i] = ruleProposal(l)
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
	return ruleProposal(l), true, nil
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

func ruleProposal(l kept.Lesson) Proposal {
	content, _ := json.Marshal(l.Draft()) // its figures are finite
	return Proposal{
		ID: l.ID, Persona: check.DefaultPersona, AgentID: l.SourceAgent, Kind: ProposalRule, Content: content, Confidence: l.Confidence, Evidence: []string{l.Title},
		Extractor: RulesExtractor, Status: ProposalPending, CreatedAt: l.CreatedAt,
	}
}
