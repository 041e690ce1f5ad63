package watch

// For tests from outside: what the program tells the model.
type (
	Happened = happened
	Up       = up
	Down     = down
	Looked   = looked
	Decided  = decided
)

var Follow = follow

// DownBecause is the message that the stream broke.
func DownBecause(err error) Down { return down{err} }

// Agents are those that a model shows.
func (m Model) Shown() (agents, approvals, lines int) {
	return len(m.agents), len(m.approvals), len(m.lines)
}

const LookEvery, LookSoon, MaxLines = lookEvery, lookSoon, maxLines

// Look is what a look finds.
func (m Model) Look() any { return m.look() }
