package learning

import "skillrouter"

// ShownRelevance is from which relevance on a hit is shown to people, and counts as an answer: of
// hits below 0.2 one of twenty is what was meant (docs/benchmarks-search.md), of those below 0.1 fewer.
const ShownRelevance = 0.1

// CheckRelevance refuses what is no relevance.
func CheckRelevance(least float64) error { return skillrouter.CheckRange("min_relevance", least, 0, 1) }
