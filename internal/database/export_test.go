package database

import "gorm.io/gorm"

// Transact runs a transaction as the committer does, which gives up after a COMMIT that failed for another reason than room.
func Transact(db *DB, fn func(tx *gorm.DB) error) error { return db.transact(fn) }
