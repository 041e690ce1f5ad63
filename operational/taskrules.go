package operational

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
)

// Bounds of a task.
const (
	MaxTaskTitle       = 500      // bytes; a title is a line
	MaxTaskText        = 64 << 10 // bytes of a description, note, reason, result or error; longer ones are files
	MaxPriority        = 10       // and −MaxPriority at the other end
	MaxFilterText      = 1 << 10  // bytes of the words that a listing is filtered by
	MaxAnyOf           = 8        // words of which a listing's rows must hold one; each is looked for in every row
	MaxAfter           = 50       // tasks that one waits for
	completionProgress = 100
)

// TaskClaim says who claims, and of which project the next task shall be.
type TaskClaim struct {
	AgentID string `json:"agent_id,omitempty" actor:"true"`         // empty: the agent that the token belongs to
	Project string `json:"project,omitempty" doc:"Of the next one"` // empty: of any project
}

// TaskProgress is how far the holder has come. At least one of Progress and Note is needed.
type TaskProgress struct {
	AgentID  string   `json:"agent_id,omitempty" actor:"true"`
	Progress *float64 `json:"progress,omitempty" range:"0,100"` // 0 to 100, rounded to a whole number
	Note     string   `json:"note,omitempty"`
}

// TaskBlock says why a task cannot go on.
type TaskBlock struct {
	AgentID string `json:"agent_id,omitempty" actor:"true"`
	Reason  string `json:"reason"`
}

// TaskNote goes with a change that needs no further word.
type TaskNote struct {
	AgentID string `json:"agent_id,omitempty" actor:"true"`
	Note    string `json:"note,omitempty"`
}

// TaskResult is what came of a completed task.
type TaskResult struct {
	AgentID string `json:"agent_id,omitempty" actor:"true"`
	Result  string `json:"result,omitempty"`
}

// TaskFailure is why a task failed.
type TaskFailure struct {
	AgentID string `json:"agent_id,omitempty" actor:"true"`
	Error   string `json:"error"`
}

// TaskAssignment is whom the Captain hands a task to.
type TaskAssignment struct {
	AgentID string `json:"agent_id" doc:"Who gets it"`
	Note    string `json:"note,omitempty"`
}

// TaskOrder is what a task waits for from now on.
type TaskOrder struct {
	AgentID string   `json:"agent_id,omitempty" actor:"true"`
	After   []string `json:"after,omitempty" doc:"Tasks that must be finished first, by id or number; none: it waits for nothing"`
}

// OpenTaskStatuses lists the statuses of a task that is not finished.
func OpenTaskStatuses() []TaskStatus {
	return []TaskStatus{TaskPending, TaskClaimed, TaskInProgress, TaskBlocked}
}

// Open tells whether a task with this status is unfinished.
func (s TaskStatus) Open() bool { return slices.Contains(OpenTaskStatuses(), s) }

func (d TaskDraft) check() error {
	return cmp.Or(
		check.Required("title", d.Title, MaxTaskTitle),
		check.Text("description", d.Description, MaxTaskText),
		check.Name("project", d.Project),
		check.OptionalAgent("agent_id", d.AgentID),
		check.Range("priority", float64(d.Priority), -MaxPriority, MaxPriority),
		checkAfter(d.After),
	)
}

func checkAfter(after []string) error {
	if len(after) > MaxAfter {
		return errs.InvalidField("after", "holds more than %d tasks", MaxAfter)
	}
	return nil
}

// CheckOrder refuses a task that would wait for itself, and names those by way of which. load returns tasks by their ids. What is finished
// waits for nothing.
func (t *Task) CheckOrder(load func(ids []string) ([]Task, error)) error {
	behind, reached := map[string]Task{}, slices.Clone(t.After) // each by the task that waits for it
	for _, id := range t.After {
		behind[id] = *t
	}
	for len(reached) > 0 && behind[t.ID].ID == "" {
		found, err := load(reached)
		if err != nil {
			return err
		}
		reached = nil
		for _, one := range found {
			for _, id := range one.After {
				if one.Status.Open() && behind[id].ID == "" {
					behind[id], reached = one, append(reached, id)
				}
			}
		}
	}
	if behind[t.ID].ID == "" {
		return nil
	}
	circle := ""
	for one := behind[t.ID]; one.ID != t.ID; one = behind[one.ID] {
		circle += " → " + one.Called()
	}
	return errs.InvalidField("after", "makes a circle: %s%s → %s", t.Title, circle, t.Title)
}

func (f *TaskFilter) check() error {
	if err := cmp.Or(
		check.SetLimit(&f.Limit, DefaultLimit, MaxLimit), check.Each("status", f.Status, TaskStatuses()),
		check.OptionalAgent("agent_id", f.AgentID), check.Name("project", f.Project), checkAnyOf(f.AnyOf),
	); err != nil {
		return err
	}
	switch {
	case f.After < 0:
		return errs.InvalidField("after", "must not be negative")
	case f.After > 0 && len(f.AnyOf) > 0:
		return errs.InvalidField("after", "may not be given together with any_of")
	}
	return check.Text("text", f.Text, MaxFilterText)
}

func checkAnyOf(words []string) error {
	if len(words) > MaxAnyOf {
		return errs.InvalidField("any_of", "holds more than %d words", MaxAnyOf)
	}
	for _, w := range words {
		if err := check.Required("any_of", w, check.MaxName); err != nil {
			return err
		}
	}
	return nil
}

func (r TaskProgress) check() error {
	if r.Progress == nil && r.Note == "" {
		return errs.InvalidField("progress", "is required, unless there is a note")
	}
	return cmp.Or(check.OptionalRange("progress", r.Progress, 0, 100), check.Text("note", r.Note, MaxTaskText))
}

func (n TaskNote) check() error { return check.Text("note", n.Note, MaxTaskText) }

// mayMove refuses who may not change the task. Its holder may; while nobody
// holds it, so may who created it; the Captain may as long as it does not act
// as somebody else. named is whom the request names, acting is as whom it is made.
func (t *Task) mayMove(p principal.Principal, named, acting, event string) error {
	captain := p.Has(principal.ScopeCaptain) && (named == "" || named == p.AgentID)
	switch {
	case captain, t.AgentID != "" && acting == t.AgentID, acting != "" && acting == t.CreatedBy && (t.AgentID == "" || event == EventTaskCancelled || event == EventTaskRestored):
		return nil
	case t.AgentID == "" && t.Status.Open():
		if p.Has(principal.ScopeCaptain) {
			return errs.Errorf(errs.Conflict, "task %d is %s: nobody holds it, %q has to claim it first", t.Number, t.Status, acting)
		}
		return errs.Errorf(errs.Forbidden, "task %d is %s: nobody holds it, claim it first", t.Number, t.Status)
	case event == EventTaskRestored:
		return errs.Errorf(errs.Forbidden, "task %d is %s: only who made or held it, or a captain, may restore it", t.Number, t.Status)
	case p.Has(principal.ScopeCaptain): // it may, but the agent that it speaks for does not hold the task
		return errs.Errorf(errs.Conflict, "task %d is %s and not held by %q", t.Number, t.Status, acting)
	}
	return errs.Errorf(errs.Forbidden, "task %d is held by another agent", t.Number)
}

// step takes the task to another status with a note, and sets what comes with it, if it may; otherwise it says why not.
func (t *Task) step(may bool, otherwise string, to TaskStatus, note string, set func()) error {
	if !may {
		return errs.Errorf(errs.Conflict, "task %d is %s: "+otherwise, t.Number, t.Status)
	}
	t.Status, t.Note = to, cmp.Or(note, t.Note)
	set()
	return nil
}

// underWay tells whether its agent works on the task, or will.
func (t *Task) underWay() bool { return t.Status == TaskClaimed || t.Status == TaskInProgress }

func (t *Task) claim(agent string) error {
	switch {
	case t.Status == TaskPending && len(t.WaitsFor) > 0:
		return errs.Errorf(errs.Conflict, "task %d waits for %s", t.Number, strings.Join(t.WaitsFor, ", "))
	case t.Status == TaskPending:
		t.Status, t.AgentID = TaskClaimed, agent
		return nil
	case t.Status.Open() && t.AgentID == agent:
		return nil
	case t.AgentID != "" && t.Status.Open():
		return errs.Errorf(errs.Conflict, "task %d is %s: %q holds it", t.Number, t.Status, t.AgentID)
	}
	return errs.Errorf(errs.Conflict, "task %d is %s: only a pending one can be claimed", t.Number, t.Status)
}

func (t *Task) progress(r TaskProgress) error {
	return t.step(t.underWay(), "only a claimed one makes progress", TaskInProgress, r.Note, func() {
		if r.Progress != nil {
			t.Progress = int(math.Round(*r.Progress))
		}
	})
}

func (t *Task) block(reason string) error {
	return t.step(t.Status.Open(), "a finished one cannot be blocked", TaskBlocked, "", func() { t.BlockedReason = reason })
}

func (t *Task) unblock(note string) error {
	to := TaskInProgress
	if t.AgentID == "" {
		to = TaskPending
	}
	return t.step(t.Status == TaskBlocked, "only a blocked one can be unblocked", to, note, func() { t.BlockedReason = "" })
}

func (t *Task) complete(result string) error {
	return t.step(t.underWay(), "only a claimed one, or one in progress, can be completed", TaskCompleted, "", func() { t.Progress, t.Result = completionProgress, result })
}

func (t *Task) fail(reason string) error {
	return t.step(t.Status.Open() && t.AgentID != "", "only one that an agent holds can fail", TaskFailed, "", func() { t.Error = reason })
}

func (t *Task) release(note string) error {
	return t.step(t.Status.Open() && t.AgentID != "", "only one that an agent holds can be released", TaskPending, note, func() { t.AgentID, t.BlockedReason = "", "" })
}

func (t *Task) cancel(note string) error {
	return t.step(t.Status.Open(), "it is finished already", TaskCancelled, note, func() {})
}

func (t *Task) restore(note string) error {
	return t.step(t.Status == TaskCancelled, "only a cancelled one can be restored", TaskPending, note, func() { t.AgentID, t.BlockedReason = "", "" })
}

func (t *Task) reassign(to TaskAssignment) error {
	if t.Status.Open() && t.AgentID == to.AgentID {
		return nil
	}
	return t.step(t.Status.Open(), "a finished one cannot be reassigned", TaskClaimed, to.Note, func() { t.AgentID, t.BlockedReason = to.AgentID, "" })
}
