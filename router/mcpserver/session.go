package mcpserver

import (
	"cmp"
	"crypto/rand"
	"maps"
	"slices"
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

// sessions knows which sessions are open and when each was used last, so that
// clients that never close theirs cannot fill the memory, and which tools each
// has had switched on for itself by find_tools.
type sessions struct {
	server *mcp.Server

	mu   sync.Mutex
	byID map[string]*sessionUse
	uses int // of all sessions, so far
}

type sessionUse struct {
	last    int             // the number of its last use
	busy    int             // requests under way
	tools   map[string]bool // that were switched on
	changed bool            // it is still to be told that its list is another
}

// open returns the id of a new session, after ending the idle ones that are
// over the bound.
func (s *sessions) open() string {
	id := rand.Text()
	s.mu.Lock()
	s.of(id)
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

// of is what is known of a session that is used now.
func (s *sessions) of(id string) *sessionUse {
	if s.byID[id] == nil {
		s.byID[id] = &sessionUse{tools: map[string]bool{}}
	}
	s.uses++
	s.byID[id].last = s.uses
	return s.byID[id]
}

// prune forgets the sessions that have ended, and returns those to end so
// that the bound holds. The new one has not begun and is kept.
func (s *sessions) prune(newest string) (surplus []*mcp.ServerSession) {
	alive := map[string]*mcp.ServerSession{}
	for session := range s.server.Sessions() {
		alive[session.ID()] = session
	}
	maps.DeleteFunc(s.byID, func(id string, _ *sessionUse) bool { return alive[id] == nil && id != newest })
	oldest := slices.SortedFunc(maps.Keys(s.byID), func(a, b string) int { return cmp.Compare(s.byID[a].last, s.byID[b].last) })
	for _, id := range oldest {
		if len(s.byID) > MaxSessions && s.byID[id].busy == 0 && id != newest {
			surplus = append(surplus, alive[id])
			delete(s.byID, id)
		}
	}
	return surplus
}

// use marks a session as in use and returns what ends the use.
func (s *sessions) use(id string) (done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byID[id] == nil {
		return func() {}
	}
	use := s.of(id)
	use.busy++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		use.busy--
	}
}

// has tells whether a tool was switched on for a session.
func (s *sessions) has(session *mcp.ServerSession, tool string) bool {
	if session == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	use := s.byID[session.ID()]
	return use != nil && use.tools[tool]
}

// enable switches tools on for a session.
func (s *sessions) enable(session *mcp.ServerSession, tools []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	use := s.of(session.ID())
	for _, tool := range tools {
		use.tools[tool] = true
	}
	use.changed = true
}

// tell says whether a session is to be told that its list has changed, once for each change.
func (s *sessions) tell(session *mcp.ServerSession) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	use := s.byID[session.ID()]
	if use == nil || !use.changed {
		return false
	}
	use.changed = false
	return true
}
