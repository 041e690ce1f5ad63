package history

import (
	"context"
	"slices"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning/decision"
	"github.com/skillrouter/skillrouter/learning/episode"
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
