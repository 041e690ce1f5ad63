package store

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/fact"
	"github.com/skillrouter/skillrouter/learning/shelf"
)

var _ fact.Store = (*Store)(nil)

// facts are written and read by the ten thousand.
var facts = table.Listed("facts", factColumns, factInto).Numbered("version")

// factColumns are those of a whole fact; the value comes last, so that it can be left out.
var factColumns = []string{
	"version", "persona", "key", "category", "ttl", "expires_at", "probe", "source", "agent_id", "trust",
	"access_count", "last_accessed", "cached_at", "created_at", "updated_at", "value",
}

// ChangeFacts implements fact.Store.
func (s *Store) ChangeFacts(ctx context.Context, decide func(tx fact.Tx) error, after func()) (wait func() error) {
	return s.queue(ctx, func(tx *gorm.DB) error { return decide(&transaction{tx}) }, after)
}

// Fact implements fact.Store.
func (s *Store) Fact(ctx context.Context, persona, key string) (fact.Fact, bool, error) {
	return oneFact(s.Read.WithContext(ctx), persona, key)
}

func oneFact(db *gorm.DB, persona, key string) (fact.Fact, bool, error) {
	return facts.One(db, "WHERE persona = ? AND key = ?", persona, key)
}

// FactVersions implements fact.Store.
func (s *Store) FactVersions(ctx context.Context, persona, key string) ([]fact.Fact, error) {
	return table.List(s.Read.WithContext(ctx), factInto, `SELECT version, persona, key, category, ttl, expires_at, probe, source, agent_id, trust,
		0, NULL, cached_at, created_at, updated_at, value FROM fact_versions WHERE persona = ? AND key = ? ORDER BY version DESC`, persona, key)
}

// keysIn are the conditions of a span.
func keysIn(span fact.Span) (c table.Conditions) {
	c.Add("persona = ? AND key > ?", span.Persona, span.After)
	c.Equal("category", span.Category)
	if span.Prefix != "" {
		c.Add("key >= ? AND key < ?", span.Prefix, table.Behind(span.Prefix))
	}
	return c
}

func factInto(f *fact.Fact) []any {
	return []any{
		&f.Version, &f.Persona, &f.Key, &f.Category, &f.TTL, table.AtOrNil(&f.ExpiresAt), &f.Probe, &f.Source, &f.Author, &f.Trust,
		&f.AccessCount, table.AtOrNil(&f.LastAccessed), table.At(&f.CachedAt), table.At(&f.CreatedAt), table.At(&f.UpdatedAt), table.JSON(&f.Value),
	}
}

var scanFact = sized(facts, func(f *fact.Fact) int { return len(f.Value) })

// FactsUnder implements fact.Store.
func (s *Store) FactsUnder(ctx context.Context, persona string, keys []string) (found []fact.Fact, all bool, err error) {
	found, err = upTo(learning.MaxAnswer+1, scanFact).of(table.Query(s.Read.WithContext(ctx), facts.Select()+"WHERE persona = ? AND key IN ("+table.Marks(len(keys))+") ORDER BY key",
		append([]any{persona}, table.Anys(keys)...)...))
	size := 0
	for i := range found {
		size += len(found[i].Value)
	}
	return found, size <= learning.MaxAnswer, err
}

// FactKeys implements fact.Store. It reads an index alone.
func (s *Store) FactKeys(ctx context.Context, span fact.Span, at time.Time, visit func(key string) bool) error {
	c := keysIn(span)
	c.Add("(expires_at IS NULL OR expires_at > ?)", table.Millis(at))
	return table.Each(table.Query(s.Read.WithContext(ctx), "SELECT key FROM facts "+c.Text+" ORDER BY key", c.Args...)).Visit(func(rows *sql.Rows) (bool, error) {
		var key string
		err := rows.Scan(&key)
		return err == nil && visit(key), err
	})
}

// ScanFacts implements fact.Store.
func (s *Store) ScanFacts(ctx context.Context, visit func(chunk []fact.Fact) error) error {
	return eachPage(s.Read.WithContext(ctx), facts.Select(), "version", func(f fact.Fact) int64 { return f.Version }, scanFact, visit)
}

// FactCategories implements fact.Store.
func (s *Store) FactCategories(ctx context.Context, persona string, at time.Time) ([]fact.Category, error) {
	return table.List(s.Read.WithContext(ctx), func(c *fact.Category) []any { return []any{&c.Category, &c.Facts} }, `SELECT category, count(*) FROM facts
		WHERE persona = ? AND (expires_at IS NULL OR expires_at > ?) GROUP BY category ORDER BY category`, persona, table.Millis(at))
}

// FactPersonas implements fact.Store. It reads an index alone.
func (s *Store) FactPersonas(ctx context.Context) ([]string, error) {
	return table.List(s.Read.WithContext(ctx), table.Value[string], "SELECT DISTINCT persona FROM facts ORDER BY persona")
}

// CountFacts implements fact.Store.
func (s *Store) CountFacts(ctx context.Context, at time.Time) ([]fact.PersonaFacts, error) {
	found, err := table.List(s.Read.WithContext(ctx), func(p *fact.PersonaFacts) []any { return []any{&p.Persona, &p.Facts, &p.Expired, &p.Bytes} },
		`SELECT persona, count(*), count(*) FILTER (WHERE expires_at <= ?), sum(octet_length(value)) FROM facts GROUP BY persona ORDER BY persona`, table.Millis(at))
	for i := range found {
		found[i].Facts -= found[i].Expired
	}
	return found, err
}

// FactsDue implements fact.Store.
func (s *Store) FactsDue(ctx context.Context, expire, drop time.Time) (bool, error) {
	return table.Scalar[bool](s.Read.WithContext(ctx), `SELECT EXISTS (SELECT 1 FROM facts WHERE NOT expired AND expires_at <= ?)
		OR EXISTS (SELECT 1 FROM facts WHERE expired AND expires_at <= ?)`, table.Millis(expire), table.Millis(drop))
}

// LastFactVersion implements fact.Store.
func (s *Store) LastFactVersion(ctx context.Context) (int64, error) {
	return table.Scalar[int64](s.Read.WithContext(ctx), "SELECT coalesce(max(version), 0) FROM facts")
}

// AddFactUse implements fact.Store.
func (s *Store) AddFactUse(ctx context.Context, uses map[string]shelf.Use) error {
	return s.addUses(ctx, "UPDATE facts SET access_count = access_count + ?, last_accessed = {greatest}(coalesce(last_accessed, 0), ?) WHERE persona = ? AND key = ?", uses, func(id string) []any {
		persona, key, _ := strings.Cut(id, "/")
		return []any{persona, key}
	})
}

// addUses adds to the counts of rows. key is what a statement knows an id by.
func (s *Store) addUses(ctx context.Context, statement string, uses map[string]shelf.Use, key func(id string) []any) error {
	return s.Commit.Write(ctx, func(tx *gorm.DB) error {
		for id, use := range uses {
			if _, err := table.Exec(tx, statement, append([]any{use.Count, table.Millis(use.Last)}, key(id)...)...); err != nil {
				return err
			}
		}
		return nil
	}, nil)
}

// Fact implements fact.Tx.
func (tx *transaction) Fact(persona, key string) (fact.Fact, bool, error) {
	return oneFact(tx.db, persona, key)
}

// PutFact implements fact.Tx. A new row takes the old one's place, so
// that its number, which is the version, is one that no fact has had.
func (tx *transaction) PutFact(f *fact.Fact) (err error) {
	if f.Version > 0 {
		if _, err := table.Exec(tx.db, "DELETE FROM facts WHERE persona = ? AND key = ?", f.Persona, f.Key); err != nil {
			return err
		}
	}
	return facts.Insert(tx.db, f)
}

// DeleteFact implements fact.Tx. A trigger keeps what is deleted of facts as a version, which goes too.
func (tx *transaction) DeleteFact(persona, key string) (gone bool, err error) {
	if _, err := table.Exec(tx.db, "DELETE FROM facts WHERE persona = ? AND key = ?", persona, key); err != nil {
		return false, err
	}
	n, err := table.Affected(table.Exec(tx.db, "DELETE FROM fact_versions WHERE persona = ? AND key = ?", persona, key))
	return n > 0, err
}

// ExpireFacts implements fact.Tx.
func (tx *transaction) ExpireFacts(by time.Time, limit int) ([]fact.Fact, error) {
	due, err := tx.due("NOT expired AND expires_at <= ?", by, limit)
	if err != nil {
		return nil, err
	}
	return due, tx.each("UPDATE facts SET expired = true WHERE version = ?", due)
}

// DropFacts implements fact.Tx.
func (tx *transaction) DropFacts(by time.Time, limit int) ([]fact.Fact, error) {
	due, err := tx.due("expired AND expires_at <= ?", by, limit)
	if err != nil {
		return nil, err
	}
	return due, tx.each("DELETE FROM facts WHERE version = ?", due)
}

// ClearFacts implements fact.Tx. It goes along the index of the persona's
// facts, in no order of their versions: a sort would read all of them for each step.
func (tx *transaction) ClearFacts(clearing fact.Clearing, limit int) ([]fact.Fact, error) {
	var c table.Conditions
	c.Add("persona = ? AND {unindexed}version <= ?", clearing.Persona, clearing.UpTo)
	c.Equal("category", clearing.Category)
	due, err := tx.plain(c.Text+" LIMIT ?", c.With(limit)...)
	if err != nil {
		return nil, err
	}
	if err := tx.each("DELETE FROM facts WHERE version = ?", due); err != nil {
		return nil, err
	}
	for _, f := range due {
		if _, err := table.Exec(tx.db, "DELETE FROM fact_versions WHERE persona = ? AND key = ?", f.Persona, f.Key); err != nil {
			return nil, err
		}
	}
	// and those of facts that fell away before
	_, err = table.Exec(tx.db, "DELETE FROM fact_versions "+c.Text, c.Args...)
	return due, err
}

// due returns facts without their values, the earliest to expire first.
func (tx *transaction) due(where string, by time.Time, limit int) ([]fact.Fact, error) {
	return tx.plain("WHERE "+where+" ORDER BY expires_at LIMIT ?", table.Millis(by), limit)
}

// plain returns facts without their values.
func (tx *transaction) plain(where string, args ...any) ([]fact.Fact, error) {
	return table.List(tx.db, func(f *fact.Fact) []any { return factInto(f)[:len(factColumns)-1] }, "SELECT "+strings.Join(factColumns[:len(factColumns)-1], ", ")+" FROM facts "+where, args...)
}

// each runs a statement on each fact's version.
func (tx *transaction) each(statement string, due []fact.Fact) error {
	return table.ExecEach(tx.db, statement, func(yield func([]any) bool) {
		for _, fact := range due {
			if !yield([]any{fact.Version}) {
				return
			}
		}
	})
}
