package app

import (
	"context"
	"fmt"

	"skillrouter/internal/errs"
	"skillrouter/router/httpapi"
	"skillrouter/router/transfer"
)

func (a *App) wireTransfer(_ context.Context, p *parts) error {
	p.transfer = transfer.New(p.kinds, p.memory, a.now)
	return nil
}

// backup prepares a backup of the running router. There is one at a time:
// each needs the room of both databases.
func (a *App) backup(ctx context.Context, ownerToken bool) (httpapi.Archive, error) {
	if on := a.learning.Server(); on != nil {
		return nil, errs.Errorf(errs.Conflict, "the databases are on %s, and not in files: copy them with pg_dump --schema=%s --schema=%s",
			on, on.Schema(a.learning.Name), on.Schema(a.operational.Name))
	}
	if !a.copying.TryLock() {
		return nil, errs.Errorf(errs.Conflict, "another backup is being made: try again when it is done")
	}
	snapshot, err := TakeSnapshot(ctx, a.config.Data, BackupOptions{Version: a.options.Version, Now: a.now, OwnerToken: ownerToken})
	if err != nil {
		a.copying.Unlock()
		return nil, fmt.Errorf("make a backup: %w", err)
	}
	return &archive{Snapshot: snapshot, done: a.copying.Unlock}, nil
}

// archive is a snapshot that lets the next backup begin when it is closed.
type archive struct {
	*Snapshot
	done func()
}

// Close implements httpapi.Archive.
func (a *archive) Close() error {
	defer a.done()
	return a.Snapshot.Close()
}
