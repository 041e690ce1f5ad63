package app

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"skillrouter"
	"skillrouter/cmd/hook/offline"
	"skillrouter/learning/lesson"
)

const (
	// chainBatch is how many rows of a chain are read at once, so that a router that writes meanwhile need not keep an old state for long.
	chainBatch = 5000
	// maxMoved bounds how many altered rows of a chain are compared with each other, to find those that changed places.
	maxMoved = 40
)

// VerifiedChain is a table whose rows are chained, as it was found.
type VerifiedChain struct {
	Database string `json:"database"`
	Table    string `json:"table"`
	First    int64  `json:"first"` // the number of the first row that was looked at; 0: there is none
	Last     int64  `json:"last"`
	Rows     int64  `json:"rows"`
	// Before is the number of the last row of before the chain, which nobody can verify.
	Before    int64        `json:"before,omitempty"`
	Forgotten int64        `json:"forgotten,omitempty"` // rows whose secrets were cut out with redact
	Signed    int64        `json:"signed"`              // the last row that a head covers that this folder's key signed
	Faults    []ChainFault `json:"faults,omitempty"`
	more      int64        // faults that are not named
}

// ChainFault is what is wrong with one row, or with those from Number to To.
type ChainFault struct {
	Number int64  `json:"number"`
	To     int64  `json:"to,omitempty"`
	What   string `json:"what"` // changed, missing, moved, relinked, rewritten, outcome, or mark
	Detail string `json:"detail"`
}

// String names a fault for people.
func (f ChainFault) String() string {
	if f.To > f.Number {
		return fmt.Sprintf("%d to %d %s", f.Number, f.To, f.Detail)
	}
	return fmt.Sprintf("%d %s", f.Number, f.Detail)
}

func (v *VerifiedChain) fault(f ChainFault) {
	if len(v.Faults) == maxAltered {
		v.more++
		return
	}
	v.Faults = append(v.Faults, f)
}

// String names the rows that are not as they were stored; it is empty if all are.
func (v *VerifiedChain) String() string {
	if len(v.Faults) == 0 {
		return ""
	}
	said := make([]string, len(v.Faults))
	for i, f := range v.Faults {
		said[i] = f.String()
	}
	text := fmt.Sprintf("%s.db: %s: %s", v.Database, v.Table, strings.Join(said, "; "))
	if v.more > 0 {
		text += fmt.Sprintf("; and %d more", v.more)
	}
	return text
}

// verifyLedger follows the chains of both databases, and says in Altered which rows are not as they were stored.
// newest bounds how many rows of each chain are followed, from its end; 0: all.
func (v *Verification) verifyLedger(ctx context.Context, open opening, beside signedBeside, newest int64) error {
	if len(beside.wrong) > 0 {
		v.Altered, v.OK = append(v.Altered, beside.wrong...), false
	}
	foreign := false
	for _, name := range databaseNames() {
		walks, err := walkChains(ctx, open, name, beside, newest)
		if err != nil {
			return err
		}
		if walks == nil {
			v.Notes = append(v.Notes, name+".db is of before its events were chained: nobody can tell whether they are as they were stored")
		}
		for _, w := range walks {
			v.Ledger = append(v.Ledger, w.VerifiedChain)
			foreign = foreign || w.foreign
			if said := w.VerifiedChain.String(); said != "" {
				v.Altered, v.OK = append(v.Altered, said), false
			}
			if w.Before > 0 {
				v.Notes = append(v.Notes, fmt.Sprintf("%s.db: %s: nobody can verify those up to %d, which are of before they were chained", name, w.Table, w.Before))
			}
		}
	}
	switch {
	case beside.key == nil:
		v.Notes = append(v.Notes, "the ledger's signatures were not compared: the key is not here. Each row was compared with its link")
	case foreign:
		v.Notes = append(v.Notes, "older heads of the ledger are signed with another key: this came from another folder, or its key was replaced. Each row was compared with its link")
	}
	return nil
}

// opening opens a database to read its chains, and says how it is closed; nil: it is of before there were any.
type opening func(ctx context.Context, name string) (reader, func() error, error)

// reader is what reads the rows of a chain.
type reader interface {
	querier
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// inFolder opens the databases of a data folder.
func inFolder(dir string) opening {
	return func(ctx context.Context, name string) (reader, func() error, error) {
		db, err := openForReading(filepath.Join(dir, name+".db"))
		if err != nil {
			return nil, nil, err
		}
		there, err := texts(ctx, db, "SELECT name FROM sqlite_schema WHERE name = 'ledger_marks'")
		if err != nil || len(there) == 0 {
			return nil, nil, errors.Join(err, db.Close())
		}
		return spoken{db, sqliteDialect}, db.Close, nil
	}
}

// opened hands out the databases of a running router.
func (a *App) opened(_ context.Context, name string) (reader, func() error, error) {
	db := a.learning
	if name == a.operational.Name {
		db = a.operational
	}
	return db.Read.ConnPool, func() error { return nil }, nil
}

// walkChains follows the chains of a database side by side, each on a connection of its own; nil: it is of before there were any.
func walkChains(ctx context.Context, open opening, name string, beside signedBeside, newest int64) ([]*chainWalk, error) {
	walks := make([]*chainWalk, len(chained[name]))
	group, of := errgroup.WithContext(ctx)
	for i, c := range chained[name] {
		db, shut, err := open(ctx, name)
		if err != nil || db == nil {
			return nil, errors.Join(err, group.Wait())
		}
		w := &chainWalk{VerifiedChain: VerifiedChain{Database: name, Table: c.Table}, table: c, key: beside.key, noted: beside.heads[name], newest: newest, db: db}
		walks[i] = w
		group.Go(func() error { return errors.Join(w.walk(of), shut()) })
	}
	return walks, group.Wait()
}

// row is one of a chain.
type row struct {
	number int64
	link   []byte
	before skillrouter.Link // of the row before it, as it is stored
	hash   skillrouter.RowHash
	orphan bool // what it follows is missing, so that its link cannot be computed
}

// chainWalk follows one chain.
type chainWalk struct {
	VerifiedChain
	table   skillrouter.Chained
	db      reader
	key     []byte
	noted   []mark // heads beside the database
	begin   int64  // the number of the row that the chain begins behind
	foreign bool   // an older head is signed with another key
	newest  int64  // how many rows are followed; 0: all

	heads     []mark
	forgotten map[int64]mark
	end       skillrouter.ChainEnd // the row before the next one
	altered   []row
	wrong     map[int64]bool // rows that are named
}

func (w *chainWalk) walk(ctx context.Context) error {
	w.wrong = map[int64]bool{}
	if err := w.readMarks(ctx); err != nil {
		return err
	}
	if err := w.skip(ctx); err != nil {
		return err
	}
	w.begin = w.end.Number
	for {
		n, err := readChained(ctx, w.db, w.table, w.end.Number, chainBatch, w.follow)
		if err != nil {
			return err
		}
		if n < chainBatch {
			break
		}
	}
	w.tellMoved()
	if w.table.Parts != nil && w.newest == 0 {
		if err := w.compareOutcomes(ctx); err != nil {
			return err
		}
	}
	return w.tellHeads(ctx)
}

// readMarks reads what was signed of the chain, and begins where it begins.
func (w *chainWalk) readMarks(ctx context.Context) error {
	rows, err := w.db.QueryContext(ctx, "SELECT kind, number, hash, since, at, key, signature FROM ledger_marks WHERE chain = ? ORDER BY number, kind", w.Table)
	w.forgotten = map[int64]mark{}
	begin := "" // the kind of the mark that the chain begins with
	if err := each(rows, err).visit(func() error {
		m := mark{Chain: w.Table}
		if err := rows.Scan(&m.Kind, &m.Number, &m.Hash, &m.Since, &m.At, &m.Key, &m.Signature); err != nil {
			return err
		}
		switch {
		case m.Kind == markHead:
			w.heads = append(w.heads, m)
		case m.Kind == markForgotten:
			w.forgotten[m.Number] = m
		case w.signed(m) && m.Number >= w.end.Number:
			begin = m.Kind
			w.end = skillrouter.ChainEnd{Number: m.Number}
			copy(w.end.Link[:], m.Hash)
		}
		return nil
	}); err != nil {
		return err
	}
	for _, m := range w.noted {
		if m.Chain == w.Table {
			w.heads = append(w.heads, m)
		}
	}
	slices.SortStableFunc(w.heads, func(a, b mark) int { return int(a.Number - b.Number) })
	switch begin {
	case markStart:
		w.Before = w.end.Number
	case markCut:
		left, err := texts(ctx, w.db, fmt.Sprintf("SELECT %s FROM %s WHERE %[1]s <= %[3]d LIMIT %[4]d", w.table.Number, w.Table, w.end.Number, maxAltered))
		if err != nil {
			return err
		}
		for _, number := range left {
			n, _ := strconv.ParseInt(number, 10, 64)
			w.fault(ChainFault{Number: n, What: "changed", Detail: "is there, and had been removed for its age"})
		}
	}
	return nil
}

// skip begins with one of the newest rows, if not all are to be followed.
func (w *chainWalk) skip(ctx context.Context) error {
	if w.newest == 0 {
		return nil
	}
	end := skillrouter.ChainEnd{}
	var link []byte
	err := w.db.QueryRowContext(ctx, fmt.Sprintf("SELECT %s, link FROM %s ORDER BY %[1]s DESC LIMIT 1 OFFSET %[3]d", w.table.Number, w.Table, w.newest)).Scan(&end.Number, &link)
	if errors.Is(err, sql.ErrNoRows) || err == nil && end.Number <= w.end.Number {
		return nil
	}
	copy(end.Link[:], link)
	w.end = end
	w.heads = slices.DeleteFunc(w.heads, func(m mark) bool { return m.Number <= end.Number })
	return err
}

// signed tells whether a mark may be believed, and names one that may not.
func (w *chainWalk) signed(m mark) bool {
	switch {
	case w.key == nil:
		return true
	case m.Kind == markHead && !bytes.Equal(m.Key, nameOfKey(w.key)):
		w.foreign = true // a router that begins with another key signs all but older heads anew
		return true
	case hmac.Equal(m.Signature, m.signature(w.Database, w.key)):
		return true
	}
	w.fault(ChainFault{Number: m.Number, What: "mark", Detail: "has a mark (" + m.Kind + ") that the router did not sign so"})
	return false
}

// readChained reads rows of a chained table behind a number, with their parts. The database writes what a row holds as one text: to fetch
// each column by itself takes three times as long.
func readChained(ctx context.Context, db querier, c skillrouter.Chained, after int64, limit int, visit func(r row)) (n int, err error) {
	kinds, err := kindsOf(ctx, db, c.Table)
	if err != nil {
		return 0, err
	}
	columns := fmt.Sprintf("c.%s, c.link, %s", c.Number, skillrouter.ChainedText("c", c.Columns, kinds))
	from, order := fmt.Sprintf("(SELECT * FROM %s WHERE %s > ? ORDER BY %[2]s LIMIT ?) AS c", c.Table, c.Number), "c."+c.Number
	if p := c.Parts; p != nil {
		if kinds, err = kindsOf(ctx, db, p.Table); err != nil {
			return 0, err
		}
		columns += ", " + skillrouter.ChainedText("p", p.Columns, kinds)
		from += fmt.Sprintf(" LEFT JOIN %s AS p ON p.%s = c.%s", p.Table, p.Of, c.Number)
		order += ", p." + p.Order
	} else {
		columns += ", NULL"
	}
	rows, err := db.QueryContext(ctx, fmt.Sprintf("SELECT %s FROM %s ORDER BY %s", columns, from, order), after, limit)
	var now row
	var content []byte
	finish := func() {
		if n > 0 {
			now.hash = sha256.Sum256(content)
			visit(now)
		}
	}
	if err := each(rows, err).visit(func() error {
		var number, link, own, part any
		if err := rows.Scan(&number, &link, &own, &part); err != nil {
			return err
		}
		if at, _ := number.(int64); n == 0 || at != now.number {
			finish()
			n++
			now = row{number: at}
			now.link, _ = link.([]byte)
			text, _ := own.(string)
			content = append(content[:0], text...)
		}
		text, _ := part.(string)
		content = append(content, text...)
		return nil
	}); err != nil {
		return n, err
	}
	finish()
	return n, nil
}

// kindsOf are the types of a table's columns.
func kindsOf(ctx context.Context, db querier, table string) (map[string]string, error) {
	columns, err := texts(ctx, db, "SELECT name || ' ' || type FROM {columns "+table+"} AS columns")
	kinds := make(map[string]string, len(columns))
	for _, column := range columns {
		name, kind, _ := strings.Cut(column, " ")
		kinds[name] = kind
	}
	return kinds, err
}

// follow compares a row with its link.
func (w *chainWalk) follow(r row) {
	if w.Rows++; w.First == 0 {
		w.First = r.number
	}
	r.before = w.end.Link
	if missing := w.end.Number + 1; r.number > missing {
		w.fault(ChainFault{Number: missing, To: r.number - 1, What: "missing", Detail: "missing"})
		r.orphan = true
	}
	link := w.end.Link.Next(r.number, r.hash)
	w.Last, w.end.Number = r.number, r.number
	w.end.Link = skillrouter.Link{}
	copy(w.end.Link[:], r.link)
	switch {
	case bytes.Equal(link[:], r.link):
		return
	case r.orphan && len(r.link) == len(link):
		return
	}
	if m, ok := w.forgotten[r.number]; ok && w.signed(m) && bytes.Equal(m.Since, r.hash[:]) && len(m.Hash) == sha256.Size {
		if link := r.before.Next(r.number, skillrouter.RowHash(m.Hash)); bytes.Equal(link[:], r.link) {
			w.Forgotten++
			return
		}
	}
	w.altered = append(w.altered, r)
}

// tellMoved names the rows that do not fit their links: those that hold what was stored as another, and those that were changed.
func (w *chainWalk) tellMoved() {
	few := w.altered[:min(len(w.altered), maxMoved)]
	for i, r := range w.altered {
		w.wrong[r.number] = true
		if i < len(few) {
			if was := w.placeOf(r, few); was != 0 {
				w.fault(ChainFault{Number: r.number, What: "moved", Detail: fmt.Sprintf("holds what was stored as %d", was)})
				continue
			}
			if i+1 < len(few) && w.relinked(r, few[i+1]) {
				w.fault(ChainFault{Number: r.number, What: "relinked", Detail: "is as it was stored, and its link is another"})
				continue
			}
			if i > 0 && few[i-1].number == r.number-1 && w.relinked(few[i-1], r) {
				continue // it follows the right link of the row before
			}
		}
		detail := "is not as it was stored"
		if i > 0 && w.altered[i-1].number == r.number-1 {
			detail += ", or follows one that is not"
		}
		w.fault(ChainFault{Number: r.number, What: "changed", Detail: detail})
	}
}

// relinked tells whether a row has a wrong link, and the next the one that follows its right one.
func (w *chainWalk) relinked(r, next row) bool {
	link := r.before.Next(r.number, r.hash).Next(next.number, next.hash)
	return next.number == r.number+1 && bytes.Equal(link[:], next.link)
}

// placeOf returns the number under which what a row holds was stored, if that was one of some others.
func (w *chainWalk) placeOf(r row, others []row) int64 {
	for _, o := range others {
		if o.number == r.number {
			continue
		}
		if link := o.before.Next(o.number, r.hash); bytes.Equal(link[:], o.link) { // the contents changed places
			return o.number
		}
		for _, p := range others { // the rows did, with their links
			before := skillrouter.Link{}
			copy(before[:], p.link)
			for _, l := range []skillrouter.Link{p.before, before} {
				if link := l.Next(o.number, r.hash); bytes.Equal(link[:], r.link) {
					return o.number
				}
			}
		}
	}
	return 0
}

// tellHeads compares the chain with what was signed of its ends.
func (w *chainWalk) tellHeads(ctx context.Context) error {
	sound, begin := int64(0), w.First
	for i, m := range w.heads {
		ours := w.key == nil || bytes.Equal(m.Key, nameOfKey(w.key))
		if !ours && i == len(w.heads)-1 {
			w.fault(ChainFault{Number: m.Number, What: "mark", Detail: "is the newest row that was signed, with a key that is not this folder's"})
		}
		if !w.signed(m) {
			continue
		}
		if m.Number > w.Last {
			from := max(w.Last, w.end.Number) + 1
			if m.Number >= from {
				w.fault(ChainFault{Number: from, To: m.Number, What: "missing", Detail: "missing: the log ended at " + fmt.Sprint(m.Number) + " on " + time.UnixMilli(m.At).UTC().Format("2006-01-02 15:04:05 MST")})
			}
			break
		}
		var link []byte
		err := w.db.QueryRowContext(ctx, fmt.Sprintf("SELECT link FROM %s WHERE %s = ?", w.Table, w.table.Number), m.Number).Scan(&link)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if err == nil && !bytes.Equal(link, m.Hash) && !w.named(begin, m.Number) {
			w.fault(ChainFault{Number: begin, To: m.Number, What: "rewritten", Detail: "were rewritten with their links: they are not those whose end was signed"})
		}
		if ours && w.key != nil {
			sound = m.Number
		}
		begin = m.Number + 1
	}
	w.Signed = sound
	return nil
}

// named tells whether a row of some is named already.
func (w *chainWalk) named(from, to int64) bool {
	for n := range w.wrong {
		if n >= from && n <= to {
			return true
		}
	}
	return false
}

// compareOutcomes compares what came of checks with the events that say so.
func (w *chainWalk) compareOutcomes(ctx context.Context) error {
	type outcome struct{ said, result, by string }
	events := map[string]outcome{}
	rows, err := w.db.QueryContext(ctx, "SELECT subject, agent_id, at, coalesce(data, '') FROM events WHERE type = ? ORDER BY seq", lesson.EventCheckSettled)
	if err := each(rows, err).visit(func() error {
		var id, by, data string
		var at int64
		var said lesson.GuardEvent
		err := rows.Scan(&id, &by, &at, &data)
		if err == nil && json.Unmarshal([]byte(data), &said) == nil {
			events[id] = outcome{fmt.Sprint(said.Outcome, " at ", at), string(said.Result), by}
		}
		return err
	}); err != nil {
		return err
	}
	checks, err := w.db.QueryContext(ctx, "SELECT num, id, outcome, result, outcome_by, coalesce(outcome_at, 0) FROM checks WHERE num > ? AND (outcome <> '' OR result <> '' OR outcome_by <> '' OR outcome_at IS NOT NULL)", w.begin)
	if err := each(checks, err).visit(func() error {
		var number, at int64
		var id, said, result, by string
		if err := checks.Scan(&number, &id, &said, &result, &by, &at); err != nil {
			return err
		}
		event, told := events[id]
		delete(events, id)
		if !told || event.said != fmt.Sprint(said, " at ", at) || event.result != result || event.by != "" && event.by != by {
			w.fault(ChainFault{Number: number, What: "outcome", Detail: "has another outcome than its event says"})
		}
		return nil
	}); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(events)) {
		var number int64
		err := w.db.QueryRowContext(ctx, "SELECT num FROM checks WHERE id = ? AND num > ?", id, w.begin).Scan(&number)
		if err == nil {
			w.fault(ChainFault{Number: number, What: "outcome", Detail: "has no outcome, and its event says one"})
		} else if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
	}
	return nil
}

// signedBeside is what a data folder has beside its databases to compare their chains with.
type signedBeside struct {
	key   []byte            // nil: there is none
	heads map[string][]mark // the noted end of each chain, by database
	wrong []string          // what cannot be read
}

// readBeside reads that, before the databases are read, which may go on meanwhile.
func readBeside(data string) (s signedBeside) {
	s.heads = map[string][]mark{}
	var err error
	if s.key, err = offline.ReadKey(data); err != nil && !errors.Is(err, os.ErrNotExist) {
		s.wrong = append(s.wrong, "the ledger's key is not used: "+err.Error())
	}
	for _, name := range databaseNames() {
		if s.heads[name], err = readHeads(data, name); err != nil {
			s.wrong = append(s.wrong, err.Error())
		}
	}
	return s
}

// tellRestored notes that a backup was put back, and up to where what was there before had come.
func (v *Verification) tellRestored(data string) {
	aside, _ := filepath.Glob(filepath.Join(globEscape(data), asidePrefix+"*"))
	if len(aside) == 0 {
		return
	}
	slices.Sort(aside)
	newest := aside[len(aside)-1]
	ends := map[string]int64{}
	for _, name := range databaseNames() {
		heads, err := readHeads(newest, name)
		for _, m := range heads {
			if err == nil {
				ends[name+".db "+m.Chain] = m.Number
			}
		}
	}
	if len(ends) == 0 {
		return
	}
	said := []string{}
	for _, chain := range slices.Sorted(maps.Keys(ends)) {
		said = append(said, fmt.Sprintf("%s at %d", chain, ends[chain]))
	}
	v.Notes = append(v.Notes, fmt.Sprintf("a backup was put back over another state, which is in %s and ended with %s: what that had and the backup had not is not in the ledger", newest, strings.Join(said, ", ")))
}
