package mcpserver

import (
	"container/list"
	"crypto/rand"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Bounds of the sessions that clients of the older protocols hold. The newest
// protocol has none.
const (
	// MaxSessions is how many sessions may be open; a further one ends the one
	// that was unused the longest. It is ten times a large team.
	MaxSessions = 1024
	// SessionTimeout ends a session that is not used. Clients start another when
	// they are told that theirs is gone.
	SessionTimeout = time.Hour
)

// sessions knows which sessions are open, in the order of their last use, so
// that clients that never close theirs cannot fill the memory.
type sessions struct {
	server *mcp.Server

	mu   sync.Mutex
	uses *list.List // of *sessionUse, the latest used first
	byID map[string]*list.Element
}

type sessionUse struct {
	id   string
	busy int // requests under way
}

func newSessions() *sessions {
	return &sessions{uses: list.New(), byID: map[string]*list.Element{}}
}

// open returns the id of a new session, after ending the idle ones that are
// over the bound.
func (s *sessions) open() string {
	id := rand.Text()
	s.mu.Lock()
	s.byID[id] = s.uses.PushFront(&sessionUse{id: id})
	var surplus []*mcp.ServerSession
	if len(s.byID) > MaxSessions {
		surplus = s.prune(id)
	}
	s.mu.Unlock()
	for _, session := range surplus {
		_ = session.Close() // it is idle; an error says that it had ended by itself
	}
	return id
}

// prune forgets the sessions that have ended, and returns those to end so
// that the bound holds. The new one has not begun and is kept.
func (s *sessions) prune(newest string) (surplus []*mcp.ServerSession) {
	alive := map[string]*mcp.ServerSession{}
	for session := range s.server.Sessions() {
		alive[session.ID()] = session
	}
	var older *list.Element
	for e := s.uses.Front(); e != nil; e = older {
		older = e.Next()
		if use := e.Value.(*sessionUse); alive[use.id] == nil && use.id != newest {
			s.forget(e)
		}
	}
	var newer *list.Element
	for e := s.uses.Back(); e != nil && len(s.byID) > MaxSessions; e = newer {
		newer = e.Prev()
		if use := e.Value.(*sessionUse); use.busy == 0 && use.id != newest {
			surplus = append(surplus, alive[use.id])
			s.forget(e)
		}
	}
	return surplus
}

func (s *sessions) forget(e *list.Element) {
	s.uses.Remove(e)
	delete(s.byID, e.Value.(*sessionUse).id)
}

// use marks a session as in use and returns what ends the use.
func (s *sessions) use(id string) (done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.byID[id]
	if !ok {
		return func() {}
	}
	use := e.Value.(*sessionUse)
	use.busy++
	s.uses.MoveToFront(e)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		use.busy--
	}
}
