package history

import (
	"cmp"
	"context"
	"maps"
	"slices"
)

// Memory is a Store that forgets when it ends: what a replay learns into. It is for one goroutine.
type Memory struct {
	incidents map[int64]Incident
	steps     map[int64]LearnedStep
	uses      map[int64]Use
	sources   map[string]Source
}

var (
	_ Store = (*Memory)(nil)
	_ Tx    = (*memoryTx)(nil)
)

type memoryTx struct{ *Memory }

// NewMemory makes an empty Memory.
func NewMemory() *Memory {
	return &Memory{map[int64]Incident{}, map[int64]LearnedStep{}, map[int64]Use{}, map[string]Source{}}
}

func pick[V any](from map[int64]V, ids []int64) map[int64]V {
	found := map[int64]V{}
	for _, id := range ids {
		if v, there := from[id]; there {
			found[id] = v
		}
	}
	return found
}

// Incidents implements Store.
func (m *Memory) Incidents(_ context.Context, ids []int64) (map[int64]Incident, error) {
	return pick(m.incidents, ids), nil
}

// Incidents implements Tx.
func (m *memoryTx) Incidents(ids []int64) (map[int64]Incident, error) {
	found := pick(m.incidents, ids)
	for id, inc := range found { // what the caller changes is not there before it is put
		inc.Fixes, inc.Others = slices.Clone(inc.Fixes), slices.Clone(inc.Others)
		found[id] = inc
	}
	return found, nil
}

// ListIncidents implements Store.
func (m *Memory) ListIncidents(_ context.Context, filter Filter, after *Incident, _ []string) ([]Incident, error) {
	order := func(a, b Incident) int {
		return cmp.Or(b.Sessions-a.Sessions, b.Last.Compare(a.Last), cmp.Compare(a.ID, b.ID))
	}
	list := []Incident{}
	for _, inc := range m.incidents {
		fits := inc.Project == filter.Project
		if filter.Waiting {
			fits = (fits || filter.Project == "") && !inc.Accepted
		}
		if fits && inc.Sessions >= filter.Sessions && (after == nil || order(inc, *after) > 0) {
			list = append(list, inc)
		}
	}
	slices.SortFunc(list, order)
	return list[:min(len(list), filter.Limit)], nil
}

// CountByProject implements Store.
func (m *Memory) CountByProject(context.Context) ([]ProjectCount, error) {
	counts := map[string]ProjectCount{}
	for _, inc := range m.incidents {
		c := counts[inc.Project]
		c.Project = inc.Project
		c.Incidents++
		if inc.Sessions > 1 {
			c.Recurring++
		}
		if inc.Accepted {
			c.Accepted++
		}
		counts[inc.Project] = c
	}
	return slices.SortedFunc(maps.Values(counts), func(a, b ProjectCount) int { return cmp.Compare(a.Project, b.Project) }), nil
}

// CountIncidents implements Store.
func (m *Memory) CountIncidents(_ context.Context, project string) (sessions, recurring, times int, err error) {
	seen := map[int64]bool{}
	for _, s := range m.steps {
		if s.Project == project {
			seen[s.Session] = true
		}
	}
	for _, inc := range m.incidents {
		if inc.Project == project && inc.Sessions > 1 {
			recurring++
			times += inc.Count
		}
	}
	return len(seen), recurring, times, nil
}

// Uses implements Store.
func (m *Memory) Uses(_ context.Context, features []int64) ([]Use, error) {
	if features == nil {
		return slices.Collect(maps.Values(m.uses)), nil
	}
	return slices.Collect(maps.Values(pick(m.uses, features))), nil
}

// IncidentSources implements Store.
func (m *Memory) IncidentSources(_ context.Context, ids []string) ([]Source, error) {
	list := slices.Collect(maps.Values(m.sources))
	return slices.DeleteFunc(list, func(s Source) bool { return len(ids) > 0 && !slices.Contains(ids, s.ID) }), nil
}

// ChangeIncidents implements Store.
func (m *Memory) ChangeIncidents(_ context.Context, decide func(tx Tx) error) error {
	return decide(&memoryTx{m})
}

func (m *memoryTx) LearnedSteps(chains []int64) (map[int64]LearnedStep, error) {
	return pick(m.steps, chains), nil
}

func (m *memoryTx) AddSteps(steps []LearnedStep) error {
	for _, s := range steps {
		m.steps[s.Chain] = s
	}
	return nil
}

func (m *memoryTx) SeenIn(incident, session int64) (bool, error) {
	for _, s := range m.steps {
		if s.Incident == incident && s.Session == session {
			return true, nil
		}
	}
	return false, nil
}

func (m *memoryTx) IncidentsOf(project string, sessions int) (ids []int64, err error) {
	for id, inc := range m.incidents {
		if inc.Project == project && inc.Sessions >= sessions {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

func (m *memoryTx) PutIncidents(list []Incident) error {
	for _, inc := range list {
		id, err := NumberOf(inc.ID)
		if err != nil {
			return err
		}
		m.incidents[id] = inc
	}
	return nil
}

func (m *memoryTx) AddUses(uses []Use) error {
	for _, u := range uses {
		m.uses[u.Feature] = m.uses[u.Feature].plus(u)
	}
	return nil
}

func (m *memoryTx) PutSource(source Source) error {
	m.sources[source.ID] = source
	return nil
}

func (m *memoryTx) Forget(project string) (incidents, steps int, err error) {
	before, known := len(m.incidents), len(m.steps)
	maps.DeleteFunc(m.incidents, func(_ int64, inc Incident) bool { return inc.Project == project })
	maps.DeleteFunc(m.steps, func(_ int64, s LearnedStep) bool { return s.Project == project })
	maps.DeleteFunc(m.uses, func(_ int64, u Use) bool { return u.Project == project })
	maps.DeleteFunc(m.sources, func(_ string, s Source) bool { return s.Project == project })
	return before - len(m.incidents), known - len(m.steps), nil
}
