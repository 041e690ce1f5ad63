package folder

import "skillrouter/internal/errs"

// State is what a folder and a router agreed on when they were last brought
// together. It stands in the folder, in StateName.
type State struct {
	Version int               `json:"version"`
	Domain  string            `json:"domain,omitempty"` // of files that say none
	Lessons map[string]Agreed `json:"lessons"`          // by the file's id
}

// Agreed is what both sides held. The two hashes are the same, unless the
// router changed what it was given, such as by cutting out a secret.
type Agreed struct {
	Path   string `json:"path"`
	Folder string `json:"folder"`           // hash of the file's content
	Router string `json:"router"`           // hash of the lesson's
	Lesson string `json:"lesson,omitempty"` // the router's id, if it knows the lesson by another
}

// stateVersion is the version of the file that this program reads and writes.
const stateVersion = 1

// ReadState reads the state; a folder that was never brought together has an
// empty one. A file that cannot be read is Invalid: taken for empty, each
// difference would look like a conflict.
func (d *Dir) ReadState() (State, error) {
	state := State{Version: stateVersion, Lessons: map[string]Agreed{}}
	text, err := d.read(StateName, MaxIndex)
	if missing(err) {
		return state, nil
	}
	if err == nil {
		err = strict(text, &state)
	}
	if err != nil || state.Lessons == nil {
		return state, errs.Wrap(errs.Invalid, err, "%s cannot be read: %s; restore it, or remove it to start anew", StateName, reason(err))
	}
	if state.Version != stateVersion {
		return state, errs.Errorf(errs.Invalid, "%s has version %d, and this program knows %d", StateName, state.Version, stateVersion)
	}
	return state, nil
}

func (d *Dir) writeState(state State) error {
	text, err := encode(state)
	if err != nil {
		return err
	}
	return d.write(StateName, text)
}
