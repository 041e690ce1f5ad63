package setup

import "strings"

// Diff is the whole plan as people and patch(1) read it.
func (p Plan) Diff() string {
	var b strings.Builder
	for _, c := range p.Pending() {
		b.WriteString(c.Diff)
	}
	return b.String()
}

// CommandLine is a hook's command on an operating system.
func (c Content) CommandLine(goos string, agent Agent, event string) string {
	return c.commandLine(goos, agent, event)
}
