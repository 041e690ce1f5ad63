package principal

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync/atomic"
)

// maxNames bounds how many projects are known by name. Of more, each is called as it is written.
const maxNames = 10_000

// Names calls projects by the names that they have: another case, or other blanks, make no other project.
type Names struct {
	list  func(ctx context.Context, limit int) ([]string, error)
	known atomic.Pointer[map[string]string] // names, by themselves and by what they are in any case
}

// NewNames makes Names of the projects that are listed. They are read again for each name that none of them has.
func NewNames(list func(ctx context.Context, limit int) ([]string, error)) *Names {
	n := &Names{list: list}
	n.known.Store(&map[string]string{})
	return n
}

func folded(name string) string { return strings.Join(strings.Fields(strings.ToLower(name)), " ") }

// named returns the name of the project that is meant. Two that differ in case alone, and are there both, stay two. A name that is
// known waits for no reading of the list.
func (n *Names) named(ctx context.Context, asked string) string {
	if name := calledIn(*n.known.Load(), asked); name != "" {
		return name
	}
	names, err := n.list(ctx, maxNames)
	if err != nil {
		return asked // it is said where the project is looked for
	}
	known := byName(names)
	n.known.Store(&known)
	return cmp.Or(calledIn(known, asked), asked)
}

// byName are names by themselves, and by what they are in any case unless that is a name too. Of several the first counts.
func byName(names []string) map[string]string {
	known := make(map[string]string, 2*len(names))
	for _, name := range slices.Backward(names) {
		known[folded(name)] = name
	}
	for _, name := range names {
		known[name] = name
	}
	return known
}

func calledIn(known map[string]string, asked string) string {
	if name, there := known[asked]; there {
		return name
	}
	return known[folded(asked)]
}

// Naming returns p as one that calls projects by the names that they have, as long as the context lasts.
func (p Principal) Naming(ctx context.Context, names *Names) Principal {
	if names != nil {
		p.names = func(project string) string { return names.named(ctx, project) }
	}
	return p
}

// Named returns the name of the project that is meant: of those that p is bound to, or of all.
func (p Principal) Named(project string) string {
	switch {
	case project == "" || p.names == nil:
		return project
	case p.wall == nil:
		return p.names(project)
	}
	return cmp.Or(calledIn(byName(p.wall.projects), project), project)
}
