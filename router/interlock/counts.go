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

// Reason says why a datagram was refused. Each has a counter of its own.
type Reason string

// The reasons, in the order in which a datagram is looked at.
const (
	RefusedRate      Reason = "rate"             // its source, or its sender, sends too much
	RefusedShort     Reason = "short"            // shorter than a header
	RefusedOversize  Reason = "oversize"         // longer than MaxDatagram
	RefusedVersion   Reason = "version"          // of another protocol version
	RefusedLength    Reason = "length"           // shorter than its header says
	RefusedTrailing  Reason = "trailing"         // longer than its header says
	RefusedUTF8      Reason = "utf8"             // the payload is not UTF-8
	RefusedJSON      Reason = "json"             // the payload is no JSON object
	RefusedDuplicate Reason = "duplicate_member" // an object names a member twice
	RefusedDepth     Reason = "depth"            // nested deeper than MaxDepth, or with more than MaxValues values
	RefusedSender    Reason = "sender"           // no sender, or one that cannot be a name
	RefusedSignal    Reason = "signal"           // none that is listened to
	RefusedSelf      Reason = "self"             // it bears our own name
	RefusedUnknown   Reason = "unknown_sender"   // nobody that is to be heard
	RefusedSource    Reason = "source"           // from another address than the sender's
	RefusedUnsigned  Reason = "unsigned"         // the sender has a key, and there is no signature
	RefusedSignature Reason = "signature"        // not by the sender's key
	RefusedStale     Reason = "stale"            // outside of the replay window, or from before the start
	RefusedTumbler   Reason = "tumbler"          // the tumbler filters it
	RefusedReplay    Reason = "replay"           // it was heard already
	RefusedBusy      Reason = "busy"             // too many wait
	RefusedData      Reason = "data"             // a member that the signal needs is missing or not what it must be
	RefusedByRule    Reason = "rule"             // what it asks for is not there, or not allowed
	RefusedFailure   Reason = "failure"          // it could not be stored
)

// Reasons lists every reason.
func Reasons() []Reason {
	return []Reason{
		RefusedRate, RefusedShort, RefusedOversize, RefusedVersion, RefusedLength, RefusedTrailing, RefusedUTF8, RefusedJSON,
		RefusedDuplicate, RefusedDepth, RefusedSender, RefusedSignal, RefusedSelf, RefusedUnknown, RefusedSource, RefusedUnsigned,
		RefusedSignature, RefusedStale, RefusedTumbler, RefusedReplay, RefusedBusy, RefusedData, RefusedByRule, RefusedFailure,
	}
}

// Error makes a Reason an error.
func (r Reason) Error() string { return "the datagram is refused: " + string(r) }
