package principal

import (
	"slices"
	"strings"

	"github.com/skillrouter/skillrouter/internal/errs"
)

// MaxProjects is how many projects a token may be bound to: a team's, not a list of all.
const MaxProjects = 16

// wall keeps a principal within its projects. What no project owns is outside too.
type wall struct{ projects []string }

// Bind returns p as one that sees and writes the rows of these projects alone. Without any it is p.
func (p Principal) Bind(projects []string) Principal {
	p.wall = nil
	if len(projects) > 0 {
		p.wall = &wall{slices.Compact(slices.Sorted(slices.Values(projects)))}
	}
	return p
}

// Projects are those that p is bound to, sorted; nil: it is bound to none, and sees all.
func (p Principal) Projects() []string {
	if p.wall == nil {
		return nil
	}
	return p.wall.projects
}

// Walled tells whether p is bound to projects.
func (p Principal) Walled() bool { return p.wall != nil }

// Keeping returns p for a service that keeps to its projects: that shows no row, number or text
// of another project, and writes none. All others Need refuses to a principal that is bound to projects,
// so that what nobody thought of shows nothing.
func (p Principal) Keeping() Principal {
	p.keeping = true
	return p
}

// Sees tells whether p may know of what belongs to a project; "" is what belongs to none.
func (p Principal) Sees(project string) bool {
	return p.wall == nil || slices.Contains(p.wall.projects, project)
}

// Into sets the project that p writes into: by the name that it has, and where a draft's field names none, p's only one. It
// refuses every other project.
func (p Principal) Into(field string, project *string) error {
	*project = p.Named(*project)
	switch {
	case p.wall == nil, *project != "" && p.Sees(*project):
	case *project != "":
		return &errs.Error{Code: errs.Forbidden, Field: field, Message: "is not among the projects that this token is bound to"}
	case len(p.wall.projects) > 1:
		return errs.InvalidField(field, "is required, because this token is bound to several projects: %s", strings.Join(p.wall.projects, ", "))
	default:
		*project = p.wall.projects[0]
	}
	return nil
}

// NamesNone refuses the id that a draft's field gives to what is made, where p is bound to projects: what has
// that id elsewhere would show by it.
func (p Principal) NamesNone(field, id string) error {
	if p.wall == nil || id == "" {
		return nil
	}
	return errs.InvalidField(field, "is given by the router: this token is bound to projects, and chooses no id")
}

// Unkept is the error where something does not keep to the projects of who asks for it.
func Unkept(what string) error {
	return errs.Errorf(errs.Forbidden, "this token is bound to projects, and %s does not keep to them: it takes a token that is bound to none", what)
}
