package main

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unicode"

	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	_ "github.com/glebarez/go-sqlite" // the driver that the product has
)

// driver is the name under which go-sqlite registers itself.
const driver = "sqlite"

// fts5 is SQLite's full text search, as one sets it up who knows its manual:
// stemmed, every word optional, best first by bm25().
type fts5 struct {
	write, read *sql.DB
	rank        string
	stop        analysis.TokenMap // words of a question that are not searched
}

func openFTS5(ctx context.Context, dir string) (engine, error) {
	return openWith(ctx, dir, "bm25()", nil)
}

// stopWords are those of bleve's English analyser.
var stopWords = sync.OnceValues(func() (analysis.TokenMap, error) {
	words := analysis.NewTokenMap()
	return words, words.LoadBytes(en.EnglishStopWords)
})

func openTunedFTS5(ctx context.Context, dir string) (engine, error) {
	stop, err := stopWords()
	if err != nil {
		return nil, err
	}
	return openWith(ctx, dir, "bm25(3.0, 1.0)", stop)
}

func openWith(ctx context.Context, dir, rank string, stop analysis.TokenMap) (engine, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	path := "file:" + filepath.Join(dir, "fts5.db")
	f := &fts5{rank: rank, stop: stop}
	var err error
	// Durable as our own database is: see cmd/app.
	if f.write, err = sql.Open(driver, path+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_txlock=immediate"); err != nil {
		return nil, err
	}
	f.write.SetMaxOpenConns(1)
	if _, err := f.write.ExecContext(ctx, `CREATE VIRTUAL TABLE IF NOT EXISTS entries
		USING fts5(title, body, id UNINDEXED, scope UNINDEXED, tokenize = 'porter unicode61')`); err != nil {
		return nil, err
	}
	if f.read, err = sql.Open(driver, path+"?mode=ro&_pragma=query_only(1)"); err != nil {
		return nil, err
	}
	f.read.SetMaxOpenConns(1) // the benchmark asks one question at a time, and a connection has a cache
	return f, nil
}

func (f *fts5) add(ctx context.Context, entries []entry) error {
	tx, err := f.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	insert, err := tx.PrepareContext(ctx, "INSERT INTO entries (title, body, id, scope) VALUES (?, ?, ?, ?)")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if _, err := insert.ExecContext(ctx, e.Title, e.Body, e.ID, e.Scope); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func (f *fts5) search(ctx context.Context, q question) ([]string, error) {
	match := f.match(q.Text)
	if match == "" {
		return nil, nil
	}
	// The rank column sorts inside FTS5, which is quicker than ORDER BY bm25(entries).
	query, args := "SELECT id FROM entries WHERE entries MATCH ? AND rank MATCH ?", []any{match, f.rank}
	if q.Scope != "" {
		query += " AND scope = ?"
		args = append(args, q.Scope)
	}
	rows, err := f.read.QueryContext(ctx, query+" ORDER BY rank LIMIT ?", append(args, q.Limit)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var ids []string
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// match turns a text into a query in FTS5's language: its words, any of them.
func (f *fts5) match(text string) string {
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	quote := func(all bool) string {
		var terms []string
		for _, w := range words {
			if all || !f.stop[strings.ToLower(w)] {
				terms = append(terms, `"`+w+`"`)
			}
		}
		return strings.Join(terms, " OR ")
	}
	if match := quote(false); match != "" {
		return match
	}
	return quote(true) // it has nothing but stop words
}

func (f *fts5) close() error {
	if err := f.read.Close(); err != nil {
		return err
	}
	return f.write.Close()
}
