package skillrouter

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A hash chain lets nobody change, remove or reorder rows of a log in silence: each row has a link, which is the hash
// of the link before it, of its number and of the hash of what it holds. A text that must be forgotten goes, and the hash
// of its row is kept for it.

// Link is what chains a row to all rows before it. The zero Link stands before the first row.
type Link [sha256.Size]byte

// Next is the link of the row that follows.
func (l Link) Next(number int64, row RowHash) Link {
	var text [2*sha256.Size + 8]byte
	copy(text[:], l[:])
	binary.BigEndian.PutUint64(text[sha256.Size:], uint64(number))
	copy(text[sha256.Size+8:], row[:])
	return sha256.Sum256(text[:])
}

// RowHash is the hash of what a row holds.
type RowHash [sha256.Size]byte

// HashRow hashes the values of a row. ChainedText has a database write them alike.
func HashRow(values ...any) RowHash {
	text := make([]byte, 0, 512)
	for _, value := range values {
		text = appendValue(text, value)
	}
	return sha256.Sum256(text)
}

// appendValue appends a value so that no two lists of values of a table's columns give the same text.
func appendValue(text []byte, value any) []byte {
	switch v := value.(type) {
	case nil:
		return append(text, 'n')
	case string:
		return append(append(strconv.AppendInt(text, int64(len(v)), 10), ':'), v...)
	case int64:
		return append(strconv.AppendInt(text, v, 10), ';')
	case float64: // in millionths: what differs by less is the same
		return appendValue(text, int64(math.Round(v*1e6)))
	case bool: // a flag is a number in SQLite
		if v {
			return appendValue(text, int64(1))
		}
		return appendValue(text, int64(0))
	}
	panic(fmt.Sprintf("a %T is no value of a chained row", value))
}

// Chained is a table whose rows are chained, and what of a row the chain holds.
type Chained struct {
	Table   string
	Number  string // the column that numbers the rows: from 1, without a gap
	Columns []string
	Parts   *Parts // nil: there are none
}

// ChainedText is an expression of SQL that writes the columns as HashRow does, of a table that is called so. kinds are the types of
// the table's columns.
func ChainedText(as string, columns []string, kinds map[string]string) string {
	parts := make([]string, len(columns))
	for i, name := range columns {
		column := as + "." + name
		switch kinds[name] {
		case "INTEGER":
			parts[i] = column + " || ';'"
		case "REAL":
			parts[i] = "CAST(round(" + column + " * 1e6) AS BIGINT) || ';'"
		case "BOOLEAN":
			parts[i] = "CASE WHEN " + column + " THEN '1;' ELSE '0;' END"
		default:
			parts[i] = "coalesce(octet_length(" + column + ") || ':' || " + column + ", 'n')"
		}
	}
	return strings.Join(parts, " || ")
}

// Parts are the rows of another table that belong to a chained row.
type Parts struct {
	Table   string
	Of      string // the column with the number of the row that they belong to
	Columns []string
	Order   string // the column that orders those of one row
}

// ChainedEvents is the log of events, in either database.
var ChainedEvents = Chained{Table: "events", Number: "seq", Columns: []string{"type", "subject", "agent_id", "project", "at", "data"}}

// Inserted are the columns that a row is inserted with.
func (c Chained) Inserted() []string { return append([]string{c.Number, "link"}, c.Columns...) }

// ChainEnd is the newest row of a chain.
type ChainEnd struct {
	Number int64
	Link   Link
}

// Chains are the ends of a database's chains, as its one writer knows them: they are right as long as
// every transaction that appended to them is committed.
type Chains struct {
	Ends map[string]ChainEnd // by table
	Cuts map[string]ChainEnd // the newest row that was removed for its age, of what the transaction removed
}

// Append gives a row of a table its number and its link, and appends both and the values of its columns to row.
// parts are the values of its parts.
func (c *Chains) Append(table string, row []any, values, parts []any) []any {
	end := c.Ends[table]
	end.Number++
	end.Link = end.Link.Next(end.Number, HashRow(append(values[:len(values):len(values)], parts...)...))
	c.Ends[table] = end
	return append(append(row, end.Number, end.Link[:]), values...)
}

// Cut notes that the rows of a table up to one were removed for their age, so that the chain begins behind it.
func (c *Chains) Cut(table string, last ChainEnd) { c.Cuts[table] = last }

type chainsKey struct{}

// WithChains gives the transactions of a context their database's chains.
func WithChains(ctx context.Context, c *Chains) context.Context {
	return context.WithValue(ctx, chainsKey{}, c)
}

// ChainsOf returns the chains of a transaction's database.
func ChainsOf(ctx context.Context) *Chains {
	c, _ := ctx.Value(chainsKey{}).(*Chains)
	return c
}
