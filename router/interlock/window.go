package interlock

import (
	"crypto/sha256"
	"maps"
	"time"
)

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
