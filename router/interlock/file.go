package interlock

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/file"
	"github.com/skillrouter/skillrouter/internal/strictjson"
	"github.com/skillrouter/skillrouter/learning"
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

// fileText is the text of an interlock.json, ours or the original's.
type fileText struct {
	Name    *string         `json:"name"`
	Server  json.RawMessage `json:"server"` // the original's name: a text, or an object with one
	Window  *float64        `json:"replay_window_seconds"`
	Hear    *Hear           `json:"hear"`
	Peers   []peerText      `json:"peers"`
	Tumbler tumblerText     `json:"tumbler"`
	// What the original's file also says is set elsewhere here (the ports), or is what it is (the signals).
	Ports       any `json:"ports"`
	Signals     any `json:"signals"`
	Version     any `json:"version"`
	Description any `json:"description"`
}

type peerText struct {
	Name     string   `json:"name"`
	Host     *string  `json:"host"`
	Port     float64  `json:"port"`
	Key      string   `json:"key"`
	Unsigned bool     `json:"unsigned"`
	Emit     []string `json:"emit"`
}

// tumblerText is a mode with its signals, or the original's two lists, of signals by name or code.
type tumblerText struct {
	Mode      string   `json:"mode"`
	Signals   []string `json:"signals"`
	Whitelist []any    `json:"whitelist"`
	Blacklist []any    `json:"blacklist"`
	Enabled   any      `json:"enabled"`
}

// ParseFile reads the text of an interlock.json, ours or the original's. Unknown
// and repeated members are refused: a misspelt one might have kept somebody out.
func ParseFile(text []byte) (File, error) {
	if len(text) > MaxFile {
		return File{}, errs.Errorf(errs.TooLarge, "is larger than %d bytes", MaxFile)
	}
	var said fileText
	if err := strictjson.Decode(text, &said); err != nil {
		return File{}, err
	}
	f := DefaultFile()
	if said.Name != nil {
		f.Name = *said.Name
	} else {
		f.Name = serverName(said.Server, f.Name)
	}
	if !isSender(f.Name) {
		return f, errs.InvalidField("name", "must be 1 to %d letters, digits and . _ : -", MaxSender)
	}
	if said.Window != nil {
		f.Window = time.Duration(*said.Window) * time.Second
		if *said.Window != math.Trunc(*said.Window) || *said.Window < MinWindow.Seconds() || *said.Window > MaxWindow.Seconds() {
			return f, errs.InvalidField("replay_window_seconds", "must be a whole number between %d and %d", int(MinWindow.Seconds()), int(MaxWindow.Seconds()))
		}
	}
	if len(said.Peers) > MaxPeers {
		return f, errs.InvalidField("peers", "may hold at most %d peers", MaxPeers)
	}
	for i, one := range said.Peers {
		peer, err := one.peer(fmt.Sprintf("peers[%d].", i))
		switch field := fmt.Sprintf("peers[%d].name", i); {
		case err != nil:
			return f, err
		case peer.Name == f.Name:
			return f, errs.InvalidField(field, "is our own")
		case slices.ContainsFunc(f.Peers, func(other Peer) bool { return other.Name == peer.Name }):
			return f, errs.InvalidField(field, "is another peer's too")
		}
		f.Peers, f.Hear = append(f.Peers, peer), HearPeers
	}
	if said.Hear != nil {
		f.Hear = *said.Hear
	}
	if f.Hear != HearPeers && f.Hear != HearOpen {
		return f, errs.InvalidField("hear", "must be %s or %s", HearPeers, HearOpen)
	}
	var err error
	f.Tumbler, err = said.Tumbler.tumbler()
	return f, err
}

// serverName is the name in the original's member of that name.
func serverName(text json.RawMessage, otherwise string) string {
	var object struct{ Name string }
	name := ""
	if json.Unmarshal(text, &name) != nil && json.Unmarshal(text, &object) == nil {
		name = object.Name
	}
	if isSender(name) {
		return name
	}
	return otherwise
}

// signals reads a list of signals' names out of those allowed; nil if there is no list.
func signals(field string, list []string, allowed []Signal) (signals []Signal, err error) {
	if list == nil {
		return nil, nil
	}
	signals = []Signal{}
	for i, text := range list {
		signal, known := ParseSignal(text)
		if !known || !slices.Contains(allowed, signal) {
			return nil, errs.InvalidField(fmt.Sprintf("%s[%d]", field, i), "must be one of %v", allowed)
		}
		signals = append(signals, signal)
	}
	return signals, nil
}

func (t tumblerText) tumbler() (Tumbler, error) {
	if t.Mode != "" && t.Mode != Whitelist && t.Mode != Blacklist || t.Mode == "" && t.Signals != nil {
		return Tumbler{}, errs.InvalidField("tumbler.mode", "must be %s or %s", Whitelist, Blacklist)
	}
	if t.Signals != nil || t.Mode != "" && t.Whitelist == nil && t.Blacklist == nil {
		listed, err := signals("tumbler.signals", t.Signals, Heard())
		if err == nil && (t.Whitelist != nil || t.Blacklist != nil) {
			err = errs.InvalidField("tumbler.whitelist", "goes without signals, as does blacklist")
		}
		return Tumbler{Mode: t.Mode, Signals: listed}, err
	}
	// The original's two lists. An empty one says nothing, and a mode says that the other does not count.
	passed, all, wrong := codes(Whitelist, t.Whitelist)
	stopped, _, err := codes(Blacklist, t.Blacklist)
	switch t.Mode {
	case Whitelist:
		stopped = nil
	case Blacklist:
		passed = nil
	}
	switch {
	case len(passed) > 0 && !all:
		return Tumbler{Whitelist, slices.DeleteFunc(passed, func(s Signal) bool { return slices.Contains(stopped, s) })}, cmp.Or(wrong, err)
	case len(stopped) > 0:
		return Tumbler{Blacklist, stopped}, cmp.Or(wrong, err)
	}
	return Tumbler{}, cmp.Or(wrong, err)
}

// codes reads one of the original's lists of signals, by name or code; all tells
// that it names every one by "*". What is heard by nobody here filters nothing.
func codes(name string, list []any) (signals []Signal, all bool, err error) {
	for i, value := range list {
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
			return nil, false, errs.InvalidField(fmt.Sprintf("tumbler.%s[%d]", name, i), "must be a signal's name or code")
		}
	}
	return signals, all, nil
}

// peer checks a peer; prefix begins the names of its fields.
func (t peerText) peer(prefix string) (p Peer, err error) {
	wrong := func(field, format string, args ...any) (Peer, error) {
		return p, errs.InvalidField(prefix+field, format, args...)
	}
	if p.Emit, err = signals(prefix+"emit", t.Emit, Emitted()); err != nil {
		return p, err
	}
	p.Name, p.Unsigned = t.Name, t.Unsigned
	host := "127.0.0.1"
	if t.Host != nil && !strings.EqualFold(*t.Host, "localhost") {
		host = *t.Host
	}
	address, unread := netip.ParseAddr(host)
	switch {
	case !isSender(p.Name):
		return wrong("name", "must be 1 to %d letters, digits and . _ : -", MaxSender)
	case t.Port != math.Trunc(t.Port) || t.Port < 1 || t.Port > math.MaxUint16:
		return wrong("port", "must be a whole number between 1 and %d", math.MaxUint16)
	case unread != nil || address.Zone() != "" || address.IsUnspecified() || address.IsMulticast():
		return wrong("host", "must be an IP address of one host: no name is looked up")
	case t.Key != "" && (len(t.Key) < MinKey || len(t.Key) > maxKey):
		return wrong("key", "must be %d to %d bytes", MinKey, maxKey)
	case t.Key == "" && !address.IsLoopback() && !p.Unsigned:
		return wrong("key", "is required: the host is beyond this machine, where a sender's address is easily forged; \"unsigned\": true does without")
	}
	if t.Key != "" {
		p.Key = []byte(t.Key)
	}
	p.Address = netip.AddrPortFrom(address.Unmap(), uint16(t.Port))
	return p, nil
}
