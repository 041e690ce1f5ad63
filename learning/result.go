package learning

import "github.com/skillrouter/skillrouter/internal/safetext"

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
