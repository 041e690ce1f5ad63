package knowledge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
)

// Bounds of a bulk call.
const (
	// bulkRecords and bulkBytes bound a chunk, which is one write: large enough to
	// share a commit's cost, small enough that other writers hardly wait.
	bulkRecords = 512
	bulkBytes   = 1 << 20
	// bulkBreath is how many records are read before others may have the core: with fewer
	// cores than an import keeps busy, a search would wait 10 ms at each turn.
	bulkBreath = 16

	// MaxUnfit is how many records may be refused before the call is broken off: what has
	// more is no import with faults in it, and would cost its reading alone.
	MaxUnfit = 10_000
)

// BadRecord is a record that cannot be read. It is refused, and those after
// it are read on.
type BadRecord struct{ Err error }

// Error implements error.
func (b *BadRecord) Error() string { return b.Err.Error() }

// Unwrap returns what is wrong with the record.
func (b *BadRecord) Unwrap() error { return b.Err }

// Bulk stores the drafts that next returns until it returns io.EOF. A draft
// that is refused, or a BadRecord, is listed in the answer and stops nothing.
// Any other error, of next or of the database, ends the call: the answer then
// tells, beside the error, what was stored before it, which stays. What is
// counted is on disk and in the index. Bulk needs ScopeAgent; its entries are
// TrustImported, or TrustPerson where a person imports them, and may lack a title.
func (k *Base) Bulk(ctx context.Context, next func() (Draft, error)) (learning.BulkResult, error) {
	result := learning.BulkResult{Refused: []learning.Refusal{}}
	writer := principal.Of(ctx).Keeping()
	if err := writer.Need(principal.ScopeAgent); err != nil {
		return result, err
	}
	b := bulk{base: k, writer: writer, result: &result}
	err := b.read(ctx, next)
	if flushed := b.flush(ctx); err == nil {
		err = flushed
	}
	slices.SortFunc(result.Refused, func(a, b learning.Refusal) int { return a.Index - b.Index })
	return result, err
}

// bulk is one bulk call under way.
type bulk struct {
	base    *Base
	writer  principal.Principal
	result  *learning.BulkResult
	chunk   []prepared
	indexes []int // of the chunk's records in the request
	size    int
}

func (b *bulk) read(ctx context.Context, next func() (Draft, error)) error {
	for index := 0; ; index++ {
		if index%bulkBreath == 0 {
			runtime.Gosched()
		}
		draft, err := next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if b.result.RefusedCount >= MaxUnfit {
			return &errs.Error{Code: errs.TooLarge, Message: fmt.Sprintf("%d records of the body were refused, and no more are read: mend those first", b.result.RefusedCount)}
		}
		if bad, ok := errors.AsType[*BadRecord](err); ok {
			b.refuse(index, bad.Err)
			continue
		}
		if err != nil {
			return err
		}
		record, err := b.base.prepare(b.writer, draft, learning.TrustImported)
		if err != nil {
			if code := errs.CodeOf(err); code == errs.Internal {
				return err
			}
			b.refuse(index, err)
			continue
		}
		record.record.Trust = learning.TrustOfTaken(b.writer)
		b.chunk, b.indexes = append(b.chunk, record), append(b.indexes, index)
		b.size += len(record.record.Title) + len(record.record.Content)
		if len(b.chunk) == bulkRecords || b.size >= bulkBytes {
			if err := b.flush(ctx); err != nil {
				return err
			}
		}
	}
}

func (b *bulk) refuse(index int, err error) {
	b.result.RefusedCount++
	if len(b.result.Refused) < learning.MaxRefusals {
		b.result.Refused = append(b.result.Refused, learning.Refusal{Index: index, Field: errs.FieldOf(err), Error: learning.Sentence(err)})
	}
}

// flush stores the chunk, and counts what became of it.
func (b *bulk) flush(ctx context.Context) error {
	if len(b.chunk) == 0 {
		return nil
	}
	chunk, indexes := b.chunk, b.indexes
	b.chunk, b.indexes, b.size = nil, nil, 0
	plan, err := b.base.write(ctx, b.writer, chunk)
	if err != nil {
		return err
	}
	for i, f := range plan.fates {
		switch {
		case f.err != nil:
			b.refuse(indexes[i], f.err)
			continue
		case f.Duplicate:
			b.result.Duplicates++
			continue
		case f.Updated:
			b.result.Updated++
		default:
			b.result.Stored++
		}
		if len(f.Redacted) > 0 {
			b.result.Redacted++
		}
	}
	return nil
}
