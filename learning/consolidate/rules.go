package consolidate

import (
	"context"
	"slices"

	"skillrouter/internal/errs"
)

// Rules is the Extractor that asks no model. It finds errors with what fixed
// them, sequences of commands that were gone through more than once, and values
// that somebody states. The same transcript gives the same proposals.
type Rules struct{}

var _ Extractor = Rules{}

// Name implements Extractor.
func (Rules) Name() string { return RulesExtractor }

// Said is what is proposed of a session at its end, when nobody asked: what a person said that is to be kept to, and
// the values that a person stated. What failed is learned from the agent's record (learning/incident), and what an assistant says is no evidence.
func (Rules) Said(ctx context.Context, t Transcript) ([]ProposalDraft, error) {
	t.Turns = slices.Clone(t.Turns)
	for i := range t.Turns {
		if turn := &t.Turns[i]; turn.Role != roleUser || len(turn.Content) > maxTyped {
			turn.Content = "" // its place is kept: evidence names turns
		}
	}
	drafts := append(t.standing(), readScene(ctx, t).facts()...)
	return drafts, errs.Wrap(errs.Unavailable, ctx.Err(), "the call ended before the transcript was read")
}

// Extract implements Extractor.
func (Rules) Extract(ctx context.Context, t Transcript) ([]ProposalDraft, error) {
	scene := readScene(ctx, t)
	drafts := scene.fixes()
	drafts = append(drafts, scene.routines()...)
	drafts = append(drafts, scene.facts()...)
	return drafts, errs.Wrap(errs.Unavailable, ctx.Err(), "the call ended before the transcript was read")
}

// What the confidence of an extracted proposal is made of. Each begins with what
// its kind is worth and moves with what speaks for it; docs/consolidation.md
// has the table, and TestRulesQuality what they give.
const (
	// An error with its fix.
	fixBase       = 0.55 // a command failed, something was changed, the command went through
	fixSameRun    = 0.15 // it was the very same command
	fixProved     = 0.05 // its output says that it worked
	fixCause      = 0.05 // somebody said what the cause was
	fixOne        = 0.05 // one thing was changed
	fixMany       = -0.15
	fixProgress   = -0.2 // another error took the first one's place before the command went through
	fixSuggested  = -0.1 // that it was run is inferred from what the user said
	fixSaid       = -0.1 // what was changed is known from a sentence
	fixManyBegins = 4    // changes from which one cannot tell which it was

	// A sequence of commands.
	routineBase   = 0.45
	routineAgain  = 0.1 // each time beyond the second, up to two
	routineLong   = 0.1 // three commands or more
	routineParams = -0.1
	manyParams    = 3

	// A stated value, by who states it.
	factUser      = 0.75
	factSystem    = 0.65
	factAssistant = 0.55
	factTool      = 0.3
	factQuoted    = 0.05  // the value is quoted as code, a number, a path or an address
	factAgain     = 0.1   // stated in another turn too
	factProved    = 0.1   // the command that is the value went through
	factLabel     = -0.15 // "port: 8080", no sentence
	factWord      = -0.1  // the value is a plain word
	factFleeting  = -0.15 // "currently", "for now"
)

// bounded keeps a confidence below certainty: rules are no witness.
func bounded(confidence float64) float64 { return min(max(confidence, 0.05), 0.95) }
