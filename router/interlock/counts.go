package interlock

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"skillrouter/comms"
)

// counts are the mesh's counters since the start, and when who was heard.
type counts struct {
	received, unsent atomic.Int64

	mu       sync.Mutex
	heard    map[Signal]int64
	emitted  map[Signal]int64
	refused  map[Reason]int64
	peers    map[string]*peerCounts // of those that are listed
	unlisted []*peerCounts          // the latest heard last
}

type peerCounts struct {
	name                    string
	last                    time.Time
	heard, emitted, refused int64
}

func (c *counts) init() {
	c.heard, c.emitted, c.refused, c.peers = map[Signal]int64{}, map[Signal]int64{}, map[Reason]int64{}, map[string]*peerCounts{}
}

func (c *counts) peer(p *Peer) *peerCounts {
	of, known := c.peers[p.Name]
	if !known {
		of = &peerCounts{name: p.Name}
		c.peers[p.Name] = of
	}
	return of
}

func (c *counts) refuse(reason Reason, peer *Peer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refused[reason]++
	if peer != nil {
		c.peer(peer).refused++
	}
}

// hear counts a datagram that was acted on.
func (c *counts) hear(d admitted, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heard[d.Signal]++
	of := c.sender(d)
	of.heard++
	of.last = now
}

// sender returns the counts of whoever sent a datagram.
func (c *counts) sender(d admitted) *peerCounts {
	if d.peer != nil {
		return c.peer(d.peer)
	}
	at := slices.IndexFunc(c.unlisted, func(of *peerCounts) bool { return of.name == d.Sender })
	of := &peerCounts{name: d.Sender}
	switch {
	case at >= 0:
		of = c.unlisted[at]
		c.unlisted = slices.Delete(c.unlisted, at, at+1)
	case len(c.unlisted) == maxUnlisted:
		c.unlisted = slices.Delete(c.unlisted, 0, 1)
	}
	c.unlisted = append(c.unlisted, of)
	return of
}

func (c *counts) emit(s Signal, peer *Peer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.emitted[s]++
	c.peer(peer).emitted++
}

// fill writes the counters into a status.
func (c *counts) fill(status *comms.Mesh, listed []Peer) {
	status.Received, status.Unsent = c.received.Load(), c.unsent.Load()
	status.Heard, status.Emitted, status.Refused = map[string]int64{}, map[string]int64{}, map[string]int64{}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range Heard() {
		status.Heard[s.String()] = c.heard[s]
	}
	for _, s := range Emitted() {
		status.Emitted[s.String()] = c.emitted[s]
	}
	for _, reason := range Reasons() {
		status.Refused[string(reason)] = c.refused[reason]
	}
	status.Peers = []comms.MeshPeer{}
	for i := range listed {
		p := c.peer(&listed[i]).view()
		p.Address, p.Listed, p.Signed = listed[i].Address.String(), true, len(listed[i].Key) > 0
		status.Peers = append(status.Peers, p)
	}
	for _, of := range slices.Backward(c.unlisted) {
		status.Peers = append(status.Peers, of.view())
	}
}

func (c *peerCounts) view() comms.MeshPeer {
	p := comms.MeshPeer{Name: c.name, Heard: c.heard, Emitted: c.emitted, Refused: c.refused}
	if !c.last.IsZero() {
		last := c.last.UTC()
		p.LastHeard = &last
	}
	return p
}
