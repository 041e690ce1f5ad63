package learning

import "github.com/skillrouter/skillrouter/internal/safetext"

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
