package interlock

import (
	"context"
	"errors"
	"net/netip"
	"time"

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
