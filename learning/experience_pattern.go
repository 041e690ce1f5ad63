package learning

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"skillrouter"
)

// GeneralDomain is the domain of what belongs to none in particular (seed 000's word for it).
const GeneralDomain = "general"

// gather lets an experience form or join the pattern of its operation type: if
// the window's episodes have the weight for one. It returns the pattern, nil if
// there is none, and what to tell of it.
//
// A pattern emerges when it first has MinWeight, is confirmed by its own
// evidence with ConfirmEpisodes in its window, and is deprecated by the sweep
// when it has lacked MinWeight for a whole RecencyWindow. It emerges anew when it
// has it again, unless somebody deprecated it: then it gathers evidence in silence.
func gather(tx PipelineTx, w Window, e Experience) (*Pattern, []skillrouter.Event, error) {
	rate := successShare(w.Successes, w.Episodes)
	weight := discrimination(rate, w.Episodes, w.meanAge(e.At))
	if w.Episodes < MinEpisodes || weight < MinWeight {
		return nil, nil, nil
	}
	kind := patternKind(rate)
	pattern, known, err := tx.OperationPattern(e.OperationType, kind)
	if err != nil {
		return nil, nil, err
	}
	revived := known && pattern.Status == PatternDeprecated && pattern.ConfirmedBy == ""
	evidence := []Evidence{{Kind: EvidenceEpisode, Ref: strconv.FormatInt(e.Number, 10), Agent: e.AgentID, Score: weight, At: e.At}}
	if !known || revived {
		if evidence, err = tx.WindowEpisodes(e.OperationType, w.From, MaxEvidence); err != nil {
			return nil, nil, err
		}
	}
	if !known {
		if pattern, err = newOperationPattern(e, kind, w, weight, evidence); err != nil {
			return nil, nil, err
		}
		if err := tx.InsertPattern(&pattern); err != nil {
			return nil, nil, err
		}
	}
	added, err := tx.AddEvidence(pattern.ID, evidence...)
	if err != nil {
		return nil, nil, err
	}
	event := EventPatternEmerged
	switch {
	case !known:
	case revived:
		pattern.Status = PatternEmerging
		pattern.Frequency += int64(added)
	default:
		event = EventPatternSeen
		pattern.Frequency += int64(added)
	}
	silent := pattern.Status == PatternDeprecated
	confirmed := pattern.Status == PatternEmerging && w.Episodes >= ConfirmEpisodes
	if confirmed {
		pattern.Status, pattern.ConfirmedAt = PatternConfirmed, &e.At
	}
	pattern.Weight, pattern.LastSeen, pattern.UpdatedAt = weight, later(pattern.LastSeen, e.At), later(pattern.UpdatedAt, e.At)
	pattern.Why = whyPattern(e.OperationType, w, rate, weight, e.At)
	// What is seen again is as sure as what is new, or surer if it was confirmed: its decay starts anew.
	pattern.Belief = pattern.moved(max(pattern.At(e.At), patternConfidence(weight)), e.At)
	if err := tx.UpdatePattern(pattern); err != nil || silent {
		return nil, nil, err
	}
	events, err := patternEvents(pattern, e, event, confirmed)
	return &pattern, events, err
}

// patternEvents tells of a pattern that an experience formed or joined.
func patternEvents(pattern Pattern, e Experience, kind string, confirmed bool) ([]skillrouter.Event, error) {
	kinds := []string{kind}
	if confirmed {
		kinds = append(kinds, EventPatternConfirmed)
	}
	var events []skillrouter.Event
	for _, kind := range kinds {
		event, err := operationPatternEvent(kind, pattern, "", e.At)
		if err != nil {
			return nil, err
		}
		event.Agent, event.Project = e.AgentID, e.Project
		events = append(events, event)
	}
	return events, nil
}

// operationPatternEvent is an event of a pattern of episodes.
func operationPatternEvent(kind string, p Pattern, reason string, at time.Time) (skillrouter.Event, error) {
	told, err := json.Marshal(PatternEvent{
		Number: p.Number, Type: p.Type, Name: p.Name, Description: p.Description, Domain: p.Domain,
		Frequency: p.Frequency, Confidence: p.Belief.At(at), Reason: reason,
	})
	return skillrouter.Event{Type: kind, Subject: p.ID, At: at, Data: told}, err
}

// newOperationPattern is a pattern that a window's episodes form for the first time.
func newOperationPattern(e Experience, kind PatternType, w Window, weight float64, evidence []Evidence) (Pattern, error) {
	id, err := newID()
	first := e.At
	for _, one := range evidence {
		if one.At.Before(first) {
			first = one.At
		}
	}
	return Pattern{
		ID: id, Name: e.OperationType + " " + string(kind), Type: kind, Description: describeOperation(e.OperationType, kind),
		Domain: GeneralDomain, Categories: []string{e.OperationType}, OperationType: e.OperationType, Frequency: w.Episodes,
		FirstSeen: first, LastSeen: e.At, Status: PatternEmerging, Prevention: []string{}, Weight: weight,
		Belief:    Belief{InitialConfidence: patternConfidence(weight), DecayConstant: DecayConstant, ConfidenceAt: e.At},
		CreatedAt: e.At, UpdatedAt: e.At,
	}, err
}

// describeOperation says in words what a pattern of episodes shows. It is the
// same for as long as the pattern is; its figures are in its Why.
func describeOperation(operationType string, kind PatternType) string {
	switch kind {
	case PatternSuccess:
		return operationType + " usually succeeds"
	case PatternFailure:
		return operationType + " usually fails"
	}
	return operationType + " succeeds about as often as not"
}

// whyPattern shows the figures of a weight.
func whyPattern(operationType string, w Window, rate, weight float64, at time.Time) []string {
	days := max(0, w.meanAge(at).Hours()/24)
	return []string{
		fmt.Sprintf("%d of %d episodes of %s in %d days succeeded", w.Successes, w.Episodes, operationType, int(RecencyWindow/day)),
		fmt.Sprintf("weight %.3f = %.3f × ln(%d) × e^(−%g × %.1f days)", weight, rate, w.Episodes+1, DecayConstant, days),
	}
}

// later returns the later of two times.
func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// learnedPattern is the pattern whose episodes a lesson is learned from: one
// that has the description and shares its episodes, or a new one. Patterns that
// form by themselves are left alone: this one says what the client says.
func learnedPattern(tx PipelineTx, description string, episodes []Experience, at time.Time) (Pattern, error) {
	evidence := make([]Evidence, 0, len(episodes))
	var successes int64
	var age float64
	first := at
	types := []string{}
	for _, e := range episodes {
		evidence = append(evidence, Evidence{Kind: EvidenceEpisode, Ref: strconv.FormatInt(e.Number, 10), Agent: e.AgentID, Score: e.Utility, At: e.At})
		if e.Outcome == ResultSuccess {
			successes++
		}
		age += max(0, float64(at.Sub(e.At))) / float64(len(episodes))
		if e.At.Before(first) {
			first = e.At
		}
		if !slices.Contains(types, e.OperationType) {
			types = append(types, e.OperationType)
		}
	}
	rate := successShare(successes, int64(len(episodes)))
	weight := discrimination(rate, int64(len(episodes)), time.Duration(math.Round(age)))
	known, ok, err := sharedPattern(tx, description, evidence)
	if err != nil {
		return Pattern{}, err
	}
	if ok {
		return known, addToPattern(tx, &known, evidence, at)
	}
	id, err := newID()
	if err != nil {
		return Pattern{}, err
	}
	pattern := Pattern{
		ID: id, Name: skillrouter.Head(cleanLine(description), skillrouter.MaxName), Type: patternKind(rate), Description: description,
		Domain: GeneralDomain, Categories: types, Frequency: int64(len(episodes)), FirstSeen: first, LastSeen: at, Status: PatternEmerging,
		Prevention: []string{}, Weight: weight, CreatedAt: at, UpdatedAt: at,
		Belief: Belief{InitialConfidence: patternConfidence(weight), DecayConstant: DecayConstant, ConfidenceAt: at},
		Why:    []string{fmt.Sprintf("%d of the %d episodes that a lesson was learned from succeeded", successes, len(episodes))},
	}
	if err := tx.InsertPattern(&pattern); err != nil {
		return Pattern{}, err
	}
	if _, err := tx.AddEvidence(pattern.ID, evidence...); err != nil {
		return Pattern{}, err
	}
	event, err := operationPatternEvent(EventPatternEmerged, pattern, "", at)
	if err != nil {
		return Pattern{}, err
	}
	return pattern, tx.AddEvents(event)
}

// sharedPattern looks for a pattern of that description among those of the evidence.
func sharedPattern(tx PipelineTx, description string, evidence []Evidence) (Pattern, bool, error) {
	for _, one := range evidence[:min(len(evidence), MinEpisodes)] {
		patterns, err := tx.PatternsOf(one)
		if err != nil {
			return Pattern{}, false, err
		}
		for _, p := range patterns {
			if p.OperationType == "" && p.Description == description {
				return p, true, nil
			}
		}
	}
	return Pattern{}, false, nil
}

// addToPattern adds to the evidence of a pattern that is there, and tells of it if any is new.
func addToPattern(tx PipelineTx, pattern *Pattern, evidence []Evidence, at time.Time) error {
	added, err := tx.AddEvidence(pattern.ID, evidence...)
	if err != nil || added == 0 {
		return err
	}
	pattern.Frequency += int64(added)
	pattern.LastSeen, pattern.UpdatedAt = later(pattern.LastSeen, at), later(pattern.UpdatedAt, at)
	if err := tx.UpdatePattern(*pattern); err != nil {
		return err
	}
	event, err := operationPatternEvent(EventPatternSeen, *pattern, "", at)
	if err != nil {
		return err
	}
	return tx.AddEvents(event)
}
