package store

import (
	"context"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"skillrouter/internal/database/table"
	"skillrouter/internal/eventlog"
	"skillrouter/operational"
)

var _ operational.TaskStore = (*Store)(nil)

var tasks = table.Of[operational.Task]("tasks", "Redacted").Numbered("number").
	With("folded", func(t *operational.Task) any { return fold(t.Title, t.Description) })

// CreateTask implements operational.TaskStore.
func (s *Store) CreateTask(ctx context.Context, task operational.Task, made func(operational.Task) eventlog.Event) (operational.Task, error) {
	err := s.write(ctx, func(tx *gorm.DB) error {
		if err := tasks.Insert(tx, &task); err != nil {
			return err
		}
		return table.AppendEvents(tx, made(task))
	}, nil)
	return task, err
}

// Task implements operational.TaskStore.
func (s *Store) Task(ctx context.Context, ref operational.TaskRef) (operational.Task, error) {
	return need(tasks, byRef(s.Read.WithContext(ctx), ref), "there is no such task")
}

// ListTasks implements operational.TaskStore. Open and finished tasks are
// looked up apart, because each have an index in the order that they are listed in.
func (s *Store) ListTasks(ctx context.Context, filter operational.TaskFilter) (listed []operational.Task, err error) {
	err = s.snapshot(ctx, func(tx *gorm.DB) error { // what is finished meanwhile is listed once
		listed, err = s.listTasks(tx, filter)
		return err
	})
	return listed, err
}

func (s *Store) listTasks(tx *gorm.DB, filter operational.TaskFilter) ([]operational.Task, error) {
	listed := []operational.Task{}
	looks, err := s.words.looks(tx, filter)
	if err != nil {
		return nil, err
	}
	var last operational.Task // the one that the list goes on after
	if filter.After > 0 {
		if last, err = need(tasks, byRef(tx, operational.TaskRef{Number: filter.After}), "there is no such task to go on after"); err != nil {
			return nil, err
		}
	}
	for _, part := range []struct {
		open             bool
		condition, order string
	}{
		{true, "finished_at IS NULL", "priority DESC, number"},
		{false, "finished_at IS NOT NULL", "finished_at DESC, number DESC"},
	} {
		if len(listed) >= filter.Limit {
			break
		}
		ofPart := func(s operational.TaskStatus) bool { return s.Open() == part.open }
		if (len(filter.Status) > 0 && !slices.ContainsFunc(filter.Status, ofPart)) || (filter.Open != nil && *filter.Open != part.open) {
			continue
		}
		for _, look := range looks {
			left := filter.Limit - len(listed)
			if left <= 0 {
				break
			}
			q := look.rows(tx, filter, part.order).Where(part.condition)
			switch { // the first condition of each lets the index begin at the place, the second leaves out what is before it
			case last.Number == 0:
			case part.open && last.FinishedAt == nil:
				q = q.Where("priority <= ? AND (priority < ? OR number > ?)", last.Priority, last.Priority, last.Number)
			case part.open:
				continue // the place lies among the finished ones
			case last.FinishedAt != nil:
				q = q.Where("finished_at <= ? AND (finished_at < ? OR number < ?)", table.Millis(*last.FinishedAt), table.Millis(*last.FinishedAt), last.Number)
			}
			more, err := tasks.Find(q.Limit(left))
			if err != nil {
				return nil, err
			}
			listed = append(listed, more...)
		}
	}
	return listed, nil
}

// SummarizeTasks implements operational.TaskStore.
func (s *Store) SummarizeTasks(ctx context.Context, filter operational.TaskFilter) (operational.TaskSummary, error) {
	var counts []struct {
		Status operational.TaskStatus
		Number int
	}
	filter.AnyOf = nil // it orders a listing; a summary counts what holds none of them too
	err := s.snapshot(ctx, func(tx *gorm.DB) error {
		looks, err := s.words.looks(tx, filter)
		for _, look := range looks {
			err = look.rows(tx.Table("tasks"), filter, "status").Select("status, count(*) AS number").Group("status").Scan(&counts).Error
		}
		return err
	})
	summary := operational.TaskSummary{ByStatus: map[operational.TaskStatus]int{}}
	for _, status := range operational.TaskStatuses() {
		summary.ByStatus[status] = 0
	}
	for _, c := range counts {
		summary.ByStatus[c.Status] = c.Number
		summary.Total += c.Number
		if c.Status.Open() {
			summary.Open += c.Number
		}
	}
	return summary, err
}

// ChangeTask implements operational.TaskStore.
func (s *Store) ChangeTask(ctx context.Context, ref operational.TaskRef, change operational.TaskChange) (operational.Task, error) {
	return s.changeTask(ctx, change, "there is no such task", func(tx *gorm.DB) *gorm.DB { return byRef(tx, ref) })
}

// ChangeNextTask implements operational.TaskStore.
func (s *Store) ChangeNextTask(ctx context.Context, project string, change operational.TaskChange) (operational.Task, error) {
	return s.changeTask(ctx, change, "no task is waiting", func(tx *gorm.DB) *gorm.DB {
		return given(tx.Where("status = ?", operational.TaskPending), "project = ?", project).Order("priority DESC, number")
	})
}

func (s *Store) changeTask(ctx context.Context, change operational.TaskChange, missing string, find func(tx *gorm.DB) *gorm.DB) (operational.Task, error) {
	return changing[operational.Task]{of: tasks, find: find, missing: missing, by: "number"}.change(ctx, s, func(_ *gorm.DB, t *operational.Task) (*eventlog.Event, error) { return change(t) })
}

func byRef(q *gorm.DB, ref operational.TaskRef) *gorm.DB {
	if ref.ID != "" {
		return q.Where("id = ?", ref.ID)
	}
	return q.Where("number = ?", ref.Number)
}

func selectTasks(q *gorm.DB, f operational.TaskFilter) *gorm.DB {
	q = givenAny(q, "status IN ?", f.Status)
	if f.Open != nil {
		statuses := clause.Expr{SQL: "status IN ?", Vars: []any{operational.OpenTaskStatuses()}}
		if !*f.Open {
			statuses.SQL = "status NOT IN ?"
		}
		q = q.Where(statuses)
	}
	q = given(q, "agent_id = ?", f.AgentID)
	if f.Unheld {
		q = q.Where("agent_id = ''")
	}
	q = given(q, "project = ?", f.Project)
	q = givenTime(q, "updated_at >= ?", f.Since)
	q = givenTime(q, "updated_at < ?", f.Until)
	return holding(q, f.Text)
}
