package learning

// How much a search that prefers a project moves scores. Both are choices: what one works on goes before
// what fits a quarter better elsewhere, and what was said here before what was only imported.
const (
	ownProject = 1.25
	importLoss = 0.8
)

// Prefer is by how much a score is multiplied of what belongs to a project and is trusted so far,
// where someone searches who works in the project preferred, with a reason for each
// change in terms of a score of 1. What belongs to another project is marked by a reason that changes nothing.
// Nothing is preferred without a project.
func Prefer(preferred, project string, trust Trust) (factor float64, why []Reason) {
	factor = 1
	if preferred == "" {
		return factor, nil
	}
	switch project {
	case preferred:
		factor *= ownProject
		why = append(why, Reason{Lane: "project", Term: project, Weight: ownProject - 1})
	case "":
	default:
		why = append(why, Reason{Lane: "other project", Term: project})
	}
	if trust == TrustImported {
		why = append(why, Reason{Lane: "trust", Term: string(trust), Weight: factor * (importLoss - 1)})
		factor *= importLoss
	}
	return factor, why
}
