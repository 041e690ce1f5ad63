package operational

// Names is what the operational store knows by name, so that a question that
// names it is understood.
type Names struct {
	Agents       []string
	Projects     []string
	Environments []string
	CVEs         []string
	Findings     []string // titles
	Tasks        []TaskName
}

// TaskName is how people speak of a task.
type TaskName struct {
	Number int64
	Title  string
}
