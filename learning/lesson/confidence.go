package lesson

import (
	"math"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning"
)

// Every formula and constant of confidence, utility and weight stands in this file.
const (
	// DecayConstant is k of CF(t) = CF₀·e^(−kt), per day (the experience server, PATTERN_CONFIG).
	DecayConstant = 0.01
	// HighConfidence and MediumConfidence are the experience server's CONFIDENCE_THRESHOLDS.
	HighConfidence   = 0.7
	MediumConfidence = 0.4
	// DeprecationConfidence and DeprecationApplications: below the one after the other, a
	// lesson is retired (the experience server's CONFIDENCE_THRESHOLDS and bayesianUpdate).
	DeprecationConfidence   = 0.1
	DeprecationApplications = 5

	// A confidence that evidence has moved lies between these (of the experience server).
	minMoved, maxMoved = 0.1, 0.95
	// What a judgement does to a confidence (the experience server: CLAIM_VERIFIED, CLAIM_REFUTED).
	verifiedFactor, refutedFactor = 1.1, 0.7
	// sameJudgement is for how long the same judgement of a lesson by the same agent or
	// person counts no second time. In ten days a confidence decays by more than a
	// confirmation gives (1.1·e^−0.1 < 1): nobody can drive it up by saying one thing again.
	sameJudgement = 10 * Day

	// overrideOdds is how many times likelier it is that an override goes well where the rule
	// is wrong than where it is right, and that it fails where the rule is right: such as
	// 0.8 against 0.2. Two agents who say the same outweigh a rule that is sure to 0.8.
	overrideOdds = 4.0
	// DemotionConfidence and DemotionOverrides: a rule of the guard that was overridden with
	// success so often since it was made or restored, and whose confidence is then below,
	// blocks no more: medium confidence is too little to stop somebody's work.
	DemotionConfidence = MediumConfidence
	DemotionOverrides  = 3
	// DemotionAgents is how many different agents it takes to demote a critical rule, unless
	// a captain is among them: one that wants to do what is blocked must not rid itself of the rule.
	DemotionAgents = 2
	// precisionRight of precisionPrior settled checks are assumed of a rule before it has any:
	// MNEMOSYNE's confidence in a lesson, 0.8, with the weight of five checks.
	precisionRight, precisionPrior = 4, 5

	Day = 24 * time.Hour
	// OperationWindow is how young the episodes are of which a pattern of an operation type is made, and for how long
	// such a pattern is in use when no more come (the experience server's recencyWindowDays).
	OperationWindow = 30 * Day
)

// At returns what is left of the confidence at t. A clock that went back gives
// the confidence as it was, never more.
func (b Belief) At(t time.Time) float64 {
	days := max(0, t.Sub(b.ConfidenceAt).Hours()/24)
	return min(max(b.InitialConfidence*math.Exp(-b.DecayConstant*days), 0), 1)
}

// Moved returns the belief with another confidence from t on.
func (b Belief) Moved(confidence float64, t time.Time) Belief {
	if t.Before(b.ConfidenceAt) {
		t = b.ConfidenceAt // a clock that went back must not make the decay that it will resume longer
	}
	return Belief{InitialConfidence: confidence, DecayConstant: b.DecayConstant, ConfidenceAt: t}
}

// EvidenceOf is what an outcome says for a lesson (of the experience server).
func EvidenceOf(outcome learning.Result) float64 {
	switch outcome {
	case learning.ResultSuccess:
		return 1
	case learning.ResultPartial:
		return 0.5
	}
	return 0
}

// successesWith returns the share of successes among a lesson's applications
// with one more that went so, and the successes to store (of the experience server): a partial
// one counts half in the share, and the stored successes are whole, rounded half
// up. So of two partial ones the shares are 0.5 and 0.75, and the successes 1 and 2.
func successesWith(outcome learning.Result, applied, succeeded int64) (rate float64, successes int64) {
	sum := float64(succeeded) + EvidenceOf(outcome)
	return sum / float64(applied+1), int64(math.Floor(sum + 0.5))
}

// Applied is the Bayesian update of the experience server on an application at t; applied
// counts it too, and rate is the share of successes with it, 0 to 1. The result
// is kept between 0.1 and 0.95; deprecate tells whether, before that, it fell
// below DeprecationConfidence with DeprecationApplications made: the kept value,
// compared as the experience server does, could never fall that low.
func (b Belief) Applied(outcome learning.Result, applied int64, rate float64, t time.Time) (next Belief, deprecate bool) {
	prior := max(0.3, 1-math.Log(float64(applied)+1)/5)
	posterior := prior*b.At(t) + (1-prior)*(0.7*rate+0.3*EvidenceOf(outcome))
	deprecate = posterior < DeprecationConfidence && applied >= DeprecationApplications
	return b.Moved(min(max(posterior, minMoved), maxMoved), t), deprecate
}

// Judged moves the belief by a judgement at t: confirmed to 1.1 times what it was before it decayed, up to 0.95,
// so that a lesson that holds after a year is as sure as it was (the experience server);
// refuted and outdated ×0.7 down to 0.1, from what is left at t. A judgement
// never moves it against its own sense: what stands above 0.95 stays. One that
// is partial confirms what is left and no more.
func (b Belief) Judged(judgement ValidationType, t time.Time) Belief {
	left := b.At(t)
	switch judgement {
	case ValidationConfirmed:
		return b.Moved(max(left, min(b.InitialConfidence*verifiedFactor, maxMoved)), t)
	case ValidationRefuted, ValidationOutdated:
		return b.Moved(min(left, max(left*refutedFactor, minMoved)), t)
	}
	return b.Moved(left, t)
}

// What makes a pattern of lessons certain; see gatheredConfidence.
const (
	patternDoubt     = 0.5  // MNEMOSYNE: a new pattern has a confidence of 0.5
	patternPer       = 0.15 // for each lesson beyond the two that make a pattern
	patternPerAgent  = 0.35 // for each agent beyond the first: who learned it independently says more than who repeats it
	patternPerRepeat = 0.05 // for each time that one of its lessons occurred again
	// What one agent alone can give: this many lessons and repeats. More of either need more agents.
	patternLessonsPerAgent = 4
	patternRepeatsPerAgent = 5

	// A pattern is confirmed by its evidence with so many lessons of so many agents, and this confidence.
	ConfirmLessons    = 5
	ConfirmAgents     = 3
	ConfirmConfidence = 0.8
)

// gatheredConfidence is the confidence of a pattern with so many lessons, that
// so many agents told of, and that was seen so often:
//
//	1 − 0.5·e^−(0.15·(lessons−2) + 0.35·(agents−1) + 0.05·(seen−lessons))
//
// at most 0.95, where one agent counts for at most 4 further lessons and 5
// repeats. It starts at MNEMOSYNE's 0.5 and never falls with more evidence. Two
// agents with a lesson each give 0.65; five lessons of three agents 0.84.
func gatheredConfidence(lessons, agents, seen int64) float64 {
	agents = max(agents, 1)
	further := float64(min(max(lessons-2, 0), patternLessonsPerAgent*agents))
	repeats := float64(min(max(seen-lessons, 0), patternRepeatsPerAgent*agents))
	weight := patternPer*further + patternPerAgent*float64(agents-1) + patternPerRepeat*repeats
	return min(1-patternDoubt*math.Exp(-weight), maxMoved)
}

// Overridden moves the belief in a rule of the guard by what came of an action
// that was taken against it, at t. It is Bayes' rule in its odds form: the odds
// that the rule is right, c/(1−c) of what is left, are divided by overrideOdds
// after a success and multiplied by it after a failure. A partial result says
// nothing. The result is kept between 0.1 and 0.95, and never moves against
// what was seen.
func (b Belief) Overridden(result learning.Result, t time.Time) Belief {
	left := b.At(t)
	prior := min(max(left, minMoved), maxMoved)
	odds := prior / (1 - prior)
	switch result {
	case learning.ResultSuccess:
		odds /= overrideOdds
		return b.Moved(min(left, max(odds/(1+odds), minMoved)), t)
	case learning.ResultFailure:
		odds *= overrideOdds
		return b.Moved(max(left, min(odds/(1+odds), maxMoved)), t)
	}
	return b
}

// Precision is the share of a rule's settled checks in which it was right: those
// that were heeded, and those overridden that failed; a partial result counts
// half. It is the mean of a Beta distribution with the prior that
// precisionRight and precisionPrior state, so that a rule without checks stands
// at 0.8 and one check moves it little. It lies between 0 and 1.
func (s GuardStanding) Precision() float64 {
	right := float64(s.Heeded+s.OverriddenFailure) + float64(s.OverriddenPartial)/2
	settled := float64(s.Heeded + s.OverriddenFailure + s.OverriddenPartial + s.OverriddenSuccess)
	return (right + precisionRight) / (settled + precisionPrior)
}

// checkBelief holds a confidence and its decay to what the formula allows.
func checkBelief(b Belief) error {
	if err := check.Range("initial_confidence", b.InitialConfidence, 0, 1); err != nil {
		return err
	}
	if math.IsNaN(b.DecayConstant) || b.DecayConstant < 0 || b.DecayConstant > 1 {
		return errs.InvalidField("decay_constant", "must lie between 0 and 1")
	}
	return nil
}
