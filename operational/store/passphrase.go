package store

import (
	"context"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/operational/person"
)

var _ person.PassphraseStore = (*Store)(nil)

var passphrases = table.Of[person.Passphrase]("passphrase").With("id", func(*person.Passphrase) any { return 1 })

func passphraseOf(db *gorm.DB) (person.Passphrase, error) {
	one, _, err := passphrases.Take(db)
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
