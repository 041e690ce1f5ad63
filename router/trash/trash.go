// Package trash gives back what was deleted, and takes back what a caller did last. What was before lies with the memories, in the change that each
// call keeps in its own transaction (learning.Noting). It knows no row of any kind.
package trash

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/operation"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/decision"
	"github.com/skillrouter/skillrouter/learning/history"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/kind"
)

// Service gives back what was deleted. Trash implements it beside the database, router/client over HTTP.
type Service interface {
	// Deleted lists what was deleted and can be had back, or the caller's own changes of every sort, the latest first. It needs ScopeRead.
	Deleted(ctx context.Context, filter Filter) (ChangePage, error)
	// Restore puts a memory back with its id, its versions and what was said of it. If something else has its place, that is a Conflict. It
	// needs ScopeAgent, and of what not every agent may delete, who wrote or deleted it, or a captain.
	Restore(ctx context.Context, ref DeletedRef) (learning.Change, error)
	// Forget deletes a memory for good, with what is kept of its deletion and of its changes. It needs ScopeCaptain.
	Forget(ctx context.Context, ref DeletedRef) (ForgottenMemory, error)
	// Undo takes back the caller's own last change in a project. Without Confirm it says which that is, and changes nothing. It needs ScopeAgent.
	Undo(ctx context.Context, draft LastChange) (ChangeUndone, error)
}

// Filter selects changes; empty fields select everything.
type Filter struct {
	Kind    string `query:"kind" doc:"knowledge, episode, fact or procedure"`
	Project string `query:"project" doc:"Only this project's"`
	Mine    bool   `query:"mine" doc:"Your own changes that undo takes back, of which deletions are some"`
	Cursor  string `query:"cursor" doc:"The answer's next of the page before"`
	Limit   int    `query:"limit" doc:"1 to 100, default 20" limit:"100,20"`
}

// ChangePage is a page of changes.
type ChangePage struct {
	Changes []learning.Change `json:"changes"`
	Count   int               `json:"count"`
	Next    string            `json:"next,omitempty"`
}

// DeletedRef names a memory.
type DeletedRef struct {
	Kind string `json:"kind" required:"true" doc:"knowledge, episode, fact or procedure"`
	ID   string `json:"id" required:"true" doc:"Its id, or a beginning or end of it that is no other's; of a fact or a procedure PERSONA/NAME"`
}

// ForgottenMemory says what went for good.
type ForgottenMemory struct {
	Kind   string `json:"kind"`
	ID     string `json:"id"`
	Notice string `json:"notice"`
}

// LastChange asks to take back the caller's own last change.
type LastChange struct {
	Project string `json:"project,omitempty" here:"project" doc:"The project whose last change is meant; what belongs to none is meant too"`
	Change  int64  `json:"change,omitempty" doc:"Another change of one's own, by its number"`
	Confirm bool   `json:"confirm,omitempty" doc:"Take it back; without this the answer only says what would be"`
	AgentID string `json:"agent_id,omitempty" actor:"true"`
}

// ChangeUndone is what was, or would be, taken back.
type ChangeUndone struct {
	learning.Change
	Also   []learning.Change    `json:"also,omitempty" doc:"What the same call changed besides"`
	Done   bool                 `json:"done"`
	Notice string               `json:"notice"`
	Said   *decision.Resolution `json:"decision,omitempty" doc:"The decision that was heard at a prompt, where that came last"`
}

// Operations is how the methods of a Service are called from outside.
var Operations = operation.Of("memory", "/api/trash",
	operation.Get("", "What was deleted in the last 30 days and can be had back", Service.Deleted).Keeps(),
	operation.Post("/restore", "Put back what was deleted, with its id, its versions and what was said of it", Service.Restore).Keeps(),
	operation.Post("/forget", "Delete a memory for good, also what is kept of it since it was deleted; for the captain", Service.Forget).Needs("captain"),
	operation.Post("/undo", "Take back the caller's own last change in a project; without confirm, say what it is", Service.Undo).Keeps(),
)

// Store keeps what was before changes. learning/store implements it.
type Store interface {
	Changes(ctx context.Context, filter learning.ChangeFilter) ([]learning.Change, error)
	TakeBack(ctx context.Context, back ...learning.Back) error
	ForgetChanges(ctx context.Context, kind, id string, before time.Time) (int64, error)
}

// Ports are what a Trash asks and tells.
type Ports struct {
	Kinds     []kind.Memory
	Decisions interface {
		Latest(ctx context.Context, project string) (decision.Resolution, error)
		Undo(ctx context.Context, undo decision.Undo) (decision.Resolution, error)
	}
	Incidents     history.Service
	Consolidation history.ConsolidationService
	// Follow brings what else is in memory in step with rows that are back.
	Follow func(ctx context.Context, events []eventlog.Event) error
}

// Trash is the Service beside the database.
type Trash struct {
	store Store
	ports Ports
	kinds map[string]kind.Memory
	now   clock.Clock
}

var _ Service = (*Trash)(nil)

// New makes a Trash.
func New(store Store, ports Ports, now clock.Clock) *Trash {
	t := &Trash{store, ports, map[string]kind.Memory{}, now}
	for _, memory := range ports.Kinds {
		t.kinds[memory.Name] = memory
	}
	return t
}

// purgeEvery is how often what was kept for long enough is looked for.
const purgeEvery = time.Hour

// Run purges until ctx ends, and returns nil. It begins at once: a router may never run for an hour.
func (t *Trash) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		_ = t.Purge(ctx) // it is tried again
		_ = committer.Pause(ctx, purgeEvery)
	}
	return nil
}

// Purge removes what is kept of changes that are older than KeepChanges.
func (t *Trash) Purge(ctx context.Context) error {
	_, err := t.store.ForgetChanges(ctx, "", "", t.since())
	return err
}

func (t *Trash) since() time.Time { return t.now().Add(-learning.KeepChanges) }

// changes lists changes that the caller may know of.
func (t *Trash) changes(ctx context.Context, filter learning.ChangeFilter) ([]learning.Change, error) {
	filter.Since = t.since()
	found, err := t.store.Changes(ctx, filter)
	caller := principal.Of(ctx)
	return slices.DeleteFunc(found, func(c learning.Change) bool { return !caller.Sees(c.Project) }), err
}

// Deleted implements Service.
func (t *Trash) Deleted(ctx context.Context, filter Filter) (page ChangePage, err error) {
	caller := principal.Of(ctx).Keeping()
	if err := cmp.Or(caller.Need(principal.ScopeRead), check.Names("kind", filter.Kind, "project", filter.Project)); err != nil {
		return page, err
	}
	limit, err := check.Limit(filter.Limit, learning.DefaultListing, learning.MaxLimit)
	if err != nil {
		return page, err
	}
	of := learning.ChangeFilter{Operation: learning.Deleted, Kind: filter.Kind, Projects: caller.Projects(), Limit: limit + 1}
	if filter.Mine {
		of.Operation, of.By = "", new(learning.ChangerOf(ctx))
	}
	if filter.Project != "" {
		of.Projects = []string{filter.Project}
	}
	if of.Before, err = learning.ReadCursor(filter.Cursor); err != nil {
		return page, err
	}
	found, err := t.changes(ctx, of)
	if len(found) > limit {
		found = found[:limit]
		page.Next = strconv.FormatInt(found[limit-1].Number, 10)
	}
	page.Changes, page.Count = append([]learning.Change{}, found...), len(found)
	return page, err
}

// find returns the deleted memory that a ref names.
func (t *Trash) find(ctx context.Context, ref DeletedRef) (c learning.Change, err error) {
	if err := cmp.Or(check.OneOf("kind", ref.Kind, deletable), check.Required("id", ref.ID, learning.MaxID)); err != nil {
		return c, err
	}
	found, err := t.changes(ctx, learning.ChangeFilter{Operation: learning.Deleted, Kind: ref.Kind, ID: ref.ID, Projects: principal.Of(ctx).Projects(), Limit: learning.MaxLimit})
	if err != nil {
		return c, err
	}
	if exact := slices.IndexFunc(found, func(c learning.Change) bool {
		return c.ID == ref.ID || c.ID == check.DefaultPersona+"/"+ref.ID || c.Row == ref.ID
	}); exact >= 0 {
		return found[exact], nil
	}
	var ids []string
	for _, c := range found {
		if !slices.Contains(ids, c.ID) {
			ids = append(ids, c.ID)
		}
	}
	switch len(ids) {
	case 0:
		return c, errs.Errorf(errs.NotFound, "no %s that was deleted in the last %d days has this id", ref.Kind, int(learning.KeepChanges.Hours()/24))
	case 1:
		return found[0], nil
	}
	return c, errs.Errorf(errs.Conflict, "%q fits several: %s", ref.ID, strings.Join(ids, ", "))
}

// Restore implements Service.
func (t *Trash) Restore(ctx context.Context, ref DeletedRef) (c learning.Change, err error) {
	caller := principal.Of(ctx).Keeping()
	if err := caller.Need(principal.ScopeAgent); err != nil {
		return c, err
	}
	if c, err = t.find(ctx, ref); err != nil {
		return c, err
	}
	persona, _, _ := strings.Cut(c.ID, "/") // of a fact or a procedure: who may replace and delete it may have it back
	replaces := (c.Kind == router.KindFact || c.Kind == router.KindProcedure) && learning.MayReplace(caller, persona, c.Author) == nil
	if !replaces && !caller.Has(principal.ScopeCaptain) && c.By != learning.ChangerOf(ctx) && !caller.Is(c.Author) {
		return c, errs.Errorf(errs.Forbidden, "another agent wrote and deleted it: only they or a captain may have it back")
	}
	return c, t.takeBack(ctx, c)
}

// takeBack puts the rows of changes back, all of them or none, and tells of it.
func (t *Trash) takeBack(ctx context.Context, all ...learning.Change) error {
	back, err := t.backOf(ctx, all)
	if err != nil {
		return err
	}
	if err := t.store.TakeBack(ctx, back...); err != nil {
		return err
	}
	return t.follow(ctx, back)
}

// backOf are changes as the store takes them back.
func (t *Trash) backOf(ctx context.Context, all []learning.Change) (back []learning.Back, err error) {
	caller := principal.Of(ctx)
	for _, c := range all {
		if c.Kind == sharedKind { // a person decides what others shared
			if err := cmp.Or(caller.Need(principal.ScopeCaptain), caller.Decides()); err != nil {
				return nil, err
			}
		}
		told, err := json.Marshal(map[string]string{"title": c.Title})
		if err != nil {
			return nil, err
		}
		event := eventlog.Event{Type: eventOf(c.Kind), Subject: c.ID, Agent: caller.AgentID, Project: c.Project, At: t.now().UTC().Truncate(time.Millisecond), Data: told}
		back = append(back, learning.Back{Number: c.Number, Event: &event})
	}
	return back, nil
}

// follow brings what is in memory in step with what the store has put back.
func (t *Trash) follow(ctx context.Context, back []learning.Back) error {
	var events []eventlog.Event
	for _, b := range back {
		if b.Event != nil {
			events = append(events, *b.Event)
		}
	}
	for _, memory := range t.ports.Kinds {
		if memory.Shelf != nil {
			if err := memory.Shelf.Follow(ctx, events); err != nil {
				return err
			}
		}
	}
	return t.ports.Follow(ctx, events)
}

// deletable are the kinds that are deleted. Lessons and patterns are retired, and kept; their own commands take them back.
var deletable = []string{router.KindKnowledge, router.KindEpisode, router.KindFact, router.KindProcedure}

// sharedKind is what others shared, which is no kind of memory.
const sharedKind = "shared"

// The types of the events that something is there again, or as it was; its title is their Data. Lessons have their own.
const (
	EventKnowledge = "knowledge.restored"
	EventEpisode   = "episode.restored"
	EventFact      = "fact.restored"
	EventProcedure = "procedure.restored"
	EventPattern   = "pattern.restored"
	EventProposal  = "proposal.restored"
	EventShared    = "shared.restored"
)

// eventOf is the type of the event that something of a kind is there again, or as it was.
func eventOf(of string) string { return of + ".restored" }

// Forget implements Service.
func (t *Trash) Forget(ctx context.Context, ref DeletedRef) (ForgottenMemory, error) {
	if err := principal.Of(ctx).Need(principal.ScopeCaptain); err != nil {
		return ForgottenMemory{}, err
	}
	if err := check.OneOf("kind", ref.Kind, deletable); err != nil {
		return ForgottenMemory{}, err
	}
	if err := t.kinds[ref.Kind].Undo.Remove(ctx, ref.ID); err != nil && errs.CodeOf(err) != errs.NotFound {
		return ForgottenMemory{}, err
	}
	c, found := t.find(ctx, ref)
	if found != nil {
		return ForgottenMemory{}, found
	}
	_, err := t.store.ForgetChanges(ctx, c.Kind, c.ID, t.since())
	return ForgottenMemory{Kind: c.Kind, ID: c.ID, Notice: "It is gone for good. Backups, exports and what git has of it keep what they have: delete it there too."}, err
}
