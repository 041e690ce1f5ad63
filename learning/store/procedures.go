package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"strings"

	"gorm.io/gorm"

	"skillrouter/internal/defaults"
	"skillrouter/learning"
	"skillrouter/learning/procedure"
	"skillrouter/learning/shelf"
)

var _ procedure.Store = (*Store)(nil)

const procedureColumns = `num, persona, name, version, body, agent_id, trust, said_rate, said_time, runs, succeeded, took,
	file, file_mark, file_version, created_at, updated_at, deleted_at`

// procedureChanging are the columns that a change of a procedure writes, in the order of PutProcedure.
var procedureChanging = []string{
	"version", "body", "agent_id", "trust", "said_rate", "said_time", "runs", "succeeded", "took",
	"file", "file_mark", "file_version", "created_at", "updated_at", "deleted_at", "category",
}

var stepColumns = []string{"procedure", "name", "succeeded", "failed", "skipped", "unknown", "took", "recent", "errors"}

// ChangeProcedures implements procedure.Store.
func (s *Store) ChangeProcedures(ctx context.Context, decide func(tx procedure.Tx) error, after func()) (wait func() error) {
	return s.queue(ctx, func(tx *gorm.DB) error { return decide(&transaction{tx}) }, after)
}

// StoredProcedure implements procedure.Store.
func (s *Store) StoredProcedure(ctx context.Context, persona, name string) (procedure.Stored, bool, error) {
	return oneProcedure(s.read.WithContext(ctx), "persona = ? AND name = ?", persona, name)
}

func oneProcedure(db *gorm.DB, where string, args ...any) (procedure.Stored, bool, error) {
	return first(procedures(db, "WHERE "+where, args...))
}

// procedures reads the procedures that fit; up to MaxAnswer bytes of them.
func procedures(db *gorm.DB, rest string, args ...any) ([]procedure.Stored, error) {
	return upTo(learning.MaxAnswer+1, oneMore(scanProcedure)).of(query(db, "SELECT "+procedureColumns+" FROM procedures "+rest, args...))
}

func scanProcedure(rows *sql.Rows) (p procedure.Stored, size int, err error) {
	var body json.RawMessage
	err = rows.Scan(&p.Number, &p.Persona, &p.Name, &p.Version, fromJSON(&body), &p.Author, &p.Trust, &p.SaidRate, &p.SaidTime, &p.Runs, &p.Succeeded, &p.Took,
		&p.File.Path, &p.File.Mark, &p.File.Version, at(&p.CreatedAt), at(&p.UpdatedAt), atOrNil(&p.DeletedAt))
	if err == nil {
		err = json.Unmarshal(body, &p.Body)
	}
	p.Size = len(body)
	return p, p.Size, err
}

// ProcedureBody implements procedure.Store.
func (s *Store) ProcedureBody(ctx context.Context, procedure, version int64) (body procedure.Body, author string, ok bool, err error) {
	ok, err = one(s.read.WithContext(ctx), []any{fromJSON(&body), &author}, "SELECT body, agent_id FROM procedure_versions WHERE procedure = ? AND version = ?", procedure, version)
	return body, author, ok, err
}

// ProcedureVersions implements procedure.Store.
func (s *Store) ProcedureVersions(ctx context.Context, number, before int64, limit int) ([]procedure.Stored, error) {
	return list(s.read.WithContext(ctx), func(p *procedure.Stored) []any {
		return []any{&p.Version, fromJSON(&p.Body), &p.Author, at(&p.UpdatedAt)}
	}, "SELECT version, body, agent_id, created_at FROM procedure_versions WHERE procedure = ? AND version < ? ORDER BY version DESC LIMIT ?", number, before, limit)
}

// StepRecords implements procedure.Store.
func (s *Store) StepRecords(ctx context.Context, procedure int64) ([]procedure.StepRecord, error) {
	return stepRecords(s.read.WithContext(ctx), procedure)
}

func stepRecords(db *gorm.DB, p int64) ([]procedure.StepRecord, error) {
	return list(db, func(r *procedure.StepRecord) []any {
		return []any{&r.Name, &r.Succeeded, &r.Failed, &r.Skipped, &r.Unknown, &r.Took, &r.Recent, fromJSON(&r.Errors)}
	}, "SELECT name, succeeded, failed, skipped, unknown, took, recent, errors FROM procedure_steps WHERE procedure = ?", p)
}

// ListProcedures implements procedure.Store.
func (s *Store) ListProcedures(ctx context.Context, filter procedure.Filter) ([]procedure.Stored, error) {
	var where conditions
	where.add("deleted_at IS NULL")
	where.equal("persona", filter.Persona)
	where.equal("category", filter.Category)
	if filter.After != "" {
		persona, name, _ := strings.Cut(filter.After, "/")
		where.add("(persona, name) > (?, ?)", persona, name)
	}
	return procedures(s.read.WithContext(ctx), where.text+" ORDER BY persona, name LIMIT ?", append(where.args, filter.Limit)...)
}

// ProceduresByID implements procedure.Store.
func (s *Store) ProceduresByID(ctx context.Context, ids []string) ([]procedure.Stored, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var args []any
	for _, id := range ids {
		persona, name, _ := strings.Cut(id, "/")
		args = append(args, persona, name)
	}
	return procedures(s.read.WithContext(ctx), "WHERE deleted_at IS NULL AND (persona, name) IN (VALUES (?, ?)"+strings.Repeat(", (?, ?)", len(ids)-1)+")", args...)
}

// ScanProcedures implements procedure.Store.
func (s *Store) ScanProcedures(ctx context.Context, visit func(chunk []procedure.Stored) error) error {
	return eachChunk(s.read.WithContext(ctx).Raw("SELECT "+procedureColumns+" FROM procedures WHERE deleted_at IS NULL ORDER BY num"), scanProcedure, visit)
}

// ProcedureFiles implements procedure.Store.
func (s *Store) ProcedureFiles(ctx context.Context) (list []procedure.Stored, err error) {
	err = eachChunk(s.read.WithContext(ctx).Raw("SELECT "+procedureColumns+" FROM procedures WHERE deleted_at IS NULL OR file != '' ORDER BY num"),
		scanProcedure, func(chunk []procedure.Stored) error {
			list = append(list, chunk...)
			return nil
		})
	return list, err
}

// CountProcedures implements procedure.Store.
func (s *Store) CountProcedures(ctx context.Context) (stats procedure.Stats, err error) {
	db := s.read.WithContext(ctx)
	if stats.Personas, err = tallied[string](db, "SELECT persona, count(*) FROM procedures WHERE deleted_at IS NULL GROUP BY persona"); err == nil {
		_, err = one(db, []any{&stats.Runs, &stats.Running}, "SELECT count(*), count(*) FILTER (WHERE status = 'running') FROM runs")
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
	values := []any{
		p.Version, toJSON(p.Body), p.Author, string(p.Trust), p.SaidRate, p.SaidTime, p.Runs, p.Succeeded, p.Took,
		p.File.Path, p.File.Mark, p.File.Version, millis(p.CreatedAt), millis(p.UpdatedAt), millisPtr(p.DeletedAt), p.Body.Category,
	}
	if p.Number > 0 {
		_, err := exec(tx.db, "UPDATE procedures SET "+strings.Join(procedureChanging, " = ?, ")+" = ? WHERE num = ?", append(values, p.Number)...)
		return err
	}
	number, err := insertOne(tx.db, "INSERT INTO procedures ("+strings.Join(procedureChanging, ", ")+", persona, name) VALUES ("+marks(len(values)+2)+") RETURNING num",
		append(values, p.Persona, p.Name)...)
	p.Number = number
	return err
}

// AddVersion implements procedure.Tx.
func (tx *transaction) AddVersion(p procedure.Stored) error {
	_, err := exec(tx.db, "INSERT INTO procedure_versions (procedure, version, body, agent_id, created_at) VALUES (?, ?, ?, ?, ?)",
		p.Number, p.Version, toJSON(p.Body), p.Author, millis(p.UpdatedAt))
	return err
}

// StepRecords implements procedure.Tx.
func (tx *transaction) StepRecords(procedure int64) ([]procedure.StepRecord, error) {
	return stepRecords(tx.db, procedure)
}

// PutStepRecord implements procedure.Tx.
func (tx *transaction) PutStepRecord(procedure int64, r procedure.StepRecord) error {
	return insertOr(tx.db, orReplace(stepColumns, "procedure", "name"), "procedure_steps", stepColumns, 1, func(_ int, row []any) []any {
		return append(row, procedure, r.Name, r.Succeeded, r.Failed, r.Skipped, r.Unknown, r.Took, r.Recent, toJSON(defaults.List(r.Errors)))
	})
}

// DropStepRecords implements procedure.Tx.
func (tx *transaction) DropStepRecords(procedure int64) error {
	_, err := exec(tx.db, "DELETE FROM procedure_steps WHERE procedure = ?", procedure)
	return err
}

// FindProcedures implements procedure.Store.
func (s *Store) FindProcedures(ctx context.Context, search shelf.RowSearch, visit func(found []procedure.Stored) (more bool)) error {
	return containing(ctx, s.read.WithContext(ctx), contained[procedure.Stored]{
		table: "procedures", choose: "SELECT " + procedureColumns + " FROM procedures", texts: []string{"name", "body"}, where: "deleted_at IS NULL", scan: scanProcedure,
	}, search, visit)
}
