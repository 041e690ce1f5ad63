// Package interlock is the experience server's mesh on UDP: the datagram's codec, the peers
// and what is heard of them, and the listener that turns datagrams into
// experiences, lessons and judgements, and events into datagrams. It owns what
// is the mesh's alone: who is heard, what a datagram must be, how often one
// counts. It must not hold a rule of what is stored, which is the services', and
// it answers nobody: a datagram is heard or counted as refused, never replied to.
package interlock

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/defaults"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning/experience"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// Bounds of the work that datagrams make.
const (
	// maxQueue is how many admitted datagrams may wait to be stored; what comes then is refused as busy.
	maxQueue = 1024
	// workers store at the same time, so that their writes share transactions.
	workers = 4
	// storeTime bounds the storing of one datagram.
	storeTime = 10 * time.Second
	// readAgain is how long the listener waits after a failure to read.
	readAgain = 10 * time.Millisecond
	// maxUnlisted bounds the senders without an entry of which it is remembered when they were heard.
	maxUnlisted = 256
)

// EventLog is the event log of what is learned; the store of learning.db has it.
type EventLog interface {
	// Events returns up to limit events after seq, in order.
	Events(ctx context.Context, after int64, limit int) ([]eventlog.Event, error)
	// LastEvent returns the seq of the newest event, 0 if there is none.
	LastEvent(ctx context.Context) (int64, error)
	// EventBell rings after each commit that wrote an event.
	EventBell() *committer.Bell
}

// Experiences records what peers did; experience.Experiences does.
type Experiences interface {
	Record(ctx context.Context, draft experience.Draft) (experience.Recorded, error)
}

// Lessons takes in what peers learned, and what they judge; lesson.Lessons does.
type Lessons interface {
	Report(ctx context.Context, draft lesson.Draft) (lesson.Reported, error)
	Validate(ctx context.Context, ref string, draft lesson.ValidationDraft) (lesson.Lesson, error)
}

// Services are what datagrams are turned into calls of, and what they are made of.
type Services struct {
	Experiences Experiences
	Lessons     Lessons
	Log         EventLog
	// Issued tells whether the router has issued a token: from then on nobody without an entry is heard.
	Issued func(ctx context.Context) (bool, error)
}

// Options are a Mesh's settings. The zero value is the real thing.
type Options struct {
	Now clock.Clock // time.Now if nil
	Log *slog.Logger
}

// Mesh listens to the peers and tells them what is learned. Run does both.
type Mesh struct {
	socket   socket
	file     File
	services Services
	now      clock.Clock
	log      *slog.Logger
	peers    map[string]*Peer
	started  time.Time
	from     int64 // events up to and including this are not told of

	sources buckets[netip.AddrPort]
	senders buckets[string]
	seen    window
	queue   chan admitted
	counts  counts
}

var _ comms.MeshService = (*Mesh)(nil)

// New makes a Mesh that speaks through a socket. What is learned from now on is told to the peers.
func New(ctx context.Context, s socket, file File, services Services, options Options) (*Mesh, error) {
	options.Now = options.Now.Given()
	options.Log = defaults.Log(options.Log)
	m := &Mesh{
		socket: s, file: file, services: services, now: options.Now, log: options.Log,
		peers: map[string]*Peer{}, started: options.Now().Truncate(time.Second),
		sources: buckets[netip.AddrPort]{}, senders: buckets[string]{}, seen: window{}, queue: make(chan admitted, maxQueue),
	}
	for i := range file.Peers {
		m.peers[file.Peers[i].Name] = &file.Peers[i]
	}
	m.counts.show(comms.Mesh{
		State: comms.MeshOn, Listen: m.Address().String(), Name: file.Name, Hears: string(file.Hear),
		ReplayWindowSeconds: int(file.Window / time.Second), Tumbler: file.Tumbler.String(),
	}, file.Peers)
	var err error
	m.from, err = services.Log.LastEvent(ctx)
	return m, err
}

// Run listens and tells until ctx ends. What was admitted by then is stored.
func (m *Mesh) Run(ctx context.Context) error {
	var storing, telling sync.WaitGroup
	for range workers {
		storing.Go(func() {
			for d := range m.queue {
				m.store(context.WithoutCancel(ctx), d)
			}
		})
	}
	listening, end := context.WithCancel(ctx)
	defer end()
	telling.Go(func() { m.tell(listening) })
	err := m.listen(listening)
	end()
	telling.Wait()
	close(m.queue)
	storing.Wait()
	return err
}

// listen reads datagrams until ctx ends.
func (m *Mesh) listen(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() { _ = m.socket.SetReadDeadline(time.Unix(1, 0)) })() // ends the read under way
	buffer := make([]byte, MaxDatagram+1)
	for {
		n, from, err := m.socket.ReadFromUDPAddrPort(buffer)
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, net.ErrClosed):
			return err
		case err != nil: // some systems report here that a peer is away
			_ = committer.Pause(ctx, readAgain)
			continue
		}
		m.receive(ctx, buffer[:n], netip.AddrPortFrom(from.Addr().Unmap(), from.Port()))
	}
}

// receive admits a datagram to be stored, or counts why not. It waits for
// nothing, and keeps nothing of data.
func (m *Mesh) receive(ctx context.Context, data []byte, from netip.AddrPort) {
	m.counts.receive()
	d, reason := m.admit(ctx, data, from)
	if reason != "" {
		m.counts.refuse(reason, d.peer)
	}
}

// Mesh implements comms.MeshService. It needs ScopeRead.
func (m *Mesh) Mesh(ctx context.Context) (comms.Mesh, error) {
	if err := principal.Of(ctx).Need(principal.ScopeRead); err != nil {
		return comms.Mesh{}, err
	}
	return m.Status(), nil
}

// Status is the state of the mesh and its counters.
func (m *Mesh) Status() comms.Mesh { return m.counts.status() }

// Address is where the mesh listens.
func (m *Mesh) Address() netip.AddrPort {
	address, _ := netip.ParseAddrPort(m.socket.LocalAddr().String())
	return address
}

// Off is the mesh that is not switched on.
type Off struct{}

// Mesh implements comms.MeshService. It needs ScopeRead.
func (Off) Mesh(ctx context.Context) (comms.Mesh, error) {
	if err := principal.Of(ctx).Need(principal.ScopeRead); err != nil {
		return comms.Mesh{}, err
	}
	var none counts
	none.show(comms.Mesh{State: comms.MeshOff}, nil)
	return none.status(), nil
}

// author is the agent that a sender writes as. No agent of the router has such
// an id unless somebody gives it one: a datagram cannot pass for a local agent.
func author(sender string) string { return authorPrefix + sender }

const authorPrefix = "mesh:"

// senderOf is the sender that an agent's id stands for, or "".
func senderOf(agent string) string {
	if sender, ok := strings.CutPrefix(agent, authorPrefix); ok {
		return sender
	}
	return ""
}

// socketBuffer is how much may wait in the kernel, in bytes, while a datagram is
// looked at; the kernel may give less.
const socketBuffer = 1 << 20

// socket is a bound UDP socket: a *net.UDPConn.
type socket interface {
	ReadFromUDPAddrPort(b []byte) (n int, from netip.AddrPort, err error)
	WriteToUDPAddrPort(b []byte, to netip.AddrPort) (int, error)
	SetReadDeadline(t time.Time) error
	LocalAddr() net.Addr
}

// Listen binds the socket that a Mesh hears and speaks through. Whoever calls it closes it.
func Listen(address string) (*net.UDPConn, error) {
	packets, err := net.ListenPacket("udp", address)
	if err != nil {
		return nil, err
	}
	udp := packets.(*net.UDPConn) //nolint:forcetypeassert // what it returns for "udp"
	_ = udp.SetReadBuffer(socketBuffer)
	return udp, nil
}
