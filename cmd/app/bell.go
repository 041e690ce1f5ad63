package app

import (
	"context"
	"crypto/tls"
	"sync"

	"skillrouter/cmd/app/nats"
	"skillrouter/internal/database"
	"skillrouter/router/cluster"
)

// openBell opens the bell of the cluster that this router is a node of: one that does nothing, without the setting.
func (a *App) openBell(ctx context.Context, secret cluster.Secret, trust *tls.Config) (cluster.Bell, error) {
	if a.config.NATS == "" {
		return cluster.NoBell{}, nil
	}
	id, err := a.database.ID(ctx)
	if err != nil {
		return nil, err
	}
	bell, err := nats.Open(ctx, nats.Options{Address: a.config.NATS, Node: a.config.Node, TLS: trust, Secret: secret, Database: id, Now: a.now, Log: a.log})
	if err == nil {
		a.base.defers("bell", bell.Close)
	}
	return bell, err
}

// ringAfter tells how far both databases are: now, and after each commit.
func ringAfter(ring func(cluster.Heads), learning, operational *database.DB) {
	var mu sync.Mutex
	var heads cluster.Heads
	for db, head := range map[*database.DB]*int64{learning: &heads.Learning, operational: &heads.Operational} {
		db.OnCommit(func(commits int64) {
			mu.Lock()
			defer mu.Unlock()
			if *head = commits; heads.Learning > 0 && heads.Operational > 0 { // both are known
				ring(heads)
			}
		})
	}
}
