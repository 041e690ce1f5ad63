package store

import (
	"context"
	"time"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/operational"
)

var _ operational.ReconStore = (*Store)(nil)

var environments = table.Of[operational.Environment]("environments")

// environmentNamed finds an environment inside a transaction; nil if there is none.
func environmentNamed(tx *gorm.DB, name string) (*operational.Environment, error) {
	env, found, err := environments.One(tx, "WHERE lower(name) = lower(?)", name)
	if err != nil || !found {
		return nil, err
	}
	return &env, nil
}

// ensureEnvironment returns the environment of that name, adding fresh if there is none.
func ensureEnvironment(tx *gorm.DB, fresh operational.Environment) (*operational.Environment, error) {
	env, err := environmentNamed(tx, fresh.Name)
	if err != nil || env != nil {
		return env, err
	}
	return &fresh, environments.Insert(tx, &fresh)
}

// ChangeEnvironment implements operational.ReconStore.
func (s *Store) ChangeEnvironment(ctx context.Context, fresh operational.Environment, change func(*operational.Environment, bool) *eventlog.Event) (operational.Environment, error) {
	var env operational.Environment
	err := s.write(ctx, func(tx *gorm.DB) error {
		known, err := environmentNamed(tx, fresh.Name)
		if err != nil {
			return err
		}
		env = fresh
		if known != nil {
			env = *known
		}
		event := change(&env, known != nil)
		if event == nil {
			return nil
		}
		if err := environments.Put(tx, &env, "id"); err != nil {
			return err
		}
		return table.AppendEvents(tx, *event)
	}, nil)
	return env, err
}

// ListEnvironments implements operational.ReconStore.
func (s *Store) ListEnvironments(ctx context.Context, project string, limit int) ([]operational.Environment, error) {
	var c table.Conditions
	c.Equal("project", project)
	return environments.List(s.Read.WithContext(ctx), c.Text+" ORDER BY lower(name) LIMIT ?", c.With(limit)...)
}

var scans = table.Of[operational.Scan]("scans", "Environment environments.name")

// ofEnvironments joins the environments of scans.
const ofEnvironments = "JOIN environments ON environments.id = scans.environment_id "

// CreateScan implements operational.ReconStore.
func (s *Store) CreateScan(ctx context.Context, scan operational.Scan, fresh operational.Environment, event eventlog.Event) (operational.Scan, error) {
	err := s.write(ctx, func(tx *gorm.DB) error {
		env, err := ensureEnvironment(tx, fresh)
		if err != nil {
			return err
		}
		scan.Environment = env.Name
		if err := scans.Insert(tx, &scan, "environment_id", env.ID); err != nil {
			return err
		}
		event.Project = env.Project
		return table.AppendEvents(tx, event)
	}, nil)
	return scan, err
}

// ChangeScan implements operational.ReconStore.
func (s *Store) ChangeScan(ctx context.Context, id string, change func(*operational.Scan) (*eventlog.Event, error)) (operational.Scan, error) {
	one := changing[operational.Scan]{
		of: scans, where: ofEnvironments + "WHERE scans.id = ?", args: []any{id}, missing: "there is no such scan", by: "id", only: []string{"status", "summary", "finished_at"},
	}
	return one.change(ctx, s, func(tx *gorm.DB, scan *operational.Scan) (*eventlog.Event, error) {
		event, err := change(scan)
		if err != nil || event == nil {
			return nil, err
		}
		env, err := environmentNamed(tx, scan.Environment)
		if err != nil {
			return nil, err
		}
		event.Project = env.Project // the row refers to it, so it is there
		return event, nil
	})
}

// ListScans implements operational.ReconStore.
func (s *Store) ListScans(ctx context.Context, f operational.ScanFilter) ([]operational.Scan, error) {
	var c table.Conditions
	c.Given("lower(environments.name) = lower(?)", f.Environment)
	c.Equal("environments.project", f.Project)
	c.Equal("scans.status", f.Status)
	c.Between("scans.started_at", f.Since, time.Time{})
	return scans.List(s.Read.WithContext(ctx), ofEnvironments+c.Text+" ORDER BY scans.started_at DESC, scans.id DESC LIMIT ?", c.With(f.Limit)...)
}
