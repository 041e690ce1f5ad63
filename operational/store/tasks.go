package store

import (
	"context"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/operational"
)

var _ operational.TaskStore = (*Store)(nil)

var tasks = table.Of[operational.Task]("tasks", "Redacted", "WaitsFor", "After waits_on").Numbered("number").
	With("folded", func(t *operational.Task) any { return fold(t.Title, t.Description) })

// isReady is which tasks can be claimed.
const isReady = `status = 'pending' AND NOT EXISTS (SELECT 1 FROM tasks AS earlier
	WHERE earlier.finished_at IS NULL AND earlier.id IN (SELECT value FROM {elements tasks.waits_on}))`

// CreateTask implements operational.TaskStore.
func (s *Store) CreateTask(ctx context.Context, task operational.Task, made func(operational.Task) eventlog.Event) (stored operational.Task, existed bool, err error) {
	err = s.write(ctx, func(tx *gorm.DB) (err error) {
		if stored, existed, err = tasks.Take(tx.Where("id = ?", task.ID)); err != nil || existed {
			return err
		}
		stored = task
		if err := inOrder(tx, &stored); err != nil {
			return refuse(err)
		}
		if err := tasks.Insert(tx, &stored); err != nil {
			return err
		}
		return table.AppendEvents(tx, made(stored))
	}, nil)
	return stored, existed, err
}

// inOrder refuses a task that would wait for itself.
func inOrder(tx *gorm.DB, task *operational.Task) error {
	return task.CheckOrder(func(ids []string) ([]operational.Task, error) { return tasksOf(tx, ids) })
}

// tasksOf reads the tasks with the ids, by their numbers.
func tasksOf(tx *gorm.DB, ids []string) (found []operational.Task, err error) {
	for some := range slices.Chunk(ids, valuesOfQuery) {
		part, err := tasks.Find(tx.Where("id IN ?", some).Order("number"))
		if err != nil {
			return nil, err
		}
		found = append(found, part...)
	}
	return found, nil
}

// withWaits says of tasks which of those that they wait for are not finished.
func withWaits(tx *gorm.DB, list []operational.Task) ([]operational.Task, error) {
	var ids []string
	for _, t := range list {
		if t.Status.Open() {
			ids = append(ids, t.After...)
		}
	}
	slices.Sort(ids)
	others, err := tasksOf(tx, slices.Compact(ids))
	unfinished := map[string]string{}
	for _, other := range others {
		if other.Status.Open() {
			unfinished[other.ID] = other.Called()
		}
	}
	for i, t := range list {
		for _, id := range t.After {
			if name := unfinished[id]; name != "" && t.Status.Open() {
				list[i].WaitsFor = append(list[i].WaitsFor, name)
			}
		}
	}
	return list, err
}

// Task implements operational.TaskStore.
func (s *Store) Task(ctx context.Context, ref operational.TaskRef) (task operational.Task, err error) {
	err = s.snapshot(ctx, func(tx *gorm.DB) error {
		task, err = waiting(tx, byRef(tx, ref), "there is no such task")
		return err
	})
	return task, err
}

// waiting reads the one task that a query selects, with what it waits for.
func waiting(tx, q *gorm.DB, missing string) (operational.Task, error) {
	task, err := need(tasks, q, missing)
	if err != nil {
		return task, err
	}
	list, err := withWaits(tx, []operational.Task{task})
	if err != nil {
		return task, err
	}
	return list[0], nil
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
	var err error
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
		order := part.order
		if filter.AgentID != "" { // an agent has few tasks: to sort them is cheaper than to look through all in order
			order = "{unindexed}" + order
		}
		q := holdingAny(selectTasks(tx, filter), filter.AnyOf, order).Where(part.condition)
		switch { // the first condition of each lets the index begin at the place, the second leaves out what is before it
		case last.Number == 0:
		case part.open && last.FinishedAt == nil:
			q = q.Where("priority <= ? AND (priority < ? OR number > ?)", last.Priority, last.Priority, last.Number)
		case part.open:
			continue // the place lies among the finished ones
		case last.FinishedAt != nil:
			q = q.Where("finished_at <= ? AND (finished_at < ? OR number < ?)", table.Millis(*last.FinishedAt), table.Millis(*last.FinishedAt), last.Number)
		}
		more, err := tasks.Find(q.Limit(filter.Limit - len(listed)))
		if err != nil {
			return nil, err
		}
		listed = append(listed, more...)
	}
	return withWaits(tx, listed)
}

// SummarizeTasks implements operational.TaskStore.
func (s *Store) SummarizeTasks(ctx context.Context, filter operational.TaskFilter) (operational.TaskSummary, error) {
	var counts []struct {
		Status operational.TaskStatus
		Number int
	}
	filter.AnyOf = nil // it orders a listing; a summary counts what holds none of them too
	err := selectTasks(s.Read.WithContext(ctx).Table("tasks"), filter).Select("status, count(*) AS number").Group("status").Scan(&counts).Error
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
		return given(tx.Where(isReady), "project = ?", project).Order("priority DESC, number")
	})
}

func (s *Store) changeTask(ctx context.Context, change operational.TaskChange, missing string, find func(tx *gorm.DB) *gorm.DB) (operational.Task, error) {
	return changing[operational.Task]{of: tasks, find: find, missing: missing, by: "number"}.change(ctx, s, func(tx *gorm.DB, t *operational.Task) (*eventlog.Event, error) {
		list, err := withWaits(tx, []operational.Task{*t})
		if err != nil {
			return nil, err
		}
		*t = list[0]
		before := t.After
		event, err := change(t)
		if err == nil && !slices.Equal(before, t.After) {
			err = inOrder(tx, t)
		}
		return event, err
	})
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
	if f.Ready {
		q = q.Where(isReady)
	}
	q = given(q, "project = ?", f.Project)
	q = givenTime(q, "updated_at >= ?", f.Since)
	q = givenTime(q, "updated_at < ?", f.Until)
	return holding(q, f.Text)
}
