package store

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"strings"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/procedure"
)

var _ procedure.Store = (*Store)(nil)

var stored = table.Of[procedure.Stored]("procedures", "Number num", "Author agent_id", "Body", "Size", "File").Numbered("num").
	Field("body", func(p *procedure.Stored) any { return bodyColumn{p} }).
	Field("file", func(p *procedure.Stored) any { return &p.File.Path }).
	Field("file_mark", func(p *procedure.Stored) any { return &p.File.Mark }).
	Field("file_version", func(p *procedure.Stored) any { return &p.File.Version }).
	With("category", func(p *procedure.Stored) any { return p.Body.Category })

// bodyColumn is the column of what a procedure says, of which its size is taken.
type bodyColumn struct{ of *procedure.Stored }

// Scan implements sql.Scanner.
func (c bodyColumn) Scan(value any) error {
	text, _ := value.(string)
	c.of.Size = len(text)
	return json.Unmarshal([]byte(text), &c.of.Body)
}

// Value implements driver.Valuer.
func (c bodyColumn) Value() (driver.Value, error) {
	text, err := json.Marshal(c.of.Body)
	return string(text), err
}

// stepRow is how the steps of a name went in a procedure.
type stepRow struct {
	Procedure int64
	procedure.StepRecord
}

var steps = table.Of[stepRow]("procedure_steps")

// ChangeProcedures implements procedure.Store.
func (s *Store) ChangeProcedures(ctx context.Context, decide func(tx procedure.Tx) error, after func()) (wait func() error) {
	return s.queue(ctx, func(tx *gorm.DB) error { return decide(&transaction{tx}) }, after)
}

// StoredProcedure implements procedure.Store.
func (s *Store) StoredProcedure(ctx context.Context, persona, name string) (procedure.Stored, bool, error) {
	return oneProcedure(s.Read.WithContext(ctx), "persona = ? AND name = ?", persona, name)
}

func oneProcedure(db *gorm.DB, where string, args ...any) (procedure.Stored, bool, error) {
	return table.First(procedures(db, "WHERE "+where, args...))
}

// procedures reads the procedures that fit; up to MaxAnswer bytes of them.
func procedures(db *gorm.DB, rest string, args ...any) ([]procedure.Stored, error) {
	return upTo(learning.MaxAnswer+1, oneMore(scanProcedure)).of(table.Query(db, stored.Select()+rest, args...))
}

var scanProcedure = sized(stored, func(p *procedure.Stored) int { return p.Size })

// ProcedureBody implements procedure.Store.
func (s *Store) ProcedureBody(ctx context.Context, procedure, version int64) (body procedure.Body, author string, ok bool, err error) {
	ok, err = table.One(s.Read.WithContext(ctx), []any{table.JSON(&body), &author}, "SELECT body, agent_id FROM procedure_versions WHERE procedure = ? AND version = ?", procedure, version)
	return body, author, ok, err
}

// ProcedureVersions implements procedure.Store.
func (s *Store) ProcedureVersions(ctx context.Context, number, before int64, limit int) ([]procedure.Stored, error) {
	return table.List(s.Read.WithContext(ctx), func(p *procedure.Stored) []any {
		return []any{&p.Version, table.JSON(&p.Body), &p.Author, table.At(&p.UpdatedAt)}
	}, "SELECT version, body, agent_id, created_at FROM procedure_versions WHERE procedure = ? AND version < ? ORDER BY version DESC LIMIT ?", number, before, limit)
}

// StepRecords implements procedure.Store.
func (s *Store) StepRecords(ctx context.Context, of int64) (map[string]procedure.StepRecord, error) {
	return stepRecords(s.Read.WithContext(ctx), of)
}

func stepRecords(db *gorm.DB, of int64) (map[string]procedure.StepRecord, error) {
	rows, err := steps.List(db, "WHERE procedure = ?", of)
	records := make(map[string]procedure.StepRecord, len(rows))
	for _, r := range rows {
		records[r.Name] = r.StepRecord
	}
	return records, err
}

// ListProcedures implements procedure.Store.
func (s *Store) ListProcedures(ctx context.Context, filter procedure.Filter) ([]procedure.Stored, error) {
	var where table.Conditions
	where.Add("deleted_at IS NULL")
	where.Equal("persona", filter.Persona)
	where.Equal("category", filter.Category)
	if filter.After != "" {
		persona, name, _ := strings.Cut(filter.After, "/")
		where.Add("(persona, name) > (?, ?)", persona, name)
	}
	return procedures(s.Read.WithContext(ctx), where.Text+" ORDER BY persona, name LIMIT ?", where.With(filter.Limit)...)
}

// ProceduresByID implements procedure.Store.
func (s *Store) ProceduresByID(ctx context.Context, ids []string) ([]procedure.Stored, error) {
	return table.InParts(ids, func(part []string) ([]procedure.Stored, error) {
		var args []any
		for _, id := range part {
			persona, name, _ := strings.Cut(id, "/")
			args = append(args, persona, name)
		}
		return stored.List(s.Read.WithContext(ctx), "WHERE deleted_at IS NULL AND (persona, name) IN (VALUES (?, ?)"+strings.Repeat(", (?, ?)", len(part)-1)+")", args...)
	})
}

// ScanProcedures implements procedure.Store.
func (s *Store) ScanProcedures(ctx context.Context, visit func(chunk []procedure.Stored) error) error {
	return eachChunk(s.Read.WithContext(ctx).Raw(stored.Select()+"WHERE deleted_at IS NULL ORDER BY num"), scanProcedure, visit)
}

// ProcedureFiles implements procedure.Store.
func (s *Store) ProcedureFiles(ctx context.Context) (list []procedure.Stored, err error) {
	err = eachChunk(s.Read.WithContext(ctx).Raw(stored.Select()+"WHERE deleted_at IS NULL OR file != '' ORDER BY num"),
		scanProcedure, func(chunk []procedure.Stored) error {
			list = append(list, chunk...)
			return nil
		})
	return list, err
}

// CountProcedures implements procedure.Store.
func (s *Store) CountProcedures(ctx context.Context) (stats procedure.Stats, err error) {
	db := s.Read.WithContext(ctx)
	if stats.Personas, err = table.Tallied[string](db, "SELECT persona, count(*) FROM procedures WHERE deleted_at IS NULL GROUP BY persona"); err == nil {
		_, err = table.One(db, []any{&stats.Runs, &stats.Running}, "SELECT count(*), count(*) FILTER (WHERE status = 'running') FROM runs")
	}
	return stats, err
}

// Procedure implements procedure.Tx.
func (tx *transaction) Procedure(persona, name string) (procedure.Stored, bool, error) {
	return oneProcedure(tx.db, "persona = ? AND lower(name) = lower(?)", persona, name)
}

// ProcedureOf implements procedure.Tx.
func (tx *transaction) ProcedureOf(number int64) (procedure.Stored, bool, error) {
	return oneProcedure(tx.db, "num = ?", number)
}

// PutProcedure implements procedure.Tx.
func (tx *transaction) PutProcedure(p *procedure.Stored) error {
	if p.Number > 0 {
		return stored.Update(tx.db, p, "num")
	}
	return stored.Insert(tx.db, p)
}

// AddVersion implements procedure.Tx.
func (tx *transaction) AddVersion(p procedure.Stored) error {
	_, err := table.Exec(tx.db, "INSERT INTO procedure_versions (procedure, version, body, agent_id, created_at) VALUES (?, ?, ?, ?, ?)",
		p.Number, p.Version, bodyColumn{&p}, p.Author, table.Millis(p.UpdatedAt))
	return err
}

// StepRecords implements procedure.Tx.
func (tx *transaction) StepRecords(of int64) (map[string]procedure.StepRecord, error) {
	return stepRecords(tx.db, of)
}

// PutStepRecord implements procedure.Tx.
func (tx *transaction) PutStepRecord(of int64, r procedure.StepRecord) error {
	return steps.Put(tx.db, &stepRow{of, r}, "procedure", "name")
}

// DropStepRecords implements procedure.Tx.
func (tx *transaction) DropStepRecords(procedure int64) error {
	_, err := table.Exec(tx.db, "DELETE FROM procedure_steps WHERE procedure = ?", procedure)
	return err
}
