package store

import (
	"context"
	"encoding/json"

	"gorm.io/gorm"

	"skillrouter/internal/check"
	"skillrouter/internal/errs"
	"skillrouter/operational"
)

var _ operational.SessionStore = (*Store)(nil)

type sessionRow struct {
	Num         int64 `gorm:"primaryKey;autoIncrement"`
	ID          string
	AgentID     string
	Persona     string
	Project     string
	Goal        string
	Status      string
	Summary     string
	Successor   string
	Handover    *string
	Previous    string
	InheritedBy string
	Data        *string
	StartedAt   int64
	EndedAt     *int64
}

func (sessionRow) TableName() string { return "sessions" }

func rowOfSession(s operational.Session) sessionRow {
	row := sessionRow{
		ID: s.ID, AgentID: s.AgentID, Persona: s.Persona, Project: s.Project, Goal: s.Goal, Status: string(s.Status), Summary: s.Summary,
		Successor: s.Successor, Previous: s.Previous, InheritedBy: s.InheritedBy, StartedAt: millis(s.StartedAt), EndedAt: millisPtr(s.EndedAt),
	}
	if s.Handover != nil {
		text, _ := json.Marshal(s.Handover) // strings, whole numbers and times of this era cannot fail
		row.Handover = new(string(text))
	}
	if s.Data != nil {
		row.Data = new(string(s.Data))
	}
	return row
}

func (r sessionRow) session() (operational.Session, error) {
	s := operational.Session{
		ID: r.ID, AgentID: r.AgentID, Persona: r.Persona, Project: r.Project, Goal: r.Goal, Status: operational.SessionStatus(r.Status), Summary: r.Summary,
		Successor: r.Successor, Previous: r.Previous, InheritedBy: r.InheritedBy, StartedAt: fromMillis(r.StartedAt), EndedAt: fromMillisPtr(r.EndedAt),
	}
	if r.Data != nil {
		s.Data = json.RawMessage(*r.Data)
	}
	if r.Handover != nil {
		s.Handover = new(operational.Handover)
		return s, json.Unmarshal([]byte(*r.Handover), s.Handover)
	}
	return s, nil
}

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
	same, ok, err := takeSession(tx.Where("id = ?", session.ID))
	if err == nil && ok && same.AgentID != session.AgentID {
		session.ID = check.OwnSessionID(session.ID, session.AgentID)
		same, ok, err = takeSession(tx.Where("id = ?", session.ID))
	}
	switch {
	case err != nil:
		return opened, err
	case ok && same.AgentID == session.AgentID && same.Status == operational.SessionOpen:
		return operational.SessionOpened{Session: same, Resumed: true}, nil
	case ok:
		return opened, refuse(errs.Errorf(errs.Conflict, "there is a session %q already, and it has ended", session.ID))
	}
	open, ok, err := takeSession(tx.Where("agent_id = ? AND status = 'open'", session.AgentID))
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
	row := rowOfSession(session)
	if err := tx.Create(&row).Error; err != nil {
		return opened, err
	}
	return opened, appendEvent(tx, operational.SessionEventOf(session))
}

// inherit returns the sessions that left something to the one that begins:
// those that named its agent, and the latest of its own agent or of its
// persona and project that named nobody. None is inherited twice.
func inherit(tx *gorm.DB, session *operational.Session) ([]operational.Session, error) {
	const left = "status = 'ended' AND inherited_by = ''"
	var rows []sessionRow
	err := tx.Raw(`SELECT * FROM (SELECT * FROM sessions WHERE `+left+` AND successor = ? ORDER BY num DESC LIMIT ?) AS named
		UNION SELECT * FROM (SELECT * FROM sessions WHERE num = {greatest}(
			coalesce((SELECT max(num) FROM sessions WHERE `+left+` AND successor = '' AND agent_id = ?), 0),
			coalesce((SELECT max(num) FROM sessions WHERE `+left+` AND successor = '' AND project <> '' AND persona = ? AND project = ?), 0))) AS latest
		ORDER BY num DESC`, session.AgentID, operational.MaxInherited, session.AgentID, session.Persona, session.Project).Scan(&rows).Error
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	list, numbers := make([]operational.Session, len(rows)), make([]int64, len(rows))
	for i, row := range rows {
		row.InheritedBy = session.ID
		if list[i], err = row.session(); err != nil {
			return nil, err
		}
		numbers[i] = row.Num
	}
	session.Previous = list[0].ID
	return list, tx.Exec("UPDATE sessions SET inherited_by = ? WHERE num IN ?", session.ID, numbers).Error
}

// endSession stores an end and its event.
func endSession(tx *gorm.DB, session operational.Session) error {
	row := rowOfSession(session)
	err := tx.Model(&sessionRow{}).Where("id = ?", session.ID).Select("status", "summary", "successor", "handover", "ended_at").Updates(&row).Error
	if err != nil {
		return err
	}
	return appendEvent(tx, operational.SessionEventOf(session))
}

// EndSession implements operational.SessionStore.
func (s *Store) EndSession(ctx context.Context, id string, end func(*operational.Session), after func(operational.Session)) (session operational.Session, stored bool, err error) {
	err = s.write(ctx, func(tx *gorm.DB) error {
		var ok bool
		var err error
		stored = false
		session, ok, err = takeSession(tx.Where("id = ?", id))
		switch {
		case err != nil:
			return err
		case !ok:
			return refuse(noSession())
		case session.Status != operational.SessionOpen:
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

func noSession() error { return errs.Errorf(errs.NotFound, "there is no such session") }

// takeSession returns the one session that the query selects; ok is false if there is none.
func takeSession(query *gorm.DB) (session operational.Session, ok bool, err error) {
	list, err := findSessions(query.Limit(1))
	if err != nil || len(list) == 0 {
		return session, false, err
	}
	return list[0], true, nil
}

func findSessions(query *gorm.DB) ([]operational.Session, error) {
	var rows []sessionRow
	if err := query.Find(&rows).Error; err != nil {
		return nil, err
	}
	list := make([]operational.Session, len(rows))
	for i, row := range rows {
		var err error
		if list[i], err = row.session(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Session implements operational.SessionStore.
func (s *Store) Session(ctx context.Context, id string) (operational.Session, error) {
	session, ok, err := takeSession(s.read.WithContext(ctx).Where("id = ?", id))
	if err == nil && !ok {
		err = noSession()
	}
	return session, err
}

// OpenSession implements operational.SessionStore.
func (s *Store) OpenSession(ctx context.Context, agentID string) (operational.Session, bool, error) {
	return takeSession(s.read.WithContext(ctx).Where("agent_id = ? AND status = 'open'", agentID))
}

// ListSessions implements operational.SessionStore.
func (s *Store) ListSessions(ctx context.Context, filter operational.SessionFilter) ([]operational.Session, error) {
	query := s.read.WithContext(ctx).Order("num DESC").Limit(filter.Limit)
	query = given(query, "agent_id = ?", filter.AgentID)
	query = given(query, "persona = ?", filter.Persona)
	query = given(query, "project = ?", filter.Project)
	query = given(query, "status = ?", filter.Status)
	query = given(query, "successor = ?", filter.Successor)
	if filter.Waiting {
		query = query.Where("status = 'ended' AND inherited_by = ''")
	}
	query = givenTime(query, "ended_at >= ?", filter.EndedSince)
	return findSessions(query)
}
