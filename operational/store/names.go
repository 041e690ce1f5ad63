package store

import (
	"context"

	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/operational"
)

// projectNames are the projects that tasks, agents and environments belong to.
const projectNames = "SELECT project FROM tasks WHERE project <> '' UNION SELECT project FROM agents WHERE project <> '' UNION SELECT project FROM environments WHERE project <> '' LIMIT ?"

// Projects returns up to limit of those projects.
func (s *Store) Projects(ctx context.Context, limit int) ([]string, error) {
	return table.List(s.Read.WithContext(ctx), table.Value[string], projectNames, limit)
}

// Names returns up to limit names of each kind: of tasks the open ones
// before the finished ones, of the rest the latest.
func (s *Store) Names(ctx context.Context, limit int) (operational.Names, error) {
	var n operational.Names
	var finished []operational.TaskName
	for _, q := range []struct {
		into any
		sql  string
	}{
		{&n.Agents, "SELECT id FROM agents ORDER BY last_seen DESC LIMIT ?"},
		{&n.Environments, "SELECT name FROM environments ORDER BY updated_at DESC LIMIT ?"},
		{&n.CVEs, "SELECT DISTINCT cve FROM findings WHERE cve <> '' LIMIT ?"},
		{&n.Findings, "SELECT title FROM findings ORDER BY last_seen DESC LIMIT ?"},
		{&n.Tasks, "SELECT number, title FROM tasks WHERE finished_at IS NULL ORDER BY priority DESC, number LIMIT ?"},
		{&finished, "SELECT number, title FROM tasks WHERE finished_at IS NOT NULL ORDER BY finished_at DESC, number DESC LIMIT ?"},
		{&n.Projects, projectNames},
	} {
		if err := s.Read.WithContext(ctx).Raw(q.sql, limit).Scan(q.into).Error; err != nil {
			return operational.Names{}, err
		}
	}
	n.Tasks = append(n.Tasks, finished[:min(len(finished), limit-len(n.Tasks))]...)
	return n, nil
}
