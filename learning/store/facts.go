package store

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"gorm.io/gorm"

	"skillrouter/learning"
	"skillrouter/learning/fact"
	"skillrouter/learning/shelf"
)

var _ fact.Store = (*Store)(nil)

// factColumns are those of a whole fact; the value comes last, so that it can be left out.
const factColumns = `version, persona, key, category, ttl, expires_at, probe, source, agent_id, trust,
	access_count, last_accessed, cached_at, created_at, updated_at`

// ChangeFacts implements fact.Store.
func (s *Store) ChangeFacts(ctx context.Context, decide func(tx fact.Tx) error, after func()) (wait func() error) {
	return s.queue(ctx, func(tx *gorm.DB) error { return decide(&transaction{tx}) }, after)
}

// Fact implements fact.Store.
func (s *Store) Fact(ctx context.Context, persona, key string) (fact.Fact, bool, error) {
	return oneFact(s.read.WithContext(ctx), persona, key)
}

func oneFact(db *gorm.DB, persona, key string) (fact.Fact, bool, error) {
	return first(list(db, factWithValue, "SELECT "+factColumns+", value FROM facts WHERE persona = ? AND key = ?", persona, key))
}

// FactVersions implements fact.Store.
func (s *Store) FactVersions(ctx context.Context, persona, key string) ([]fact.Fact, error) {
	return list(s.read.WithContext(ctx), factWithValue, `SELECT version, persona, key, category, ttl, expires_at, probe, source, agent_id, trust,
		0, NULL, cached_at, created_at, updated_at, value FROM fact_versions WHERE persona = ? AND key = ? ORDER BY version DESC`, persona, key)
}

// keysIn are the conditions of a span.
func keysIn(span fact.Span) (c conditions) {
	c.add("persona = ? AND key > ?", span.Persona, span.After)
	c.equal("category", span.Category)
	if span.Prefix != "" {
		c.add("key >= ? AND key < ?", span.Prefix, behind(span.Prefix))
	}
	return c
}

func factInto(f *fact.Fact) []any {
	return []any{
		&f.Version, &f.Persona, &f.Key, &f.Category, &f.TTL, atOrNil(&f.ExpiresAt), &f.Probe, &f.Source, &f.Author, &f.Trust,
		&f.AccessCount, atOrNil(&f.LastAccessed), at(&f.CachedAt), at(&f.CreatedAt), at(&f.UpdatedAt),
	}
}

func factWithValue(f *fact.Fact) []any { return append(factInto(f), fromJSON(&f.Value)) }

func scanFact(rows *sql.Rows) (f fact.Fact, size int, err error) {
	err = rows.Scan(factWithValue(&f)...)
	return f, len(f.Value), err
}

// FactsUnder implements fact.Store.
func (s *Store) FactsUnder(ctx context.Context, persona string, keys []string) (facts []fact.Fact, all bool, err error) {
	facts, err = upTo(learning.MaxAnswer+1, scanFact).of(query(s.read.WithContext(ctx), "SELECT "+factColumns+", value FROM facts WHERE persona = ? AND key IN ("+marks(len(keys))+") ORDER BY key",
		append([]any{persona}, anys(keys)...)...))
	size := 0
	for i := range facts {
		size += len(facts[i].Value)
	}
	return facts, size <= learning.MaxAnswer, err
}

// FactKeys implements fact.Store. It reads an index alone.
func (s *Store) FactKeys(ctx context.Context, span fact.Span, at time.Time, visit func(key string) bool) error {
	c := keysIn(span)
	c.add("(expires_at IS NULL OR expires_at > ?)", millis(at))
	return each(query(s.read.WithContext(ctx), "SELECT key FROM facts "+c.text+" ORDER BY key", c.args...)).visit(func(rows *sql.Rows) (bool, error) {
		var key string
		err := rows.Scan(&key)
		return err == nil && visit(key), err
	})
}

// ScanFacts implements fact.Store.
func (s *Store) ScanFacts(ctx context.Context, visit func(chunk []fact.Fact) error) error {
	return eachPage(s.read.WithContext(ctx), "SELECT "+factColumns+", value FROM facts", "version", func(f fact.Fact) int64 { return f.Version }, scanFact, visit)
}

// FactCategories implements fact.Store.
func (s *Store) FactCategories(ctx context.Context, persona string, at time.Time) ([]fact.Category, error) {
	return list(s.read.WithContext(ctx), func(c *fact.Category) []any { return []any{&c.Category, &c.Facts} }, `SELECT category, count(*) FROM facts
		WHERE persona = ? AND (expires_at IS NULL OR expires_at > ?) GROUP BY category ORDER BY category`, persona, millis(at))
}

// FactPersonas implements fact.Store. It reads an index alone.
func (s *Store) FactPersonas(ctx context.Context) ([]string, error) {
	return list(s.read.WithContext(ctx), value[string], "SELECT DISTINCT persona FROM facts ORDER BY persona")
}

// CountFacts implements fact.Store.
func (s *Store) CountFacts(ctx context.Context, at time.Time) ([]fact.PersonaFacts, error) {
	found, err := list(s.read.WithContext(ctx), func(p *fact.PersonaFacts) []any { return []any{&p.Persona, &p.Facts, &p.Expired, &p.Bytes} },
		`SELECT persona, count(*), count(*) FILTER (WHERE expires_at <= ?), sum(octet_length(value)) FROM facts GROUP BY persona ORDER BY persona`, millis(at))
	for i := range found {
		found[i].Facts -= found[i].Expired
	}
	return found, err
}

// FactsDue implements fact.Store.
func (s *Store) FactsDue(ctx context.Context, expire, drop time.Time) (bool, error) {
	return scalar[bool](s.read.WithContext(ctx), `SELECT EXISTS (SELECT 1 FROM facts WHERE NOT expired AND expires_at <= ?)
		OR EXISTS (SELECT 1 FROM facts WHERE expired AND expires_at <= ?)`, millis(expire), millis(drop))
}

// LastFactVersion implements fact.Store.
func (s *Store) LastFactVersion(ctx context.Context) (int64, error) {
	return scalar[int64](s.read.WithContext(ctx), "SELECT coalesce(max(version), 0) FROM facts")
}

// AddFactUse implements fact.Store.
func (s *Store) AddFactUse(ctx context.Context, uses map[string]shelf.Use, after func()) error {
	return s.commit.Write(ctx, func(tx *gorm.DB) error {
		return execEach(tx, `UPDATE facts SET access_count = access_count + ?,
			last_accessed = {greatest}(coalesce(last_accessed, 0), ?) WHERE persona = ? AND key = ?`, func(yield func([]any) bool) {
			for id, use := range uses {
				persona, key, _ := strings.Cut(id, "/")
				if !yield([]any{use.Count, millis(use.Last), persona, key}) {
					return
				}
			}
		})
	}, after)
}

// Fact implements fact.Tx.
func (tx *transaction) Fact(persona, key string) (fact.Fact, bool, error) {
	return oneFact(tx.db, persona, key)
}

// PutFact implements fact.Tx. A new row takes the old one's place, so
// that its number, which is the version, is one that no fact has had.
func (tx *transaction) PutFact(f *fact.Fact) (err error) {
	if f.Version > 0 {
		if _, err := exec(tx.db, "DELETE FROM facts WHERE persona = ? AND key = ?", f.Persona, f.Key); err != nil {
			return err
		}
	}
	f.Version, err = insertOne(tx.db, `INSERT INTO facts (persona, key, category, value, ttl, expires_at, probe, source, agent_id, trust,
		access_count, last_accessed, cached_at, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING version`,
		f.Persona, f.Key, f.Category, string(f.Value), f.TTL, millisPtr(f.ExpiresAt), f.Probe, f.Source, f.Author, string(f.Trust),
		f.AccessCount, millisPtr(f.LastAccessed), millis(f.CachedAt), millis(f.CreatedAt), millis(f.UpdatedAt))
	return err
}

// DeleteFact implements fact.Tx. A trigger keeps what is deleted of facts as a version, which goes too.
func (tx *transaction) DeleteFact(persona, key string) (gone bool, err error) {
	if _, err := exec(tx.db, "DELETE FROM facts WHERE persona = ? AND key = ?", persona, key); err != nil {
		return false, err
	}
	versions, err := exec(tx.db, "DELETE FROM fact_versions WHERE persona = ? AND key = ?", persona, key)
	if err != nil {
		return false, err
	}
	n, err := versions.RowsAffected()
	return n > 0, err
}

// ExpireFacts implements fact.Tx.
func (tx *transaction) ExpireFacts(by time.Time, limit int) ([]fact.Fact, error) {
	facts, err := tx.due("NOT expired AND expires_at <= ?", by, limit)
	if err != nil {
		return nil, err
	}
	return facts, tx.each("UPDATE facts SET expired = true WHERE version = ?", facts)
}

// DropFacts implements fact.Tx.
func (tx *transaction) DropFacts(by time.Time, limit int) ([]fact.Fact, error) {
	facts, err := tx.due("expired AND expires_at <= ?", by, limit)
	if err != nil {
		return nil, err
	}
	return facts, tx.each("DELETE FROM facts WHERE version = ?", facts)
}

// ClearFacts implements fact.Tx. It goes along the index of the persona's
// facts, in no order of their versions: a sort would read all of them for each step.
func (tx *transaction) ClearFacts(clearing fact.Clearing, limit int) ([]fact.Fact, error) {
	var c conditions
	c.add("persona = ? AND {unindexed}version <= ?", clearing.Persona, clearing.UpTo)
	c.equal("category", clearing.Category)
	facts, err := tx.plain(c.text+" LIMIT ?", append(c.args, limit)...)
	if err != nil {
		return nil, err
	}
	if err := tx.each("DELETE FROM facts WHERE version = ?", facts); err != nil {
		return nil, err
	}
	for _, f := range facts {
		if _, err := exec(tx.db, "DELETE FROM fact_versions WHERE persona = ? AND key = ?", f.Persona, f.Key); err != nil {
			return nil, err
		}
	}
	// and those of facts that fell away before
	_, err = exec(tx.db, "DELETE FROM fact_versions "+c.text, c.args...)
	return facts, err
}

// due returns facts without their values, the earliest to expire first.
func (tx *transaction) due(where string, by time.Time, limit int) ([]fact.Fact, error) {
	return tx.plain("WHERE "+where+" ORDER BY expires_at LIMIT ?", millis(by), limit)
}

// plain returns facts without their values.
func (tx *transaction) plain(where string, args ...any) ([]fact.Fact, error) {
	return list(tx.db, factInto, "SELECT "+factColumns+" FROM facts "+where, args...)
}

// each runs a statement on each fact's version.
func (tx *transaction) each(statement string, facts []fact.Fact) error {
	if len(facts) == 0 {
		return nil
	}
	return execEach(tx.db, statement, func(yield func([]any) bool) {
		for _, fact := range facts {
			if !yield([]any{fact.Version}) {
				return
			}
		}
	})
}
