package learning

import (
	"cmp"

	"skillrouter/internal/check"
)

// Place is where in a project's repository an entry was made: it holds there first.
type Place struct {
	Folder string `json:"folder,omitempty" here:"folder" doc:"Folder below the repository's root that it was made in"` // with slashes; empty: the root, or nobody said
	Branch string `json:"branch,omitempty" here:"branch" doc:"Branch that it was made on"`
}

// maxPlace bounds each name of a place, in bytes.
const maxPlace = 400

// CheckPlace checks a place.
func CheckPlace(p Place) error {
	return cmp.Or(check.Text("folder", p.Folder, maxPlace), check.Text("branch", p.Branch, maxPlace))
}
