package store

import (
	"context"
	"encoding/json"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/learning/history"
)

var (
	_ history.Store = (*Store)(nil)
	_ history.Tx    = (*incidentTx)(nil)
)

// incidentTx is a change of incidents.
type incidentTx struct{ *transaction }

// ChangeIncidents implements history.Store.
func (s *Store) ChangeIncidents(ctx context.Context, decide func(tx history.Tx) error) error {
	return s.queue(ctx, func(tx *gorm.DB) error { return decide(&incidentTx{&transaction{tx}}) }, nil)()
}

// Incidents implements history.Store.
func (s *Store) Incidents(ctx context.Context, ids []int64) (map[int64]history.Incident, error) {
	return incidents(s.Read.WithContext(ctx), ids)
}

// Incidents implements history.Tx.
func (tx *incidentTx) Incidents(ids []int64) (map[int64]history.Incident, error) {
	return incidents(tx.db, ids)
}

func incidents(db *gorm.DB, ids []int64) (map[int64]history.Incident, error) {
	type row struct {
		id int64
		history.Incident
	}
	rows, err := table.InParts(ids, func(part []int64) ([]row, error) {
		return table.List(db, func(r *row) []any { return []any{&r.id, table.JSON(&r.Incident), &r.Accepted} },
			"SELECT id, body, accepted FROM incidents WHERE id IN ("+table.Marks(len(part))+")", table.Anys(part)...)
	})
	found := make(map[int64]history.Incident, len(rows))
	for _, r := range rows {
		found[r.id] = r.Incident
	}
	return found, err
}

// ListIncidents implements history.Store.
func (s *Store) ListIncidents(ctx context.Context, filter history.Filter, after *history.Incident, words []string) ([]history.Incident, error) {
	where := ofIncidents(filter)
	where.Add("sessions >= ?", filter.Sessions)
	if filter.Waiting {
		where.Add("NOT accepted")
	}
	if after != nil {
		number, err := history.NumberOf(after.ID)
		if err != nil {
			return nil, err
		}
		last := table.Millis(after.Last)
		where.Add("(sessions < ? OR sessions = ? AND (last_seen < ? OR last_seen = ? AND id > ?))", after.Sessions, after.Sessions, last, last, number)
	}
	for _, word := range words {
		text, _ := json.Marshal(word) // as it stands in the body; a text cannot fail
		where.Add(`body {like} ? ESCAPE '\'`, "%"+table.Literal(string(text[1:len(text)-1]))+"%")
	}
	return table.List(s.Read.WithContext(ctx), func(i *history.Incident) []any { return []any{table.JSON(i), &i.Accepted} },
		"SELECT body, accepted FROM incidents "+where.Text+" ORDER BY sessions DESC, last_seen DESC, id LIMIT ?", where.With(filter.Limit)...)
}

// ofIncidents are the conditions of the project that a filter names, or of none.
func ofIncidents(filter history.Filter) (where table.Conditions) {
	if !filter.Every {
		where.Add("project = ?", filter.Project)
	}
	return where
}

// CountIncidents implements history.Store.
func (s *Store) CountIncidents(ctx context.Context, filter history.Filter) (sessions, recurring, times int, err error) {
	db, where := s.Read.WithContext(ctx), ofIncidents(filter)
	if _, err = table.One(db, []any{&sessions}, "SELECT count(DISTINCT session) FROM incident_steps "+where.Text, where.With()...); err != nil {
		return 0, 0, 0, err
	}
	where.Add("sessions > 1")
	_, err = table.One(db, []any{&recurring, &times}, "SELECT count(*), CAST(coalesce(sum(count), 0) AS BIGINT) FROM incidents "+where.Text, where.With()...)
	return sessions, recurring, times, err
}

var (
	learnedSteps = table.Of[history.LearnedStep]("incident_steps")
	uses         = table.Of[history.Use]("incident_uses")
	sources      = table.Of[history.Source]("incident_sources")
)

// Uses implements history.Store.
func (s *Store) Uses(ctx context.Context) ([]history.Use, error) {
	return uses.List(s.Read.WithContext(ctx), "WHERE failures > 1 AND since < 1")
}

// IncidentSources implements history.Store.
func (s *Store) IncidentSources(ctx context.Context, ids []string) ([]history.Source, error) {
	where := ""
	if len(ids) > 0 {
		where = " WHERE id IN (" + table.Marks(len(ids)) + ")"
	}
	return sources.List(s.Read.WithContext(ctx), where+" ORDER BY id", table.Anys(ids)...)
}

// LearnedSteps implements history.Tx.
func (tx *incidentTx) LearnedSteps(chains []int64) (map[int64]history.LearnedStep, error) {
	rows, err := table.InParts(chains, func(part []int64) ([]history.LearnedStep, error) {
		return learnedSteps.List(tx.db, "WHERE chain IN ("+table.Marks(len(part))+")", table.Anys(part)...)
	})
	found := make(map[int64]history.LearnedStep, len(rows))
	for _, s := range rows {
		found[s.Chain] = s
	}
	return found, err
}

// AddSteps implements history.Tx.
func (tx *incidentTx) AddSteps(steps []history.LearnedStep) error {
	return learnedSteps.PutAll(tx.db, steps, "chain")
}

// SeenIn implements history.Tx.
func (tx *incidentTx) SeenIn(of, session int64) (bool, error) {
	var n int
	return table.One(tx.db, []any{&n}, "SELECT 1 FROM incident_steps WHERE incident = ? AND session = ? LIMIT 1", of, session)
}

// IncidentsOf implements history.Tx.
func (tx *incidentTx) IncidentsOf(project string, sessions int) ([]int64, error) {
	return table.List(tx.db, table.Value[int64], "SELECT id FROM incidents WHERE project = ? AND sessions >= ? ORDER BY id", project, sessions)
}

var incidentColumns = []string{"id", "project", "sessions", "count", "last_seen", "accepted", "body"}

// PutIncidents implements history.Tx.
func (tx *incidentTx) PutIncidents(all []history.Incident) error {
	ids := make([]int64, len(all))
	for i, inc := range all {
		var err error
		if ids[i], err = history.NumberOf(inc.ID); err != nil {
			return err
		}
	}
	return table.InsertOr(tx.db, table.OrReplace(incidentColumns, "id"), "incidents", incidentColumns, len(all), func(i int, row []any) []any {
		inc := all[i]
		return append(row, ids[i], inc.Project, inc.Sessions, inc.Count, table.Millis(inc.Last), inc.Accepted, table.JSON(&inc))
	})
}

// AddUses implements history.Tx.
func (tx *incidentTx) AddUses(all []history.Use) error {
	_, err := uses.InsertAll(tx.db, all, ` ON CONFLICT (feature) DO UPDATE SET uses = incident_uses.uses + excluded.uses,
		since = CASE WHEN excluded.failures > 0 THEN excluded.since ELSE incident_uses.since + excluded.since END,
		incident = CASE WHEN excluded.failures > 0 THEN excluded.incident ELSE incident_uses.incident END,
		failures = incident_uses.failures + excluded.failures`)
	return err
}

// PutSource implements history.Tx.
func (tx *incidentTx) PutSource(f history.Source) error { return sources.Put(tx.db, &f, "id") }

// Forget implements history.Tx.
func (tx *incidentTx) Forget(project string) (incidents, steps int, err error) {
	var gone [4]int
	for i, rows := range []string{"incidents", "incident_steps", "incident_uses", "incident_sources"} {
		n, err := table.Affected(table.Exec(tx.db, "DELETE FROM "+rows+" WHERE project = ?", project))
		if err != nil {
			return 0, 0, err
		}
		gone[i] = int(n)
	}
	return gone[0], gone[1], nil
}
