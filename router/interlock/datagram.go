package interlock

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/strictjson"
)

// The datagram of CONTRACT.md: a header, and a JSON object that fills the rest.
const (
	headerSize = 12
	// Version is the protocol's version, 1.0.
	Version = 0x0100
	// MaxDatagram is the largest datagram, in bytes: the most that UDP carries over IPv4
	// (65,535 less the headers of IP and UDP).
	MaxDatagram = 65535 - 20 - 8
	// MaxSender bounds a sender's name, in bytes: an agent's id less what is put in front of it.
	MaxSender = check.MaxAgentID - len(authorPrefix)
)

// The members of a payload that are not its data.
const (
	memberSender = "sender"
	memberMAC    = "mac"
)

// Datagram is a datagram that was read.
type Datagram struct {
	Signal Signal
	At     time.Time // the sender's, in whole seconds
	Sender string
	Data   map[string]any // the payload's other members; numbers are float64

	signed []byte // what its signature is over; nil if it has none
	mac    []byte
}

// Parse reads a datagram. It is strict: what is not exactly the contract's form
// is refused, and the error is the Reason.
func Parse(data []byte) (Datagram, error) {
	switch {
	case len(data) > MaxDatagram:
		return Datagram{}, RefusedOversize
	case len(data) < headerSize:
		return Datagram{}, RefusedShort
	}
	payload := data[headerSize:]
	said := binary.BigEndian.Uint32(data[4:8])
	switch {
	case binary.BigEndian.Uint16(data[2:4]) != Version:
		return Datagram{}, RefusedVersion
	case uint64(said) > uint64(len(payload)):
		return Datagram{}, RefusedLength
	case uint64(said) < uint64(len(payload)):
		return Datagram{}, RefusedTrailing
	}
	object, err := readObject(payload)
	if err != nil {
		return Datagram{}, err
	}
	d := Datagram{
		Signal: Signal(binary.BigEndian.Uint16(data[0:2])), At: time.Unix(int64(binary.BigEndian.Uint32(data[8:12])), 0).UTC(), Data: object,
	}
	sender, _ := object[memberSender].(string)
	if !isSender(sender) {
		return Datagram{}, RefusedSender
	}
	d.Sender = sender
	d.signed, d.mac = signature(data)
	delete(object, memberSender)
	delete(object, memberMAC)
	return d, nil
}

// isSender tells whether a name can be a sender's: what can be an agent's id, with room for the prefix.
func isSender(name string) bool {
	return len(name) <= MaxSender && check.AgentID(memberSender, name) == nil
}

// Format writes a datagram, signed if there is a key. Data may not hold a
// sender or a signature of its own. It is TooLarge beyond MaxDatagram.
func Format(signal Signal, at time.Time, sender string, data map[string]any, key []byte) ([]byte, error) {
	if !isSender(sender) {
		return nil, errs.InvalidField(memberSender, "must be 1 to %d letters, digits and . _ : -", MaxSender)
	}
	unix := at.Unix()
	if unix < 0 || unix > math.MaxUint32 {
		return nil, errs.InvalidField("timestamp", "must lie between 1970 and 2106")
	}
	object := make(map[string]any, len(data)+1)
	for name, value := range data {
		if name == memberSender || name == memberMAC {
			return nil, errs.InvalidField(name, "is the datagram's own, and no data")
		}
		object[name] = value
	}
	object[memberSender] = sender
	payload, err := strictjson.Plain(object)
	if err != nil {
		return nil, errs.Wrap(errs.Invalid, err, "the data cannot be written as JSON")
	}
	whole := append(make([]byte, headerSize), payload...)
	size := len(whole)
	if len(key) > 0 {
		size += signatureSize - 1 // it takes the place of the closing brace
	}
	if size > MaxDatagram {
		return nil, errs.Errorf(errs.TooLarge, "the datagram would be longer than %d bytes", MaxDatagram)
	}
	binary.BigEndian.PutUint16(whole[0:2], uint16(signal))
	binary.BigEndian.PutUint16(whole[2:4], Version)
	binary.BigEndian.PutUint32(whole[4:8], uint32(size-headerSize)) //nolint:gosec // bounded above
	binary.BigEndian.PutUint32(whole[8:12], uint32(unix))           //nolint:gosec // bounded above
	if len(key) > 0 {
		whole = sign(whole, key)
	}
	return whole, nil
}
