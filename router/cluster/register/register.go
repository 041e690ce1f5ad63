// Package register keeps the register of a cluster in the databases of a PostgreSQL server: which nodes there are, which of them writes, and
// how far that has come.
package register

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/database/postgres"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/router/cluster"
)

// forgetAfter is how long a node that is gone is remembered, for who looks what became of it.
const forgetAfter = 24 * time.Hour

// Register is where the routers of a database are known, and which of them writes.
type Register struct {
	server *postgres.Server
	db     *sql.DB
	waits  bool   // it was said that the lease waits for a newer program
	misses *int64 // what is stored of the writer that the node misses; nil: it is not known
}

// missing begins the name of a node's row in heads that holds the epoch of the writer which it does not reach.
const missing = "missing by "

var _ cluster.Register = (*Register)(nil)

// Open opens the register of a server. It is in the schema of operational, which must be there.
func Open(server *postgres.Server) *Register { return &Register{server: server, db: server.Register()} }

// Close closes its connections.
func (r *Register) Close() error { return r.db.Close() }

// Belongs refuses a node whose cluster has another secret than the one that the databases belong to; those of none belong to the first that asks.
func Belongs(ctx context.Context, server *postgres.Server, secret cluster.Secret) error {
	db := server.Starter("operational")
	defer db.Close()
	mine, theirs := int64(binary.BigEndian.Uint64(secret.Derive("print"))>>1), int64(0)
	if _, err := db.ExecContext(ctx, "INSERT INTO heads (log, seq) VALUES ('secret', $1) ON CONFLICT DO NOTHING", mine); err != nil {
		return postgres.Translate(err)
	}
	if err := db.QueryRowContext(ctx, "SELECT seq FROM heads WHERE log = 'secret'").Scan(&theirs); err != nil || theirs == mine {
		return postgres.Translate(err)
	}
	return &errs.Error{Code: errs.Conflict, Field: "cluster_secret_file", Message: fmt.Sprintf(
		"the databases of %s belong to a cluster with another secret: give this node the cluster_secret_file that the others have. To replace the secret everywhere, or for a copy of the databases, stop all nodes and run DELETE FROM %s.heads WHERE log = 'secret'", server, server.Schema("operational"))}
}

// Announce implements cluster.Register.
func (r *Register) Announce(ctx context.Context, node cluster.Node) error {
	done, err := r.db.ExecContext(ctx, `INSERT INTO nodes (id, name, url, version, seen)
		SELECT $1, $2, $3, $4, clock_timestamp() WHERE NOT EXISTS (SELECT FROM nodes WHERE name = $2 AND id <> $1 AND seen > clock_timestamp() - $5 * interval '1 second')
		AND abs(extract(epoch FROM clock_timestamp()) - $6) <= $7
		ON CONFLICT (id) DO UPDATE SET name = excluded.name, url = excluded.url, version = excluded.version, seen = excluded.seen`,
		node.ID, node.Name, node.URL, node.Version, cluster.Silent.Seconds(), float64(node.Clock.UnixMilli())/1e3, cluster.ClocksApart.Seconds()/2)
	if err != nil {
		return postgres.Translate(err)
	}
	switch n, err := done.RowsAffected(); {
	case err != nil:
		return err
	case n > 0:
		return r.note(ctx, node)
	}
	var now time.Time
	if err := r.db.QueryRowContext(ctx, "SELECT clock_timestamp()").Scan(&now); err != nil {
		return postgres.Translate(err)
	}
	if apart := now.Sub(node.Clock).Abs(); apart > cluster.ClocksApart/2 {
		return errs.Errorf(errs.Unavailable, "the clock of this machine is %v off that of the database server, and may be %v: set it. Until then this node does not take the lease", apart.Round(time.Second), cluster.ClocksApart/2)
	}
	return &errs.Error{Code: errs.Conflict, Field: "node", Message: fmt.Sprintf("a node of the name %s is there already, with another data folder: each node has a name of its own", node.Name)}
}

// note stores what a node misses, and forgets the nodes of before in whose place it is: of its name or at its address.
func (r *Register) note(ctx context.Context, node cluster.Node) error {
	if _, err := r.db.ExecContext(ctx, `DELETE FROM nodes WHERE (name = $1 OR url = $2) AND id <> $3 AND seen <= clock_timestamp() - $4 * interval '1 second'`,
		node.Name, node.URL, node.ID, cluster.Silent.Seconds()); err != nil {
		return postgres.Translate(err)
	}
	if r.misses != nil && *r.misses == node.Misses {
		return nil
	}
	r.misses = nil
	_, err := r.db.ExecContext(ctx, `INSERT INTO heads (log, seq) VALUES ($1, $2) ON CONFLICT (log) DO UPDATE SET seq = excluded.seq`, missing+node.ID, node.Misses)
	if err == nil {
		r.misses = &node.Misses
	}
	return postgres.Translate(err)
}

// Take implements cluster.Register. It closes the connections over which the last writer may be in the middle of a transaction: what one
// that was stopped in its tracks has locked would be waited for. A program takes nothing while a newer one has changed a schema so that it must not write.
func (r *Register) Take(ctx context.Context, node cluster.Node, term time.Duration) (epoch int64, err error) {
	err = r.db.QueryRowContext(ctx, `UPDATE writer SET epoch = epoch + 1, id = $1, name = $2, url = $3, until = clock_timestamp() + $4 * interval '1 second'
		WHERE (until < clock_timestamp() OR id = $1)`+r.server.Fits()+` RETURNING epoch`, node.ID, node.Name, node.URL, term.Seconds()).Scan(&epoch)
	if errors.Is(err, sql.ErrNoRows) {
		var waits bool
		if err := r.db.QueryRowContext(ctx, "SELECT until < clock_timestamp() FROM writer").Scan(&waits); err == nil && waits && !r.waits {
			r.waits = true
			r.server.Log().WarnContext(ctx, "nobody writes, and this program must not: a newer one has changed the databases. Start that")
		}
		return 0, nil
	}
	if err != nil {
		return 0, postgres.Translate(err)
	}
	if _, err := r.db.ExecContext(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND usename = current_user AND application_name IN ($1, $2)`,
		r.server.WriterName("learning"), r.server.WriterName("operational")); err != nil {
		return 0, postgres.Translate(err)
	}
	if _, err = r.db.ExecContext(ctx, `DELETE FROM nodes WHERE seen < clock_timestamp() - $1 * interval '1 second'`, forgetAfter.Seconds()); err == nil {
		_, err = r.db.ExecContext(ctx, `DELETE FROM heads WHERE log LIKE $1 || '%' AND NOT EXISTS (SELECT FROM nodes WHERE log = $1 || id)`, missing)
	}
	return epoch, postgres.Translate(err)
}

// Renew implements cluster.Register.
func (r *Register) Renew(ctx context.Context, node cluster.Node, term time.Duration) (held bool, err error) {
	done, err := r.db.ExecContext(ctx, `UPDATE writer SET until = clock_timestamp() + $3 * interval '1 second' WHERE id = $1 AND epoch = $2`, node.ID, node.Epoch, term.Seconds())
	if err != nil {
		return false, postgres.Translate(err)
	}
	n, err := done.RowsAffected()
	return n > 0, err
}

// Writer implements cluster.Register.
func (r *Register) Writer(ctx context.Context) (node cluster.Node, err error) {
	err = r.db.QueryRowContext(ctx, `SELECT epoch, id, name, url FROM writer WHERE until >= clock_timestamp()`).Scan(&node.Epoch, &node.ID, &node.Name, &node.URL)
	if errors.Is(err, sql.ErrNoRows) {
		return cluster.Node{}, nil
	}
	return node, postgres.Translate(err)
}

// Nodes implements cluster.Register.
func (r *Register) Nodes(ctx context.Context) (nodes []cluster.Node, err error) {
	rows, err := r.db.QueryContext(ctx, `SELECT n.id, n.name, n.url, n.version, CAST(extract(epoch FROM clock_timestamp() - n.seen) * 1e9 AS bigint), coalesce(w.epoch, 0), coalesce(h.seq, 0)
		FROM nodes n LEFT JOIN writer w ON w.id = n.id AND w.until >= clock_timestamp() LEFT JOIN heads h ON h.log = $1 || n.id ORDER BY n.name, n.id`, missing)
	if err != nil {
		return nil, postgres.Translate(err)
	}
	defer rows.Close()
	for rows.Next() {
		var n cluster.Node
		if err := rows.Scan(&n.ID, &n.Name, &n.URL, &n.Version, &n.Seen, &n.Epoch, &n.Misses); err != nil {
			return nil, err
		}
		nodes = append(nodes, n)
	}
	return nodes, postgres.Translate(rows.Err())
}

// Leave implements cluster.Register.
func (r *Register) Leave(ctx context.Context, node cluster.Node) error {
	if _, err := r.db.ExecContext(ctx, `UPDATE writer SET until = '-infinity' WHERE id = $1 AND epoch = $2`, node.ID, node.Epoch); err != nil {
		return postgres.Translate(err)
	}
	_, err := r.db.ExecContext(ctx, `DELETE FROM nodes WHERE id = $1`, node.ID)
	return postgres.Translate(err)
}

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
