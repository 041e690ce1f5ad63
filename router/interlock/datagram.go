package interlock

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
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

// A signature is the payload's last member, written without white space:
//
//	,"mac":"<64 lower-case hexadecimal digits>"}
//
// It is HMAC-SHA256 (RFC 2104) by the key over everything before that comma: the
// header, whose length is that of the whole payload, and the payload's
// beginning. Nothing has to be brought into a canonical form: what is signed is
// what is sent. To whoever knows nothing of signatures it is one more member.
const (
	macBegin      = `,"mac":"`
	macEnd        = `"}`
	signatureSize = len(macBegin) + 2*sha256.Size + len(macEnd)
)

// sign puts a signature in the place of a datagram's closing brace. Its header
// must say the length with the signature.
func sign(datagram, key []byte) []byte {
	datagram = bytes.TrimSuffix(datagram, []byte("}"))
	h := hmac.New(sha256.New, key)
	h.Write(datagram)
	datagram = append(datagram, macBegin...)
	datagram = hex.AppendEncode(datagram, h.Sum(nil))
	return append(datagram, macEnd...)
}

// signature returns what a datagram's signature is over and the signature; nil if it has none.
func signature(datagram []byte) (signed, mac []byte) {
	at := len(datagram) - signatureSize
	if at <= headerSize {
		return nil, nil
	}
	digits, ok := bytes.CutPrefix(datagram[at:], []byte(macBegin))
	if !ok {
		return nil, nil
	}
	if digits, ok = bytes.CutSuffix(digits, []byte(macEnd)); !ok || bytes.ContainsFunc(digits, func(r rune) bool { return r >= 'A' && r <= 'F' }) {
		return nil, nil
	}
	mac = make([]byte, sha256.Size)
	if _, err := hex.Decode(mac, digits); err != nil {
		return nil, nil
	}
	return datagram[:at], mac
}

// verify tells whether the datagram's signature is the key's; a Reason if not.
func (d Datagram) verify(key []byte) error {
	if d.mac == nil {
		return RefusedUnsigned
	}
	h := hmac.New(sha256.New, key)
	h.Write(d.signed)
	if !hmac.Equal(h.Sum(nil), d.mac) {
		return RefusedSignature
	}
	return nil
}
