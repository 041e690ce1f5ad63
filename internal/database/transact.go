package database

import (
	"context"
	"maps"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/committer"
)

// numberedTables are the tables whose rows the writer numbers, by database: no number is given twice, whatever became of its row.
var numberedTables = map[string][]string{"learning": {"events", "checks"}, "operational": {"events"}}

// openNumbers reads the last numbers that a database gave, and has the transactions of its writer know them.
func openNumbers(ctx context.Context, db *DB) error {
	db.numbers = committer.Numbers{}
	db.writer = db.writer.WithContext(committer.WithNumbers(context.WithoutCancel(ctx), db.numbers))
	return db.writer.WithContext(committer.WithNumbers(ctx, db.numbers)).Transaction(func(tx *gorm.DB) error {
		if err := db.loadNumbers(tx); err != nil {
			return err
		}
		return db.server.begin(tx)
	})
}

// loadNumbers reads the numbers anew.
func (db *DB) loadNumbers(tx *gorm.DB) error {
	for _, table := range numberedTables[db.Name] {
		var last int64
		if err := tx.Raw("SELECT coalesce({last " + table + "}, 0)").Scan(&last).Error; err != nil {
			return err
		}
		db.numbers[table] = last
	}
	db.stale = false
	return nil
}

// transact runs one transaction of the writer.
func (db *DB) transact(fn func(tx *gorm.DB) error) error {
	applied := false
	writer, end := db.server.transaction(db.writer)
	defer end()
	err := writer.Transaction(func(tx *gorm.DB) error {
		if db.stale {
			if err := db.loadNumbers(tx); err != nil {
				return err
			}
		}
		if err := fn(tx); err != nil {
			return err
		}
		err := db.server.count(tx, db.numbers)
		applied = err == nil
		return err
	})
	if err = db.server.settle(db.writer, err, applied); err != nil {
		db.stale = true
		if applied && db.server == nil {
			// A COMMIT that fails leaves its transaction open, and a driver may leave it so: the next one could not begin. If it did not, this fails.
			_ = db.writer.Exec("ROLLBACK").Error
		}
		return db.translateWrite(err)
	}
	return nil
}

// savepoint runs a part of a transaction, which may fail by itself.
func (db *DB) savepoint(tx *gorm.DB, fn func(tx *gorm.DB) error) error {
	before := maps.Clone(db.numbers)
	err := tx.Transaction(fn)
	if err != nil {
		maps.Copy(db.numbers, before)
	}
	return db.translateWrite(err)
}
