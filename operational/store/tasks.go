package store

import (
	"context"
	"slices"

	"gorm.io/gorm"

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
		if stored, existed, err = tasks.One(tx, "WHERE id = ?", task.ID); err != nil || existed {
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
func tasksOf(tx *gorm.DB, ids []string) ([]operational.Task, error) {
	return table.InParts(ids, func(part []string) ([]operational.Task, error) {
		return tasks.List(tx, "WHERE id IN ("+table.Marks(len(part))+") ORDER BY number", table.Anys(part)...)
	})
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
		where, arg := byRef(ref)
		if task, err = need(tasks, tx, noTask, where, arg); err != nil {
			return err
		}
		list, err := withWaits(tx, []operational.Task{task})
		task = list[0]
		return err
	})
	return task, err
}

const noTask = "there is no such task"

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
		if last, err = need(tasks, tx, "there is no such task to go on after", "WHERE number = ?", filter.After); err != nil {
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
		c := selectTasks(filter)
		c.Add(part.condition)
		switch { // the first condition of each lets the index begin at the place, the second leaves out what is before it
		case last.Number == 0:
		case part.open && last.FinishedAt == nil:
			c.Add("priority <= ? AND (priority < ? OR number > ?)", last.Priority, last.Priority, last.Number)
		case part.open:
			continue // the place lies among the finished ones
		case last.FinishedAt != nil:
			c.Add("finished_at <= ? AND (finished_at < ? OR number < ?)", table.Millis(*last.FinishedAt), table.Millis(*last.FinishedAt), last.Number)
		}
		by := holdingAny(&c, filter.AnyOf, order)
		more, err := tasks.List(tx, c.Text+by, c.With(filter.Limit-len(listed))...)
		if err != nil {
			return nil, err
		}
		listed = append(listed, more...)
	}
	return withWaits(tx, listed)
}

// SummarizeTasks implements operational.TaskStore.
func (s *Store) SummarizeTasks(ctx context.Context, filter operational.TaskFilter) (operational.TaskSummary, error) {
	c := selectTasks(filter) // a summary counts what holds none of AnyOf too
	counts, err := table.Tallied[operational.TaskStatus](s.Read.WithContext(ctx), "SELECT status, count(*) FROM tasks "+c.Text+" GROUP BY status", c.Args...)
	summary := operational.TaskSummary{ByStatus: map[operational.TaskStatus]int{}}
	for _, status := range operational.TaskStatuses() {
		summary.ByStatus[status] = 0
	}
	for status, n := range counts {
		summary.ByStatus[status] = int(n)
		summary.Total += int(n)
		if status.Open() {
			summary.Open += int(n)
		}
	}
	return summary, err
}

// ChangeTask implements operational.TaskStore.
func (s *Store) ChangeTask(ctx context.Context, ref operational.TaskRef, change operational.TaskChange) (operational.Task, error) {
	where, arg := byRef(ref)
	return s.changeTask(ctx, change, noTask, where, arg)
}

// ChangeNextTask implements operational.TaskStore.
func (s *Store) ChangeNextTask(ctx context.Context, project string, change operational.TaskChange) (operational.Task, error) {
	var c table.Conditions
	c.Add(isReady)
	c.Equal("project", project)
	return s.changeTask(ctx, change, "no task is waiting", c.Text+" ORDER BY priority DESC, number LIMIT 1", c.Args...)
}

func (s *Store) changeTask(ctx context.Context, change operational.TaskChange, missing, where string, args ...any) (operational.Task, error) {
	one := changing[operational.Task]{of: tasks, where: where, args: args, missing: missing, by: "number"}
	return one.change(ctx, s, func(tx *gorm.DB, t *operational.Task) (*eventlog.Event, error) {
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

func byRef(ref operational.TaskRef) (where string, arg any) {
	if ref.ID != "" {
		return "WHERE id = ?", ref.ID
	}
	return "WHERE number = ?", ref.Number
}

func selectTasks(f operational.TaskFilter) (c table.Conditions) {
	table.GivenAny(&c, "status", f.Status)
	if f.Open != nil {
		statuses := "status IN ("
		if !*f.Open {
			statuses = "status NOT IN ("
		}
		open := operational.OpenTaskStatuses()
		c.Add(statuses+table.Marks(len(open))+")", table.Anys(open)...)
	}
	c.Equal("agent_id", f.AgentID)
	if f.Unheld {
		c.Add("agent_id = ''")
	}
	if f.Ready {
		c.Add(isReady)
	}
	c.Equal("project", f.Project)
	c.Between("updated_at", f.Since, f.Until)
	holding(&c, f.Text)
	return c
}
