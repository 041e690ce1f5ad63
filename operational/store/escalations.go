package store

import (
	"context"
	"maps"
	"slices"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/operational"
)

var _ operational.EscalationStore = (*Store)(nil)

var (
	ofEscalation = []string{"Number num", "To escalated_to", "LastRaised last_raised_at", "Notes resolution_notes", "History"}

	escalations = table.Of[operational.Escalation]("escalations", ofEscalation...).Numbered("num").
			With("priority_rank", func(e *operational.Escalation) any { return e.Priority.Rank() })
	escalationRows = table.Of[escalationRow]("escalations", ofEscalation...).Numbered("num").
			With("priority_rank", func(r *escalationRow) any { return r.Priority.Rank() })
	escalationChanges = table.Of[operational.EscalationChange]("escalation_changes", "From from_status", "To to_status")
)

// escalationRow is an escalation, and whether its message is in the mailbox.
type escalationRow struct {
	operational.Escalation
	Announced bool
}

// RaiseEscalations implements operational.EscalationStore.
func (s *Store) RaiseEscalations(ctx context.Context, drafts []operational.EscalationDraft, cursor operational.Cursor,
	raise func(earlier []operational.Escalation, draft operational.EscalationDraft) operational.Escalation,
) ([]operational.Escalation, error) {
	var raised []operational.Escalation
	err := s.write(ctx, func(tx *gorm.DB) (err error) {
		if raised, err = raiseAll(tx, drafts, raise); err != nil {
			return err
		}
		return saveCursor(tx, cursor)
	}, nil)
	return raised, err
}

// matter is what there is one open escalation of.
type matter struct{ lesson, pattern, to string }

// raiseAll raises drafts in their order, and returns the escalations that are new. However many there are, they are looked up by one
// statement and written by a few: they come by the hundred when much is learned at once.
func raiseAll(tx *gorm.DB, drafts []operational.EscalationDraft,
	raise func(earlier []operational.Escalation, draft operational.EscalationDraft) operational.Escalation,
) (raised []operational.Escalation, err error) {
	rows, err := earlierEscalations(tx, drafts)
	if err != nil {
		return nil, err
	}
	var created, grown []*escalationRow
	for _, draft := range drafts {
		of := matter{draft.LessonID, draft.PatternID, draft.To}
		earlier := make([]operational.Escalation, len(rows[of]))
		for i, r := range rows[of] {
			earlier[i] = r.Escalation
		}
		row := escalationRow{Escalation: raise(earlier, draft)}
		place := slices.IndexFunc(rows[of], func(r *escalationRow) bool { return r.ID == row.ID })
		if place < 0 {
			rows[of], created = append(rows[of], &row), append(created, &row)
			continue
		}
		before := rows[of][place]
		row.Announced = before.Announced && row.Priority.Rank() >= before.Priority.Rank() // one that grew worse is announced anew
		if *before = row; row.Number != 0 && !slices.Contains(grown, before) {
			grown = append(grown, before)
		}
	}
	for _, row := range grown {
		if err := escalationRows.Update(tx, row, "num", "reason", "priority", "priority_rank", "occurrences", "announced", "last_raised_at"); err != nil {
			return nil, err
		}
	}
	if len(created) == 0 {
		return nil, nil
	}
	if err := escalationRows.InsertMany(tx, created); err != nil {
		return nil, err
	}
	raised = make([]operational.Escalation, len(created))
	events := make([]eventlog.Event, len(created))
	for i, row := range created {
		raised[i] = row.Escalation
		e := &raised[i]
		first := operational.EscalationChange{To: e.Status, Notes: e.Reason, At: e.CreatedAt}
		if err := escalationChanges.Insert(tx, &first, "escalation_id", e.ID); err != nil {
			return nil, err
		}
		events[i] = operational.EscalationEvent(operational.EventEscalationRaised, *e, e.SourceAgent, e.CreatedAt)
	}
	return raised, table.AppendEvents(tx, events...)
}

// earlierEscalations returns the escalations of each matter that drafts are of, oldest first.
func earlierEscalations(tx *gorm.DB, drafts []operational.EscalationDraft) (map[matter][]*escalationRow, error) {
	lessons, patterns := map[string]bool{}, map[string]bool{}
	for _, draft := range drafts {
		lessons[draft.LessonID], patterns[draft.PatternID] = true, true
	}
	var c table.Conditions
	table.Among(&c, "lesson_id", slices.Sorted(maps.Keys(lessons)))
	table.Among(&c, "pattern_id", slices.Sorted(maps.Keys(patterns)))
	rows, err := escalationRows.List(tx, c.Text+" ORDER BY num", c.Args...)
	earlier := make(map[matter][]*escalationRow, len(rows))
	for i := range rows {
		r := &rows[i]
		of := matter{r.LessonID, r.PatternID, r.To}
		earlier[of] = append(earlier[of], r)
	}
	return earlier, err
}

// Escalation implements operational.EscalationStore.
func (s *Store) Escalation(ctx context.Context, id string) (operational.Escalation, error) {
	e, err := need(escalations, s.Read.WithContext(ctx), noEscalation, "WHERE id = ?", id)
	if err != nil {
		return e, err
	}
	e.History, err = escalationChanges.List(s.Read.WithContext(ctx), "WHERE escalation_id = ? ORDER BY seq", id)
	return e, err
}

const noEscalation = "there is no such escalation"

// ListEscalations implements operational.EscalationStore.
func (s *Store) ListEscalations(ctx context.Context, filter operational.EscalationFilter) ([]operational.Escalation, error) {
	var c table.Conditions
	table.GivenAny(&c, "status", filter.Status)
	c.Equal("escalated_to", filter.To)
	c.Equal("lesson_id", filter.LessonID)
	return escalations.List(s.Read.WithContext(ctx), c.Text+" ORDER BY priority_rank, num DESC LIMIT ?", c.With(filter.Limit)...)
}

// CountEscalations implements operational.EscalationStore.
func (s *Store) CountEscalations(ctx context.Context, status operational.EscalationStatus) (int, error) {
	n, err := table.Scalar[int64](s.Read.WithContext(ctx), "SELECT count(*) FROM escalations WHERE status = ?", string(status))
	return int(n), err
}

// ChangeEscalation implements operational.EscalationStore.
func (s *Store) ChangeEscalation(ctx context.Context, id, event string, change func(*operational.Escalation) (*operational.EscalationChange, error)) (operational.Escalation, error) {
	one := changing[operational.Escalation]{of: escalations, where: "WHERE id = ?", args: []any{id}, missing: noEscalation, by: "num"}
	return one.change(ctx, s, func(tx *gorm.DB, e *operational.Escalation) (*eventlog.Event, error) {
		step, err := change(e)
		if err != nil || step == nil {
			return nil, err
		}
		told := operational.EscalationEvent(event, *e, step.By, step.At)
		return &told, escalationChanges.Insert(tx, step, "escalation_id", id)
	})
}

// UnannouncedEscalations implements operational.EscalationStore.
func (s *Store) UnannouncedEscalations(ctx context.Context, limit int) ([]operational.Escalation, error) {
	return escalations.List(s.Read.WithContext(ctx), "WHERE NOT announced ORDER BY num LIMIT ?", limit)
}

// MarkAnnounced implements operational.EscalationStore.
func (s *Store) MarkAnnounced(ctx context.Context, numbers []int64) error {
	if len(numbers) == 0 {
		return nil
	}
	return s.write(ctx, func(tx *gorm.DB) error {
		return tx.Exec("UPDATE escalations SET announced = true WHERE num IN ?", numbers).Error
	}, nil)
}
