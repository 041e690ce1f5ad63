package store

import (
	"context"
	"encoding/json"

	"gorm.io/gorm"

	"skillrouter/learning/history"
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
	return incidents(s.read.WithContext(ctx), ids)
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
	rows, err := inParts(ids, func(part []int64) ([]row, error) {
		return list(db, func(r *row) []any { return []any{&r.id, fromJSON(&r.Incident), &r.Accepted} },
			"SELECT id, body, accepted FROM incidents WHERE id IN ("+marks(len(part))+")", anys(part)...)
	})
	found := make(map[int64]history.Incident, len(rows))
	for _, r := range rows {
		found[r.id] = r.Incident
	}
	return found, err
}

// ListIncidents implements history.Store.
func (s *Store) ListIncidents(ctx context.Context, filter history.Filter, after *history.Incident, words []string) ([]history.Incident, error) {
	var where conditions
	if where.add("sessions >= ?", filter.Sessions); !filter.Waiting || filter.Project != "" {
		where.add("project = ?", filter.Project)
	}
	if filter.Waiting {
		where.add("NOT accepted")
	}
	if after != nil {
		number, err := history.NumberOf(after.ID)
		if err != nil {
			return nil, err
		}
		last := millis(after.Last)
		where.add("(sessions < ? OR sessions = ? AND (last_seen < ? OR last_seen = ? AND id > ?))", after.Sessions, after.Sessions, last, last, number)
	}
	for _, word := range words {
		text, err := json.Marshal(word) // as it stands in the body
		if err != nil {
			return nil, err
		}
		where.add(`body {like} ? ESCAPE '\'`, "%"+likeText.Replace(string(text[1:len(text)-1]))+"%")
	}
	return list(s.read.WithContext(ctx), func(i *history.Incident) []any { return []any{fromJSON(i), &i.Accepted} },
		"SELECT body, accepted FROM incidents "+where.text+" ORDER BY sessions DESC, last_seen DESC, id LIMIT ?", append(where.args, filter.Limit)...)
}

// CountByProject implements history.Store.
func (s *Store) CountByProject(ctx context.Context) ([]history.ProjectCount, error) {
	return list(s.read.WithContext(ctx), func(c *history.ProjectCount) []any {
		return []any{&c.Project, &c.Incidents, &c.Recurring, &c.Accepted}
	}, "SELECT project, count(*), count(*) FILTER (WHERE sessions > 1), count(*) FILTER (WHERE accepted) FROM incidents GROUP BY project ORDER BY project")
}

// CountIncidents implements history.Store.
func (s *Store) CountIncidents(ctx context.Context, project string) (sessions, recurring, times int, err error) {
	db := s.read.WithContext(ctx)
	if _, err = one(db, []any{&sessions}, "SELECT count(DISTINCT session) FROM incident_steps WHERE project = ?", project); err != nil {
		return 0, 0, 0, err
	}
	_, err = one(db, []any{&recurring, &times}, "SELECT count(*), CAST(coalesce(sum(count), 0) AS BIGINT) FROM incidents WHERE project = ? AND sessions > 1", project)
	return sessions, recurring, times, err
}

func useColumns(u *history.Use) []any {
	return []any{&u.Feature, &u.Project, &u.Uses, &u.Failures, &u.Since, &u.Incident}
}

// Uses implements history.Store.
func (s *Store) Uses(ctx context.Context, features []int64) ([]history.Use, error) {
	const columns = "SELECT feature, project, uses, failures, since, incident FROM incident_uses WHERE "
	db := s.read.WithContext(ctx)
	if features == nil {
		return list(db, useColumns, columns+"failures > 1")
	}
	return inParts(features, func(part []int64) ([]history.Use, error) {
		return list(db, useColumns, columns+"feature IN ("+marks(len(part))+")", anys(part)...)
	})
}

// IncidentSources implements history.Store.
func (s *Store) IncidentSources(ctx context.Context, ids []string) ([]history.Source, error) {
	where := ""
	if len(ids) > 0 {
		where = " WHERE id IN (" + marks(len(ids)) + ")"
	}
	return list(s.read.WithContext(ctx), func(f *history.Source) []any {
		return []any{&f.ID, &f.Project, &f.Size, &f.Modified}
	}, "SELECT id, project, size, modified FROM incident_sources"+where+" ORDER BY id", anys(ids)...)
}

// LearnedSteps implements history.Tx.
func (tx *incidentTx) LearnedSteps(chains []int64) (map[int64]history.LearnedStep, error) {
	rows, err := inParts(chains, func(part []int64) ([]history.LearnedStep, error) {
		return list(tx.db, func(s *history.LearnedStep) []any {
			return []any{&s.Chain, &s.Project, &s.Session, &s.Incident, &s.Fixed}
		}, "SELECT chain, project, session, incident, fixed FROM incident_steps WHERE chain IN ("+marks(len(part))+")", anys(part)...)
	})
	found := make(map[int64]history.LearnedStep, len(rows))
	for _, s := range rows {
		found[s.Chain] = s
	}
	return found, err
}

var learnedStepColumns = []string{"chain", "project", "session", "incident", "fixed"}

// AddSteps implements history.Tx.
func (tx *incidentTx) AddSteps(steps []history.LearnedStep) error {
	return insertOr(tx.db, orReplace(learnedStepColumns, "chain"), "incident_steps", learnedStepColumns, len(steps), func(i int, row []any) []any {
		s := steps[i]
		return append(row, s.Chain, s.Project, s.Session, s.Incident, s.Fixed)
	})
}

// SeenIn implements history.Tx.
func (tx *incidentTx) SeenIn(of, session int64) (bool, error) {
	var n int
	return one(tx.db, []any{&n}, "SELECT 1 FROM incident_steps WHERE incident = ? AND session = ? LIMIT 1", of, session)
}

// IncidentsOf implements history.Tx.
func (tx *incidentTx) IncidentsOf(project string, sessions int) ([]int64, error) {
	return list(tx.db, value[int64], "SELECT id FROM incidents WHERE project = ? AND sessions >= ? ORDER BY id", project, sessions)
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
	return insertOr(tx.db, orReplace(incidentColumns, "id"), "incidents", incidentColumns, len(all), func(i int, row []any) []any {
		inc := all[i]
		return append(row, ids[i], inc.Project, inc.Sessions, inc.Count, millis(inc.Last), inc.Accepted, toJSON(inc))
	})
}

// AddUses implements history.Tx.
func (tx *incidentTx) AddUses(uses []history.Use) error {
	return insertOr(tx.db, ` ON CONFLICT (feature) DO UPDATE SET uses = incident_uses.uses + excluded.uses,
		since = CASE WHEN excluded.failures > 0 THEN excluded.since ELSE incident_uses.since + excluded.since END,
		incident = CASE WHEN excluded.failures > 0 THEN excluded.incident ELSE incident_uses.incident END,
		failures = incident_uses.failures + excluded.failures`,
		"incident_uses", []string{"feature", "project", "uses", "failures", "since", "incident"}, len(uses), func(i int, row []any) []any {
			u := uses[i]
			return append(row, u.Feature, u.Project, u.Uses, u.Failures, u.Since, u.Incident)
		})
}

var sourceColumns = []string{"id", "project", "size", "modified"}

// PutSource implements history.Tx.
func (tx *incidentTx) PutSource(f history.Source) error {
	return insertOr(tx.db, orReplace(sourceColumns, "id"), "incident_sources", sourceColumns, 1, func(_ int, row []any) []any {
		return append(row, f.ID, f.Project, f.Size, f.Modified)
	})
}

// Forget implements history.Tx.
func (tx *incidentTx) Forget(project string) (incidents, steps int, err error) {
	var gone [4]int
	for i, table := range []string{"incidents", "incident_steps", "incident_uses", "incident_sources"} {
		result, err := exec(tx.db, "DELETE FROM "+table+" WHERE project = ?", project)
		if err != nil {
			return 0, 0, err
		}
		n, err := result.RowsAffected()
		if err != nil {
			return 0, 0, err
		}
		gone[i] = int(n)
	}
	return gone[0], gone[1], nil
}
