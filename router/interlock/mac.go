package interlock

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

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
