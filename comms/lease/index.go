package lease

// index finds the patterns that may overlap with one, among those of a project. Each stands where its literal
// elements lead, so that a path meets only those on the way to it.
type index struct{ root node }

type node struct {
	children map[string]*node
	here     []entry
}

// entry is one alternative of a held lease's patterns.
type entry struct {
	alternative
	pattern string
	lease   *held
}

func (x *index) add(h *held) {
	for _, g := range h.globs {
		for _, a := range g.alts {
			at := &x.root
			for _, s := range a.segments[:a.prefix] {
				next := at.children[s.literal]
				if next == nil {
					next = &node{}
					if at.children == nil {
						at.children = map[string]*node{}
					}
					at.children[s.literal] = next
				}
				at = next
			}
			at.here = append(at.here, entry{a, g.text, h})
		}
	}
}

// remove takes a lease out, and tells whether nothing is left.
func (x *index) remove(h *held) (empty bool) {
	for _, g := range h.globs {
		for _, a := range g.alts {
			x.root.remove(a.segments[:a.prefix], h)
		}
	}
	return len(x.root.here) == 0 && len(x.root.children) == 0
}

func (n *node) remove(way []segment, h *held) {
	if len(way) == 0 {
		kept := n.here[:0]
		for _, e := range n.here {
			if e.lease != h {
				kept = append(kept, e)
			}
		}
		clear(n.here[len(kept):])
		n.here = kept
		return
	}
	if next := n.children[way[0].literal]; next != nil {
		if next.remove(way[1:], h); len(next.here) == 0 && len(next.children) == 0 {
			delete(n.children, way[0].literal)
		}
	}
}

// overlapping gives each entry that overlaps with g; an entry may come more than once.
func (x *index) overlapping(g Glob, found func(entry)) {
	for _, a := range g.alts {
		at := &x.root
		for _, s := range a.segments[:a.prefix] {
			at.give(a, found)
			if at = at.children[s.literal]; at == nil {
				break
			}
		}
		if at != nil {
			at.giveAll(a, found)
		}
	}
}

func (n *node) give(a alternative, found func(entry)) {
	for _, e := range n.here {
		if e.overlaps(a) {
			found(e)
		}
	}
}

func (n *node) giveAll(a alternative, found func(entry)) {
	n.give(a, found)
	if len(a.segments) == a.prefix {
		return // a path: what lies below it is no part of it
	}
	for _, child := range n.children {
		child.giveAll(a, found)
	}
}
