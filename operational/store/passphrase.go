package store

import (
	"context"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"skillrouter/internal/eventlog"
	"skillrouter/operational/person"
)

var _ person.PassphraseStore = (*Store)(nil)

type passphraseRow struct {
	ID      int64 `gorm:"primaryKey;autoIncrement:false"`
	Hash    string
	SetAt   *int64
	ResetAt *int64
	MayStop bool
}

func (passphraseRow) TableName() string { return "passphrase" }

func passphraseOf(db *gorm.DB) (person.Passphrase, error) {
	var rows []passphraseRow
	if err := db.Limit(1).Find(&rows).Error; err != nil || len(rows) == 0 {
		return person.Passphrase{}, err
	}
	r := rows[0]
	return person.Passphrase{Hash: r.Hash, SetAt: fromMillisPtr(r.SetAt), ResetAt: fromMillisPtr(r.ResetAt), MayStop: r.MayStop}, nil
}

// Passphrase implements person.PassphraseStore.
func (s *Store) Passphrase(ctx context.Context) (person.Passphrase, error) {
	return passphraseOf(s.read.WithContext(ctx))
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
		row := passphraseRow{ID: 1, Hash: next.Hash, SetAt: millisPtr(next.SetAt), ResetAt: millisPtr(next.ResetAt), MayStop: next.MayStop}
		if err := tx.Clauses(clause.OnConflict{UpdateAll: true}).Create(&row).Error; err != nil {
			return err
		}
		return appendEvent(tx, event)
	}, func() { after(next) })
}
