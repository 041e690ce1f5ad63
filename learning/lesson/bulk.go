package lesson

import (
	"cmp"
	"context"
	"slices"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
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
	writer := principal.Of(ctx)
	err := writer.Need(principal.ScopeAgent)
	if err == nil {
		err = l.ready(ctx)
	}
	var done []*report // what was stored or refused
	if err == nil {
		done, err = l.reportAll(ctx, writer, drafts)
	}
	slices.SortFunc(done, func(x, y *report) int { return cmp.Compare(x.index, y.index) })
	result := BulkReported{Results: []BulkOutcome{}, Refused: []learning.Refusal{}}
	for _, r := range done {
		o := r.outcome
		switch {
		case o.err == nil:
			if o.Duplicate {
				result.Duplicates++
			}
			result.Results = append(result.Results, BulkOutcome{Index: r.index, Reported: o.Reported})
		case result.RefusedCount < learning.MaxRefusals:
			result.Refused = append(result.Refused, learning.Refusal{Index: r.index, Field: errs.FieldOf(o.err), Error: learning.Sentence(o.err)})
			fallthrough
		default:
			result.RefusedCount++
		}
	}
	result.Processed = len(result.Results)
	return result, err
}

// reportAll stores drafts a group at a time, and returns those that were stored or refused.
func (l *Lessons) reportAll(ctx context.Context, writer principal.Principal, drafts []Draft) ([]*report, error) {
	order, cyclic := SourceOrder(drafts)
	at, aliases := l.now.Stamp(), map[string]string{}
	var done, group []*report
	size := 0
	for n, i := range order {
		r, err := l.prepare(ctx, writer, drafts[i], at)
		if cyclic[i] {
			err = ownAncestor()
		}
		switch {
		case errs.CodeOf(err) == errs.Internal:
			return done, err
		case err != nil:
			done = append(done, &report{index: i, outcome: reportOutcome{err: err}})
		default:
			r.index = i
			group, size = append(group, r), size+lessonSize(&r.lesson)
		}
		if last := n == len(order)-1; len(group) == lessonGroup || size >= groupBytes || last && len(group) > 0 {
			if err := l.report(ctx, &reporting{reports: group, aliases: aliases}); err != nil {
				return done, err
			}
			done, group, size = append(done, group...), nil, 0
		}
	}
	return done, nil
}
