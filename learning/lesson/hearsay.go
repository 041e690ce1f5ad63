package lesson

import "skillrouter/learning"

// What is heard from somewhere whose name nobody has proven, such as a datagram
// without a signature, is hearsay: its draft has the trust TrustImported. It may
// be kept and counted. It must not stop anybody's work, wake anybody, or change
// what is known from those who are known; these are the limits.
const (
	// hearsayConfidence is the most that a lesson from hearsay begins with: medium, in
	// seed 003's words, so that it is never among the lessons of high confidence by itself.
	hearsayConfidence = 0.5
	// hearsaySeverity is the worst that it may say of itself; what is worse is escalated.
	hearsaySeverity = learning.SeverityMedium
)

// hearsay tells whether nobody vouches for a draft.
func hearsay(trust learning.Trust) bool { return trust == learning.TrustImported }

// temper takes out of a draft what hearsay may not say: it makes no rule, is
// never worse than medium, no more than a case, and believed to 0.5 at the most.
func (d *Draft) temper() {
	if d.Type == learning.LessonAntiPattern {
		d.Type = learning.LessonWarning
	}
	d.TriggerPattern, d.BlockAction, d.Proposed, d.Force = "", false, false, false
	if worse(d.Severity, hearsaySeverity) {
		d.Severity = hearsaySeverity
	}
	if d.Level != "" {
		d.Level = LevelCase
	}
	d.Status, d.LastValidatedAt = "", nil
	confidence := hearsayConfidence
	if d.Confidence != nil && *d.Confidence >= 0 && *d.Confidence < confidence {
		confidence = *d.Confidence
	}
	d.Confidence = &confidence
}
