package lesson

import (
	"slices"

	"skillrouter/internal/principal"
	"skillrouter/learning"
)

// apart tells whether a report must not be merged into a stored rule, because
// one of the two may block everybody and the other may not: an agent that may not
// make rules for others would widen or wake one of theirs by saying it again,
// and what a captain reports would stay as confined as the agent's rule of the same title.
func (g *reporting) apart(known *Lesson, r *report) bool {
	rules := g.lessons.rules
	if rules == nil || r.untrusted || known.Type != learning.LessonAntiPattern || r.lesson.Type != learning.LessonAntiPattern {
		return false
	}
	stops := func(l *Lesson) bool { return l.BlockAction || l.Severity == learning.SeverityCritical }
	confined := rules.Confined(known.ID)
	if !rules.Confines(r.writer) {
		return confined && stops(&r.lesson)
	}
	if !stops(known) && !stops(&r.lesson) || confined && principal.SameVoice(known.SourceAgent, r.lesson.SourceAgent) {
		return false
	}
	further := func(command string) bool { return !slices.Contains(known.RelatedCommands, command) }
	return !stops(known) || !known.active() || slices.ContainsFunc(r.lesson.RelatedCommands, further) ||
		r.lesson.TriggerPattern != "" && r.lesson.TriggerPattern != known.TriggerPattern
}
