package interlock

import (
	"crypto/sha256"
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

// window remembers what was heard for as long as it could be heard again. It is the listener's alone.
type window struct {
	seen  map[digest]struct{}
	order []remembered // by the time of hearing
}

type remembered struct {
	digest digest
	until  time.Time
}

func newWindow() *window { return &window{seen: map[digest]struct{}{}} }

func (w *window) has(d digest) bool { _, there := w.seen[d]; return there }

// room forgets what has passed, and tells whether another one can be remembered.
func (w *window) room(now time.Time) bool {
	past := 0
	for past < len(w.order) && w.order[past].until.Before(now) {
		delete(w.seen, w.order[past].digest)
		past++
	}
	w.order = w.order[past:] // append moves the rest to a new array once this one is used up
	return len(w.order) < maxSeen
}

// add remembers a datagram until a time that no earlier one's exceeds by more than the window is wide.
func (w *window) add(d digest, until time.Time) {
	w.seen[d] = struct{}{}
	w.order = append(w.order, remembered{d, until})
}
