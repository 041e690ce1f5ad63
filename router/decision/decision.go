// Package decision gathers what waits for a person: what the guard blocked, what transcripts and failures propose to remember, escalations,
// memories that contradict each other, agents and tasks that are stuck. It decides nothing: each kind's own service does.
package decision

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/skillrouter/skillrouter/learning/guard"
	"github.com/skillrouter/skillrouter/learning/history"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/operational"
)

// MaxWaiting is how many of one kind are gathered: more than anybody decides at once. What does not fit comes when these are decided.
const MaxWaiting = 50

// Kind is what something that waits is.
type Kind string

// The kinds, in the order in which they are gathered: what stops somebody comes first.
const (
	KindApproval   Kind = "approval"
	KindEscalation Kind = "escalation"
	KindIncident   Kind = "incident"
	KindProposal   Kind = "proposal"
	KindAgent      Kind = "agent"
	KindTask       Kind = "task"
)

// Item is something that waits, as somebody is told of it who may not see what it says.
type Item struct {
	Kind    Kind      `json:"kind"`
	ID      string    `json:"id"`
	Title   string    `json:"title"`
	Project string    `json:"project,omitempty"`
	Since   time.Time `json:"since"`

	// Key tells it from all that waits, and from the same when it comes to wait another time, as far as that is numbered. It begins with the kind and a colon.
	Key string `json:"-"`
}

// Matter is what was escalated, once, to whomever.
type Matter struct {
	operational.Escalation
	To  []string
	IDs []string // of the escalations
}

func (m Matter) matter() string { return m.LessonID + "/" + m.PatternID }

// Waiting is what waits.
type Waiting struct {
	Approvals   []lesson.Approval
	Escalations []Matter
	Incidents   []history.Incident
	Proposals   []history.Proposal
	Stale       []operational.Agent
	Blocked     []operational.Task
}

// Service gathers.
type Service interface {
	// Waiting gathers what the caller may see; each kind's service says what that is.
	Waiting(ctx context.Context) (Waiting, error)
}

// Sources are what is asked.
type Sources struct {
	Guard interface {
		Approvals(ctx context.Context, filter guard.ApprovalFilter) (guard.ApprovalPage, error)
	}
	Escalations interface {
		List(ctx context.Context, filter operational.EscalationFilter) ([]operational.Escalation, error)
	}
	Incidents interface {
		List(ctx context.Context, filter history.Filter) (history.Page, error)
	}
	Consolidation interface {
		Proposals(ctx context.Context, filter history.ProposalFilter) ([]history.Proposal, error)
	}
	Agents interface {
		Agents(ctx context.Context, filter operational.AgentFilter) ([]operational.Agent, error)
	}
	Tasks interface {
		List(ctx context.Context, filter operational.TaskFilter) ([]operational.Task, error)
	}
}

// Decisions is the Service over the domains.
type Decisions struct{ sources Sources }

var _ Service = (*Decisions)(nil)

// New makes Decisions.
func New(sources Sources) *Decisions { return &Decisions{sources} }

// Waiting implements Service.
func (d *Decisions) Waiting(ctx context.Context) (w Waiting, err error) {
	approvals, err := d.sources.Guard.Approvals(ctx, guard.ApprovalFilter{State: lesson.ApprovalPending, Limit: MaxWaiting})
	if err != nil {
		return w, err
	}
	w.Approvals = approvals.Approvals
	escalations, err := d.sources.Escalations.List(ctx, operational.EscalationFilter{Status: []operational.EscalationStatus{operational.EscalationPending}, Limit: MaxWaiting})
	if err != nil {
		return w, err
	}
	w.Escalations = onceEach(escalations)
	incidents, err := d.sources.Incidents.List(ctx, history.Filter{Waiting: true, Limit: MaxWaiting})
	if err != nil {
		return w, err
	}
	w.Incidents = incidents.Incidents
	if w.Proposals, err = d.sources.Consolidation.Proposals(ctx, history.ProposalFilter{Status: history.ProposalPending, Limit: MaxWaiting}); err != nil {
		return w, err
	}
	if w.Stale, err = d.sources.Agents.Agents(ctx, operational.AgentFilter{State: operational.AgentStale, Limit: MaxWaiting}); err != nil {
		return w, err
	}
	w.Blocked, err = d.sources.Tasks.List(ctx, operational.TaskFilter{Status: []operational.TaskStatus{operational.TaskBlocked}, Limit: MaxWaiting})
	return w, err
}

// onceEach gathers escalations of one matter, which may have gone to several.
func onceEach(found []operational.Escalation) (matters []Matter) {
	place := map[string]int{}
	for _, e := range found {
		id := Matter{Escalation: e}.matter()
		i, there := place[id]
		if !there {
			i = len(matters)
			place[id], matters = i, append(matters, Matter{Escalation: e})
		}
		if matters[i].IDs = append(matters[i].IDs, e.ID); !slices.Contains(matters[i].To, e.To) {
			matters[i].To = append(matters[i].To, e.To)
		}
	}
	return matters
}

// Items are all that waits, without what it says.
func (w Waiting) Items() (items []Item) {
	add := func(kind Kind, id, title, project string, since time.Time) *Item {
		items = append(items, Item{kind, id, title, project, since, string(kind) + ":" + id})
		return &items[len(items)-1]
	}
	for _, a := range w.Approvals { // asked again after it was settled it has the same id and another number
		add(KindApproval, a.ID, "A command of "+a.Agent+" was blocked", a.Project, a.AskedAt).Key += ":" + strconv.FormatInt(a.Number, 10)
	}
	for _, e := range w.Escalations { // a matter that goes to one more is no other matter
		add(KindEscalation, e.IDs[0], "An escalation of "+string(e.Priority)+" priority", "", e.CreatedAt).Key = string(KindEscalation) + ":" + e.matter()
	}
	for _, i := range w.Incidents {
		add(KindIncident, i.ID, i.Program+" fails again and again", i.Project, i.Last)
	}
	for _, p := range w.Proposals {
		add(KindProposal, p.ID, "A memory of the kind "+string(p.Kind)+" is proposed", "", p.CreatedAt)
	}
	for _, a := range w.Stale {
		add(KindAgent, a.ID, a.ID+" is silent", "", a.LastSeen)
	}
	for _, t := range w.Blocked {
		add(KindTask, t.ID, "Task #"+strconv.FormatInt(t.Number, 10)+" is blocked", t.Project, t.UpdatedAt)
	}
	return items
}
