package comms

import (
	"slices"
	"sync"
	"time"

	"skillrouter/operational"
)

// Bounds of the tail: what a subscriber that fell behind for a few seconds
// under full load needs, and no more memory than that.
const (
	tailMessages = 8192
	tailBytes    = 8 << 20
	// tailAge is how much older than the newest a message of the tail may be: who fell farther behind reads the log. A team that sends little
	// would have hours of messages in memory, each for a subscriber that may never ask.
	tailAge = 30 * time.Second
)

// Post is a stored message with its JSON, which all its readers share and none may change.
type Post struct {
	Message operational.Message
	Body    []byte
}

// tail is the end of the log in memory, in the order of seq: every message
// after floor.
type tail struct {
	mu    sync.RWMutex
	posts []*Post
	gone  int // dropped ones that the array of posts has before them, at most
	bytes int
	floor int64
	last  int64
}

// start says that nothing is held, and the log ends with last.
func (t *tail) start(last int64) { t.floor, t.last = last, last }

func (t *tail) append(posts []*Post) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range posts {
		t.posts = append(t.posts, p)
		t.bytes += len(p.Body)
		t.last = p.Message.Seq
	}
	drop := 0
	for ; drop < len(t.posts) && (len(t.posts)-drop > tailMessages || t.bytes > tailBytes || t.aged(t.posts[drop])); drop++ {
		t.bytes -= len(t.posts[drop].Body)
		t.floor = t.posts[drop].Message.Seq
	}
	t.posts, t.gone = t.posts[drop:], t.gone+drop
	if t.gone > len(t.posts) { // readers share the array, so that what was dropped stays in it
		t.posts, t.gone = slices.Clone(t.posts), 0
	}
}

// age drops what is too old by the clock: of a log that grows no more, too, a message is served as long as the log has it.
func (t *tail) age(now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	drop := 0
	for ; drop < len(t.posts) && now.Sub(t.posts[drop].Message.CreatedAt) > tailAge; drop++ {
		t.bytes -= len(t.posts[drop].Body)
		t.floor = t.posts[drop].Message.Seq
	}
	t.posts, t.gone = t.posts[drop:], t.gone+drop
}

// aged tells whether a post is too old to be held.
func (t *tail) aged(p *Post) bool {
	return t.posts[len(t.posts)-1].Message.CreatedAt.Sub(p.Message.CreatedAt) > tailAge
}

// after returns every post after a seq, or false if the tail does not reach
// back so far. The posts are shared with other readers and must stay as they are.
func (t *tail) after(seq int64) ([]*Post, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if seq < t.floor {
		return nil, false
	}
	at, _ := slices.BinarySearchFunc(t.posts, seq+1, func(p *Post, seq int64) int {
		return int(min(max(p.Message.Seq-seq, -1), 1))
	})
	return t.posts[at:len(t.posts):len(t.posts)], true
}

// newest returns the seq of the newest message that was announced.
func (t *tail) newest() int64 {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.last
}
