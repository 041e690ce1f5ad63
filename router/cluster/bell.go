package cluster

import "context"

// Heads says how far the databases of a cluster are: the count of committed transactions of each, which holds the epoch of its writer in
// the upper half. A later one is greater.
type Heads struct{ Learning, Operational int64 }

// Bell tells nodes that the databases have grown. What it tells may be late, doubled or lost: who waits for it also looks for himself.
type Bell interface {
	// Ring tells how far the databases are. It never waits; only the newest is told, at most once in ringEvery (5 ms).
	Ring(Heads)
	// Run listens until ctx ends; heard is called with what others rang, and must not wait.
	Run(ctx context.Context, heard func(Heads)) error
}
