package experience

import (
	"math"
	"time"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// Every formula and constant of an experience's scores, of the patterns of
// episodes and of the lessons that are learned from them stands in this file;
// those of a confidence that moves stand in confidence.go. All are the experience server's:
// its tables "Key Formulas" and "Constants" and, where they are silent, what
// clients of the original see (CONTRACT.md, "Experience").
const (
	// noveltyShare, effectivenessShare and generalizabilityShare are α, β and γ of
	// U = α·novelty + β·effectiveness + γ·generalizability.
	noveltyShare, effectivenessShare, generalizabilityShare = 0.3, 0.5, 0.2

	// outcomeShare and qualityShare weigh the outcome and the client's quality score
	// in the effectiveness, where there is a quality score.
	outcomeShare, qualityShare = 0.6, 0.4

	// NoveltyWindow is how many of a type's last episodes a new one is compared with.
	NoveltyWindow = 50
	// minNovelty is what even the hundredth repetition is worth.
	minNovelty = 0.1

	// The parts of the generalizability: it begins in the middle, each dependency
	// takes from it, each trigger and the logarithm of the type's episodes add to it.
	startGenerality                          = 0.5
	perDependency, mostDependencies          = 0.1, 0.3
	perTrigger, mostTriggers                 = 0.05, 0.2
	perLogEpisode, mostLogEpisodes           = 0.1, 0.3
	minGeneralizability, maxGeneralizability = 0.1, 1.0

	// MinEpisodes, RecencyWindow and MinWeight are PATTERN_CONFIG's minEpisodes,
	// recencyWindowDays and minDiscriminationWeight: from how many episodes of a type,
	// how young, and from which weight on there is a pattern. Its decayConstant is lesson.DecayConstant.
	MinEpisodes   = 3
	RecencyWindow = lesson.OperationWindow
	MinWeight     = 0.3
	// successRate and failureRate part the types of such patterns: above the one it is
	// a success, below the other a failure, between them a correlation.
	successRate, failureRate = 0.6, 0.4
	// A new pattern starts at startPattern and its weight, up to maxStartPattern.
	startPattern, maxStartPattern = 0.4, 0.8
	// ConfirmEpisodes is how many episodes make a pattern that holds confirm itself:
	// three times what made it a pattern, and one more. It is ours: the experience server knows no
	// statuses, and MNEMOSYNE, which has them, leaves confirming to people.
	ConfirmEpisodes = 3*MinEpisodes + 1

	// The parts of a learned lesson's confidence.
	startLearned                  = 0.4
	learnedSuccess                = 0.3
	perLogLearned, mostLogLearned = 0.1, 0.3
	learnedUtility                = 0.2
	minLearned, maxLearned        = 0.3, 0.9

	// KeepUtility is from which utility on an experience is kept twice as long: the experience server
	// keeps by utility and names no figure, so it is its threshold for what is high.
	KeepUtility = lesson.HighConfidence
)

// effectiveness is how well it went: 1, 0.5 or 0 by the outcome and, with a
// quality score q, 0.6 of that and 0.4·q.
func effectiveness(outcome learning.Result, quality *float64) float64 {
	base := lesson.EvidenceOf(outcome)
	if quality == nil {
		return base
	}
	return outcomeShare*base + qualityShare**quality
}

// novelty is one less the share of the same problems among the last episodes
// of the type: same of seen. The first of its type is entirely new.
func novelty(same, seen int) float64 {
	if seen == 0 {
		return 1
	}
	return max(minNovelty, 1-float64(same)/float64(seen))
}

// generalizability is how far an experience may hold elsewhere: less with what
// it depends on, more with what triggers it and with the number of episodes of
// its type before it.
func generalizability(dependencies, triggers int, episodes int64) float64 {
	g := startGenerality -
		min(mostDependencies, perDependency*float64(dependencies)) +
		min(mostTriggers, perTrigger*float64(triggers)) +
		min(mostLogEpisodes, perLogEpisode*math.Log(float64(max(episodes, 0))+1))
	return min(max(g, minGeneralizability), maxGeneralizability)
}

// utility is U = 0.3·novelty + 0.5·effectiveness + 0.2·generalizability.
func utility(novelty, effectiveness, generalizability float64) float64 {
	return noveltyShare*novelty + effectivenessShare*effectiveness + generalizabilityShare*generalizability
}

// successShare is the share of successes among the episodes; a partial one is none.
func successShare(successes, episodes int64) float64 {
	if episodes == 0 {
		return 0
	}
	return float64(successes) / float64(episodes)
}

// discrimination is w = success rate · ln(frequency+1) · e^(−k·days), days
// being the mean age of the episodes; one from the future is not younger than new.
func discrimination(rate float64, episodes int64, meanAge time.Duration) float64 {
	days := max(0, meanAge.Hours()/24)
	return rate * math.Log(float64(episodes)+1) * math.Exp(-lesson.DecayConstant*days)
}

// patternKind is the type of a pattern of episodes with that success rate.
func patternKind(rate float64) lesson.PatternType {
	switch {
	case rate > successRate:
		return lesson.PatternSuccess
	case rate < failureRate:
		return lesson.PatternFailure
	}
	return lesson.PatternCorrelation
}

// patternConfidence is where a new pattern of that weight starts.
func patternConfidence(weight float64) float64 { return min(maxStartPattern, startPattern+weight) }

// learnedConfidence is where a lesson starts that was learned from so many
// episodes, with that success rate and mean utility.
func learnedConfidence(rate float64, episodes int, meanUtility float64) float64 {
	c := startLearned + learnedSuccess*rate + min(mostLogLearned, perLogLearned*math.Log(float64(episodes)+1)) + learnedUtility*meanUtility
	return min(max(c, minLearned), maxLearned)
}

// learnedType is what kind of lesson episodes with that success rate teach.
func learnedType(rate float64) learning.LessonType {
	switch patternKind(rate) {
	case lesson.PatternSuccess:
		return learning.LessonSuccess
	case lesson.PatternFailure:
		return learning.LessonFailure
	}
	return learning.LessonDiscovery
}
