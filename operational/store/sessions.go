package store

import (
	"context"
	"time"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/operational"
)

var _ operational.SessionStore = (*Store)(nil)

var sessions = table.Of[operational.Session]("sessions")

// StartSession implements operational.SessionStore.
func (s *Store) StartSession(ctx context.Context, session operational.Session, former *operational.Session,
	after func(operational.SessionOpened),
) (operational.SessionOpened, error) {
	var opened operational.SessionOpened
	err := s.write(ctx, func(tx *gorm.DB) (err error) {
		opened, err = startSession(tx, session, former)
		return err
	}, func() {
		if !opened.Resumed {
			after(opened)
		}
	})
	return opened, err
}

func startSession(tx *gorm.DB, session operational.Session, former *operational.Session) (opened operational.SessionOpened, err error) {
	same, ok, err := sessions.One(tx, "WHERE id = ?", session.ID)
	if err == nil && ok && same.AgentID != session.AgentID {
		session.ID = check.OwnSessionID(session.ID, session.AgentID)
		same, ok, err = sessions.One(tx, "WHERE id = ?", session.ID)
	}
	switch {
	case err != nil:
		return opened, err
	case ok && same.AgentID == session.AgentID && same.Status == operational.SessionOpen:
		return operational.SessionOpened{Session: same, Resumed: true}, nil
	case ok:
		return opened, refuse(errs.Errorf(errs.Conflict, "there is a session %q already, and it has ended", session.ID))
	}
	open, ok, err := sessions.One(tx, "WHERE agent_id = ? AND status = 'open'", session.AgentID)
	if err != nil {
		return opened, err
	}
	if ok != (former != nil) || ok && open.ID != former.ID {
		return opened, refuse(errs.Errorf(errs.Conflict, "the agent has begun or ended another session meanwhile"))
	}
	if ok {
		if err := endSession(tx, *former); err != nil {
			return opened, err
		}
		opened.Former = former
	}
	left, err := inherit(tx, &session)
	if err != nil {
		return opened, err
	}
	opened.Session, opened.Inherited = session, left
	if err := sessions.Insert(tx, &session); err != nil {
		return opened, err
	}
	return opened, table.AppendEvents(tx, operational.SessionEventOf(session))
}

// inherit returns the sessions that left something to the one that begins:
// those that named its agent, and the latest of its own agent or of its
// persona and project that named nobody. None is inherited twice.
func inherit(tx *gorm.DB, session *operational.Session) ([]operational.Session, error) {
	const left = "status = 'ended' AND inherited_by = ''"
	list, err := sessions.List(tx, `WHERE num IN (SELECT num FROM (SELECT num FROM sessions WHERE `+left+` AND successor = ? ORDER BY num DESC LIMIT ?) AS named
		UNION SELECT {greatest}(
			coalesce((SELECT max(num) FROM sessions WHERE `+left+` AND successor = '' AND agent_id = ?), 0),
			coalesce((SELECT max(num) FROM sessions WHERE `+left+` AND successor = '' AND project <> '' AND persona = ? AND project = ?), 0)))
		ORDER BY num DESC`, session.AgentID, operational.MaxInherited, session.AgentID, session.Persona, session.Project)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	ids := make([]string, len(list))
	for i := range list {
		list[i].InheritedBy, ids[i] = session.ID, list[i].ID
	}
	session.Previous = ids[0]
	return list, tx.Exec("UPDATE sessions SET inherited_by = ? WHERE id IN ?", session.ID, ids).Error
}

// endSession stores an end and its event.
func endSession(tx *gorm.DB, session operational.Session) error {
	if err := sessions.Update(tx, &session, "id", "status", "summary", "successor", "handover", "ended_at"); err != nil {
		return err
	}
	return table.AppendEvents(tx, operational.SessionEventOf(session))
}

// EndSession implements operational.SessionStore.
func (s *Store) EndSession(ctx context.Context, id string, end func(*operational.Session), after func(operational.Session)) (session operational.Session, stored bool, err error) {
	err = s.write(ctx, func(tx *gorm.DB) error {
		var err error
		stored = false
		if session, err = need(sessions, tx, noSession, "WHERE id = ?", id); err != nil {
			return refuse(err)
		}
		if session.Status != operational.SessionOpen {
			return nil
		}
		end(&session)
		stored = true
		return endSession(tx, session)
	}, func() {
		if stored {
			after(session)
		}
	})
	return session, stored, err
}

const noSession = "there is no such session"

// Session implements operational.SessionStore.
func (s *Store) Session(ctx context.Context, id string) (operational.Session, error) {
	return need(sessions, s.Read.WithContext(ctx), noSession, "WHERE id = ?", id)
}

// OpenSession implements operational.SessionStore.
func (s *Store) OpenSession(ctx context.Context, agentID string) (operational.Session, bool, error) {
	return sessions.One(s.Read.WithContext(ctx), "WHERE agent_id = ? AND status = 'open'", agentID)
}

// ListSessions implements operational.SessionStore.
func (s *Store) ListSessions(ctx context.Context, filter operational.SessionFilter) ([]operational.Session, error) {
	var c table.Conditions
	c.Equal("agent_id", filter.AgentID)
	c.Equal("persona", filter.Persona)
	c.Equal("project", filter.Project)
	c.Equal("status", string(filter.Status))
	c.Equal("successor", filter.Successor)
	if filter.Waiting {
		c.Add("status = 'ended' AND inherited_by = ''")
	}
	c.Between("ended_at", filter.EndedSince, time.Time{})
	return sessions.List(s.Read.WithContext(ctx), c.Text+" ORDER BY num DESC LIMIT ?", c.With(filter.Limit)...)
}
