package learning

import (
	"cmp"
	"strings"

	"skillrouter/internal/check"
)

// Place is where in a project's repository an entry was made: it holds there first.
type Place struct {
	Folder string `json:"folder,omitempty" here:"folder" doc:"Folder below the repository's root that it was made in"` // with slashes; empty: the root, or nobody said
	Branch string `json:"branch,omitempty" here:"branch" doc:"Branch that it was made on"`
}

// maxPlace bounds each name of a place, in bytes.
const maxPlace = 400

// Apart tells whether two places are in folders of which neither holds the other: what is said of the one is not said of the other.
func (p Place) Apart(other Place) bool {
	return !within(p.Folder, other.Folder) && !within(other.Folder, p.Folder)
}

// within tells whether a folder is another one or lies below it.
func within(folder, other string) bool {
	return other == "" || strings.HasPrefix(folder+"/", other+"/")
}

// CheckPlace checks a place.
func CheckPlace(p Place) error {
	return cmp.Or(check.Text("folder", p.Folder, maxPlace), check.Text("branch", p.Branch, maxPlace))
}
