package learning

import (
	"cmp"
	"strings"

	"github.com/skillrouter/skillrouter/internal/check"
)

// Place is where in a project's repository an entry was made: it holds there first.
type Place struct {
	Folder string `json:"folder,omitempty" here:"folder" doc:"Folder below the repository's root that it was made in"` // with slashes; empty: the root, or nobody said
	Branch string `json:"branch,omitempty" here:"branch" doc:"Branch that it was made on"`
}

// Apart tells whether two places are in folders of which neither holds the other: what is said of the one is not said of the other.
func (p Place) Apart(other Place) bool {
	return !Within(p.Folder, other.Folder) && !Within(other.Folder, p.Folder)
}

// Within tells whether a folder of the repository is another one or lies below it; every folder lies below the root, whose name is empty.
func Within(folder, other string) bool {
	return other == "" || strings.HasPrefix(folder+"/", other+"/")
}

// CheckPlace checks a place.
func CheckPlace(p Place) error {
	return cmp.Or(check.Text("folder", p.Folder, check.MaxPlace), check.Text("branch", p.Branch, check.MaxPlace))
}
