package learning

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"time"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/principal"
)

// Operation is what somebody did to a memory, and can take back.
type Operation string

// The operations.
const (
	Deleted  Operation = "delete"
	Edited   Operation = "edit"
	Merged   Operation = "merge" // one entry stands in the place of others
	Retired  Operation = "retire"
	Declined Operation = "decline"
	Accepted Operation = "accept"
)

// KeepChanges is how long what was before a change is kept. Then it is purged.
const KeepChanges = 30 * 24 * time.Hour

// Change is one that can be taken back: a delete for whoever may delete, every other by who made it.
type Change struct {
	Number    int64     `json:"number"`
	Operation Operation `json:"operation" doc:"delete, edit, merge, retire, decline or accept"`
	Kind      string    `json:"kind"`
	ID        string    `json:"id"`
	Title     string    `json:"title"`
	Project   string    `json:"project,omitempty"`
	By        string    `json:"by,omitempty" doc:"Who made it; a person begins with @"`
	At        time.Time `json:"at"`
	// Call is what the changes of one call have in common; they are taken back together. Empty: it was alone.
	Call string `json:"-"`
	// Author wrote the memory, and may have it back whoever deleted it.
	Author string    `json:"-"`
	Row    string    `json:"-"` // the number that people may call it by; empty: none
	Rows   RowsWere  `json:"-"`
	Until  time.Time `json:"until" doc:"When it is purged"`
}

// RowWas is a row of a table as it was before a change; no Was: the change made it. Became is what the change made of these columns; nil: the row went.
type RowWas struct {
	Table  string         `json:"table"`
	Was    map[string]any `json:"was,omitempty"`
	Became map[string]any `json:"became,omitempty"`
}

// RowsWere are the rows of a change.
type RowsWere []RowWas

// UnmarshalJSON implements json.Unmarshaler. A number is one of any size.
func (r *RowsWere) UnmarshalJSON(text []byte) error {
	reader := json.NewDecoder(bytes.NewReader(text))
	reader.UseNumber()
	return reader.Decode((*[]RowWas)(r))
}

// Note says what a call is about to change, so that the store keeps what was before in the transaction of the change.
type Note struct {
	Operation Operation
	Kind      string
	IDs       []string // of an episode, a lesson or a pattern its number too
	By        string
	At        time.Time
	Call      string // that it is part of
	TakesBack []Back // the call takes these back, and is no change itself; nil: it is one
}

// Back is a change that is taken back. With an event the store puts its rows back and tells of it; without one the call itself says again what was.
type Back struct {
	Number int64
	Event  *eventlog.Event
}

type noteKey struct{}

// Noting returns a context whose next change is kept, so that it can be taken back. Within a call that takes a change back nothing is.
// Changes that a call makes through other services belong to that call, and are taken back with it.
func Noting(ctx context.Context, at time.Time, done Operation, kind string, ids ...string) context.Context {
	by, call := ChangerOf(ctx), ""
	switch outer := NoteOf(ctx); {
	case outer == nil:
		call = rand.Text()
	case outer.TakesBack != nil:
		return ctx
	default:
		by, call = outer.By, outer.Call
	}
	return context.WithValue(ctx, noteKey{}, &Note{Operation: done, Kind: kind, IDs: ids, By: by, At: at, Call: call})
}

// TakingBack returns a context whose next change takes others back, which are forgotten in the same transaction.
func TakingBack(ctx context.Context, back ...Back) context.Context {
	return context.WithValue(ctx, noteKey{}, &Note{TakesBack: append([]Back{}, back...)})
}

// NoteOf is what a context's next change is; nil: nothing is kept of it.
func NoteOf(ctx context.Context) *Note {
	note, _ := ctx.Value(noteKey{}).(*Note)
	return note
}

type changerKey struct{}

// ChangedBy returns a context whose changes are an agent's, where no token says whose they are.
func ChangedBy(ctx context.Context, agent string) context.Context {
	return context.WithValue(ctx, changerKey{}, agent)
}

// ChangerOf is whose changes those of a context are: the caller's voice, or where any agent could be calling the one that it says it is.
func ChangerOf(ctx context.Context) string {
	caller := principal.Of(ctx)
	if named, _ := ctx.Value(changerKey{}).(string); named != "" && caller.IsOpen() {
		return named
	}
	return caller.Voice()
}

// ChangeFilter selects changes; empty fields select everything.
type ChangeFilter struct {
	Operation Operation
	Kind, ID  string   // the id, its beginning or its end
	By        *string  // who made them
	Projects  []string // nil: any
	Before    int64
	Since     time.Time
	Limit     int
}

type stillKey struct{}

// IfStill returns a context whose changes of a row are made only if check has nothing against the row, as it is within the transaction
// that changes it. Of two who saw the same and change it, the second is refused.
func IfStill(ctx context.Context, check func(row any) error) context.Context {
	return context.WithValue(ctx, stillKey{}, check)
}

// Still returns what IfStill's check has against a row; a nil row is one that is not there any more.
func Still(ctx context.Context, row any) error {
	check, asked := ctx.Value(stillKey{}).(func(any) error)
	switch {
	case !asked:
		return nil
	case row == nil:
		return errs.Errorf(errs.Conflict, "somebody deleted it meanwhile")
	}
	return check(row)
}
