package app

import (
	"context"
	"database/sql"
	"errors"
	"sync"

	"gorm.io/gorm"

	"skillrouter/cmd/config"
	"skillrouter/router"
	"skillrouter/router/cluster"
	"skillrouter/router/feed"
	"skillrouter/router/httpapi"
)

// DoctorCheck is a line of doctor.
type DoctorCheck = router.SystemCheck

// SilentGrace is for the test of a stop.
const SilentGrace = silentGrace

// DataOf, HealthOf and DoctorOf are for tests that look past authentication.
func CheckAirgapped(c config.Config) error                      { return checkAirgapped(c) }
func DataOf(a *App) string                                      { return a.config.Data }
func HealthOf(ctx context.Context, a *App) httpapi.Health       { return a.health(ctx) }
func DoctorOf(ctx context.Context, a *App) []router.SystemCheck { return a.doctor(ctx) }

// SweepAll removes what was kept long enough and what running parts remove in time.
func SweepAll(ctx context.Context, a *App) error {
	for first := int64(-1); ; {
		err := a.wired.feed.(*feed.Feed).Sweep(ctx)
		if err == nil {
			_, err = a.wired.experiences.Sweep(ctx)
		}
		for at, more := int64(0), true; more && err == nil; more = at > 0 {
			at, err = a.wired.mailbox.Sweep(ctx, at)
		}
		now, failed := a.wired.operations.FirstEvent(ctx)
		if err = errors.Join(err, failed); err != nil || now == first {
			return err
		}
		first = now
	}
}

// Statements are what was sent to a database.
type Statements struct {
	mu    sync.Mutex
	texts []string
}

// Take returns what was sent since it was last called. A statement that is
// prepared and then run several times is there once.
func (s *Statements) Take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	texts := s.texts
	s.texts = nil
	return texts
}

func (s *Statements) add(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.texts = append(s.texts, text)
}

// CountStatements counts from now on what is sent to a database, by its readers and its writer.
func CountStatements(db *Database) *Statements {
	s := new(Statements)
	for _, side := range []*gorm.DB{db.Read, db.writer} {
		counting := &countingPool{countingConn{side.ConnPool, s}}
		side.ConnPool, side.Statement.ConnPool = counting, counting
	}
	return s
}

// countingConn is a connection, or a pool, whose statements are counted.
type countingConn struct {
	gorm.ConnPool
	sent *Statements
}

func (c countingConn) PrepareContext(ctx context.Context, text string) (*sql.Stmt, error) {
	c.sent.add(text)
	return c.ConnPool.PrepareContext(ctx, text)
}

func (c countingConn) ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error) {
	c.sent.add(text)
	return c.ConnPool.ExecContext(ctx, text, args...)
}

func (c countingConn) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	c.sent.add(text)
	return c.ConnPool.QueryContext(ctx, text, args...)
}

func (c countingConn) QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row {
	c.sent.add(text)
	return c.ConnPool.QueryRowContext(ctx, text, args...)
}

type countingPool struct{ countingConn }

func (p *countingPool) GetDBConn() (*sql.DB, error) { return p.ConnPool.(*pool).db, nil }

func (p *countingPool) BeginTx(ctx context.Context, options *sql.TxOptions) (gorm.ConnPool, error) {
	tx, err := p.ConnPool.(*pool).BeginTx(ctx, options)
	if err != nil {
		return nil, err
	}
	return &countingTx{countingConn{tx, p.sent}, tx.(*transaction)}, nil
}

type countingTx struct {
	countingConn
	gorm.TxCommitter
}

// MakeByStepsForTest makes a database by applying every step up to a version, or all (0), as an older one is brought up to date.
func MakeByStepsForTest(ctx context.Context, name, path string, upTo int64) error {
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		return err
	}
	steps, err := provider(name, db)
	switch {
	case err == nil && upTo > 0:
		_, err = steps.UpTo(ctx, upTo)
	case err == nil:
		_, err = steps.Up(ctx)
	}
	return errors.Join(err, db.Close())
}

// LookEvery is how often the certificate's files are looked at.
const LookEvery = lookEvery

// Streams is how many agents listen to a node.
func (a *App) Streams() int {
	if on := a.front.following.Load(); on != nil {
		return on.mailbox.Streams()
	}
	return a.front.writing.Load().mailbox.Streams()
}

// BeDeaf has nodes that follow take in nothing until it is taken back.
func BeDeaf() (hear func()) {
	takes = func(*following, context.Context, cluster.Heads, cluster.Heads) error { return nil }
	return func() { takes = (*following).take }
}

// Follows tells whether a node answers by what it knows.
func (a *App) Follows() bool { return a.front.following.Load() != nil }
