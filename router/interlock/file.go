package interlock

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"skillrouter/internal/check"
	"skillrouter/internal/errs"
	"skillrouter/internal/file"
	"skillrouter/learning"
)

// Bounds of a file.
const (
	// MaxFile bounds the file, in bytes; MaxPeers peers fit several times.
	MaxFile = 256 << 10
	// MaxPeers bounds the peers: each event is sent to each of them.
	MaxPeers = 256
	// MinKey is the fewest characters of a key: 128 bits, if they are random.
	MinKey, maxKey = 16, 512
	// MinWindow and MaxWindow bound the replay window: a second is the timestamps' own
	// step, and for ten minutes what was heard can be remembered.
	MinWindow, MaxWindow = time.Second, 10 * time.Minute
	// DefaultWindow is seconds that clocks may differ and datagrams be under way.
	DefaultWindow = 30 * time.Second
	// DefaultName is what the experience server's peers know this server as.
	DefaultName = "experience-layer"
)

// Hear says whose datagrams are heard.
type Hear string

// Whose datagrams are heard.
const (
	// HearPeers is for those that are listed alone.
	HearPeers Hear = "peers"
	// HearOpen is for others on this machine too, for as long as the router has issued no token.
	HearOpen Hear = "open"
)

// File is what interlock.json says.
type File struct {
	Name    string // our own, as a sender
	Hear    Hear
	Window  time.Duration // how far a timestamp may lie from now
	Peers   []Peer
	Tumbler Tumbler
}

// Peer is a server on the mesh.
type Peer struct {
	Name     string
	Address  netip.AddrPort
	Key      []byte   // of its signatures and of ours to it; nil: none
	Unsigned bool     // it is beyond this machine and has no key, and somebody wants that
	Emit     []Signal // what it is told; nil: what the experience server tells a peer of that name
}

// wants tells whether the peer is told of a signal.
func (p *Peer) wants(s Signal) bool {
	if p.Emit != nil {
		return slices.Contains(p.Emit, s)
	}
	to := listeners[s]
	return to == nil || slices.Contains(to, p.Name)
}

// DefaultFile holds if there is no file: nobody is told of anything, and
// processes on this machine are heard while the router is open.
func DefaultFile() File { return File{Name: DefaultName, Hear: HearOpen, Window: DefaultWindow} }

// ReadFile reads an interlock.json. A file that is not there is DefaultFile
// unless it must be. Errors are Invalid and name the file and the field.
func ReadFile(path string, mustExist bool) (File, error) {
	text, err := file.ReadHead(path, MaxFile+1)
	if errors.Is(err, fs.ErrNotExist) && !mustExist {
		return DefaultFile(), nil
	}
	if err != nil {
		return File{}, errs.Wrap(errs.Invalid, err, "the mesh's file %s cannot be read", path)
	}
	parsed, err := ParseFile(text)
	if err != nil {
		return File{}, errs.Errorf(errs.Invalid, "%s: %s", path, learning.Sentence(err))
	}
	return parsed, nil
}

// ParseFile reads the text of an interlock.json, ours or the original's. Unknown
// and repeated members are refused: a misspelt one might have kept somebody out.
func ParseFile(text []byte) (File, error) {
	if len(text) > MaxFile {
		return File{}, errs.Errorf(errs.TooLarge, "is larger than %d bytes", MaxFile)
	}
	object, err := readObject(text)
	if err != nil {
		switch {
		case errors.Is(err, RefusedDuplicate):
			return File{}, errs.Errorf(errs.Invalid, "names a member twice")
		case errors.Is(err, RefusedDepth):
			return File{}, errs.Errorf(errs.Invalid, "is nested more than %d deep, or holds more than %d values", MaxDepth, MaxValues)
		}
		return File{}, errs.Errorf(errs.Invalid, "is not a JSON object in UTF-8")
	}
	f := DefaultFile()
	r := &fields{object: object}
	f.Name = r.text("name", r.server(f.Name))
	// What the original's file also says is set elsewhere here (the ports), or is what it is (the signals).
	for _, name := range []string{"ports", "signals", "version", "description"} {
		r.take(name)
	}
	if r.err == nil && !isSender(f.Name) {
		r.fail("name", "must be 1 to %d letters, digits and . _ : -", MaxSender)
	}
	f.Window = time.Duration(r.number("replay_window_seconds", int(DefaultWindow/time.Second), int(MinWindow/time.Second), int(MaxWindow/time.Second))) * time.Second
	f.Peers = r.peers(f.Name)
	if len(f.Peers) > 0 {
		f.Hear = HearPeers
	}
	f.Hear = Hear(r.text("hear", string(f.Hear)))
	if r.err == nil && f.Hear != HearPeers && f.Hear != HearOpen {
		r.fail("hear", "must be %s or %s", HearPeers, HearOpen)
	}
	f.Tumbler = r.tumbler()
	r.done()
	return f, r.err
}

// fields takes an object's members one by one; what is left is unknown. It keeps the first error.
type fields struct {
	object map[string]any
	prefix string // of the fields' names
	err    error
}

func (r *fields) fail(name, format string, args ...any) {
	if r.err == nil {
		r.err = errs.InvalidField(r.prefix+name, format, args...)
	}
}

func (r *fields) take(name string) (any, bool) {
	value, there := r.object[name]
	delete(r.object, name)
	return value, there && value != nil
}

func (r *fields) text(name, otherwise string) string {
	value, there := r.take(name)
	if !there {
		return otherwise
	}
	text, ok := value.(string)
	if !ok {
		r.fail(name, "must be a text")
	}
	return text
}

func (r *fields) number(name string, otherwise, low, high int) int {
	value, there := r.take(name)
	if !there {
		return otherwise
	}
	number, ok := value.(float64)
	if !ok || number != math.Trunc(number) || number < float64(low) || number > float64(high) {
		r.fail(name, "must be a whole number between %d and %d", low, high)
		return otherwise
	}
	return int(number)
}

func (r *fields) toggle(name string) bool {
	value, there := r.take(name)
	on, ok := value.(bool)
	if there && !ok {
		r.fail(name, "must be true or false")
	}
	return on
}

func (r *fields) list(name string) []any {
	value, there := r.take(name)
	list, ok := value.([]any)
	if there && !ok {
		r.fail(name, "must be a list")
	}
	return list
}

// signals reads a list of signals' names out of those allowed; nil if there is no list.
func (r *fields) signals(name string, allowed []Signal) []Signal {
	if _, there := r.object[name]; !there {
		return nil
	}
	signals := []Signal{}
	for i, value := range r.list(name) {
		text, _ := value.(string)
		signal, known := ParseSignal(text)
		if !known || !slices.Contains(allowed, signal) {
			r.fail(fmt.Sprintf("%s[%d]", name, i), "must be one of %v", allowed)
			return nil
		}
		signals = append(signals, signal)
	}
	return signals
}

// done refuses what is left.
func (r *fields) done() {
	for name := range r.object {
		r.fail(check.Head(name, check.MaxName), "is not known here")
	}
}

func (r *fields) tumbler() Tumbler {
	value, there := r.take("tumbler")
	if !there {
		return Tumbler{}
	}
	object, ok := value.(map[string]any)
	if !ok {
		r.fail("tumbler", "must be an object with mode and signals")
		return Tumbler{}
	}
	below := &fields{object: object, prefix: r.prefix + "tumbler.", err: r.err}
	defer func() { r.err = below.err }()
	_, listed := object["signals"]
	_, white := object[Whitelist]
	_, black := object[Blacklist]
	mode := below.text("mode", "")
	if original := !listed && (white || black); !original && (listed || mode != "") {
		t := Tumbler{Mode: mode, Signals: below.signals("signals", Heard())}
		if t.Mode != Whitelist && t.Mode != Blacklist {
			below.fail("mode", "must be %s or %s", Whitelist, Blacklist)
		}
		below.done()
		return t
	}
	// The original's two lists. An empty one says nothing, and a mode says that the other does not count.
	passed, all := below.codes(Whitelist)
	stopped, _ := below.codes(Blacklist)
	below.take("enabled")
	below.done()
	switch mode {
	case "":
	case Whitelist:
		stopped = nil
	case Blacklist:
		passed = nil
	default:
		below.fail("mode", "must be %s or %s", Whitelist, Blacklist)
	}
	switch {
	case len(passed) > 0 && !all:
		return Tumbler{Whitelist, slices.DeleteFunc(passed, func(s Signal) bool { return slices.Contains(stopped, s) })}
	case len(stopped) > 0:
		return Tumbler{Blacklist, stopped}
	}
	return Tumbler{}
}

// codes reads one of the original's lists of signals, by name or code; all tells
// that it names every one by "*". What is heard by nobody here filters nothing.
func (r *fields) codes(name string) (signals []Signal, all bool) {
	for i, value := range r.list(name) {
		switch value := value.(type) {
		case float64:
			signals = append(signals, Signal(value))
		case string:
			signal, known := ParseSignal(value)
			if code, err := strconv.ParseUint(value, 0, 16); !known && err == nil {
				signal, known = Signal(code), true
			}
			if known {
				signals = append(signals, signal)
			}
			all = all || value == "*"
		default:
			r.fail(fmt.Sprintf("%s[%d]", name, i), "must be a signal's name or code")
		}
	}
	return signals, all
}

// server is the name in the original's member of that name: a text, or an object with one.
func (r *fields) server(otherwise string) string {
	value, _ := r.take("server")
	if object, ok := value.(map[string]any); ok {
		value = object["name"]
	}
	if name, ok := value.(string); ok && isSender(name) {
		return name
	}
	return otherwise
}

func (r *fields) peers(own string) []Peer {
	list := r.list("peers")
	if len(list) > MaxPeers {
		r.fail("peers", "may hold at most %d peers", MaxPeers)
		return nil
	}
	var peers []Peer
	for i, value := range list {
		object, ok := value.(map[string]any)
		if !ok {
			r.fail(fmt.Sprintf("peers[%d]", i), "must be an object with name and port")
			return nil
		}
		below := &fields{object: object, prefix: fmt.Sprintf("%speers[%d].", r.prefix, i), err: r.err}
		peer := below.peer()
		switch {
		case peer.Name == own:
			below.fail("name", "is our own")
		case slices.ContainsFunc(peers, func(other Peer) bool { return other.Name == peer.Name }):
			below.fail("name", "is another peer's too")
		}
		below.done()
		if r.err = below.err; r.err != nil {
			return nil
		}
		peers = append(peers, peer)
	}
	return peers
}

func (r *fields) peer() Peer {
	p := Peer{Name: r.text("name", ""), Unsigned: r.toggle("unsigned"), Emit: r.signals("emit", Emitted())}
	if !isSender(p.Name) {
		r.fail("name", "must be 1 to %d letters, digits and . _ : -", MaxSender)
	}
	port := r.number("port", 0, 1, math.MaxUint16)
	if port == 0 {
		r.fail("port", "is required")
	}
	host := r.text("host", "127.0.0.1")
	if strings.EqualFold(host, "localhost") {
		host = "127.0.0.1"
	}
	address, err := netip.ParseAddr(host)
	if err != nil || address.Zone() != "" || address.IsUnspecified() || address.IsMulticast() {
		r.fail("host", "must be an IP address of one host: no name is looked up")
	}
	p.Address = netip.AddrPortFrom(address.Unmap(), uint16(port)) //nolint:gosec // bounded above
	if key := r.text("key", ""); key != "" {
		if len(key) < MinKey || len(key) > maxKey {
			r.fail("key", "must be %d to %d bytes", MinKey, maxKey)
		}
		p.Key = []byte(key)
	}
	if len(p.Key) == 0 && !address.IsLoopback() && !p.Unsigned {
		r.fail("key", "is required: the host is beyond this machine, where a sender's address is easily forged; \"unsigned\": true does without")
	}
	return p
}
