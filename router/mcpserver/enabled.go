package mcpserver

import (
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// enabled remembers which tools a session has had switched on for itself by
// find_tools. It holds as many as there are sessions, which are bounded.
type enabled struct {
	server *mcp.Server

	mu        sync.Mutex
	bySession map[*mcp.ServerSession]map[string]bool
	changed   map[*mcp.ServerSession]bool // those that are still to be told that their list is another
}

func newEnabled() *enabled {
	return &enabled{bySession: map[*mcp.ServerSession]map[string]bool{}, changed: map[*mcp.ServerSession]bool{}}
}

func (e *enabled) has(session *mcp.ServerSession, tool string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.bySession[session][tool]
}

// add switches tools on for a session and forgets the sessions that have ended.
func (e *enabled) add(session *mcp.ServerSession, tools []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	alive := map[*mcp.ServerSession]bool{session: true}
	for s := range e.server.Sessions() {
		alive[s] = true
	}
	for s := range e.bySession {
		if !alive[s] {
			delete(e.bySession, s)
			delete(e.changed, s)
		}
	}
	if e.bySession[session] == nil {
		e.bySession[session] = map[string]bool{}
	}
	for _, tool := range tools {
		e.bySession[session][tool] = true
	}
	e.changed[session] = true
}

// tell says whether a session is to be told that its list has changed, once for each change.
func (e *enabled) tell(session *mcp.ServerSession) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	changed := e.changed[session]
	delete(e.changed, session)
	return changed
}
