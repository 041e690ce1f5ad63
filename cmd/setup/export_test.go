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
