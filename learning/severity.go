package learning

import "github.com/skillrouter/skillrouter/internal/safetext"

// Severity says how much harm it does not to know a lesson.
type Severity string

// The severities, the worst first.
const (
	SeverityCritical Severity = "critical"
	SeverityHigh     Severity = "high"
	SeverityMedium   Severity = "medium"
	SeverityLow      Severity = "low"
)

// Severities lists every severity, the worst first.
func Severities() []Severity {
	return []Severity{SeverityCritical, SeverityHigh, SeverityMedium, SeverityLow}
}

// Choices are the values as texts, for whoever asks for one.
func (Severity) Choices() []string { return safetext.Strings(Severities()) }
