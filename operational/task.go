package operational

import (
	"fmt"
	"time"

	"github.com/skillrouter/skillrouter/internal/safetext"
)

// TaskStatus is where a task stands.
type TaskStatus string

// The statuses of a task. Open ones are pending, claimed, in_progress and blocked.
const (
	TaskPending    TaskStatus = "pending"     // nobody works on it
	TaskClaimed    TaskStatus = "claimed"     // an agent has taken it and reported no progress yet
	TaskInProgress TaskStatus = "in_progress" // its agent works on it
	TaskBlocked    TaskStatus = "blocked"     // its agent cannot go on; BlockedReason says why
	TaskCompleted  TaskStatus = "completed"
	TaskFailed     TaskStatus = "failed"
	TaskCancelled  TaskStatus = "cancelled"
)

// TaskStatuses lists the statuses of a task.
func TaskStatuses() []TaskStatus {
	return []TaskStatus{TaskPending, TaskClaimed, TaskInProgress, TaskBlocked, TaskCompleted, TaskFailed, TaskCancelled}
}

// Choices are the values as texts, for whoever asks for one.
func (TaskStatus) Choices() []string { return safetext.Strings(TaskStatuses()) }

// Task is a piece of work that one agent at a time may hold.
type Task struct {
	ID            string     `json:"id"`
	Number        int64      `json:"number"` // short number for people: 1, 2, 3 …
	Title         string     `json:"title"`
	Description   string     `json:"description,omitempty"`
	Project       string     `json:"project,omitempty"`
	Status        TaskStatus `json:"status"`
	AgentID       string     `json:"agent_id,omitempty"` // who holds it
	CreatedBy     string     `json:"created_by,omitempty"`
	Priority      int        `json:"priority"` // −10 to 10, greater first
	Progress      int        `json:"progress"` // 0 to 100
	Note          string     `json:"note,omitempty"`
	BlockedReason string     `json:"blocked_reason,omitempty"`
	Result        string     `json:"result,omitempty"` // of a completed task
	Error         string     `json:"error,omitempty"`  // of a failed task
	After         []string   `json:"after,omitempty"`  // ids of the tasks that it waits for
	CreatedAt     time.Time  `json:"created_at"`
	UpdatedAt     time.Time  `json:"updated_at"`
	ClaimedAt     *time.Time `json:"claimed_at,omitempty"`
	FinishedAt    *time.Time `json:"finished_at,omitempty"`
	// WaitsFor names those of After that are not finished. It follows from other tasks, and is not stored.
	WaitsFor []string `json:"waits_for,omitempty"`
	// Redacted lists the kinds of secret that were cut out of what the call said that this answers. It is not stored.
	Redacted []string `json:"redacted,omitempty"`
}

// Called is how people speak of the task: "#7 Build the image".
func (t *Task) Called() string { return fmt.Sprintf("#%d %s", t.Number, t.Title) }

// TaskDraft is what a client may say of a new task.
type TaskDraft struct {
	Title       string   `json:"title"`
	Description string   `json:"description,omitempty"`
	Project     string   `json:"project,omitempty" here:"project"`
	Priority    int      `json:"priority,omitempty" doc:"Greater first" range:"-10,10"`
	AgentID     string   `json:"agent_id,omitempty" doc:"Claim it for this agent at once"` // claim it for this agent at once
	After       []string `json:"after,omitempty" doc:"Tasks that must be finished first, by id or number"`
	CreatedBy   string   `json:"created_by,omitempty" actor:"true"`
}

// TaskFilter selects tasks; empty fields select everything.
type TaskFilter struct {
	Status  []TaskStatus `query:"status" doc:"One or more, separated by commas: pending, claimed, in_progress, blocked, completed, failed, cancelled"`
	AgentID string       `query:"agent_id" doc:"Only those that this agent holds"`
	Project string       `query:"project" doc:"Only those of this project"`
	Open    *bool        `query:"open" enum:"true,false" doc:"true: only unfinished ones; false: only finished ones"`
	Unheld  bool         `query:"unheld" doc:"Only those that no agent holds"`
	Ready   bool         `query:"ready" doc:"Only those that can be claimed: no agent holds them, and they wait for no unfinished task"`
	Text    string       `query:"text" doc:"Words that the title or description holds, in any case"`                                   // words of the title or description, each of which it must hold, without regard to case
	AnyOf   []string     `query:"any_of" doc:"Words, separated by commas, of which it must hold one; those that hold more come first"` // words of which it must hold one; those that hold more come first. At most MaxAnyOf
	Since   time.Time    `query:"since" doc:"Only those changed at or after this time"`
	Until   time.Time    `query:"until" doc:"Only those changed before this time"`
	After   int64        `query:"after" minimum:"0" doc:"Only those that are listed after the task of this number, for the next page"` // only those that are listed after the task of this number; not together with AnyOf
	Limit   int          `query:"limit" minimum:"0" maximum:"1000" doc:"0: 100" usual:"100,1000"`                                      // 1 to MaxLimit; 0 means DefaultLimit
}

// TaskSummary counts tasks.
type TaskSummary struct {
	Total    int                `json:"total"`
	Open     int                `json:"open"`
	ByStatus map[TaskStatus]int `json:"by_status"` // every status is there, with 0 if no task has it
}
