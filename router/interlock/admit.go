package interlock

import (
	"context"
	"crypto/sha256"
	"errors"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"github.com/skillrouter/skillrouter/learning"
)

// admitted is a datagram that is to be acted on.
type admitted struct {
	Datagram
	peer  *Peer // nil: it is not listed
	trust learning.Trust
}

// admit decides whether a datagram is heard, and queues it. The reason is empty
// if it is; peer is set as soon as it is known in whose name it comes. Only what
// is authentic, or may come unsigned, changes more than counters.
func (m *Mesh) admit(ctx context.Context, data []byte, from netip.AddrPort) (d admitted, _ Reason) {
	now := m.now()
	if !m.sources.allow(source(from), now) {
		return d, RefusedRate
	}
	parsed, err := Parse(data)
	if reason, refused := errors.AsType[Reason](err); refused {
		return d, reason
	}
	d.Datagram = parsed
	if !d.Signal.heard() {
		return d, RefusedSignal
	}
	if d.Sender == m.file.Name {
		return d, RefusedSelf
	}
	if reason := m.authenticate(ctx, &d, from); reason != "" {
		return d, reason
	}
	if d.At.Before(m.started) || now.Sub(d.At).Abs() > m.file.Window {
		return d, RefusedStale
	}
	if !m.file.Tumbler.lets(d.Signal) {
		return d, RefusedTumbler
	}
	sender := d.Sender
	if d.peer == nil {
		sender = "" // all that are not listed share a bucket: names cost nothing
	}
	if !m.senders.allow(sender, now) {
		return d, RefusedRate
	}
	print := digestOf(data)
	if _, heard := m.seen[print]; heard {
		return d, RefusedReplay
	}
	if !m.seen.room(now) {
		return d, RefusedBusy
	}
	d.signed, d.mac = nil, nil // they are the listener's buffer
	select {
	case m.queue <- d:
	default:
		return d, RefusedBusy
	}
	m.seen[print] = d.At.Add(m.file.Window + time.Second)
	return d, ""
}

// authenticate finds out who sends, and whether it is to be heard.
func (m *Mesh) authenticate(ctx context.Context, d *admitted, from netip.AddrPort) Reason {
	d.trust = learning.TrustImported
	peer, listed := m.peers[d.Sender]
	if !listed {
		if m.file.Hear != HearOpen || !from.Addr().IsLoopback() {
			return RefusedUnknown
		}
		if issued, err := m.services.Issued(ctx); err != nil || issued {
			return RefusedUnknown
		}
		return ""
	}
	d.peer = peer
	if peer.Address.Addr() != from.Addr() && (!peer.Address.Addr().IsLoopback() || !from.Addr().IsLoopback()) {
		return RefusedSource
	}
	if len(peer.Key) == 0 {
		return ""
	}
	if err := d.verify(peer.Key); err != nil {
		reason, _ := errors.AsType[Reason](err)
		return reason
	}
	d.trust = learning.TrustAgent
	return ""
}

// source is whose pace a datagram counts for. On this machine that is a socket,
// since all processes share the address; elsewhere it is a host or, in IPv6, the
// network of 64 bits that one host may use as it likes.
func source(from netip.AddrPort) netip.AddrPort {
	address := from.Addr().WithZone("")
	if address.IsLoopback() {
		return netip.AddrPortFrom(address, from.Port())
	}
	if address.Is6() {
		if network, err := address.Prefix(64); err == nil {
			address = network.Addr()
		}
	}
	return netip.AddrPortFrom(address, 0)
}

// Pace of what is taken from one source.
const (
	// sourceRate and sourceBurst are datagrams per second from one address, and from one
	// sender: ten times what a busy peer has to say.
	sourceRate  = 200
	sourceBurst = 400
	// maxSources bounds the sources whose pace is remembered. One more is not heard until
	// another was silent for a moment. An entry takes about 200 bytes.
	maxSources = 4096
)

// buckets hold a token bucket for each of the sources. They are the listener's alone.
type buckets[K comparable] map[K]*rate.Limiter

// allow takes a token of the source's bucket.
func (b buckets[K]) allow(key K, now time.Time) bool {
	limiter, known := b[key]
	if !known {
		if len(b) >= maxSources { // a full bucket is as good as none
			maps.DeleteFunc(b, func(_ K, one *rate.Limiter) bool { return one.TokensAt(now) >= sourceBurst })
		}
		if len(b) >= maxSources {
			return false
		}
		limiter = rate.NewLimiter(sourceRate, sourceBurst)
		b[key] = limiter
	}
	return limiter.AllowN(now, 1)
}

// maxSeen bounds the datagrams that are remembered so as to hear each once: a
// minute at 1,000 a second. What comes beyond is refused as busy, and not heard
// unremembered. An entry takes about 100 bytes.
const maxSeen = 1 << 16

type digest [16]byte

// digestOf tells datagrams apart.
func digestOf(data []byte) digest {
	sum := sha256.Sum256(data)
	return digest(sum[:16])
}

// window remembers until when each datagram that was heard could be heard again. It is the listener's alone.
type window map[digest]time.Time

// room tells whether another one can be remembered. If there is none it forgets what has passed.
func (w window) room(now time.Time) bool {
	if len(w) >= maxSeen {
		maps.DeleteFunc(w, func(_ digest, until time.Time) bool { return until.Before(now) })
	}
	return len(w) < maxSeen
}

// The modes of a tumbler.
const (
	Whitelist = "whitelist"
	Blacklist = "blacklist"
)

// Tumbler filters what is heard by signal. The zero Tumbler lets all nine pass.
type Tumbler struct {
	Mode    string // Whitelist, Blacklist, or empty
	Signals []Signal
}

// lets tells whether a signal passes.
func (t Tumbler) lets(s Signal) bool {
	switch t.Mode {
	case Whitelist:
		return slices.Contains(t.Signals, s)
	case Blacklist:
		return !slices.Contains(t.Signals, s)
	}
	return true
}

// String says what passes.
func (t Tumbler) String() string {
	if t.Mode == "" {
		return ""
	}
	names := make([]string, len(t.Signals))
	for i, s := range t.Signals {
		names[i] = s.String()
	}
	return strings.TrimSpace(t.Mode + " " + strings.Join(names, ", "))
}
