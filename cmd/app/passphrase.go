package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"skillrouter/cmd/config"
	"skillrouter/cmd/locate"
	"skillrouter/internal/clock"
	"skillrouter/internal/database"
	"skillrouter/internal/errs"
	"skillrouter/operational/person"
	operationalstore "skillrouter/operational/store"
	"skillrouter/router"
)

// ResetPassphrase forgets the passphrase of a data folder that no router holds, and of its PostgreSQL server, into which none writes.
func ResetPassphrase(ctx context.Context, cfg config.Config) (was bool, err error) {
	if cfg.Database == "" && !fileThere(filepath.Join(cfg.Data, "operational.db")) {
		return false, errs.Errorf(errs.NotFound, "%s holds no databases", cfg.Data)
	}
	a := &App{config: cfg, now: time.Now, log: slog.New(slog.DiscardHandler)}
	a.base, a.life = newLife(a.log), newLife(a.log)
	defer func() { err = errors.Join(err, a.life.stop(), a.base.stop()) }()
	lock, err := Acquire(cfg.Data, locate.Holder{PID: os.Getpid(), Started: a.now()})
	if err != nil {
		return false, err
	}
	a.base.defers("lock", lock.Release)
	if err := finishRestore(cfg.Data); err != nil {
		return false, err
	}
	if err := a.openRegister(ctx); err != nil {
		return false, err
	}
	if a.lease != nil {
		if err := takeLease(ctx, a.lease, a.database, a.life); err != nil {
			return false, err
		}
	}
	if err := a.openDatabases(ctx); err != nil {
		return false, err
	}
	return person.ResetPassphrase(ctx, operationalstore.New(a.operational.Read, a.operational.Commit), clock.Clock(a.now).Stamp())
}

// provePerson refuses what only a person does with a data folder that no router holds, unless whoever ask asks knows the passphrase that is set there.
func provePerson(ctx context.Context, data string, ask func(ctx context.Context) (string, error)) (err error) {
	path := filepath.Join(data, "operational.db")
	if !fileThere(path) {
		return nil
	}
	db, err := database.OpenFileToRead("operational", path)
	if err != nil {
		return fmt.Errorf("look for the passphrase in %s: %w", path, err)
	}
	defer func() { err = cmp.Or(err, db.Close()) }()
	if !db.Read.Migrator().HasTable("passphrase") { // it is of an earlier version
		return nil
	}
	persons, err := person.OpenPersons(ctx, operationalstore.New(db.Read, db.Commit), time.Now)
	if err != nil || persons.Stored().Hash == "" {
		return err
	}
	if ask == nil {
		return errs.Errorf(errs.PassphraseNeeded, "a passphrase is set in %s, and this takes it", data)
	}
	passphrase, err := ask(ctx)
	if err == nil {
		_, err = persons.SignIn(ctx, person.PersonDraft{Passphrase: passphrase})
	}
	return err
}

// checkPassphrase says whether one is set, and whether one was given up lately.
func (a *App) checkPassphrase() router.SystemCheck {
	persons := a.wired.persons
	c := router.SystemCheck{Name: "passphrase", OK: true, Detail: "none is set (skillrouter passphrase set): nobody does what takes a person until a token is issued, then whoever has a captain's does"}
	if at := persons.Stored().SetAt; at != nil {
		c.Detail = "set on " + at.Format(time.DateTime) + ": it alone decides what a person does"
		if a.config.AgentsMayStop && !persons.MayStop() {
			c.Detail += "; the setting agents_may_stop has no effect until a person agrees: skillrouter passphrase agents-may-stop on"
		}
	}
	if reset := persons.Reset(); reset != "" {
		c.OK, c.Detail = false, reset
	}
	return c
}
