package store

import "gorm.io/gorm"

// What changes without an event: it is noise to clients, and another process
// that keeps it in memory must learn of it. The table changes says how.
const (
	changedFeedback   = "feedback"
	changedAnswers    = "answers"    // by entry
	changedEmbeddings = "embeddings" // n of them, which have the last n numbers
)

// changed notes a change in its transaction, and returns its number, before which it leaves n-1 free.
func changed(tx *gorm.DB, what, key string, n int) (seq int64, err error) {
	return insertOne(tx, `INSERT INTO changes (what, key, seq) VALUES (?, ?, (SELECT coalesce(max(seq), 0) + ? FROM changes))
		ON CONFLICT (what, key) DO UPDATE SET seq = excluded.seq RETURNING seq`, what, key, n)
}
