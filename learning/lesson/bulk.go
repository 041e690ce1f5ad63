package lesson

import (
	"cmp"
	"context"
	"slices"

	"skillrouter/internal/errs"
	"skillrouter/internal/principal"
	"skillrouter/learning"
)

// Bounds of a bulk call of lessons. A group is one write: large enough to share
// a commit's cost, small enough that other writers hardly wait, because each
// lesson is compared with what is stored and may form patterns.
const (
	lessonGroup = 128
	groupBytes  = 1 << 20
)

// ReportAll implements Service. It needs ScopeAgent. source_case_ids may
// name lessons of the same call by the ids that it gives them, whatever their
// order. Beside an error the answer tells what was stored before it, which stays.
func (l *Lessons) ReportAll(ctx context.Context, drafts []Draft) (BulkReported, error) {
	b := bulk{lessons: l, aliases: map[string]string{}}
	b.result = BulkReported{Results: []BulkOutcome{}, Refused: []learning.Refusal{}}
	writer := principal.Of(ctx)
	if err := writer.Need(principal.ScopeAgent); err != nil {
		return b.result, err
	}
	if err := l.ready(ctx); err != nil {
		return b.result, err
	}
	err := b.read(ctx, writer, drafts)
	slices.SortFunc(b.result.Results, func(x, y BulkOutcome) int { return cmp.Compare(x.Index, y.Index) })
	slices.SortFunc(b.refused, func(x, y learning.Refusal) int { return cmp.Compare(x.Index, y.Index) })
	b.result.RefusedCount = len(b.refused)
	b.result.Refused = append(b.result.Refused, b.refused[:min(len(b.refused), learning.MaxRefusals)]...)
	b.result.Processed = len(b.result.Results)
	return b.result, err
}

// bulk is one bulk call under way.
type bulk struct {
	lessons *Lessons
	result  BulkReported
	refused []learning.Refusal
	group   []*report
	size    int
	aliases map[string]string
}

func (b *bulk) read(ctx context.Context, writer principal.Principal, drafts []Draft) error {
	order, cyclic := SourceOrder(drafts)
	at := b.lessons.now.Stamp()
	for _, i := range order {
		if cyclic[i] {
			b.refuse(i, ownAncestor())
			continue
		}
		r, err := b.lessons.prepare(ctx, writer, drafts[i], at)
		if err != nil {
			if errs.CodeOf(err) == errs.Internal {
				return err
			}
			b.refuse(i, err)
			continue
		}
		r.index = i
		b.group, b.size = append(b.group, r), b.size+lessonSize(&r.lesson)
		if len(b.group) == lessonGroup || b.size >= groupBytes {
			if err := b.store(ctx); err != nil {
				return err
			}
		}
	}
	return b.store(ctx)
}

// store stores the group, and notes what became of it.
func (b *bulk) store(ctx context.Context) error {
	if len(b.group) == 0 {
		return nil
	}
	g := &reporting{reports: b.group, aliases: b.aliases}
	b.group, b.size = nil, 0
	if err := b.lessons.report(ctx, g); err != nil {
		return err
	}
	for _, r := range g.reports {
		o := &r.outcome
		if o.err != nil {
			b.refuse(r.index, o.err)
			continue
		}
		if o.Duplicate {
			b.result.Duplicates++
		}
		b.result.Results = append(b.result.Results, BulkOutcome{Index: r.index, Reported: o.Reported})
	}
	return nil
}

func (b *bulk) refuse(index int, err error) {
	b.refused = append(b.refused, learning.Refusal{Index: index, Field: errs.FieldOf(err), Error: learning.Sentence(err)})
}
