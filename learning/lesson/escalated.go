package lesson

import (
	"math"
	"slices"

	"skillrouter"
)

// EscalatedTo lists the agents of escalations, each once, in their order.
func EscalatedTo(escalations []Escalation) []string {
	agents := make([]string, 0, len(escalations))
	for _, e := range escalations {
		if !slices.Contains(agents, e.To) {
			agents = append(agents, e.To)
		}
	}
	return agents
}

// Vouched tells whether somebody else than who reported the lesson stands by it.
func (l *Lesson) Vouched() bool {
	return l.Validated && l.ValidatedBy != "" && l.ValidatedBy != l.SourceAgent
}

// checkBelief holds a confidence and its decay to what the formula allows.
func checkBelief(b Belief) error {
	if err := skillrouter.CheckRange("initial_confidence", b.InitialConfidence, 0, 1); err != nil {
		return err
	}
	if math.IsNaN(b.DecayConstant) || b.DecayConstant < 0 || b.DecayConstant > 1 {
		return skillrouter.InvalidField("decay_constant", "must lie between 0 and 1")
	}
	return nil
}
