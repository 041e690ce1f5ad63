package lesson

import "github.com/skillrouter/skillrouter/learning"

// A report is untrusted if nobody has proven who sent it, such as a datagram
// without a signature: its draft has the trust TrustImported. It may be stored
// and counted. It must not stop anybody's work, wake anybody, or change what
// known senders have said. These are the limits.
const (
	// untrustedConfidence is the most that an untrusted lesson begins with: medium, in
	// the experience server's words, so that it is never among the lessons of high confidence by itself.
	untrustedConfidence = 0.5
	// untrustedSeverity is the worst that it may say of itself; what is worse is escalated.
	untrustedSeverity = learning.SeverityMedium
)

// untrusted tells whether nobody has proven who sent a draft.
func untrusted(trust learning.Trust) bool { return trust == learning.TrustImported }

// temper takes out of a draft what an untrusted one may not say: it makes no rule, is
// never worse than medium, no more than a case, and believed to 0.5 at the most.
func (d *Draft) temper() {
	if d.Type == learning.LessonAntiPattern {
		d.Type = learning.LessonWarning
	}
	d.TriggerPattern, d.BlockAction, d.Proposed, d.Force = "", false, false, false
	if worse(d.Severity, untrustedSeverity) {
		d.Severity = untrustedSeverity
	}
	if d.Level != "" {
		d.Level = LevelCase
	}
	d.Status, d.LastValidatedAt = "", nil
	confidence := untrustedConfidence
	if d.Confidence != nil && *d.Confidence >= 0 && *d.Confidence < confidence {
		confidence = *d.Confidence
	}
	d.Confidence = &confidence
}
