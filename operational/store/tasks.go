package store

import (
	"context"
	"math"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"skillrouter/internal/eventlog"
	"skillrouter/operational"
)

var _ operational.TaskStore = (*Store)(nil)

type taskRow struct {
	Number        int64 `gorm:"primaryKey;autoIncrement"`
	ID            string
	Title         string
	Description   string
	Project       string
	Status        string
	AgentID       string
	CreatedBy     string
	Priority      int
	Progress      float64
	Note          string
	BlockedReason string
	Result        string
	Error         string
	Folded        string
	CreatedAt     int64 `gorm:"autoCreateTime:false"`
	UpdatedAt     int64 `gorm:"autoUpdateTime:false"`
	ClaimedAt     *int64
	FinishedAt    *int64
}

func (taskRow) TableName() string { return "tasks" }

func rowOfTask(t operational.Task) taskRow {
	return taskRow{
		Number: t.Number, ID: t.ID, Title: t.Title, Description: t.Description, Project: t.Project, Status: string(t.Status),
		AgentID: t.AgentID, CreatedBy: t.CreatedBy, Priority: t.Priority, Progress: float64(t.Progress), Note: t.Note,
		BlockedReason: t.BlockedReason, Result: t.Result, Error: t.Error, Folded: fold(t.Title, t.Description),
		CreatedAt: millis(t.CreatedAt), UpdatedAt: millis(t.UpdatedAt), ClaimedAt: millisPtr(t.ClaimedAt), FinishedAt: millisPtr(t.FinishedAt),
	}
}

func (r taskRow) task() operational.Task {
	return operational.Task{
		ID: r.ID, Number: r.Number, Title: r.Title, Description: r.Description, Project: r.Project, Status: operational.TaskStatus(r.Status),
		AgentID: r.AgentID, CreatedBy: r.CreatedBy, Priority: r.Priority, Progress: int(math.Round(r.Progress)), Note: r.Note,
		BlockedReason: r.BlockedReason, Result: r.Result, Error: r.Error,
		CreatedAt: fromMillis(r.CreatedAt), UpdatedAt: fromMillis(r.UpdatedAt), ClaimedAt: fromMillisPtr(r.ClaimedAt), FinishedAt: fromMillisPtr(r.FinishedAt),
	}
}

// CreateTask implements operational.TaskStore.
func (s *Store) CreateTask(ctx context.Context, task operational.Task, made func(operational.Task) eventlog.Event) (operational.Task, error) {
	var row taskRow
	err := s.write(ctx, func(tx *gorm.DB) error {
		row = rowOfTask(task)
		if err := tx.Create(&row).Error; err != nil {
			return err
		}
		return appendEvent(tx, made(row.task()))
	}, nil)
	if err != nil {
		return operational.Task{}, err
	}
	return row.task(), nil
}

// Task implements operational.TaskStore.
func (s *Store) Task(ctx context.Context, ref operational.TaskRef) (operational.Task, error) {
	var row taskRow
	err := byRef(s.read.WithContext(ctx), ref).Take(&row).Error
	return row.task(), notFound(err, "there is no such task")
}

// ListTasks implements operational.TaskStore. Open and finished tasks are
// looked up apart, because each have an index in the order that they are listed in.
func (s *Store) ListTasks(ctx context.Context, filter operational.TaskFilter) (tasks []operational.Task, err error) {
	err = s.snapshot(ctx, func(tx *gorm.DB) error { // what is finished meanwhile is listed once
		tasks, err = s.listTasks(tx, filter)
		return err
	})
	return tasks, err
}

func (s *Store) listTasks(tx *gorm.DB, filter operational.TaskFilter) ([]operational.Task, error) {
	tasks := []operational.Task{}
	looks, err := s.words.looks(tx, filter)
	if err != nil {
		return nil, err
	}
	var last taskRow // the one that the list goes on after
	if filter.After > 0 {
		if err := byRef(tx, operational.TaskRef{Number: filter.After}).Take(&last).Error; err != nil {
			return nil, notFound(err, "there is no such task to go on after")
		}
	}
	for _, part := range []struct {
		open             bool
		condition, order string
	}{
		{true, "finished_at IS NULL", "priority DESC, number"},
		{false, "finished_at IS NOT NULL", "finished_at DESC, number DESC"},
	} {
		if len(tasks) >= filter.Limit {
			break
		}
		ofPart := func(s operational.TaskStatus) bool { return s.Open() == part.open }
		if (len(filter.Status) > 0 && !slices.ContainsFunc(filter.Status, ofPart)) || (filter.Open != nil && *filter.Open != part.open) {
			continue
		}
		for _, look := range looks {
			left := filter.Limit - len(tasks)
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
				q = q.Where("finished_at <= ? AND (finished_at < ? OR number < ?)", *last.FinishedAt, *last.FinishedAt, last.Number)
			}
			more, err := listOf(q.Limit(left), taskRow.task)
			if err != nil {
				return nil, err
			}
			tasks = append(tasks, more...)
		}
	}
	return tasks, nil
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
			err = look.rows(tx.Model(&taskRow{}), filter, "status").Select("status, count(*) AS number").Group("status").Scan(&counts).Error
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
	return s.changeTask(ctx, change, func(tx *gorm.DB) *gorm.DB { return byRef(tx, ref) }, "there is no such task")
}

// ChangeNextTask implements operational.TaskStore.
func (s *Store) ChangeNextTask(ctx context.Context, project string, change operational.TaskChange) (operational.Task, error) {
	return s.changeTask(ctx, change, func(tx *gorm.DB) *gorm.DB {
		q := tx.Where("status = ?", operational.TaskPending)
		q = given(q, "project = ?", project)
		return q.Order("priority DESC, number").Limit(1)
	}, "no task is waiting")
}

// changeTask changes the task that find selects.
func (s *Store) changeTask(ctx context.Context, change operational.TaskChange, find func(tx *gorm.DB) *gorm.DB, missing string) (operational.Task, error) {
	var task operational.Task
	err := s.write(ctx, func(tx *gorm.DB) error {
		var row taskRow
		if err := find(tx).Take(&row).Error; err != nil {
			return refuse(notFound(err, "%s", missing))
		}
		task = row.task()
		event, err := change(&task)
		if err != nil || event == nil {
			return refuse(err)
		}
		changed := rowOfTask(task)
		if err := tx.Model(&taskRow{}).Where("number = ?", row.Number).Select("*").Omit("number", "id", "created_at").Updates(&changed).Error; err != nil {
			return err
		}
		return appendEvent(tx, *event)
	}, nil)
	if err != nil {
		return operational.Task{}, err
	}
	return task, nil
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
