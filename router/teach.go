package router

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"skillrouter/internal/check"
	"skillrouter/internal/clock"
	"skillrouter/internal/errs"
	"skillrouter/internal/principal"
	"skillrouter/internal/redact"
	"skillrouter/learning/feedback"
	"skillrouter/router/classify"
)

// FeedbackService teaches the classifier of one installation. Taught implements
// it beside the database, router/client over HTTP.
type FeedbackService interface {
	// Teach says what kind of question a query is, at once and until it is deleted. It
	// needs ScopeAgent. A captain's word counts fully, an agent's for half, and one
	// agent's word on one query once: its last.
	Teach(ctx context.Context, draft FeedbackDraft) (FeedbackTaught, error)
	// Feedback lists what was taught, the oldest first. It needs ScopeRead.
	Feedback(ctx context.Context) (FeedbackList, error)
	// Unteach deletes an entry: its own with ScopeAgent, any with ScopeCaptain.
	Unteach(ctx context.Context, id string) error
	// UnteachAll deletes every entry, or those of one agent. It needs ScopeCaptain.
	UnteachAll(ctx context.Context, agentID string) (FeedbackGone, error)
}

// FeedbackDraft is what a client may say of a query: its type, or whether the
// type that the router chooses for it is right.
type FeedbackDraft struct {
	Query     string         `json:"query"`
	QueryType classify.Class `json:"query_type,omitempty"` // what it is; then correct is not needed
	Correct   *bool          `json:"correct,omitempty"`    // without a type: whether the router's choice is right
	Note      string         `json:"note,omitempty"`
}

// FeedbackTaught says what was learned and what the router makes of the query now.
type FeedbackTaught struct {
	feedback.QueryFeedback
	Before RoutedAs `json:"before"`
	Now    RoutedAs `json:"now"`
	// Redacted lists the kinds of secret that were cut out before it was stored.
	Redacted []string `json:"redacted,omitempty"`
}

// RoutedAs is what kind of question the router holds a query to be.
type RoutedAs struct {
	QueryType  classify.Class `json:"query_type"`
	Confidence float64        `json:"confidence"`
	Reasons    []string       `json:"reasons"`
}

// FeedbackList is what was taught.
type FeedbackList struct {
	Feedback []feedback.QueryFeedback `json:"feedback"`
	Count    int                      `json:"count"`
}

// FeedbackGone says how many entries were deleted.
type FeedbackGone struct {
	Deleted int64 `json:"deleted"`
}

// Bounds of feedback. MaxFeedback bounds all of it.
const (
	// MaxFeedbackOfAgent is how many entries of one agent are kept, its last: no agent
	// alone can fill the list.
	MaxFeedbackOfAgent = 100
	// MaxFeedbackQuery bounds a query, in bytes: longer ones are not asked twice.
	MaxFeedbackQuery = 500
	// MaxFeedbackNote bounds a note, in bytes.
	MaxFeedbackNote = 500
)

// Taught is a Classifier that an installation's feedback teaches, and the
// FeedbackService over it.
type Taught struct {
	base  *classify.Classifier
	store feedback.QueryFeedbackStore
	now   clock.Clock

	changing sync.Mutex // a change is stored and then heeded before the next begins
	heeds    atomic.Pointer[classify.Classifier]
}

var _ FeedbackService = (*Taught)(nil)

// NewTaught makes a Taught that uses the feedback in the store.
func NewTaught(ctx context.Context, base *classify.Classifier, store feedback.QueryFeedbackStore, now clock.Clock) (*Taught, error) {
	t := &Taught{base: base, store: store, now: now.Given()}
	return t, t.heed(ctx)
}

// heed makes the classifier anew from what the store holds.
func (t *Taught) heed(ctx context.Context) error {
	kept, err := t.store.QueryFeedback(ctx)
	if err != nil {
		return err
	}
	list := make([]classify.Feedback, len(kept))
	for i, e := range kept {
		list[i] = classify.Feedback{Query: e.Query, Class: classify.Class(e.QueryType), Not: e.Not, Teacher: e.AgentID}
	}
	t.heeds.Store(t.base.WithFeedback(list))
	return nil
}

// Classify classifies a query as Classifier does, heeding the feedback.
func (t *Taught) Classify(query string, mentions []classify.Mention) classify.Classification {
	return t.heeds.Load().Classify(query, mentions)
}

// Untaught is the classifier without the feedback.
func (t *Taught) Untaught() *classify.Classifier { return t.base }

func (t *Taught) decide(query string) RoutedAs {
	c := t.Classify(query, nil)
	return RoutedAs{QueryType: c.Class, Confidence: c.Confidence, Reasons: c.Reasons}
}

// Teach implements FeedbackService.
func (t *Taught) Teach(ctx context.Context, draft FeedbackDraft) (FeedbackTaught, error) {
	caller := principal.Of(ctx)
	if err := cmp.Or(
		caller.Need(principal.ScopeAgent),
		check.Required("query", draft.Query, MaxFeedbackQuery),
		check.Text("note", draft.Note, MaxFeedbackNote),
	); err != nil {
		return FeedbackTaught{}, err
	}
	if draft.QueryType != "" && !slices.Contains(classify.Classes(), draft.QueryType) {
		return FeedbackTaught{}, errs.InvalidField("query_type", "is not one of %v", classify.Classes())
	}
	if draft.QueryType == "" && draft.Correct == nil {
		return FeedbackTaught{}, errs.InvalidField("query_type", "is required where correct is not given")
	}
	entry := feedback.QueryFeedback{CreatedAt: t.now().UTC().Truncate(time.Millisecond)}
	var kinds, noted []string
	entry.Query, kinds = redact.Text(strings.Join(strings.Fields(draft.Query), " "))
	entry.Note, noted = redact.Text(draft.Note)
	if !caller.Has(principal.ScopeCaptain) {
		entry.AgentID = caller.AgentID
	}
	id, err := uuid.NewV7()
	if err != nil {
		return FeedbackTaught{}, err
	}
	entry.ID = id.String()
	t.changing.Lock()
	defer t.changing.Unlock()
	taught := FeedbackTaught{Before: t.decide(entry.Query), Redacted: append(kinds, noted...)}
	entry.QueryType = string(draft.QueryType)
	switch {
	case draft.QueryType == "":
		entry.QueryType, entry.Not = string(taught.Before.QueryType), !*draft.Correct
	case draft.Correct != nil:
		entry.Not = !*draft.Correct
	}
	if err := t.store.AddQueryFeedback(ctx, entry, MaxFeedbackOfAgent, classify.MaxFeedback); err != nil {
		return FeedbackTaught{}, err
	}
	if err := t.heed(ctx); err != nil {
		return FeedbackTaught{}, err
	}
	taught.QueryFeedback, taught.Now = entry, t.decide(entry.Query)
	return taught, nil
}

// Feedback implements FeedbackService.
func (t *Taught) Feedback(ctx context.Context) (FeedbackList, error) {
	if err := principal.Of(ctx).Need(principal.ScopeRead); err != nil {
		return FeedbackList{}, err
	}
	kept, err := t.store.QueryFeedback(ctx)
	return FeedbackList{Feedback: kept, Count: len(kept)}, err
}

// Unteach implements FeedbackService.
func (t *Taught) Unteach(ctx context.Context, id string) error {
	caller := principal.Of(ctx)
	if err := caller.Need(principal.ScopeAgent); err != nil {
		return err
	}
	t.changing.Lock()
	defer t.changing.Unlock()
	kept, err := t.store.QueryFeedback(ctx)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(kept, func(e feedback.QueryFeedback) bool { return e.ID == id })
	if at < 0 {
		return errs.Errorf(errs.NotFound, "no feedback has this id")
	}
	if err := caller.ActAs(kept[at].AgentID); err != nil {
		return err
	}
	if _, err := t.store.DeleteQueryFeedback(ctx, id); err != nil {
		return err
	}
	return t.heed(ctx)
}

// UnteachAll implements FeedbackService.
func (t *Taught) UnteachAll(ctx context.Context, agentID string) (FeedbackGone, error) {
	if err := cmp.Or(principal.Of(ctx).Need(principal.ScopeCaptain), check.OptionalAgent("agent_id", agentID)); err != nil {
		return FeedbackGone{}, err
	}
	t.changing.Lock()
	defer t.changing.Unlock()
	gone, err := t.store.ClearQueryFeedback(ctx, agentID)
	if err != nil {
		return FeedbackGone{}, err
	}
	return FeedbackGone{Deleted: gone}, t.heed(ctx)
}
