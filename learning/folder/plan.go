package folder

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"skillrouter/learning/lesson"
)

// Direction says which side may be changed.
type Direction int

// The directions.
const (
	Both     Direction = iota // sync
	ToRouter                  // import
	ToFolder                  // export
)

// Preference says which side holds where both changed.
type Preference string

// The preferences. Without one, neither side is touched.
const (
	PreferNone   Preference = ""
	PreferFolder Preference = "folder"
	PreferRouter Preference = "router"
)

// Preferences lists every preference that can be named.
func Preferences() []Preference { return []Preference{PreferFolder, PreferRouter} }

// Action is what is to be done with a lesson, or what was found out about it.
type Action string

// The actions.
const (
	ActionAgreed   Action = "agreed"   // both sides say the same, or what they had agreed on
	ActionReport   Action = "report"   // the router gets a new lesson
	ActionEdit     Action = "edit"     // the file's changes go to the router
	ActionWrite    Action = "write"    // the lesson goes to its file
	ActionRetire   Action = "retire"   // the file was deleted, and the caller wants the lesson retired for it
	ActionConflict Action = "conflict" // both sides changed; nothing is done
	ActionDeleted  Action = "deleted"  // the file was deleted; the lesson stays
	ActionLeft     Action = "left"     // there is a change, in the direction that was not asked for
	ActionRefused  Action = "refused"  // the file, or the lesson, could not be taken
)

// Step is one lesson's part of a plan.
type Step struct {
	ID     string   `json:"id"`
	Path   string   `json:"path,omitempty"`   // of its file
	Lesson string   `json:"lesson,omitempty"` // the router's id, if it is another
	Action Action   `json:"action"`
	Why    string   `json:"reason,omitempty"`
	Notes  []string `json:"notes,omitempty"` // what else came of it

	file   *File          // nil: there is none
	lesson *lesson.Lesson // nil: there is none
}

// Settings are how a folder and a router are brought together.
type Settings struct {
	Direction Direction
	Prefer    Preference
	Retire    bool   // a deleted file, or one that says retired, retires its lesson
	Domain    string // of files that say none; empty: that of the last time, else DefaultDomain
	DryRun    bool   // plan, and change nothing
}

// Plan compares each lesson's file, the router's lesson, and what both held
// when they last agreed. A change on one side is taken to the other; changes on
// both are a conflict, unless a side is preferred. A deleted file never deletes
// a lesson. Steps come in the order of ids.
func Plan(scan Scan, lessons []lesson.Lesson, state State, settings Settings) []Step {
	files := map[string]*File{}
	for i := range scan.Files {
		files[scan.Files[i].Entry.ID] = &scan.Files[i]
	}
	refusedPath, refusedID := map[string]bool{}, map[string]bool{}
	for _, trouble := range scan.Refused {
		refusedPath[trouble.Path] = true
		if trouble.ID != "" {
			refusedID[trouble.ID] = true
		}
	}
	known := map[string]*lesson.Lesson{}
	for i := range lessons {
		known[lessons[i].ID] = &lessons[i]
	}
	aliased := map[string]bool{} // lessons whose file has another id
	for id, agreed := range state.Lessons {
		if agreed.Lesson != "" && (files[id] != nil || refusedID[id] || refusedPath[agreed.Path]) {
			aliased[agreed.Lesson] = true
		}
	}
	ids := map[string]bool{}
	for id := range files {
		ids[id] = true
	}
	for id := range known {
		if !aliased[id] {
			ids[id] = true
		}
	}
	steps := make([]Step, 0, len(ids)+len(scan.Refused))
	for _, trouble := range scan.Refused {
		steps = append(steps, Step{ID: trouble.ID, Path: trouble.Path, Action: ActionRefused, Why: trouble.Why})
	}
	for _, id := range slices.Sorted(maps.Keys(ids)) {
		agreed, met := state.Lessons[id]
		step := Step{ID: id, file: files[id], Lesson: agreed.Lesson, lesson: known[cmp.Or(agreed.Lesson, id)]}
		if step.file != nil {
			step.Path = step.file.Path
		}
		if step.file == nil && (refusedID[id] || met && refusedPath[agreed.Path]) {
			continue // its file is there, and was refused
		}
		step.Action, step.Why = decide(step, agreed, met, settings)
		steps = append(steps, step)
	}
	return steps
}

func decide(step Step, agreed Agreed, met bool, settings Settings) (Action, string) {
	switch {
	case step.lesson == nil && settings.Direction == ToFolder:
		return ActionLeft, "is in the folder alone; import or sync takes it to the router"
	case step.lesson == nil && met:
		return ActionReport, "the router does not have it any more"
	case step.lesson == nil:
		return ActionReport, "new in the folder"
	case step.file == nil:
		return withoutFile(step, met, settings)
	}
	inFile, inRouter := step.file.Entry, Of(*step.lesson)
	inRouter.ID = inFile.ID
	fileHash, routerHash := inFile.Hash(), inRouter.Hash()
	if fileHash == routerHash {
		return ActionAgreed, ""
	}
	changed := differences(inFile, inRouter)
	switch edited, moved := fileHash != agreed.Folder, routerHash != agreed.Router; {
	case met && !edited && !moved:
		return ActionAgreed, ""
	case met && edited && !moved:
		if settings.Direction == ToFolder {
			return ActionLeft, "changed in the folder (" + changed + "); import or sync takes it to the router"
		}
		return ActionEdit, "changed in the folder: " + changed
	case met && !edited && moved:
		if settings.Direction == ToRouter {
			return ActionLeft, "changed in the router (" + changed + "); export or sync takes it to the folder"
		}
		return ActionWrite, "changed in the router: " + changed
	}
	why := "changed on both sides: "
	if !met {
		why = "both sides have it, with different content, and never agreed: "
	}
	switch {
	case settings.Prefer == PreferFolder && settings.Direction != ToFolder:
		return ActionEdit, why + changed + "; the folder is preferred"
	case settings.Prefer == PreferRouter && settings.Direction != ToRouter:
		return ActionWrite, why + changed + "; the router is preferred"
	}
	return ActionConflict, why + changed
}

func withoutFile(step Step, met bool, settings Settings) (Action, string) {
	switch {
	case settings.Direction == ToFolder || !met && settings.Direction == Both:
		return ActionWrite, "has no file"
	case !met:
		return ActionLeft, "is in the router alone; export or sync takes it to the folder"
	case step.lesson.Status == lesson.StatusRetired:
		return ActionAgreed, ""
	case settings.Retire:
		return ActionRetire, "its file was deleted"
	}
	return ActionDeleted, "its file was deleted; the lesson stays: --retire retires it, and export writes the file again"
}

// differences names the fields in which two entries differ.
func differences(a, b Entry) string {
	var names []string
	for _, f := range fields() {
		if f.of(a) != f.of(b) {
			names = append(names, f.name)
		}
	}
	return strings.Join(names, ", ")
}
