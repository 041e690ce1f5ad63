package transfer

import (
	"cmp"
	"context"
	"slices"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/router/kind"
)

// Export implements TransferService.
func (t *Transfer) Export(ctx context.Context, query ExportQuery, visit func(Record) error) error {
	if err := cmp.Or(principal.Of(ctx).Need(principal.ScopeCaptain), query.Check()); err != nil {
		return err
	}
	now := t.now()
	for _, memory := range t.memories {
		if len(query.Kinds) > 0 && !slices.Contains(query.Kinds, memory.Name) || query.Project != "" && !memory.OfProject {
			continue
		}
		if err := memory.Export(ctx, query.Project, now, func(record any) error { return visit(Record{Kind: memory.Name, Memory: record}) }); err != nil {
			return err
		}
	}
	return nil
}

// Check refuses kinds that there are not, and those of which a project has none.
func (q ExportQuery) Check() error {
	for _, name := range q.Kinds {
		if err := check.OneOf("kinds", name, Kinds()); err != nil {
			return err
		}
		if q.Project != "" && !kind.Named(name).OfProject {
			return errs.InvalidField("kinds", "has %s, which belong to no project: leave one of both out", name)
		}
	}
	return check.Name("project", q.Project)
}
