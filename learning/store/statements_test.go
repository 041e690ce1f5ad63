package store_test

import (
	"fmt"
	"testing"

	"gorm.io/gorm"
)

// BenchmarkPastGorm measures why this store's statements go past gorm: the same row written, and the
// same hundred rows read, by gorm's builder and past it. Their transaction is the same.
func BenchmarkPastGorm(b *testing.B) {
	type eventRow struct {
		Seq     int64 `gorm:"primaryKey;autoIncrement"`
		Type    string
		Subject string
		AgentID string
		Project string
		At      int64
		Data    *string
	}
	_, db := opened(b)
	text := `{"title":"a"}`
	run := func(name string, do func(tx *gorm.DB, i int) error) {
		b.Run(name, func(b *testing.B) {
			if err := db.Commit.Write(b.Context(), func(tx *gorm.DB) error {
				b.ResetTimer()
				for i := range b.N {
					if err := do(tx, i); err != nil {
						return err
					}
				}
				b.StopTimer()
				return nil
			}, nil); err != nil {
				b.Fatal(err)
			}
		})
	}
	run("write/gorm", func(tx *gorm.DB, i int) error {
		return tx.Table("events").Create(&eventRow{Type: "a.b", Subject: fmt.Sprint(i), At: int64(i), Data: &text}).Error
	})
	run("write/past", func(tx *gorm.DB, i int) error {
		_, err := tx.Statement.ConnPool.ExecContext(tx.Statement.Context, "INSERT INTO events (type, subject, agent_id, project, at, data) VALUES (?, ?, ?, ?, ?, ?)",
			"a.b", fmt.Sprint(i), "", "", i, text)
		return err
	})
	run("read/gorm", func(tx *gorm.DB, _ int) error {
		var rows []eventRow
		return tx.Table("events").Order("seq").Limit(100).Find(&rows).Error
	})
	run("read/past", func(tx *gorm.DB, _ int) error {
		rows, err := tx.Statement.ConnPool.QueryContext(tx.Statement.Context, "SELECT seq, type, subject, agent_id, project, at, data FROM events ORDER BY seq LIMIT ?", 100)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var r eventRow
			if err := rows.Scan(&r.Seq, &r.Type, &r.Subject, &r.AgentID, &r.Project, &r.At, &r.Data); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}
