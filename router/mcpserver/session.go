package mcpserver

import (
	"cmp"
	"context"
	"crypto/rand"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning/history"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router/session"
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

// defaultSessions is how many sessions list_sessions answers with: each comes with its hand-over.
const defaultSessions = 20

type startedSession struct {
	SessionID     string               `json:"session_id"`
	Resumed       bool                 `json:"resumed,omitempty"`
	Inherited     *operational.Session `json:"inherited,omitempty"`
	AlsoInherited []string             `json:"also_inherited,omitempty"` // get_handover shows them
	Ended         string               `json:"ended,omitempty"`          // the session that was still open
}

type endedSession struct {
	SessionID  string                `json:"session_id"`
	Successor  string                `json:"successor,omitempty"`
	Handover   *operational.Handover `json:"handover,omitempty"`
	Reassigned []int64               `json:"reassigned,omitempty"`
	Released   []int64               `json:"released,omitempty"`
	Notices    []string              `json:"notices,omitempty"`
}

type handover struct {
	Found   bool                 `json:"found"`
	Session *operational.Session `json:"session,omitempty"`
}

// sessionTools are the hand-over from one session to the next, and who worked when.
func sessionTools() []tool {
	return []tool{
		{
			name: "start_session", title: "Start a session", effect: ensure, holds: "session_id",
			description: "Begin your work: what the last session left to you comes back, and your episodes belong to this one until it ends.",
			does:        (*Server).startSession, takes: "goal project persona session_id=id",
			about: words{"goal": "What you are about to do", "persona": "Default \"default\"", "session_id": "Your own id; the same again goes on with it"},
		},
		{
			name: "end_session", title: "End a session", effect: ensure, holds: "session_id",
			description: "End your work with a summary. Your unfinished tasks, unread messages, undone steps and reminders are handed to the successor.",
			does:        (*Server).endSession, takes: "session_id summary successor reassign", about: words{"session_id": "Default: your current one"},
		},
		{
			name: "get_handover", title: "Get a hand-over", effect: reads, holds: "found",
			description: "What the session before yours said and left undone.",
			does:        (*Server).handover, takes: "session_id", about: words{"session_id": "Default: the one that was handed to you"}, none: "Nothing was handed over",
		},
		{
			name: "list_sessions", title: "List sessions", effect: reads, as: "sessions",
			description: "Sessions of work, the latest first, with what each said and left undone.",
			does:        (*Server).listSessions, takes: "agent_id persona project status waiting limit", none: "No session fits",
		},
	}
}

func (s *Server) startSession(ctx context.Context, d session.Draft) (startedSession, error) {
	started, err := s.services.Sessions.Start(ctx, d)
	out := startedSession{SessionID: started.ID, Resumed: started.Resumed, Inherited: started.Inherited, AlsoInherited: started.AlsoInherited}
	if started.Ended != nil {
		out.Ended = started.Ended.ID
	}
	return out, err
}

func (s *Server) endSession(ctx context.Context, id string, end session.End) (endedSession, error) {
	ended, err := s.services.Sessions.End(ctx, id, end)
	return endedSession{ended.ID, ended.Successor, ended.Handover, ended.Reassigned, ended.Released, ended.Notices}, err
}

func (s *Server) handover(ctx context.Context, id string) (handover, error) {
	var found operational.Session
	var err error
	if id != "" {
		found, err = s.services.Sessions.Session(ctx, id)
	} else {
		found, err = s.services.Sessions.Handover(ctx, s.actor(ctx, ""))
	}
	if errs.CodeOf(err) == errs.NotFound {
		return handover{}, nil
	}
	return handover{Found: true, Session: &found}, err
}

func (s *Server) listSessions(ctx context.Context, f operational.SessionFilter) ([]operational.Session, error) {
	f.Limit = cmp.Or(f.Limit, defaultSessions)
	return s.services.Sessions.List(ctx, f)
}

// consolidationTools make memory of a transcript, in the toolset of the memories that it fills.
func consolidationTools() []tool {
	list := []tool{
		{
			name: "consolidate_transcript", title: "Consolidate a transcript", effect: ensure, holds: "proposals",
			does: history.ConsolidationService.Consolidate, takes: "transcript!=text session_id project persona",
			about: words{
				"transcript": "Lines \"User: …\", \"Assistant: …\", \"Tool: …\", or messages as JSON", "session_id": "", "persona": whoseMemory,
			},
		},
		{
			name: "list_proposals", title: "List proposals", effect: reads, as: "proposals",
			does: history.ConsolidationService.Proposals, takes: "persona session_id kind status limit",
			about: words{
				"persona": whoseMemory, "session_id": "", "kind": oneOf(history.ProposalKinds()...),
				"status": oneOf(history.ProposalPending, history.ProposalAccepted, history.ProposalRejected),
			},
		},
		{name: "accept_proposal", title: "Accept a proposal", effect: ensure, as: "proposal", does: history.ConsolidationService.Accept, takes: "proposal_id!"},
		{name: "reject_proposal", title: "Reject a proposal", effect: ensure, as: "proposal", does: history.ConsolidationService.Reject, takes: "proposal_id! reason"},
	}
	for i := range list {
		list[i].without = "transcript_id extractor turns"
	}
	return list
}
