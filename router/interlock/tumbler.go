package interlock

import (
	"slices"
	"strings"
)

// The modes of a tumbler.
const (
	Whitelist = "whitelist"
	Blacklist = "blacklist"
)

// Tumbler filters what is heard by signal. The zero Tumbler lets all nine pass.
type Tumbler struct {
	Mode    string // Whitelist, Blacklist, or empty
	Signals []Signal
}

// lets tells whether a signal passes.
func (t Tumbler) lets(s Signal) bool {
	switch t.Mode {
	case Whitelist:
		return slices.Contains(t.Signals, s)
	case Blacklist:
		return !slices.Contains(t.Signals, s)
	}
	return true
}

// String says what passes.
func (t Tumbler) String() string {
	if t.Mode == "" {
		return ""
	}
	names := make([]string, len(t.Signals))
	for i, s := range t.Signals {
		names[i] = s.String()
	}
	return strings.TrimSpace(t.Mode + " " + strings.Join(names, ", "))
}
