// Package cluster makes several routers one: a lease says which of them writes, and the
// others hand their callers' requests to it. It owns how long a lease holds, when a router
// may take one, and how a node shows another that it is one. What stores the lease stands
// behind Register; what a request does is not its business.
package cluster

import (
	"context"
	"time"
)

// Bounds of a lease and of those who look for one.
const (
	// Term is how long a lease holds after it was taken or renewed, by the clock of the database: a writer
	// that is gone is replaced after that, and one that cannot renew it answers nobody any more.
	Term = 4 * time.Second
	// renewEvery is how often the writer renews it: three may fail. It is the beat by which nodes are known to be there.
	renewEvery = time.Second
	// lookEvery is how often a node that stands by looks whether it may take it.
	lookEvery = 250 * time.Millisecond
	// tryEvery is how often a node that follows asks the writer whether it is there, and tryWithin how long an answer may take.
	tryEvery  = 500 * time.Millisecond
	tryWithin = 750 * time.Millisecond
	// reachFor is how long after its last answer the writer counts as reached.
	reachFor = 1500 * time.Millisecond
	// beats is how long the writer and the others may not have met before it gives the lease up.
	beats = 2 * renewEvery
	// patientFor is how long a node that gave the lease up asks nobody else to: where no two nodes reach each other, it would go round.
	patientFor = time.Minute
	// askWithin bounds one question to the register: a server that answers later is as good as none.
	askWithin = 2 * time.Second
	// Silent is how long a node may be unheard of and still count as there.
	Silent = 15 * time.Second
	// ClocksApart is how much the clocks of two nodes may differ: as old may be what one says to another. From that of the database each may be off by half of it.
	ClocksApart = time.Minute
)

// Node is a router of a cluster.
type Node struct {
	Name    string // as its setting has it; unique in the cluster
	ID      string // of its data folder: a node of that name with another folder is another node
	URL     string // where the other nodes reach it
	Version string
	// Epoch counts the leases that were ever taken, this node's included; 0: it stands by.
	Epoch int64
	// Clock is what its own clock said when it announced itself.
	Clock time.Time
	// Seen is how long ago it was heard of, when a Register tells it.
	Seen time.Duration
	// Misses is the epoch of a writer that the node does not reach, 0: it reaches it. A negative one is not held against the writer.
	Misses int64
}

// Register is where nodes are known, and where the lease is. What it tells is of one moment, by one clock that all
// nodes share. Each call ends with its context.
type Register interface {
	// Announce notes that a node is there, and which writer it misses. What was known of another at its address, or of its name, that is
	// heard of no more is forgotten. It is refused as a conflict while another of its name is there, and as unavailable while its clock is off.
	Announce(ctx context.Context, node Node) error
	// Take gives the lease to a node if nobody has it, or if the node itself had it, and returns its
	// epoch, which nobody had before; 0: somebody else has it.
	Take(ctx context.Context, node Node, term time.Duration) (epoch int64, err error)
	// Renew makes the lease of an epoch hold for another term; false: somebody else has it since.
	Renew(ctx context.Context, node Node, term time.Duration) (held bool, err error)
	// Writer is the node whose lease holds; none if its Epoch is 0.
	Writer(ctx context.Context) (Node, error)
	// Nodes are those that were heard of lately, by name.
	Nodes(ctx context.Context) ([]Node, error)
	// Leave gives the lease of a node's epoch back, if it has one, and forgets the node.
	Leave(ctx context.Context, node Node) error
}
