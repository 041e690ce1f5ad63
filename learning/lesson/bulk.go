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
	b := bulk{lessons: l, writer: principal.Of(ctx), aliases: map[string]string{}}
	b.result = BulkReported{Results: []BulkOutcome{}, Refused: []learning.Refusal{}}
	if err := b.writer.Need(principal.ScopeAgent); err != nil {
		return b.result, err
	}
	if err := l.reading.Wait(ctx); err != nil {
		return b.result, err
	}
	err := b.read(ctx, drafts)
	for len(b.flight) > 0 {
		if landed := b.land(); err == nil {
			err = landed
		}
	}
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
	writer  principal.Principal
	result  BulkReported
	refused []learning.Refusal
	flight  []flight
	aliases map[string]string
}

// flight is a group that was queued.
type flight struct {
	group *reporting
	wait  func() error
}

func (b *bulk) read(ctx context.Context, drafts []Draft) error {
	order, cyclic := sourceOrder(drafts)
	at := b.lessons.now.Stamp()
	var group []*report
	size := 0
	for _, i := range order {
		if cyclic[i] {
			b.refuse(i, ownAncestor())
			continue
		}
		r, err := b.lessons.prepare(ctx, b.writer, drafts[i], at)
		if err != nil {
			if errs.CodeOf(err) == errs.Internal {
				return err
			}
			b.refuse(i, err)
			continue
		}
		r.index = i
		group, size = append(group, r), size+r.size
		if len(group) == lessonGroup || size >= groupBytes {
			if err := b.queue(ctx, group); err != nil {
				return err
			}
			group, size = nil, 0
		}
	}
	return b.queue(ctx, group)
}

// queue puts a group on its way, after the oldest one has landed if too many are.
func (b *bulk) queue(ctx context.Context, group []*report) error {
	if len(group) == 0 {
		return nil
	}
	if len(b.flight) == learning.BulkInFlight {
		if err := b.land(); err != nil {
			return err
		}
	}
	g := &reporting{lessons: b.lessons, at: b.lessons.now.Stamp(), reports: group, aliases: b.aliases}
	b.flight = append(b.flight, flight{g, g.queue(ctx)})
	return nil
}

// land waits for the oldest group and notes what became of it.
func (b *bulk) land() error {
	oldest := b.flight[0]
	b.flight = b.flight[1:]
	if err := oldest.wait(); err != nil {
		return err
	}
	for _, r := range oldest.group.reports {
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
