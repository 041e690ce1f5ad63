package store

import (
	"context"
	"fmt"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/operational/person"
)

var _ operational.TokenStore = (*Store)(nil)

var (
	tokens     = table.Of[operational.Token]("tokens")
	liveTokens = table.Of[liveToken]("tokens")
)

// liveToken is a token with the digest of its secret.
type liveToken struct {
	operational.Token
	Digest []byte
}

// CreateToken implements operational.TokenStore.
func (s *Store) CreateToken(ctx context.Context, token operational.Token, digest operational.TokenDigest, event eventlog.Event, after func()) error {
	return s.write(ctx, func(tx *gorm.DB) error {
		if err := liveTokens.Insert(tx, &liveToken{token, digest[:]}); err != nil {
			return err
		}
		return table.AppendEvents(tx, event)
	}, after)
}

// ListTokens implements operational.TokenStore.
func (s *Store) ListTokens(ctx context.Context, limit int) ([]operational.Token, error) {
	return tokens.List(s.Read.WithContext(ctx), "ORDER BY created_at DESC, id DESC LIMIT ?", limit)
}

// LiveTokens implements operational.TokenStore.
func (s *Store) LiveTokens(ctx context.Context) (map[operational.TokenDigest]operational.Token, error) {
	rows, err := liveTokens.List(s.Read.WithContext(ctx), "WHERE revoked_at IS NULL")
	if err != nil {
		return nil, err
	}
	live := make(map[operational.TokenDigest]operational.Token, len(rows))
	for _, r := range rows {
		var digest operational.TokenDigest
		if copy(digest[:], r.Digest) != len(digest) {
			return nil, fmt.Errorf("the digest of token %s is cut short", r.ID)
		}
		live[digest] = r.Token
	}
	return live, nil
}

// ChangeToken implements operational.TokenStore.
func (s *Store) ChangeToken(ctx context.Context, id string, change func(*operational.Token) *eventlog.Event, after func(operational.Token)) (operational.Token, error) {
	one := changing[operational.Token]{of: tokens, where: "WHERE id = ?", args: []any{id}, missing: "there is no such token", by: "id", only: []string{"revoked_at"}, after: after}
	return one.change(ctx, s, func(_ *gorm.DB, token *operational.Token) (*eventlog.Event, error) { return change(token), nil })
}

var _ person.PassphraseStore = (*Store)(nil)

var passphrases = table.Of[person.Passphrase]("passphrase").With("id", func(*person.Passphrase) any { return 1 })

func passphraseOf(db *gorm.DB) (person.Passphrase, error) {
	one, _, err := passphrases.One(db, "")
	return one, err
}

// Passphrase implements person.PassphraseStore.
func (s *Store) Passphrase(ctx context.Context) (person.Passphrase, error) {
	return passphraseOf(s.Read.WithContext(ctx))
}

// ChangePassphrase implements person.PassphraseStore.
func (s *Store) ChangePassphrase(ctx context.Context, change func(*person.Passphrase) (eventlog.Event, error), after func(person.Passphrase)) error {
	var next person.Passphrase
	return s.write(ctx, func(tx *gorm.DB) (err error) {
		if next, err = passphraseOf(tx); err != nil {
			return err
		}
		event, err := change(&next)
		if err != nil {
			return refuse(err)
		}
		if err := passphrases.Put(tx, &next, "id"); err != nil {
			return err
		}
		return table.AppendEvents(tx, event)
	}, func() { after(next) })
}
