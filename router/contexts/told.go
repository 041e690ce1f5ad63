package contexts

import (
	"hash/maphash"
	"maps"
	"sync"

	"skillrouter/router"
)

// Bounds of what is kept of sessions.
const (
	// maxSessions is how many sessions are known at once; of more, the one that was
	// silent the longest is forgotten, and may be told something twice.
	maxSessions = 1024
	// maxTold is how many items are kept of a session: more than its window holds.
	maxTold = 4096
)

// reasonTold is why an item is left out that the session has been told.
const reasonTold = "told before"

// toldAtFailures ends the name of what a session was told at its failures.
const toldAtFailures = "\nfailures"

// told keeps what each session has been told, so that nothing is told twice. It is
// in memory: after a restart of the router a session may be told again.
type told struct {
	mu       sync.Mutex
	seed     maphash.Seed
	sessions map[string]*toldSession
	turn     uint64
}

type toldSession struct {
	items map[uint64]bool
	used  uint64 // turn of the last use
}

func newTold() *told { return &told{seed: maphash.MakeSeed(), sessions: map[string]*toldSession{}} }

// toldTo is what one session has been told. The zero value knows of none.
type toldTo struct {
	seed  maphash.Seed
	items map[uint64]bool
}

// session is what a session has been told. forget begins anew: its window was emptied.
func (t *told) session(id string, forget bool) toldTo {
	if id == "" {
		return toldTo{}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if forget {
		delete(t.sessions, id)
		delete(t.sessions, id+toldAtFailures)
	}
	known := toldTo{seed: t.seed}
	if s := t.sessions[id]; s != nil {
		known.items = maps.Clone(s.items)
	}
	return known
}

// tell keeps that items have been told to a session.
func (t *told) tell(id string, items []*rated) {
	if id == "" || len(items) == 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.sessions[id]
	if s == nil {
		if len(t.sessions) >= maxSessions {
			oldest := ""
			for id, other := range t.sessions {
				if oldest == "" || other.used < t.sessions[oldest].used {
					oldest = id
				}
			}
			delete(t.sessions, oldest)
		}
		s = &toldSession{items: map[uint64]bool{}}
		t.sessions[id] = s
	}
	t.turn++
	s.used = t.turn
	for _, r := range items {
		if len(s.items) >= maxTold {
			return
		}
		s.items[fingerprint(t.seed, &r.candidate)] = true
	}
}

// has tells whether the item, as it is now, has been told.
func (t toldTo) has(r *candidate) bool {
	return len(t.items) > 0 && t.items[fingerprint(t.seed, r)]
}

// fingerprint is of what an item says: one that was changed is told again. A rule and the
// lesson that it is of are one, and so are a session and the episode that sums it up.
func fingerprint(seed maphash.Seed, r *candidate) uint64 {
	kind := r.kind
	switch {
	case isLesson(kind):
		kind = router.KindGuard
	case kind == router.KindSession:
		kind = router.KindEpisode
	}
	return maphash.String(seed, kind+"\n"+r.id+"\n"+r.title+"\n"+r.body)
}
