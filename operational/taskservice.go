package operational

import (
	"cmp"
	"context"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/principal"
)

// TaskService is what agents and their Captain can do with tasks. Tasks
// implements it beside the database, router/client over HTTP. A ref is a
// task's id or its number, with or without "#".
type TaskService interface {
	// Create adds a task, and claims it at once if the draft names an agent.
	Create(ctx context.Context, draft TaskDraft) (Task, error)
	// Task returns one task.
	Task(ctx context.Context, ref string) (Task, error)
	// List returns tasks: open ones by priority and number, then finished ones, the latest first.
	List(ctx context.Context, filter TaskFilter) ([]Task, error)
	// Ready returns those of the tasks that can be claimed.
	Ready(ctx context.Context, filter TaskFilter) ([]Task, error)
	// Summary counts the tasks that the filter selects, whatever its limit.
	Summary(ctx context.Context, filter TaskFilter) (TaskSummary, error)
	// Claim takes a pending task for an agent. Claiming what one holds already changes nothing.
	Claim(ctx context.Context, ref string, claim TaskClaim) (Task, error)
	// ClaimNext takes the task that comes first by priority, then by number, of those that can be claimed; NotFound if there is none.
	ClaimNext(ctx context.Context, claim TaskClaim) (Task, error)
	// Progress records how far the holder has come.
	Progress(ctx context.Context, ref string, report TaskProgress) (Task, error)
	// Block says that the task cannot go on, and why.
	Block(ctx context.Context, ref string, block TaskBlock) (Task, error)
	// Unblock lets a blocked task go on where it stood.
	Unblock(ctx context.Context, ref string, note TaskNote) (Task, error)
	// Complete ends the task with its result.
	Complete(ctx context.Context, ref string, result TaskResult) (Task, error)
	// Fail ends the task with its error.
	Fail(ctx context.Context, ref string, failure TaskFailure) (Task, error)
	// Release gives the task back, for another to claim.
	Release(ctx context.Context, ref string, note TaskNote) (Task, error)
	// Cancel ends a task that is not wanted any more.
	Cancel(ctx context.Context, ref string, note TaskNote) (Task, error)
	// Restore lets a cancelled task wait to be claimed again.
	Restore(ctx context.Context, ref string, note TaskNote) (Task, error)
	// Wait says which tasks must be finished first.
	Wait(ctx context.Context, ref string, order TaskOrder) (Task, error)
	// Reassign hands an open task to an agent, whoever holds it; for the Captain.
	Reassign(ctx context.Context, ref string, to TaskAssignment) (Task, error)
}

// TaskStore keeps tasks. The function that a change gets decides what the change does. It
// runs inside the transaction and may run twice.
type TaskStore interface {
	// CreateTask stores a task, gives it its number and writes the event that made returns for it. One whose id is there
	// already is left as it is.
	CreateTask(ctx context.Context, task Task, made func(Task) eventlog.Event) (stored Task, existed bool, err error)
	Task(ctx context.Context, ref TaskRef) (Task, error)
	ListTasks(ctx context.Context, filter TaskFilter) ([]Task, error)
	SummarizeTasks(ctx context.Context, filter TaskFilter) (TaskSummary, error)
	// ChangeTask applies change to the task, stores it and writes the event that change returns.
	// A change that returns neither event nor error stores nothing.
	ChangeTask(ctx context.Context, ref TaskRef, change TaskChange) (Task, error)
	// ChangeNextTask does the same to the first task that can be claimed, of the project (of any, if it is empty).
	ChangeNextTask(ctx context.Context, project string, change TaskChange) (Task, error)
}

// TaskChange changes a task and returns the event that tells of it.
type TaskChange func(task *Task) (*eventlog.Event, error)

// TaskRef names a task by its ID or, if that is empty, by its Number.
type TaskRef struct {
	ID     string
	Number int64
}

// ParseTaskRef reads an id or a number, with or without "#".
func ParseTaskRef(ref string) (TaskRef, error) {
	digits := strings.TrimPrefix(ref, "#")
	if n, err := strconv.ParseInt(digits, 10, 64); err == nil && n > 0 {
		return TaskRef{Number: n}, nil
	}
	if _, err := uuid.Parse(ref); err == nil {
		return TaskRef{ID: strings.ToLower(ref)}, nil
	}
	return TaskRef{}, errs.InvalidField("id", "is neither a task's id nor its number")
}

// Tasks is the TaskService over a store.
type Tasks struct {
	store TaskStore
	now   clock.Clock
}

var _ TaskService = (*Tasks)(nil)

// NewTasks makes the service.
func NewTasks(store TaskStore, now clock.Clock) *Tasks {
	return &Tasks{store: store, now: now}
}

// Create implements TaskService.
func (t *Tasks) Create(ctx context.Context, draft TaskDraft) (Task, error) {
	creator, err := acting(ctx, "created_by", draft.CreatedBy, draft.check())
	if err != nil {
		return Task{}, err
	}
	kinds := redactEach(&draft.Title, &draft.Description)
	now := t.now.Stamp()
	task := Task{
		ID: check.NewID(), Title: strings.TrimSpace(draft.Title), Description: draft.Description,
		Project: draft.Project, Status: TaskPending, CreatedBy: creator, Priority: draft.Priority, CreatedAt: now, UpdatedAt: now,
	}
	if err := t.waitFor(ctx, &task, draft.After); err != nil {
		return Task{}, err
	}
	if draft.AgentID != "" {
		if err := principal.Of(ctx).ActAs(draft.AgentID); err != nil {
			return Task{}, err
		}
		if len(task.WaitsFor) > 0 {
			return Task{}, errs.InvalidField("agent_id", "cannot claim it yet: it waits for %s", strings.Join(task.WaitsFor, ", "))
		}
		task.Status, task.AgentID, task.ClaimedAt = TaskClaimed, draft.AgentID, &now
	}
	task, _, err = t.store.CreateTask(ctx, task, func(task Task) eventlog.Event {
		return taskEvent(EventTaskCreated, creator, "", "", task, now)
	})
	task.Redacted = kinds
	return task, err
}

// waitFor has a task wait for others, by their ids or numbers.
func (t *Tasks) waitFor(ctx context.Context, task *Task, after []string) error {
	task.After, task.WaitsFor = nil, nil
	for _, name := range after {
		r, err := ParseTaskRef(name)
		if err != nil {
			return errs.InvalidField("after", "has %q, which is neither a task's id nor its number", check.Head(name, check.MaxName))
		}
		other, err := t.store.Task(ctx, r)
		if errs.CodeOf(err) == errs.NotFound {
			return errs.InvalidField("after", "has %q, and there is no such task", name)
		}
		if err != nil {
			return err
		}
		if slices.Contains(task.After, other.ID) {
			continue
		}
		if task.After = append(task.After, other.ID); other.Status.Open() {
			task.WaitsFor = append(task.WaitsFor, other.Called())
		}
	}
	return nil
}

// Task implements TaskService.
func (t *Tasks) Task(ctx context.Context, ref string) (Task, error) {
	r, err := ParseTaskRef(ref)
	return reading(ctx, err, func() (Task, error) { return t.store.Task(ctx, r) })
}

// List implements TaskService.
func (t *Tasks) List(ctx context.Context, filter TaskFilter) ([]Task, error) {
	return reading(ctx, filter.check(), func() ([]Task, error) { return t.store.ListTasks(ctx, filter) })
}

// Ready implements TaskService.
func (t *Tasks) Ready(ctx context.Context, filter TaskFilter) ([]Task, error) {
	filter.Ready = true
	return t.List(ctx, filter)
}

// Summary implements TaskService.
func (t *Tasks) Summary(ctx context.Context, filter TaskFilter) (TaskSummary, error) {
	return reading(ctx, filter.check(), func() (TaskSummary, error) { return t.store.SummarizeTasks(ctx, filter) })
}

// OpenTasks returns up to limit unfinished tasks that the agent holds. They would remain
// undone if it stopped. It is for the router itself and checks no right.
func (t *Tasks) OpenTasks(ctx context.Context, agentID string, limit int) ([]Task, error) {
	open := true
	return t.store.ListTasks(ctx, TaskFilter{AgentID: agentID, Open: &open, Limit: min(max(limit, 1), MaxLimit)})
}

// Claim implements TaskService.
func (t *Tasks) Claim(ctx context.Context, ref string, claim TaskClaim) (Task, error) {
	r, err := ParseTaskRef(ref)
	if err != nil {
		return Task{}, err
	}
	change, err := t.claim(ctx, claim)
	if err != nil {
		return Task{}, err
	}
	return t.store.ChangeTask(ctx, r, func(task *Task) (*eventlog.Event, error) {
		if claim.Project != "" && task.Project != claim.Project {
			return nil, errs.Errorf(errs.Conflict, "task %d is of another project", task.Number)
		}
		return change(task)
	})
}

// ClaimNext implements TaskService.
func (t *Tasks) ClaimNext(ctx context.Context, claim TaskClaim) (Task, error) {
	change, err := t.claim(ctx, claim)
	if err != nil {
		return Task{}, err
	}
	return t.store.ChangeNextTask(ctx, claim.Project, change)
}

func (t *Tasks) claim(ctx context.Context, claim TaskClaim) (TaskChange, error) {
	agent, err := principal.Of(ctx).ActingAs("agent_id", claim.AgentID)
	if err != nil {
		return nil, err
	}
	if agent == "" {
		return nil, errs.InvalidField("agent_id", "is required: it says who claims the task")
	}
	if err := check.Name("project", claim.Project); err != nil {
		return nil, err
	}
	return t.move(func(task *Task) error { return task.claim(agent) }, EventTaskClaimed, agent, ""), nil
}

// Progress implements TaskService.
func (t *Tasks) Progress(ctx context.Context, ref string, report TaskProgress) (Task, error) {
	return t.held(ctx, ref, report.AgentID, EventTaskProgress, &report.Note, report.check(), func(task *Task) error { return task.progress(report) })
}

// Block implements TaskService.
func (t *Tasks) Block(ctx context.Context, ref string, block TaskBlock) (Task, error) {
	return t.held(ctx, ref, block.AgentID, EventTaskBlocked, &block.Reason, check.Required("reason", block.Reason, MaxTaskText), func(task *Task) error { return task.block(block.Reason) })
}

// Unblock implements TaskService.
func (t *Tasks) Unblock(ctx context.Context, ref string, note TaskNote) (Task, error) {
	return t.held(ctx, ref, note.AgentID, EventTaskUnblocked, &note.Note, note.check(), func(task *Task) error { return task.unblock(note.Note) })
}

// Complete implements TaskService.
func (t *Tasks) Complete(ctx context.Context, ref string, result TaskResult) (Task, error) {
	return t.held(ctx, ref, result.AgentID, EventTaskCompleted, &result.Result, check.Text("result", result.Result, MaxTaskText), func(task *Task) error { return task.complete(result.Result) })
}

// Fail implements TaskService.
func (t *Tasks) Fail(ctx context.Context, ref string, failure TaskFailure) (Task, error) {
	return t.held(ctx, ref, failure.AgentID, EventTaskFailed, &failure.Error, check.Required("error", failure.Error, MaxTaskText), func(task *Task) error { return task.fail(failure.Error) })
}

// Release implements TaskService.
func (t *Tasks) Release(ctx context.Context, ref string, note TaskNote) (Task, error) {
	return t.held(ctx, ref, note.AgentID, EventTaskReleased, &note.Note, note.check(), func(task *Task) error { return task.release(note.Note) })
}

// Cancel implements TaskService.
func (t *Tasks) Cancel(ctx context.Context, ref string, note TaskNote) (Task, error) {
	return t.held(ctx, ref, note.AgentID, EventTaskCancelled, &note.Note, note.check(), func(task *Task) error { return task.cancel(note.Note) })
}

// Restore implements TaskService.
func (t *Tasks) Restore(ctx context.Context, ref string, note TaskNote) (Task, error) {
	return t.held(ctx, ref, note.AgentID, EventTaskRestored, &note.Note, note.check(), func(task *Task) error { return task.restore(note.Note) })
}

// Wait implements TaskService.
func (t *Tasks) Wait(ctx context.Context, ref string, order TaskOrder) (Task, error) {
	var wanted Task
	err := cmp.Or(principal.Of(ctx).Need(principal.ScopeAgent), checkAfter(order.After))
	if err == nil {
		err = t.waitFor(ctx, &wanted, order.After)
	}
	return t.held(ctx, ref, order.AgentID, EventTaskOrdered, new(string), err, func(task *Task) error {
		return task.step(task.Status.Open(), "a finished one waits for nothing", task.Status, "", func() { task.After, task.WaitsFor = wanted.After, wanted.WaitsFor })
	})
}

// Reassign implements TaskService.
func (t *Tasks) Reassign(ctx context.Context, ref string, to TaskAssignment) (Task, error) {
	p := principal.Of(ctx)
	if err := p.Need(principal.ScopeCaptain); err != nil {
		return Task{}, err
	}
	r, err := ParseTaskRef(ref)
	if err != nil {
		return Task{}, err
	}
	if err := cmp.Or(check.AgentID("agent_id", to.AgentID), check.Text("note", to.Note, MaxTaskText)); err != nil {
		return Task{}, err
	}
	kinds := redactEach(&to.Note)
	task, err := t.store.ChangeTask(ctx, r, t.move(func(task *Task) error { return task.reassign(to) }, EventTaskReassigned, p.AgentID, to.Note))
	task.Redacted = kinds
	return task, err
}

// held changes a task as its holder, or as its creator while nobody holds it,
// or as the Captain, without the secrets in what is said of it; wrong is what is wrong with that.
func (t *Tasks) held(ctx context.Context, ref, agentID, event string, said *string, wrong error, change func(*Task) error) (Task, error) {
	p := principal.Of(ctx)
	if err := cmp.Or(wrong, p.Need(principal.ScopeAgent)); err != nil {
		return Task{}, err
	}
	r, err := ParseTaskRef(ref)
	if err != nil {
		return Task{}, err
	}
	acting, err := p.ActingAs("agent_id", agentID)
	if err != nil {
		return Task{}, err
	}
	kinds := redactEach(said)
	task, err := t.store.ChangeTask(ctx, r, t.move(func(task *Task) error {
		if err := task.mayMove(p, agentID, acting, event); err != nil {
			return err
		}
		return change(task)
	}, event, acting, *said))
	task.Redacted = kinds
	return task, err
}

// move makes a TaskChange of a rule. What the rule left as it was is neither
// stored nor told.
func (t *Tasks) move(rule func(*Task) error, event, acting, note string) TaskChange {
	now := t.now.Stamp()
	return func(task *Task) (*eventlog.Event, error) {
		before := *task
		if err := rule(task); err != nil {
			return nil, err
		}
		if reflect.DeepEqual(*task, before) && event != EventTaskProgress {
			return nil, nil
		}
		task.UpdatedAt = now
		if task.AgentID == "" {
			task.ClaimedAt = nil
		} else if task.AgentID != before.AgentID {
			task.ClaimedAt = &now
		}
		if !task.Status.Open() {
			task.FinishedAt = &now
		}
		by := cmp.Or(acting, before.AgentID)
		e := taskEvent(event, by, before.Status, note, *task, now)
		return &e, nil
	}
}

// The types of the events of tasks.
const (
	EventTaskCreated    = "task.created"
	EventTaskClaimed    = "task.claimed"
	EventTaskProgress   = "task.progress"
	EventTaskBlocked    = "task.blocked"
	EventTaskUnblocked  = "task.unblocked"
	EventTaskCompleted  = "task.completed"
	EventTaskFailed     = "task.failed"
	EventTaskReleased   = "task.released"
	EventTaskCancelled  = "task.cancelled"
	EventTaskRestored   = "task.restored"
	EventTaskReassigned = "task.reassigned"
	EventTaskOrdered    = "task.ordered" // it waits for other tasks than before
)

// TaskEvent is the data of a task's event.
type TaskEvent struct {
	Number   int64      `json:"number"`
	Title    string     `json:"title"`
	From     TaskStatus `json:"from,omitempty"`
	Status   TaskStatus `json:"status"`
	AgentID  string     `json:"agent_id,omitempty"` // who holds it now
	Progress int        `json:"progress"`
	Note     string     `json:"note,omitempty"` // the reason, result, error or note that came with the change, cut to maxEventText
}

// maxEventText bounds the text that an event repeats of a row, in bytes: the
// event tells that something changed, the row says what it is now.
const maxEventText = 1 << 10

func taskEvent(kind, acting string, from TaskStatus, note string, task Task, at time.Time) eventlog.Event {
	return eventOf(kind, task.ID, acting, task.Project, at, TaskEvent{
		Number: task.Number, Title: task.Title, From: from, Status: task.Status, AgentID: task.AgentID,
		Progress: task.Progress, Note: check.Head(note, maxEventText),
	})
}
