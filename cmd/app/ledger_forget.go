package app

import (
	"bytes"
	"context"
	"database/sql"
	"slices"
	"time"

	"skillrouter"
)

// forgetting notes that secrets are cut out of chained rows, so that these are not taken for changed ones: the hash of what a row held is kept
// with that of what it holds since, and both are signed.
type forgetting struct {
	database string
	key      []byte // nil: there is none, and nothing was ever signed
	table    skillrouter.Chained
}

// of is the forgetting of a table, or nil if no chain holds its rows.
func (f forgetting) of(table string) *forgetting {
	at := slices.IndexFunc(chained[f.database], func(c skillrouter.Chained) bool { return c.Table == table || c.Parts != nil && c.Parts.Table == table })
	if at < 0 || f.key == nil {
		return nil
	}
	f.table = chained[f.database][at]
	return &f
}

// begin reads the rows that are going to change, and returns what notes afterwards how they did. A row that is not as it was stored stays one.
func (f *forgetting) begin(ctx context.Context, tx *sql.Tx, changes []sweptRow) (note func() error, err error) {
	if f == nil {
		return func() error { return nil }, nil
	}
	held := map[int64]skillrouter.RowHash{} // what each row held when it was stored
	for _, change := range changes {
		number, _ := change.key[0].(int64) // that of the row, and of a part its row's
		if _, again := held[number]; again {
			continue
		}
		r, err := f.read(ctx, tx, number)
		if err != nil {
			return nil, err
		}
		if was, sound, err := f.stored(ctx, tx, r); err != nil {
			return nil, err
		} else if sound {
			held[number] = was
		}
	}
	return func() error {
		for number, was := range held {
			r, err := f.read(ctx, tx, number)
			if err != nil {
				return err
			}
			m := mark{Chain: f.table.Table, Kind: markForgotten, Number: number, Hash: was[:], Since: r.hash[:], At: time.Now().UnixMilli()}
			m.sign(f.database, f.key)
			if _, err := tx.ExecContext(ctx, putMark, m.values()...); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

func (f *forgetting) read(ctx context.Context, tx *sql.Tx, number int64) (r row, err error) {
	_, err = readChained(ctx, spoken{tx, sqliteDialect}, f.table, number-1, 1, func(found row) {
		if found.number == number {
			r = found
		}
	})
	return r, err
}

// stored returns the hash of what a row held when it was stored; false if it holds something else without a mark of that.
func (f *forgetting) stored(ctx context.Context, tx *sql.Tx, r row) (was skillrouter.RowHash, sound bool, err error) {
	c := f.table
	var before skillrouter.Link
	var found []byte
	err = tx.QueryRowContext(ctx, "SELECT coalesce((SELECT link FROM "+c.Table+" WHERE "+c.Number+" = ?), (SELECT hash FROM ledger_marks WHERE chain = ? AND kind IN ('start', 'cut') AND number = ?))",
		r.number-1, c.Table, r.number-1).Scan(&found)
	if err != nil {
		return was, false, err
	}
	copy(before[:], found)
	was = r.hash
	var m mark
	err = tx.QueryRowContext(ctx, "SELECT hash, since, at, signature FROM ledger_marks WHERE chain = ? AND kind = 'forgotten' AND number = ?", c.Table, r.number).Scan(&m.Hash, &m.Since, &m.At, &m.Signature)
	switch {
	case err == nil && bytes.Equal(m.Since, r.hash[:]):
		m.Chain, m.Kind, m.Number = c.Table, markForgotten, r.number
		if !bytes.Equal(m.Signature, m.signature(f.database, f.key)) {
			return was, false, nil
		}
		copy(was[:], m.Hash)
	case err != nil && err != sql.ErrNoRows:
		return was, false, err
	}
	link := before.Next(r.number, was)
	return was, bytes.Equal(link[:], r.link), nil
}
