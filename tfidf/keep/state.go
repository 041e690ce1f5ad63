package keep

import "fmt"

// Stage is how far an index is on its way to hold everything.
type Stage int32

// The stages, in the order in which a start goes through them.
const (
	// Unread is before Load.
	Unread Stage = iota
	// Rebuilding is while everything is being read.
	Rebuilding
	// Complete is when the index holds all that is stored.
	Complete
)

// String names the stage, as it stands in answers and metrics.
func (s Stage) String() string {
	switch s {
	case Rebuilding:
		return "rebuilding"
	case Complete:
		return "whole"
	}
	return "not read"
}

// State tells how an index is doing.
type State struct {
	Stage     Stage
	Documents int // in the index
	// Percent is how much of what is to be read has been; 100 when the index is complete.
	Percent int
	// Failed says why reading had to stop; it is tried again. Empty: it did not.
	Failed string
}

// State tells how the index is doing.
func (k *Keeper) State() State {
	s := State{Stage: Stage(k.stage.Load()), Documents: k.Len()}
	k.mu.Lock()
	s.Failed = k.failed
	k.mu.Unlock()
	s.Percent = k.percent(s.Stage)
	return s
}

// percent is how much of what is to be read has been.
func (k *Keeper) percent(stage Stage) int {
	if stage == Complete {
		return 100
	}
	read, total := k.read.Load(), k.total.Load()
	if total == 0 {
		return 0
	}
	return int(min(99, 100*read/total))
}

// Complete tells whether the index holds all that is stored.
func (k *Keeper) Complete() bool { return Stage(k.stage.Load()) == Complete }

// Notice says that an answer may lack something, empty if it does not.
func (k *Keeper) Notice() string {
	if stage := Stage(k.stage.Load()); stage == Rebuilding {
		return fmt.Sprintf("the search index is being rebuilt, %d %% read; what is not read yet is not found", k.percent(stage))
	}
	return ""
}
