package register

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/skillrouter/skillrouter/internal/database/postgres"
	"github.com/skillrouter/skillrouter/router/cluster"
)

// past is how far a database is, and what tells its past from another: that it was put back and is written to again. An opening has a
// number by chance, and follows a prior one that had come to some count.
type past struct{ commits, opening, prior, from int64 }

// goesOn tells whether a database has all that it had before.
func (p past) goesOn(before past) bool {
	if p.opening != before.opening && before.opening != 0 {
		return p.prior == before.opening && p.from >= before.commits
	}
	return p.commits >= before.commits
}

// Heads returns what asks how far the writers of both databases have counted, at one moment. That fails with cluster.ErrBack if they have not all
// that they had when it was asked before. conn reads either.
func Heads(server *postgres.Server, conn *sql.DB) func(ctx context.Context) (cluster.Heads, error) {
	var known [2]past
	var query strings.Builder
	for i, name := range []string{"learning", "operational"} {
		fmt.Fprintf(&query, "%s(SELECT max(seq) FILTER (WHERE log = 'commits'), coalesce(max(seq) FILTER (WHERE log = 'opening'), 0), coalesce(max(seq) FILTER (WHERE log = 'prior'), 0), coalesce(max(seq) FILTER (WHERE log = 'since opening'), 0) FROM %s.heads) %s",
			[]string{"SELECT * FROM ", ", "}[i], server.Schema(name), name)
	}
	return func(ctx context.Context) (cluster.Heads, error) {
		var l, o past
		if err := conn.QueryRowContext(ctx, query.String()).Scan(&l.commits, &l.opening, &l.prior, &l.from, &o.commits, &o.opening, &o.prior, &o.from); err != nil {
			return cluster.Heads{}, postgres.Translate(err)
		}
		if !l.goesOn(known[0]) || !o.goesOn(known[1]) {
			return cluster.Heads{}, cluster.ErrBack
		}
		known = [2]past{l, o}
		return cluster.Heads{Learning: l.commits, Operational: o.commits}, nil
	}
}
