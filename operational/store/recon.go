package store

import (
	"context"
	"errors"

	"gorm.io/gorm"

	"skillrouter/internal/eventlog"
	"skillrouter/operational"
)

var _ operational.ReconStore = (*Store)(nil)

type environmentRow struct {
	ID          string `gorm:"primaryKey"`
	Name        string
	Kind        string
	Description string
	Project     string
	CreatedAt   int64 `gorm:"autoCreateTime:false"`
	UpdatedAt   int64 `gorm:"autoUpdateTime:false"`
}

func (environmentRow) TableName() string { return "environments" }

func rowOfEnvironment(e operational.Environment) environmentRow {
	return environmentRow{
		ID: e.ID, Name: e.Name, Kind: e.Kind, Description: e.Description, Project: e.Project,
		CreatedAt: millis(e.CreatedAt), UpdatedAt: millis(e.UpdatedAt),
	}
}

func (r environmentRow) environment() operational.Environment {
	return operational.Environment{
		ID: r.ID, Name: r.Name, Kind: r.Kind, Description: r.Description, Project: r.Project,
		CreatedAt: fromMillis(r.CreatedAt), UpdatedAt: fromMillis(r.UpdatedAt),
	}
}

// environmentNamed finds an environment inside a transaction; nil if there is none.
func environmentNamed(tx *gorm.DB, name string) (*environmentRow, error) {
	var row environmentRow
	err := tx.Where("lower(name) = lower(?)", name).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, nil
	}
	return &row, err
}

// ensureEnvironment returns the environment of that name, adding fresh if there is none.
func ensureEnvironment(tx *gorm.DB, fresh operational.Environment) (*environmentRow, error) {
	row, err := environmentNamed(tx, fresh.Name)
	if err != nil || row != nil {
		return row, err
	}
	added := rowOfEnvironment(fresh)
	return &added, tx.Create(&added).Error
}

// ChangeEnvironment implements operational.ReconStore.
func (s *Store) ChangeEnvironment(ctx context.Context, fresh operational.Environment, change func(*operational.Environment, bool) *eventlog.Event) (operational.Environment, error) {
	var env operational.Environment
	err := s.write(ctx, func(tx *gorm.DB) error {
		row, err := environmentNamed(tx, fresh.Name)
		if err != nil {
			return err
		}
		env = fresh
		if row != nil {
			env = row.environment()
		}
		event := change(&env, row != nil)
		if event == nil {
			return nil
		}
		stored := rowOfEnvironment(env)
		if err := tx.Save(&stored).Error; err != nil {
			return err
		}
		return appendEvent(tx, *event)
	}, nil)
	return env, err
}

// ListEnvironments implements operational.ReconStore.
func (s *Store) ListEnvironments(ctx context.Context, project string, limit int) ([]operational.Environment, error) {
	q := s.read.WithContext(ctx).Order("lower(name)").Limit(limit)
	q = given(q, "project = ?", project)
	return listOf(q, environmentRow.environment)
}

type scanRow struct {
	ID            string `gorm:"primaryKey"`
	EnvironmentID string
	Environment   string `gorm:"->;-:migration"` // joined
	Scanner       string
	Status        string
	Summary       string
	AgentID       string
	StartedAt     int64
	FinishedAt    *int64
}

func (scanRow) TableName() string { return "scans" }

func (r scanRow) scan() operational.Scan {
	return operational.Scan{
		ID: r.ID, Environment: r.Environment, Scanner: r.Scanner, Status: r.Status, Summary: r.Summary, AgentID: r.AgentID,
		StartedAt: fromMillis(r.StartedAt), FinishedAt: fromMillisPtr(r.FinishedAt),
	}
}

// scans selects scans with the names of their environments.
func scans(q *gorm.DB) *gorm.DB {
	return q.Model(&scanRow{}).Joins("JOIN environments ON environments.id = scans.environment_id").
		Select("scans.*, environments.name AS environment")
}

// CreateScan implements operational.ReconStore.
func (s *Store) CreateScan(ctx context.Context, scan operational.Scan, fresh operational.Environment, event eventlog.Event) (operational.Scan, error) {
	err := s.write(ctx, func(tx *gorm.DB) error {
		env, err := ensureEnvironment(tx, fresh)
		if err != nil {
			return err
		}
		scan.Environment = env.Name
		row := scanRow{
			ID: scan.ID, EnvironmentID: env.ID, Scanner: scan.Scanner, Status: scan.Status, Summary: scan.Summary, AgentID: scan.AgentID,
			StartedAt: millis(scan.StartedAt), FinishedAt: millisPtr(scan.FinishedAt),
		}
		if err := tx.Create(&row).Error; err != nil {
			return err
		}
		event.Project = env.Project
		return appendEvent(tx, event)
	}, nil)
	return scan, err
}

// ChangeScan implements operational.ReconStore.
func (s *Store) ChangeScan(ctx context.Context, id string, change func(*operational.Scan) (*eventlog.Event, error)) (operational.Scan, error) {
	var scan operational.Scan
	err := s.write(ctx, func(tx *gorm.DB) error {
		var row scanRow
		if err := scans(tx).Where("scans.id = ?", id).Take(&row).Error; err != nil {
			return refuse(notFound(err, "there is no such scan"))
		}
		scan = row.scan()
		event, err := change(&scan)
		if err != nil || event == nil {
			return refuse(err)
		}
		env, err := environmentNamed(tx, scan.Environment)
		if err != nil {
			return err
		}
		event.Project = env.Project // the row refers to it, so it is there
		err = tx.Model(&scanRow{}).Where("id = ?", id).Updates(map[string]any{
			"status": scan.Status, "summary": scan.Summary, "finished_at": millisPtr(scan.FinishedAt),
		}).Error
		if err != nil {
			return err
		}
		return appendEvent(tx, *event)
	}, nil)
	return scan, err
}

// ListScans implements operational.ReconStore.
func (s *Store) ListScans(ctx context.Context, f operational.ScanFilter) ([]operational.Scan, error) {
	q := scans(s.read.WithContext(ctx))
	q = given(q, "lower(environments.name) = lower(?)", f.Environment)
	q = given(q, "environments.project = ?", f.Project)
	q = given(q, "scans.status = ?", f.Status)
	q = givenTime(q, "scans.started_at >= ?", f.Since)
	return listOf(q.Order("scans.started_at DESC, scans.id DESC").Limit(f.Limit), scanRow.scan)
}
