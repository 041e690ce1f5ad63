package app

import (
	"context"

	"skillrouter/internal/database"
	"skillrouter/router"
	"skillrouter/router/kind"
)

// introspection builds what tells of all memories, once they are all there.
func (a *App) introspection(p *parts) *router.Introspection {
	var held []router.HeldMemory
	for _, memory := range kind.Placed(p.kinds, func(m kind.Memory) int { return m.Counted }) {
		held = append(held, memory.Held)
	}
	ids := map[string]router.FindIDs{}
	for _, database := range []map[string]func(ctx context.Context, part string, most int) ([]string, error){p.memory.FindIDs(), p.operations.FindIDs()} {
		for name, find := range database {
			ids[name] = find
		}
	}
	return router.NewIntrospection(held, ids, a.databaseSizes)
}

// databaseSizes is how large the databases are on the disk.
func (a *App) databaseSizes(ctx context.Context) ([]router.DatabaseSize, error) {
	var sizes []router.DatabaseSize
	for _, db := range []*database.DB{a.learning, a.operational} {
		size := router.DatabaseSize{Name: db.Name + ".db"}
		var err error
		if size.Bytes, err = db.Size(ctx); err != nil {
			return nil, err
		}
		sizes = append(sizes, size)
	}
	return sizes, nil
}
