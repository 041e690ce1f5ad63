package experience

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// GeneralDomain is the domain of what belongs to none in particular (MNEMOSYNE's word for it).
const GeneralDomain = "general"

// gather lets an experience form or join the one pattern of its operation type:
// if the window's episodes have the weight for one. It returns the pattern's
// text as it was made, empty if there is none, and what to tell of it.
//
// A pattern emerges when it first has MinWeight, is confirmed by its own
// evidence with ConfirmEpisodes in its window, and is deprecated by lesson.Patterns.Fade
// when it has lacked MinWeight for a whole RecencyWindow. It emerges anew when it
// has it again, and when its episodes show another kind than before: what was
// confirmed of the old kind says nothing of the new. One that somebody
// deprecated gathers evidence in silence, whatever its kind.
func gather(tx Tx, w Window, e Experience) (triggered string, events []eventlog.Event, err error) {
	rate := successShare(w.Successes, w.Episodes)
	weight := discrimination(rate, w.Episodes, w.meanAge(e.At))
	failing, err := keepsFailing(tx, w, e, rate, weight >= MinWeight)
	if err != nil || w.Episodes < MinEpisodes || weight < MinWeight {
		return "", failing, err
	}
	triggered, events, err = gatherKind(tx, w, e, rate, weight)
	return triggered, append(failing, events...), err
}

// keepsFailing lets an experience form or join the recurring_failure of its operation type. The experience server's weight of what
// always fails is 0, so that its clients see no pattern of it; this one is the model's own. shown tells whether they see one.
func keepsFailing(tx Tx, w Window, e Experience, rate float64, shown bool) ([]eventlog.Event, error) {
	pattern, known, err := tx.FailingOperation(e.OperationType)
	if err != nil {
		return nil, err
	}
	weight := discrimination(1-rate, w.Episodes, w.meanAge(e.At))
	fails := w.Episodes >= MinEpisodes && rate < failureRate && weight >= MinWeight && !shown
	deprecated := known && pattern.Status == lesson.PatternDeprecated
	if !fails && (!known || deprecated || rate < failureRate && !shown) || deprecated && pattern.ConfirmedBy != "" {
		return nil, nil
	}
	evidence := []lesson.Evidence{{Kind: lesson.EvidenceEpisode, Ref: strconv.FormatInt(e.Number, 10), Agent: e.AgentID, Score: min(weight, 1), At: e.At}}
	event := lesson.EventPatternSeen
	if !known {
		if evidence, err = tx.WindowEpisodes(e.OperationType, w.From, lesson.MaxEvidence); err != nil {
			return nil, err
		}
		pattern = newOperationPattern(e, lesson.PatternRecurringFailure, rate, w, weight, evidence)
		event, pattern.Name, pattern.Made = lesson.EventPatternEmerged, check.Head(e.OperationType+" keeps failing", check.MaxName), nil
		if err := tx.InsertPattern(&pattern); err != nil {
			return nil, err
		}
	}
	added, err := tx.AddEvidence(pattern.ID, evidence...)
	if err != nil {
		return nil, err
	}
	switch {
	case !fails:
		event, pattern.Status = lesson.EventPatternDeprecated, lesson.PatternDeprecated
	case pattern.Status == lesson.PatternDeprecated:
		event, pattern.Status = lesson.EventPatternEmerged, lesson.PatternEmerging
	}
	if known {
		pattern.Frequency += int64(added)
	}
	pattern.Weight, pattern.LastSeen, pattern.UpdatedAt = weight, learning.Later(pattern.LastSeen, e.At), learning.Later(pattern.UpdatedAt, e.At)
	pattern.Why = []string{fmt.Sprintf("%d of %d episodes of %s in %d days succeeded", w.Successes, w.Episodes, e.OperationType, int(RecencyWindow/lesson.Day))}
	pattern.Belief = pattern.Moved(max(pattern.At(e.At), patternConfidence(weight)), e.At)
	return patternEvents(&pattern, e, event, false), tx.UpdatePattern(pattern)
}

// gatherKind lets the experience form or join the pattern of its operation type that the experience server's clients see.
func gatherKind(tx Tx, w Window, e Experience, rate, weight float64) (triggered string, events []eventlog.Event, err error) {
	kind := patternKind(rate)
	pattern, known, err := tx.OperationPattern(e.OperationType)
	if err != nil {
		return "", nil, err
	}
	silent := known && pattern.Status == lesson.PatternDeprecated && pattern.ConfirmedBy != ""
	anew := !known || !silent && (pattern.Status == lesson.PatternDeprecated || pattern.Type != kind)
	evidence := []lesson.Evidence{{Kind: lesson.EvidenceEpisode, Ref: strconv.FormatInt(e.Number, 10), Agent: e.AgentID, Score: weight, At: e.At}}
	if anew || w.Episodes > pattern.Made.Frequency+1 { // some came while it lacked the weight
		if evidence, err = tx.WindowEpisodes(e.OperationType, w.From, lesson.MaxEvidence); err != nil {
			return "", nil, err
		}
	}
	if !known {
		pattern = newOperationPattern(e, kind, rate, w, weight, evidence)
		if err := tx.InsertPattern(&pattern); err != nil {
			return "", nil, err
		}
	}
	added, err := tx.AddEvidence(pattern.ID, evidence...)
	if err != nil {
		return "", nil, err
	}
	if known {
		pattern.Frequency += int64(added)
		pattern.Made.InitialConfidence = (pattern.Made.InitialConfidence + weight) / 2
	}
	pattern.Made.Frequency = w.Episodes
	if pattern.Made.EpisodeIDs, err = tx.WindowNumbers(e.OperationType, w.From, lesson.MaxEvidence); err != nil {
		return "", nil, err
	}
	event, floor := lesson.EventPatternSeen, pattern.At(e.At)
	if anew {
		event = lesson.EventPatternEmerged
		pattern.Status, pattern.ConfirmedBy, pattern.ConfirmedAt = lesson.PatternEmerging, "", nil
		if pattern.Type != kind {
			floor = 0 // it was sure of something else
		}
	}
	if pattern.Type != kind {
		pattern.Type, pattern.Name, pattern.Description = kind, e.OperationType+" "+string(kind), describeOperation(e.OperationType, kind)
	}
	confirmed := pattern.Status == lesson.PatternEmerging && w.Episodes >= ConfirmEpisodes
	if confirmed {
		pattern.Status, pattern.ConfirmedAt = lesson.PatternConfirmed, &e.At
	}
	pattern.Weight, pattern.LastSeen, pattern.UpdatedAt = weight, learning.Later(pattern.LastSeen, e.At), learning.Later(pattern.UpdatedAt, e.At)
	pattern.Why = whyPattern(e.OperationType, w, rate, weight, e.At)
	// What is seen again is as sure as what is new, or surer if it was confirmed: its decay starts anew.
	pattern.Belief = pattern.Moved(max(floor, patternConfidence(weight)), e.At)
	if err := tx.UpdatePattern(pattern); err != nil || silent {
		return "", nil, err
	}
	return pattern.Made.Description, patternEvents(&pattern, e, event, confirmed), nil
}

// patternEvents tells of a pattern that an experience formed or joined.
func patternEvents(pattern *lesson.Pattern, e Experience, kind string, confirmed bool) []eventlog.Event {
	events := []eventlog.Event{lesson.PatternTold(kind, pattern, e.AgentID, "", e.At)}
	if confirmed {
		events = append(events, lesson.PatternTold(lesson.EventPatternConfirmed, pattern, e.AgentID, "", e.At))
	}
	for i := range events {
		events[i].Project = e.Project
	}
	return events
}

// newOperationPattern is a pattern that a window's episodes form for the first time.
func newOperationPattern(e Experience, kind lesson.PatternType, rate float64, w Window, weight float64, evidence []lesson.Evidence) lesson.Pattern {
	first := e.At
	for _, one := range evidence {
		if one.At.Before(first) {
			first = one.At
		}
	}
	return lesson.Pattern{
		ID: check.NewID(), Name: e.OperationType + " " + string(kind), Type: kind, Description: describeOperation(e.OperationType, kind),
		Domain: GeneralDomain, Categories: []string{e.OperationType}, OperationType: e.OperationType, Frequency: w.Episodes,
		FirstSeen: first, LastSeen: e.At, Status: lesson.PatternEmerging, Prevention: []string{}, Weight: weight,
		Belief:    lesson.Belief{InitialConfidence: patternConfidence(weight), DecayConstant: lesson.DecayConstant, ConfidenceAt: e.At},
		CreatedAt: e.At, UpdatedAt: e.At,
		Made: &lesson.PatternAsMade{Type: kind, Description: foundText(e.OperationType, rate, w.Episodes), InitialConfidence: patternConfidence(weight)},
	}
}

// foundText is the text that the experience server's clients see of a pattern of episodes, with the figures that it was made by.
func foundText(operationType string, rate float64, episodes int64) string {
	return fmt.Sprintf("%s: %.0f%% success rate over %d episodes", operationType, math.Floor(rate*100+0.5), episodes)
}

// describeOperation says in words what a pattern of episodes shows now; its figures are in its Why.
func describeOperation(operationType string, kind lesson.PatternType) string {
	switch kind {
	case lesson.PatternSuccess:
		return operationType + " usually succeeds"
	case lesson.PatternFailure:
		return operationType + " usually fails"
	case lesson.PatternRecurringFailure:
		return operationType + " keeps failing: it does not work"
	}
	return operationType + " succeeds about as often as not"
}

// whyPattern shows the figures of a weight.
func whyPattern(operationType string, w Window, rate, weight float64, at time.Time) []string {
	days := max(0, w.meanAge(at).Hours()/24)
	return []string{
		fmt.Sprintf("%d of %d episodes of %s in %d days succeeded", w.Successes, w.Episodes, operationType, int(RecencyWindow/lesson.Day)),
		fmt.Sprintf("weight %.3f = %.3f × ln(%d) × e^(−%g × %.1f days)", weight, rate, w.Episodes+1, lesson.DecayConstant, days),
	}
}

// learnedPattern is the pattern whose episodes a lesson is learned from: the
// first one that has the description in its text, which then shows these
// episodes, or a new one.
func learnedPattern(tx Tx, draft LearnDraft, episodes []Experience, at time.Time) (lesson.Pattern, error) {
	s := summed(episodes)
	known, ok, err := tx.PatternByText(draft.Description)
	if err != nil {
		return lesson.Pattern{}, err
	}
	made := lesson.PatternAsMade{Type: patternKind(s.rate), Description: draft.Description, Frequency: int64(len(episodes)), InitialConfidence: s.confidence, EpisodeIDs: []int64{}}
	for _, number := range draft.EpisodeIDs {
		there := slices.ContainsFunc(episodes, func(e Experience) bool { return e.Number == number })
		if there && len(made.EpisodeIDs) < lesson.MaxEvidence {
			made.EpisodeIDs = append(made.EpisodeIDs, number)
		}
	}
	if ok {
		known.Made.EpisodeIDs, known.Made.Frequency = made.EpisodeIDs, made.Frequency
		return known, addToPattern(tx, &known, s.evidence, at)
	}
	weight := discrimination(s.rate, int64(len(episodes)), 0) // of a learned one the age is no matter
	pattern := lesson.Pattern{
		ID: check.NewID(), Name: check.Head(check.OneLine(draft.Description), check.MaxName), Type: made.Type, Description: draft.Description,
		Domain: GeneralDomain, Categories: s.types, Frequency: int64(len(episodes)), FirstSeen: s.first, LastSeen: at, Status: lesson.PatternEmerging,
		Prevention: []string{}, Weight: weight, CreatedAt: at, UpdatedAt: at, Made: &made,
		Belief: lesson.Belief{InitialConfidence: patternConfidence(weight), DecayConstant: lesson.DecayConstant, ConfidenceAt: at},
		Why:    []string{fmt.Sprintf("%d of the %d episodes that a lesson was learned from succeeded", s.successes, len(episodes))},
	}
	if err := tx.InsertPattern(&pattern); err != nil {
		return lesson.Pattern{}, err
	}
	if _, err := tx.AddEvidence(pattern.ID, s.evidence...); err != nil {
		return lesson.Pattern{}, err
	}
	return pattern, tx.AddEvents(lesson.PatternTold(lesson.EventPatternEmerged, &pattern, "", "", at))
}

// learnedFrom sums up the episodes that a lesson is learned from.
type learnedFrom struct {
	evidence   []lesson.Evidence
	successes  int64
	rate       float64 // of successes
	utility    float64 // mean
	confidence float64 // of what is learned
	first      time.Time
	types      []string // operation types, at most lesson.MaxListItems
	contexts   []string // where they happened: server:…, env:… and operation:…, at most lesson.MaxListItems
}

func summed(episodes []Experience) (s learnedFrom) {
	var places []string
	for _, e := range episodes {
		s.evidence = append(s.evidence, lesson.Evidence{Kind: lesson.EvidenceEpisode, Ref: strconv.FormatInt(e.Number, 10), Agent: e.AgentID, Score: e.Utility, At: e.At})
		if e.Outcome == learning.ResultSuccess {
			s.successes++
		}
		s.utility += e.Utility / float64(len(episodes))
		if s.first.IsZero() || e.At.Before(s.first) {
			s.first = e.At
		}
		s.types = appendNew(s.types, e.OperationType)
		var where Metadata
		_ = json.Unmarshal(e.Metadata, &where) // we wrote it; without metadata there is no environment
		places = appendNew(places, contextOf("server", e.ServerName), contextOf("env", where.Environment))
	}
	s.rate = successShare(s.successes, int64(len(episodes)))
	s.confidence = learnedConfidence(s.rate, len(episodes), s.utility)
	s.contexts = slices.Clone(places[:min(len(places), lesson.MaxListItems-len(s.types))])
	for _, operationType := range s.types {
		s.contexts = appendNew(s.contexts, contextOf("operation", operationType))
	}
	return s
}

// contextOf names a context that a learned lesson holds in; empty if it has no name or too long a one.
func contextOf(kind, name string) string {
	if name == "" || len(kind)+1+len(name) > lesson.MaxListItem {
		return ""
	}
	return kind + ":" + name
}

// appendNew appends to a list what it lacks, up to lesson.MaxListItems; empty texts are left out.
func appendNew(list []string, items ...string) []string {
	for _, item := range items {
		if item != "" && len(list) < lesson.MaxListItems && !slices.Contains(list, item) {
			list = append(list, item)
		}
	}
	return list
}

// addToPattern stores a pattern that is there and has more evidence, and tells of it if any is new.
func addToPattern(tx Tx, pattern *lesson.Pattern, evidence []lesson.Evidence, at time.Time) error {
	added, err := tx.AddEvidence(pattern.ID, evidence...)
	if err != nil {
		return err
	}
	pattern.Frequency += int64(added)
	pattern.LastSeen, pattern.UpdatedAt = learning.Later(pattern.LastSeen, at), learning.Later(pattern.UpdatedAt, at)
	if err := tx.UpdatePattern(*pattern); err != nil || added == 0 {
		return err
	}
	return tx.AddEvents(lesson.PatternTold(lesson.EventPatternSeen, pattern, "", "", at))
}
