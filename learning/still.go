package learning

import (
	"context"

	"github.com/skillrouter/skillrouter/internal/errs"
)

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
