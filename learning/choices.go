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

// Result says how something ended: the use of a lesson, an operation, or an action that
// overrode a check.
type Result string

// The results of the experience server.
const (
	ResultSuccess Result = "success"
	ResultFailure Result = "failure"
	ResultPartial Result = "partial"
)

// Results lists every result.
func Results() []Result { return []Result{ResultSuccess, ResultFailure, ResultPartial} }

// Choices are the values as texts, for whoever asks for one.
func (Result) Choices() []string { return safetext.Strings(Results()) }

// LessonType says what kind of thing was learned.
type LessonType string

// The types of lessons.
const (
	LessonSuccess      LessonType = "success"
	LessonFailure      LessonType = "failure"
	LessonWorkaround   LessonType = "workaround"
	LessonDiscovery    LessonType = "discovery"
	LessonOptimization LessonType = "optimization"
	LessonWarning      LessonType = "warning"
	LessonAntiPattern  LessonType = "anti_pattern" // an active one is a guard rule
)

// LessonTypes lists every type.
func LessonTypes() []LessonType {
	return []LessonType{LessonSuccess, LessonFailure, LessonWorkaround, LessonDiscovery, LessonOptimization, LessonWarning, LessonAntiPattern}
}

// Choices are the values as texts, for whoever asks for one.
func (LessonType) Choices() []string { return safetext.Strings(LessonTypes()) }
