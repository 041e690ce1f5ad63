package app

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"

	"skillrouter"
	"skillrouter/cmd/hook/offline"
	learningstore "skillrouter/learning/store"
	operationalstore "skillrouter/operational/store"
)

// How often the end of a chain is signed.
const (
	// headRows is how many rows one signed head in the database covers at most: who rewrites rows up to there must rewrite it,
	// and a change that nothing else shows is found to lie among so many.
	headRows = 1000
	// headEvery is how old the newest head in the database is at most when a row is added. Heads are 24 rows a day then.
	headEvery = time.Hour
	// headWidth is the length of a line of the file of heads, in bytes: always the same, so that it is replaced by one write in
	// place, which takes no room on a full disk.
	headWidth = 320
	// headSuffix ends the name of that file. The newest end of each chain stands there, since the last commit: it is beside the
	// database, so that an older copy of the database does not bring an older head.
	headSuffix = ".head"
	// keyID is how much of a key's hash names it, in bytes.
	keyID = 8
)

// The kinds of marks.
const (
	markStart     = "start"     // the chain begins behind a row: those up to it are of before there was one
	markHead      = "head"      // the newest row
	markCut       = "cut"       // the rows up to one were removed for their age
	markForgotten = "forgotten" // a secret was cut out of a row
)

// chained are the chained tables of each database.
var chained = map[string][]skillrouter.Chained{"learning": learningstore.Chained(), "operational": operationalstore.Chained()}

// mark is what the router signed of a chain.
type mark struct {
	Chain, Kind string
	Number      int64
	Hash, Since []byte
	At          int64
	Key         []byte
	Signature   []byte
}

// sign signs a mark of a database with a key.
func (m *mark) sign(database string, key []byte) {
	m.Key, m.Signature = nameOfKey(key), m.signature(database, key)
}

func nameOfKey(key []byte) []byte {
	sum := sha256.Sum256(key)
	return sum[:keyID]
}

func (m *mark) signature(database string, key []byte) []byte {
	text := make([]byte, 0, 256)
	for _, part := range []string{"skillrouter-ledger 1", database, m.Chain, m.Kind} {
		text = append(append(text, part...), ' ')
	}
	text = append(strconv.AppendInt(text, m.Number, 10), ' ')
	text = append(hex.AppendEncode(text, m.Hash), ' ')
	text = append(hex.AppendEncode(text, m.Since), ' ')
	text = strconv.AppendInt(text, m.At, 10)
	h := hmac.New(sha256.New, key)
	h.Write(text)
	return h.Sum(nil)
}

// line is a head as the file has it.
func (m *mark) line() []byte {
	text := append(make([]byte, 0, headWidth), m.Chain...)
	text = append(strconv.AppendInt(append(text, ' '), m.Number, 10), ' ')
	text = append(hex.AppendEncode(text, m.Hash), ' ')
	text = append(strconv.AppendInt(text, m.At, 10), ' ')
	text = append(hex.AppendEncode(text, m.Key), ' ')
	text = hex.AppendEncode(text, m.Signature)
	return append(append(text, bytes.Repeat([]byte{' '}, headWidth-1-len(text))...), '\n')
}

// headNames are the files of heads of a data folder.
func headNames() []string {
	names := databaseNames()
	for i := range names {
		names[i] += headSuffix
	}
	return names
}

// readHeads reads the heads in a database's file. One that nobody wrote yet has none; a line that is none is an error.
func readHeads(dir, database string) (heads []mark, err error) {
	text, err := os.ReadFile(filepath.Join(dir, database+headSuffix))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		part := strings.Fields(strings.Trim(line, "\x00 \n"))
		if len(part) == 0 {
			continue // of a chain without rows
		}
		if len(part) != 6 {
			return nil, fmt.Errorf("%s%s is damaged", database, headSuffix)
		}
		m := mark{Chain: part[0], Kind: markHead}
		var faults [5]error
		m.Number, faults[0] = strconv.ParseInt(part[1], 10, 64)
		m.Hash, faults[1] = hex.DecodeString(part[2])
		m.At, faults[2] = strconv.ParseInt(part[3], 10, 64)
		m.Key, faults[3] = hex.DecodeString(part[4])
		m.Signature, faults[4] = hex.DecodeString(part[5])
		if errors.Join(faults[:]...) != nil {
			return nil, fmt.Errorf("%s%s is damaged", database, headSuffix)
		}
		heads = append(heads, m)
	}
	return heads, nil
}

// ledger keeps the chains of a database: their ends for the one writer, and what is signed of them.
type ledger struct {
	database string
	tables   []skillrouter.Chained
	now      skillrouter.Clock
	log      *slog.Logger

	// The rest is the committer's own.
	key    []byte   // nil: there is none, and nothing is signed
	file   *os.File // of heads; nil: it cannot be written
	chains skillrouter.Chains
	stale  bool            // a transaction failed: the ends are not those of the database
	heads  map[string]mark // the newest of each chain in the database
}

// openLedger reads the ends of a database's chains, and has the transactions of its writer know them.
func openLedger(ctx context.Context, dir string, db *Database, now skillrouter.Clock, log *slog.Logger) error {
	l := &ledger{database: db.Name, tables: chained[db.Name], now: now, log: log}
	l.chains = skillrouter.Chains{Ends: map[string]skillrouter.ChainEnd{}, Cuts: map[string]skillrouter.ChainEnd{}}
	var err error
	if l.key, err = offline.Key(dir); err != nil {
		log.Warn("nothing of the ledger's chains is signed: the key cannot be used", "error", err)
	} else if l.file, err = os.OpenFile(filepath.Join(dir, db.Name+headSuffix), os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		log.Warn("the ends of the ledger's chains cannot be noted beside the database", "error", err)
	}
	db.ledger = l
	db.writer = db.writer.WithContext(skillrouter.WithChains(context.Background(), &l.chains))
	return db.writer.WithContext(skillrouter.WithChains(ctx, &l.chains)).Transaction(func(tx *gorm.DB) error {
		if err := l.load(tx); err != nil {
			return err
		}
		return db.server.begin(tx)
	})
}

// load reads where the chains end. A chain begins behind rows that have no link, of before the migration.
func (l *ledger) load(tx *gorm.DB) error {
	l.heads = map[string]mark{}
	for _, c := range l.tables {
		var newest, cut, head mark
		for into, query := range map[*mark]string{
			&newest: fmt.Sprintf("SELECT %s AS number, link AS hash FROM %s ORDER BY %[1]s DESC LIMIT 1", c.Number, c.Table),
			&cut:    fmt.Sprintf("SELECT number, hash, kind FROM ledger_marks WHERE chain = '%s' AND kind IN ('start', 'cut') ORDER BY number DESC LIMIT 1", c.Table),
			&head:   fmt.Sprintf("SELECT number, at, key FROM ledger_marks WHERE chain = '%s' AND kind = 'head' ORDER BY number DESC LIMIT 1", c.Table),
		} {
			if err := tx.Raw(query).Scan(into).Error; err != nil {
				return err
			}
		}
		if newest.Number > 0 && newest.Hash == nil && cut.Number == 0 && l.key != nil {
			newest.Hash = make([]byte, sha256.Size)
			if err := l.put(tx, mark{Chain: c.Table, Kind: markStart, Number: newest.Number, Hash: newest.Hash}); err != nil {
				return err
			}
		}
		if newest.Number == 0 {
			newest = cut
		}
		var given int64 // no number is given twice, whatever became of its row
		if err := tx.Raw("SELECT coalesce({last " + c.Table + "}, 0)").Scan(&given).Error; err != nil {
			return err
		}
		end := skillrouter.ChainEnd{Number: max(newest.Number, given)}
		copy(end.Link[:], newest.Hash)
		switch {
		case head.Key == nil:
			head.At = l.now().UnixMilli() // the first is due in its turn
		case l.key != nil && !bytes.Equal(head.Key, nameOfKey(l.key)):
			l.log.Warn("the ledger was signed with another key: this folder's takes over", "database", l.database, "table", c.Table, "row", head.Number)
			if err := l.takeOver(tx, c.Table); err != nil {
				return err
			}
			head.At = 0 // the next row is signed
		}
		l.chains.Ends[c.Table], l.heads[c.Table] = end, head
	}
	l.stale = false
	return nil
}

// refresh reads the ends again if a transaction failed since.
func (l *ledger) refresh(tx *gorm.DB) error {
	if !l.stale {
		return nil
	}
	return l.load(tx)
}

// takeOver signs with this folder's key what another signed of a chain, but for older heads: verify says that these are another's.
func (l *ledger) takeOver(tx *gorm.DB, table string) error {
	var marks []mark
	if err := tx.Raw("SELECT chain, kind, number, hash, since, at FROM ledger_marks WHERE chain = ? AND kind <> 'head'", table).Scan(&marks).Error; err != nil {
		return err
	}
	for _, m := range marks {
		m.sign(l.database, l.key)
		if err := tx.Exec(putMark, m.values()...).Error; err != nil {
			return err
		}
	}
	return nil
}

// put signs and stores a mark.
func (l *ledger) put(tx *gorm.DB, m mark) error {
	m.At = l.now().UnixMilli()
	m.sign(l.database, l.key)
	if m.Kind == markHead {
		l.heads[m.Chain] = m
	}
	return tx.Exec(putMark, m.values()...).Error
}

const putMark = `INSERT INTO ledger_marks (chain, kind, number, hash, since, at, key, signature) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
	ON CONFLICT (chain, kind, number) DO UPDATE SET hash = excluded.hash, since = excluded.since, at = excluded.at, key = excluded.key, signature = excluded.signature`

// values are what putMark stores.
func (m *mark) values() []any {
	return []any{m.Chain, m.Kind, m.Number, m.Hash, m.Since, m.At, m.Key, m.Signature}
}

// transact runs fn in a transaction that keeps the chains: what it appended is chained if, and only if, it is committed.
func (db *Database) transact(fn func(tx *gorm.DB) error) error {
	l := db.ledger
	var before map[string]skillrouter.ChainEnd
	clear(l.chains.Cuts)
	applied := false
	writer, end := db.server.transaction(db.writer)
	defer end()
	err := writer.Transaction(func(tx *gorm.DB) error {
		if err := l.refresh(tx); err != nil {
			return err
		}
		before = maps.Clone(l.chains.Ends)
		if err := fn(tx); err != nil {
			return err
		}
		if err := l.seal(tx, before); err != nil {
			return err
		}
		err := db.server.count(tx, l.chains.Ends)
		applied = err == nil
		return err
	})
	if err = db.server.settle(db.writer, err, applied); err != nil {
		l.stale = true
		return db.translate(err)
	}
	l.note(before)
	return nil
}

// savepoint runs fn so that its failure undoes its work alone, and what it appended to the chains.
func (db *Database) savepoint(tx *gorm.DB, fn func(tx *gorm.DB) error) error {
	l := db.ledger
	before, cuts := maps.Clone(l.chains.Ends), maps.Clone(l.chains.Cuts)
	err := tx.Transaction(fn)
	if err != nil {
		l.chains.Ends, l.chains.Cuts = before, cuts
	}
	return db.translate(err)
}

// seal stores what is to be signed of a transaction: what was removed for its age, and the heads that are due.
func (l *ledger) seal(tx *gorm.DB, before map[string]skillrouter.ChainEnd) error {
	if l.key == nil {
		return nil
	}
	for table, cut := range l.chains.Cuts {
		if err := tx.Exec("DELETE FROM ledger_marks WHERE chain = ? AND number <= ?", table, cut.Number).Error; err != nil {
			return err
		}
		if err := l.put(tx, mark{Chain: table, Kind: markCut, Number: cut.Number, Hash: cut.Link[:]}); err != nil {
			return err
		}
	}
	for table, end := range l.chains.Ends {
		head := l.heads[table]
		if end == before[table] || end.Number-head.Number < headRows && l.now().UnixMilli()-head.At < headEvery.Milliseconds() {
			continue
		}
		if err := l.put(tx, mark{Chain: table, Kind: markHead, Number: end.Number, Hash: end.Link[:]}); err != nil {
			return err
		}
	}
	return nil
}

// note writes the ends that a commit moved into the file of heads. A kill loses nothing of it; a power cut may, and then less is known.
func (l *ledger) note(before map[string]skillrouter.ChainEnd) {
	if l.file == nil {
		return
	}
	first, last := -1, -1 // of the chains that moved: their lines, and those between, are one write
	for i, c := range l.tables {
		if l.chains.Ends[c.Table] == before[c.Table] {
			continue
		}
		if last = i; first < 0 {
			first = i
		}
	}
	if first < 0 {
		return
	}
	var lines []byte
	for _, c := range l.tables[first : last+1] {
		end := l.chains.Ends[c.Table]
		m := mark{Chain: c.Table, Kind: markHead, Number: end.Number, Hash: end.Link[:], At: l.now().UnixMilli()}
		m.sign(l.database, l.key)
		lines = append(lines, m.line()...)
	}
	if _, err := l.file.WriteAt(lines, int64(first*headWidth)); err != nil {
		l.log.Warn("the ends of the ledger's chains cannot be noted beside the database any more", "error", err)
		_ = l.file.Close()
		l.file = nil
	}
}

// Run commits what is written until ctx ends, and signs the ends of the chains then.
func (db *Database) Run(ctx context.Context) error {
	if err := db.Commit.Run(ctx); err != nil {
		return err // what is on disk is unknown: nothing is written after it
	}
	l := db.ledger
	if l.key == nil {
		return nil
	}
	writer, end := db.server.transaction(db.writer)
	defer end()
	err := writer.Transaction(func(tx *gorm.DB) error {
		if err := l.signEnds(tx); err != nil {
			return err
		}
		return db.server.count(tx, l.chains.Ends)
	})
	if err != nil { // on a full disk; the file of heads has them
		l.log.Warn("the ends of the ledger's chains were not signed at the stop", "database", db.Name, "error", err)
	}
	return nil
}

// signEnds signs the newest row of each chain.
func (l *ledger) signEnds(tx *gorm.DB) error {
	if err := l.refresh(tx); err != nil {
		return err
	}
	for table, end := range l.chains.Ends {
		if head := l.heads[table]; end.Number == head.Number && bytes.Equal(head.Key, nameOfKey(l.key)) || end.Number == 0 {
			continue
		}
		if err := l.put(tx, mark{Chain: table, Kind: markHead, Number: end.Number, Hash: end.Link[:]}); err != nil {
			return err
		}
	}
	return nil
}

// signRestored signs the ends of the chains of a database that was looked through, with the key of the folder that it goes to:
// who made the backup had another one. One of before the chains has nothing to sign.
func signRestored(ctx context.Context, path, name string, key []byte, now skillrouter.Clock) error {
	db, err := dial(writerDSN(path), 1)
	if err != nil {
		return err
	}
	l := &ledger{database: name, tables: chained[name], now: now, log: slog.New(slog.DiscardHandler), key: key, stale: true}
	l.chains.Ends = map[string]skillrouter.ChainEnd{}
	err = db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		if !tx.Migrator().HasTable("ledger_marks") {
			return nil
		}
		return l.signEnds(tx)
	})
	pool, other := db.DB()
	if other == nil {
		other = pool.Close()
	}
	return errors.Join(err, other)
}

// close closes the file of heads.
func (l *ledger) close() error {
	if l == nil || l.file == nil {
		return nil
	}
	return l.file.Close()
}

// strayed says how the chains of an open database differ from the heads that its router had noted beside it.
func (db *Database) strayed(ctx context.Context, dir string) (lines []string, err error) {
	heads, err := readHeads(dir, db.Name)
	if err != nil {
		return []string{err.Error()}, nil
	}
	for _, m := range heads {
		at := slices.IndexFunc(db.ledger.tables, func(c skillrouter.Chained) bool { return c.Table == m.Chain })
		if at < 0 || db.ledger.key == nil || !hmac.Equal(m.Signature, m.signature(db.Name, db.ledger.key)) {
			lines = append(lines, fmt.Sprintf("%s%s, which says how far its logs had come, is not signed with this folder's key", db.Name, headSuffix))
			continue
		}
		c := db.ledger.tables[at]
		var now mark
		if err := db.Read.WithContext(ctx).Raw(fmt.Sprintf("SELECT %s AS number, link AS hash FROM %s WHERE %[1]s = ?", c.Number, c.Table), m.Number).Scan(&now).Error; err != nil {
			return nil, err
		}
		switch end := db.ledger.chains.Ends[m.Chain]; {
		case now.Number == m.Number && !bytes.Equal(now.Hash, m.Hash):
			lines = append(lines, fmt.Sprintf("%s.db is another, or was rewritten: its %s %d is not the one that was stored", db.Name, m.Chain, m.Number))
		case now.Number == 0 && c.Table != skillrouter.ChainedEvents.Table && !db.removed(ctx, m): // how far events had come is told of already
			lines = append(lines, fmt.Sprintf("%s.db ends at %d of %s, and %d had been stored", db.Name, end.Number, m.Chain, m.Number))
		}
	}
	return lines, nil
}

// removed tells whether a row was removed for its age.
func (db *Database) removed(ctx context.Context, m mark) bool {
	var n int64
	err := db.Read.WithContext(ctx).Raw("SELECT count(*) FROM ledger_marks WHERE chain = ? AND kind = 'cut' AND number >= ?", m.Chain, m.Number).Scan(&n).Error
	return err == nil && n > 0
}
