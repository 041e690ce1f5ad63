package transfer

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/redact"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/router/kind"
)

// Log keeps which import added what. learning/store implements it on learning.db.
type Log interface {
	// AddImported notes what an import added, and the import with it if it is new. Of more
	// than so many imports the oldest are forgotten.
	AddImported(ctx context.Context, i learning.Import, added []learning.Addition, most int) error
	// Imports returns the imports before a number, the newest first.
	Imports(ctx context.Context, before int64, limit int) ([]learning.Import, error)
	Import(ctx context.Context, id string) (learning.Import, bool, error)
	// Imported returns what an import added before a number and was not taken back, the last first.
	Imported(ctx context.Context, id string, before int64, limit int) ([]learning.Addition, error)
	// TookBack notes that additions of an import, by their numbers, are no more.
	TookBack(ctx context.Context, id string, numbers []int64, when time.Time) error
}

// Bounds of undoing.
const (
	// maxImports is how many imports can be taken back, the latest: an hourly script's of six weeks.
	maxImports = 1000
	// maxUndo bounds what one request takes back, so that it is answered within seconds.
	maxUndo = 500
	// undoing is how many are taken back at a time. The committer writes those that wait in one transaction.
	undoing = 32
	// markBytes of a SHA-256 tell apart what one memory was and is.
	markBytes = 8
)

// ImportFilter asks for a page of the imports.
type ImportFilter struct {
	Cursor string `query:"cursor" doc:"The answer's next of the page before"`
	Limit  int    `query:"limit" doc:"1 to 200; 0: 50"`
}

// ImportPage is a page of the imports, the newest first.
type ImportPage struct {
	Imports []learning.Import `json:"imports"`
	Count   int               `json:"count"`
	Next    string            `json:"next,omitempty"` // cursor of the next page; empty: this is the last
}

// UndoDraft asks to take an import back.
type UndoDraft struct {
	Force  bool   `json:"force,omitempty" doc:"Also what was changed or used since"`
	Cursor string `json:"cursor,omitempty" doc:"The answer's next of the call before"`
}

// Skipped is a memory that was not taken back, because it was changed or used since.
type Skipped struct {
	Kind string `json:"kind"`
	ID   string `json:"id"`
}

// UndoAnswer is what became of what an import added, as far as one request goes.
type UndoAnswer struct {
	ImportID string    `json:"import_id"`
	Undone   int       `json:"undone"` // deleted; lessons and patterns are retired, and reminders cancelled
	Gone     int       `json:"gone"`   // somebody had deleted them already
	Skipped  []Skipped `json:"skipped"`
	Next     string    `json:"next,omitempty"` // there is more: the next request's cursor
}

// Imports implements Service.
func (t *Transfer) Imports(ctx context.Context, filter ImportFilter) (page ImportPage, err error) {
	if err := principal.Of(ctx).Need(principal.ScopeCaptain); err != nil {
		return page, err
	}
	limit, err := check.Limit(filter.Limit, learning.DefaultListing, learning.MaxLimit)
	if err != nil {
		return page, err
	}
	before, err := learning.ReadCursor(filter.Cursor)
	if err != nil {
		return page, err
	}
	found, err := t.log.Imports(ctx, before, limit+1)
	if len(found) > limit {
		found = found[:limit]
		page.Next = strconv.FormatInt(found[limit-1].Number, 10)
	}
	page.Imports, page.Count = append([]learning.Import{}, found...), len(found)
	return page, err
}

// part returns the import that a request belongs to; without an id it is a new one.
func (t *Transfer) part(ctx context.Context, request ImportRequest) (i learning.Import, err error) {
	if request.ImportID == "" {
		i = learning.Import{ID: check.NewID(), Source: request.Source, AgentID: principal.Of(ctx).AgentID, At: t.now().UTC()}
		new(redact.Redaction).Text(&i.Source)
		return i, nil
	}
	return t.known(ctx, request.ImportID)
}

// known returns an import that there is.
func (t *Transfer) known(ctx context.Context, id string) (learning.Import, error) {
	if err := learning.CheckID("import_id", id); err != nil {
		return learning.Import{}, err
	}
	i, there, err := t.log.Import(ctx, id)
	if err == nil && !there {
		err = errs.Errorf(errs.NotFound, "no import has this id")
	}
	return i, err
}

// added notes what of some records was stored.
func (t *Transfer) added(ctx context.Context, i learning.Import, memory kind.Memory, taken []learning.Taken) (int, error) {
	var added []learning.Addition
	var refs []string
	for _, one := range taken {
		if one.Err == nil && !one.Duplicate {
			refs = append(refs, cmp.Or(one.Ref, one.ID))
		}
	}
	if len(refs) == 0 {
		return 0, nil
	}
	records, err := memory.Read(ctx, refs)
	for _, ref := range refs {
		addition := learning.Addition{Kind: memory.Name, Ref: ref}
		if record, there := records[ref]; there && err == nil { // else it was deleted at once
			addition.Mark, err = mark(record)
		}
		added = append(added, addition)
	}
	if err != nil {
		return 0, err
	}
	return len(added), t.log.AddImported(ctx, i, added, maxImports)
}

// mark is a hash of a memory: one that is changed or used gets another.
func mark(record any) (string, error) {
	text, err := json.Marshal(record)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:markBytes]), err
}

// Undo implements Service. What was there before the import, or was stored by another, is not touched.
func (t *Transfer) Undo(ctx context.Context, id string, draft UndoDraft) (answer UndoAnswer, err error) {
	answer = UndoAnswer{ImportID: id, Skipped: []Skipped{}}
	if err := principal.Of(ctx).Need(principal.ScopeCaptain); err != nil {
		return answer, err
	}
	before, err := learning.ReadCursor(draft.Cursor)
	if err != nil {
		return answer, err
	}
	if _, err := t.known(ctx, id); err != nil {
		return answer, err
	}
	added, err := t.log.Imported(ctx, id, before, maxUndo)
	if err != nil || len(added) == 0 {
		return answer, err
	}
	if err := principal.Of(ctx).Decides(); err != nil && slices.ContainsFunc(added, func(a learning.Addition) bool { return t.guards(ctx, a) }) {
		return answer, err // all is taken back, or nothing
	}
	fates := make([]fate, len(added))
	for _, patterns := range []bool{true, false} { // first, because a pattern changes with each lesson and episode that it gathers
		together, part := errgroup.WithContext(ctx)
		together.SetLimit(undoing)
		for n, a := range added {
			if (a.Kind == kind.Pattern.Name) == patterns {
				together.Go(func() (err error) {
					fates[n], err = t.takeBack(part, a, draft.Force)
					return err
				})
			}
		}
		if err = together.Wait(); err != nil {
			break
		}
	}
	var over []int64
	for n, a := range added {
		switch fates[n] {
		case undone:
			answer.Undone++
			over = append(over, a.Number)
		case gone:
			answer.Gone++
			over = append(over, a.Number)
		case skipped:
			answer.Skipped = append(answer.Skipped, Skipped{Kind: a.Kind, ID: a.Ref})
		}
	}
	if noted := t.log.TookBack(ctx, id, over, t.now().UTC()); err == nil {
		err = noted
	}
	if len(added) == maxUndo {
		answer.Next = strconv.FormatInt(added[maxUndo-1].Number, 10)
	}
	return answer, err
}

// guards tells whether what was added may guard everybody: a lesson does, but for one that still waits for somebody to confirm it.
func (t *Transfer) guards(ctx context.Context, a learning.Addition) bool {
	if a.Kind != kind.Lesson.Name {
		return false
	}
	record, err := t.undos[a.Kind].Read(ctx, a.Ref)
	if err != nil {
		return errs.CodeOf(err) != errs.NotFound
	}
	var one struct {
		Proposed bool `json:"proposed"`
	}
	text, err := json.Marshal(record)
	return err != nil || json.Unmarshal(text, &one) != nil || !one.Proposed
}

// fate is what became of a memory that was to be taken back.
type fate int

const (
	untouched fate = iota // an error came first
	undone
	gone
	skipped
)

func (t *Transfer) takeBack(ctx context.Context, a learning.Addition, force bool) (fate, error) {
	undo, there := t.undos[a.Kind]
	if !there {
		return skipped, nil
	}
	record, err := undo.Read(ctx, a.Ref)
	if errs.CodeOf(err) == errs.NotFound {
		return gone, nil
	}
	if err != nil {
		return untouched, err
	}
	now, err := mark(record)
	if err != nil {
		return untouched, err
	}
	if now != a.Mark && !force {
		return skipped, nil
	}
	switch err := undo.Remove(ctx, a.Ref); {
	case errs.CodeOf(err) == errs.NotFound:
		return gone, nil
	case err != nil:
		return untouched, err
	}
	return undone, nil
}
