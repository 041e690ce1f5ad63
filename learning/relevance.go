package learning

import "skillrouter"

// ShownRelevance is from which relevance on a hit is shown to people, and counts as an answer: below it one of twenty is what
// was meant (docs/benchmarks-search.md). Programs are answered all, and choose by min_relevance.
const ShownRelevance = 0.1

// CheckRelevance refuses what is no relevance.
func CheckRelevance(least float64) error { return skillrouter.CheckRange("min_relevance", least, 0, 1) }
