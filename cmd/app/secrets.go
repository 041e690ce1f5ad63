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

	"github.com/skillrouter/skillrouter/cmd/config"
	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/database"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/file"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/operational/person"
	operationalstore "github.com/skillrouter/skillrouter/operational/store"
	"github.com/skillrouter/skillrouter/router"
)

// OwnerToken returns the secret in dir's owner.token, making it at the first
// start. Whoever can read that file can read the databases beside it.
//
// An empty file counts as none: a power cut leaves it where the file's name was
// on disk before its content. A new secret opens nothing to anybody else: the
// file is made anew, for this user alone, in a folder that only this user may
// write to; what held the old secret is refused from then on. What is no plain
// file, or holds anything else, is somebody's doing, and is left as it is.
func OwnerToken(dir string) (string, error) {
	path := filepath.Join(dir, locate.OwnerTokenName)
	secret, err := locate.ReadOwnerToken(dir)
	if !errors.Is(err, os.ErrNotExist) && !errors.Is(err, locate.ErrEmptyToken) {
		return secret, err
	}
	secret = operational.NewSecret()
	if err := putSynced(path, []byte(secret+"\n")); err != nil {
		return "", fmt.Errorf("write the owner's token: %w", err)
	}
	return secret, nil
}

// issueFirst issues a token for all agents, if the settings want one and none was ever issued, before anybody is
// answered: from then on each call needs a token. Its secret is in the file alone.
func (a *App) issueFirst(ctx context.Context, tokens *operational.Tokens) error {
	issued, err := tokens.Issued(ctx)
	if a.config.FirstToken == "" || a.aside != nil || issued || err != nil {
		return err
	}
	made, err := tokens.Issue(principal.With(ctx, principal.Owner(false)), operational.TokenDraft{Scopes: []principal.Scope{principal.ScopeCaptain}, Note: "issued by the first start"})
	if err != nil {
		return fmt.Errorf("issue the first token: %w", err)
	}
	if err := putSynced(a.config.FirstToken, []byte(made.Secret+"\n")); err != nil {
		return errs.Wrap(errs.Unavailable, err, "the first token was issued and cannot be written to %s (first_token_file): issue another with skillrouter token create", a.config.FirstToken)
	}
	a.log.Info("the first token was issued: every call needs one", "first_token_file", a.config.FirstToken)
	return nil
}

// putSynced writes a file for this user alone in the place of the one of that name, which is there until the new one is whole.
func putSynced(path string, text []byte) error {
	return errors.Join(file.Replace(path, text, 0o600), database.SyncFolder(filepath.Dir(path)))
}

// ResetPassphrase forgets the passphrase of a data folder that no router holds, and of its PostgreSQL server, into which none writes.
func ResetPassphrase(ctx context.Context, cfg config.Config) (was bool, err error) {
	if cfg.Database == "" && !fileThere(filepath.Join(cfg.Data, "operational.db")) {
		return false, errs.Errorf(errs.NotFound, "%s holds no databases", cfg.Data)
	}
	a := &App{config: cfg, now: time.Now, log: slog.New(slog.DiscardHandler)}
	a.base, a.life = newLife(a.log), newLife(a.log)
	defer func() { err = errors.Join(err, a.life.stop(), a.base.stop()) }()
	if err := a.base.takes(cfg.Data); err != nil {
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
		_, err = persons.SignIn(principal.With(ctx, principal.System()), person.PersonDraft{Passphrase: passphrase})
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
