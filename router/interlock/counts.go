package interlock

import (
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/skillrouter/skillrouter/comms"
)

// counts are the mesh's state as it is shown, with the counters since the start.
type counts struct {
	mu    sync.Mutex
	shown comms.Mesh
}

// show begins the counters of a mesh. Each signal and each reason has one.
func (c *counts) show(state comms.Mesh, listed []Peer) {
	c.shown = state
	c.shown.Heard, c.shown.Emitted, c.shown.Refused = map[string]int64{}, map[string]int64{}, map[string]int64{}
	for _, s := range Heard() {
		c.shown.Heard[s.String()] = 0
	}
	for _, s := range Emitted() {
		c.shown.Emitted[s.String()] = 0
	}
	for _, reason := range Reasons() {
		c.shown.Refused[string(reason)] = 0
	}
	c.shown.Peers = []comms.MeshPeer{}
	for _, p := range listed {
		c.shown.Peers = append(c.shown.Peers, comms.MeshPeer{Name: p.Name, Address: p.Address.String(), Listed: true, Signed: len(p.Key) > 0})
	}
}

// status is a copy of what is shown.
func (c *counts) status() comms.Mesh {
	c.mu.Lock()
	defer c.mu.Unlock()
	status := c.shown
	status.Heard, status.Emitted, status.Refused = maps.Clone(status.Heard), maps.Clone(status.Emitted), maps.Clone(status.Refused)
	status.Peers = slices.Clone(status.Peers)
	return status
}

func (c *counts) receive() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shown.Received++
}

// skip counts what is not sent.
func (c *counts) skip(datagrams int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shown.Unsent += datagrams
}

func (c *counts) refuse(reason Reason, peer *Peer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shown.Refused[string(reason)]++
	if peer != nil {
		c.peer(peer.Name).Refused++
	}
}

// hear counts a datagram that was acted on.
func (c *counts) hear(d admitted, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now = now.UTC()
	c.shown.Heard[d.Signal.String()]++
	of := c.peer(d.Sender)
	of.Heard++
	of.LastHeard = &now
}

func (c *counts) emit(s Signal, peer *Peer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shown.Emitted[s.String()]++
	c.peer(peer.Name).Emitted++
}

// peer returns the counts of a sender. Those that are not listed follow the others, the latest first.
func (c *counts) peer(name string) *comms.MeshPeer {
	peers := c.shown.Peers
	at := slices.IndexFunc(peers, func(p comms.MeshPeer) bool { return p.Name == name })
	if at >= 0 && peers[at].Listed {
		return &peers[at]
	}
	one := comms.MeshPeer{Name: name}
	if at >= 0 {
		one = peers[at]
		peers = slices.Delete(peers, at, at+1)
	}
	listed := 0
	for listed < len(peers) && peers[listed].Listed {
		listed++
	}
	peers = slices.Insert(peers, listed, one)
	c.shown.Peers = peers[:min(len(peers), listed+maxUnlisted)]
	return &c.shown.Peers[listed]
}
