package learning

// Result is how an application, an experience or an overridden check went.
type Result string

// The results of seed 003.
const (
	ResultSuccess Result = "success"
	ResultFailure Result = "failure"
	ResultPartial Result = "partial"
)

// Results lists every result.
func Results() []Result { return []Result{ResultSuccess, ResultFailure, ResultPartial} }
