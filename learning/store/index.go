package store

import (
	"context"
	"database/sql"

	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/learning/fact"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/learning/procedure"
	"github.com/skillrouter/skillrouter/learning/shelf"
)

var _ shelf.IndexStore = (*Store)(nil)

// indexed says where the rows of a kind lie, how they are numbered and named, and which can be found.
type indexed struct{ table, number, id, where string }

// indexedOf is where the rows of a kind lie: in the table of its name, numbered num and named id, if it says nothing else.
func indexedOf(kind shelf.IndexKind) indexed {
	switch kind {
	case lesson.IndexKind:
		return indexed{"lessons", "num", "id", " WHERE status <> 'retired'"}
	case procedure.IndexKind:
		return indexed{"procedures", "num", "persona || '/' || name", " WHERE deleted_at IS NULL"}
	case fact.IndexKind:
		return indexed{"facts", "version", "persona || '/' || key", ""}
	}
	return indexed{string(kind), "num", "id", ""}
}

// Span implements shelf.IndexStore. It reads two ends of an index, however many rows there are.
func (s *Store) Span(ctx context.Context, kind shelf.IndexKind) (int, error) {
	of := indexedOf(kind)
	db := s.Read.WithContext(ctx)
	var first, last int64
	if found, err := table.One(db, []any{&first}, "SELECT "+of.number+" FROM "+of.table+" ORDER BY "+of.number+" LIMIT 1"); err != nil || !found {
		return 0, err
	}
	_, err := table.One(db, []any{&last}, "SELECT "+of.number+" FROM "+of.table+" ORDER BY "+of.number+" DESC LIMIT 1")
	return int(last - first + 1), err
}

// IDs implements shelf.IndexStore.
func (s *Store) IDs(ctx context.Context, kind shelf.IndexKind, visit func(id string)) error {
	of := indexedOf(kind)
	return table.Each(table.Query(s.Read.WithContext(ctx), "SELECT "+of.id+" FROM "+of.table+of.where)).Visit(func(rows *sql.Rows) (bool, error) {
		var id string
		err := rows.Scan(&id)
		if err == nil {
			visit(id)
		}
		return true, err
	})
}
