package lesson

import (
	"context"
	"sync"

	"skillrouter"
)

// lineGroup bounds how many single reports share a write: beyond that the cost
// of a commit is shared out already, and other writers wait.
const lineGroup = 64

// reportLine gathers the single reports that come while the committer is busy,
// so that one write takes them all. Nobody lingers for more: the first of a
// group queues it at once, and it takes in whoever comes until its turn.
type reportLine struct {
	mu   sync.Mutex
	open *reportGroup // the group that still takes in reports, or nil
}

type reportGroup struct {
	reporting
	done chan struct{}
	err  error
}

// report stores a report together with others, and returns once it is stored.
// A group is not given up when one of its callers goes away.
func (n *reportLine) report(ctx context.Context, l *Lessons, r *report) (Reported, error) {
	n.mu.Lock()
	g, lead := n.open, false
	if g == nil || len(g.reports) == lineGroup {
		g, lead = &reportGroup{reporting: reporting{lessons: l, at: l.now.Stamp()}, done: make(chan struct{})}, true
		g.taken = func() { n.close(g) }
		n.open = g
	}
	at := len(g.reports)
	g.reports = append(g.reports, r)
	n.mu.Unlock()
	if lead {
		g.err = g.queue(context.WithoutCancel(ctx))()
		n.close(g) // if it was refused before its turn
		close(g.done)
	} else {
		<-g.done
	}
	if g.err == nil {
		return g.outcomes[at].Reported, g.outcomes[at].err
	}
	if len(g.reports) == 1 || skillrouter.CodeOf(g.err) != skillrouter.Internal {
		return Reported{}, g.err
	}
	// Something is wrong with one of them: each is tried by itself, so that the others don't fail with it.
	alone := &reporting{lessons: l, at: g.at, reports: []*report{r}}
	if err := alone.queue(ctx)(); err != nil {
		return Reported{}, err
	}
	return alone.outcomes[0].Reported, alone.outcomes[0].err
}

// close lets no more reports into a group.
func (n *reportLine) close(g *reportGroup) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.open == g {
		n.open = nil
	}
}
