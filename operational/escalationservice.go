package operational

import (
	"cmp"
	"context"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/principal"
)

// EscalationService is what can be done with escalations. Escalations
// implements it beside the database, router/client over HTTP.
type EscalationService interface {
	// Escalation returns one escalation with its history.
	Escalation(ctx context.Context, id string) (Escalation, error)
	// List returns escalations, the most urgent first, and among these the latest.
	List(ctx context.Context, filter EscalationFilter) ([]Escalation, error)
	// Review says that somebody has looked at it.
	Review(ctx context.Context, id string, verdict EscalationVerdict) (Escalation, error)
	// Resolve says that it is settled. If its matter recurs, it is raised anew.
	Resolve(ctx context.Context, id string, verdict EscalationVerdict) (Escalation, error)
	// Dismiss says that it is no matter for this agent, and never will be for this reason.
	Dismiss(ctx context.Context, id string, verdict EscalationVerdict) (Escalation, error)
}

// EscalationStore keeps escalations, and the cursors of those who raise them.
type EscalationStore interface {
	// RaiseEscalations raises each draft and moves the cursor, in one transaction. raise
	// is handed the escalations of the same lesson or pattern to the same agent, oldest first, and
	// returns what is to be stored: under an id of theirs, or as a new one. The new ones are returned.
	RaiseEscalations(ctx context.Context, drafts []EscalationDraft, cursor Cursor, raise func(earlier []Escalation, draft EscalationDraft) Escalation) ([]Escalation, error)
	Escalation(ctx context.Context, id string) (Escalation, error)
	ListEscalations(ctx context.Context, filter EscalationFilter) ([]Escalation, error)
	// CountEscalations counts those with the status.
	CountEscalations(ctx context.Context, status EscalationStatus) (int, error)
	// ChangeEscalation applies change, which runs inside the transaction and may run twice,
	// and stores the escalation, the step and an event of that type; no step stores nothing.
	ChangeEscalation(ctx context.Context, id, event string, change func(*Escalation) (*EscalationChange, error)) (Escalation, error)
	EscalationFollowing
}

// EscalationFollowing is what those need who raise escalations and tell of them. It is for the router itself and checks no right.
type EscalationFollowing interface {
	// UnannouncedEscalations returns those whose message is not in the mailbox, oldest first.
	UnannouncedEscalations(ctx context.Context, limit int) ([]Escalation, error)
	// MarkAnnounced says that their messages are.
	MarkAnnounced(ctx context.Context, numbers []int64) error

	// Cursor returns how far a follower of an event log has come; ok tells whether it was ever stored.
	Cursor(ctx context.Context, name string) (seq int64, ok bool, err error)
	SaveCursor(ctx context.Context, cursor Cursor) error
}

// Cursor is how far a follower of an event log has come.
type Cursor struct {
	Name string
	Seq  int64 // up to and including this
}

// Escalations is the EscalationService over a store.
type Escalations struct {
	EscalationFollowing // of the store
	store               EscalationStore
	now                 clock.Clock
}

var _ EscalationService = (*Escalations)(nil)

// NewEscalations makes the service.
func NewEscalations(store EscalationStore, now clock.Clock) *Escalations {
	return &Escalations{EscalationFollowing: store, store: store, now: now}
}

// Raise raises escalations and moves the cursor of the caller, in one transaction, so that
// each event counts once. For each lesson or pattern and agent there is one open escalation, with every reason. If
// it is open already, or was dismissed for these reasons, Raise only counts it. If an open one becomes worse,
// it is announced once more. Raise is for the router itself and checks no right.
func (e *Escalations) Raise(ctx context.Context, drafts []EscalationDraft, cursor Cursor) ([]Escalation, error) {
	at := e.now.Stamp()
	return e.store.RaiseEscalations(ctx, drafts, cursor, func(earlier []Escalation, draft EscalationDraft) Escalation {
		return draft.raise(earlier, at)
	})
}

// Escalation implements EscalationService. It needs ScopeRead.
func (e *Escalations) Escalation(ctx context.Context, id string) (Escalation, error) {
	return reading(ctx, nil, func() (Escalation, error) { return e.store.Escalation(ctx, id) })
}

// List implements EscalationService. It needs ScopeRead.
func (e *Escalations) List(ctx context.Context, filter EscalationFilter) ([]Escalation, error) {
	wrong := cmp.Or(
		check.Each("status", filter.Status, EscalationStatuses()), check.OptionalAgent("to", filter.To), check.SetLimit(&filter.Limit, DefaultLimit, MaxLimit),
	)
	return reading(ctx, wrong, func() ([]Escalation, error) { return e.store.ListEscalations(ctx, filter) })
}

// Pending counts the escalations that nobody has looked at. It is for the router itself and checks no right.
func (e *Escalations) Pending(ctx context.Context) (int, error) {
	return e.store.CountEscalations(ctx, EscalationPending)
}

// Review implements EscalationService.
func (e *Escalations) Review(ctx context.Context, id string, verdict EscalationVerdict) (Escalation, error) {
	return e.move(ctx, id, EscalationReviewed, EventEscalationReviewed, verdict)
}

// Resolve implements EscalationService.
func (e *Escalations) Resolve(ctx context.Context, id string, verdict EscalationVerdict) (Escalation, error) {
	return e.move(ctx, id, EscalationResolved, EventEscalationSettled, verdict)
}

// Dismiss implements EscalationService.
func (e *Escalations) Dismiss(ctx context.Context, id string, verdict EscalationVerdict) (Escalation, error) {
	return e.move(ctx, id, EscalationDismissed, EventEscalationSettled, verdict)
}

// move takes a step as the agent that the escalation went to, or as a captain.
// A captain speaks for people too, whose names are no agents' ids; an agent's
// token speaks for itself.
func (e *Escalations) move(ctx context.Context, id string, to EscalationStatus, event string, verdict EscalationVerdict) (Escalation, error) {
	p := principal.Of(ctx)
	by, err := p.SpeakingAs("by", verdict.By)
	if err != nil {
		return Escalation{}, err
	}
	if err := check.Text("notes", verdict.Notes, MaxEscalationNotes); err != nil {
		return Escalation{}, err
	}
	redactEach(&verdict.Notes)
	at := e.now.Stamp()
	return e.store.ChangeEscalation(ctx, id, event, func(escalation *Escalation) (*EscalationChange, error) {
		if !p.Has(principal.ScopeCaptain) && !p.Is(escalation.To) {
			return nil, errs.Errorf(errs.Forbidden, "this escalation went to another agent: only that agent or a captain may settle it")
		}
		return escalation.move(to, by, verdict.Notes, at)
	})
}

// EscalationEvent is the event that tells of an escalation.
func EscalationEvent(kind string, e Escalation, by string, at time.Time) eventlog.Event {
	e.History = nil
	return eventOf(kind, e.ID, by, "", at, e)
}
