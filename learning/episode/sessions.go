package episode

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
)

// maxSessions bounds how many agents' sessions are kept in memory. Those that
// are dropped are read from the database again.
const maxSessions = 4096

// maxEnded bounds how many agents' last ends are kept in memory. Of those that are
// dropped, what is recorded soon after an end counts as of the session that ended.
const maxEnded = 1 << 14

// sessions knows which session each agent is in: the one that it began and has
// not ended, or else that of its last episode; after SessionIdle without one, the
// next begins a new one. What is in memory of the latter is also what the database
// says; the former is told by whoever keeps sessions, also at the start.
type sessions struct {
	store Store

	mu      sync.Mutex
	current map[string]session
	begun   map[string]string // agents and the sessions that they began; as many as there are open ones
	holders map[string]string // the same by session
	ended   map[string]string // agents and the sessions that they ended last, at most maxEnded
}

// begin makes a session the agent's current one until it ends.
func (s *sessions) begin(agent, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.holders, s.begun[agent])
	s.begun[agent], s.holders[id] = id, agent
}

// end ends a session: what the agent records next belongs to another one, also
// soon after.
func (s *sessions) end(agent, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.begun[agent] == id {
		delete(s.begun, agent)
		delete(s.holders, id)
	}
	if len(s.ended) >= maxEnded {
		clear(s.ended)
	}
	s.ended[agent] = id
}

// session is the session of an agent's last episode.
type session struct {
	id   string
	last time.Time
}

// Enter returns the session that an episode of the agent at that time belongs
// to, and makes it the current one. given is the client's own id; empty or
// CurrentSession asks for the agent's. Only a captain may put an episode into the
// open session of another agent.
func (s *sessions) Enter(ctx context.Context, agent, given string, at time.Time) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if holder, open := s.holders[given]; open && holder != agent && !principal.Of(ctx).Walled() {
		own := check.OwnSessionID(given, agent)
		if s.begun[agent] == own {
			given = own // both chose the same id, and each means its own session
		} else if !principal.Of(ctx).Has(principal.ScopeCaptain) {
			return "", &errs.Error{Code: errs.Forbidden, Field: "session_id", Message: "names the open session of another agent"}
		}
	}
	if given != "" && given != CurrentSession && given != s.begun[agent] && principal.Of(ctx).Walled() {
		given = check.OwnSessionID(given, agent) // whether another's session has that id is not to be seen
	}
	if given == "" || given == CurrentSession {
		known, err := s.lookup(ctx, agent, at)
		if err != nil {
			return "", err
		}
		if given = known.id; given == "" {
			given = cmp.Or(agent, "session") + "-" + at.UTC().Format("20060102T150405.000Z") // such as builder-20261121T064122.315Z
		}
	}
	if len(s.current) >= maxSessions {
		clear(s.current)
	}
	if known, ok := s.current[agent]; !ok || !at.Before(known.last) { // what is told of later moves nobody back
		s.current[agent] = session{given, at}
	}
	return given, nil
}

// now returns the agent's session at that time, or "" if it is in none.
func (s *sessions) now(ctx context.Context, agent string, at time.Time) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, err := s.lookup(ctx, agent, at)
	return known.id, err
}

// lookup returns the agent's session if it goes on at that time.
func (s *sessions) lookup(ctx context.Context, agent string, at time.Time) (session, error) {
	if id, ok := s.begun[agent]; ok {
		return session{id, at}, nil
	}
	known, ok := s.current[agent]
	if !ok {
		last, ok, err := s.store.LastEpisode(ctx, agent)
		if err != nil || !ok {
			return session{}, err
		}
		known = session{last.SessionID, last.CreatedAt}
		if len(s.current) < maxSessions {
			s.current[agent] = known
		}
	}
	if at.Sub(known.last) > learning.SessionIdle || known.id == s.ended[agent] {
		return session{}, nil
	}
	return known, nil
}

// CurrentSession returns the id of the session that the agent is in, or "" if
// it is in none. It needs no scope: it is for the router's own use.
func (l *Episodes) CurrentSession(ctx context.Context, agent string) (string, error) {
	return l.Sessions.now(ctx, agent, l.now())
}

// BeginSession makes a session the one that the agent's episodes belong to until it
// ends. It and EndSession are for whoever keeps sessions, and need no scope.
func (l *Episodes) BeginSession(agent, id string) { l.Sessions.begin(agent, id) }

// EndSession says that the agent's session has ended.
func (l *Episodes) EndSession(agent, id string) { l.Sessions.end(agent, id) }
