package feedback

import (
	"slices"
	"strings"
	"sync"
	"time"

	"skillrouter/learning"
)

// Bounds of gathering.
const (
	// gapSettles is how long a miss stays in memory: a question that is being typed is
	// asked at each letter, and the last of them is meant.
	gapSettles = 2 * time.Second
	// gapsWaiting bounds the distinct misses in memory. What comes while there are as
	// many is counted and dropped.
	gapsWaiting = 1024
	// gapRate is how many misses of one agent count within gapRateWindow: more than that
	// is a loop, and would drive out what others miss.
	gapRate       = 60
	gapRateWindow = time.Minute
	// gapRaters bounds for how many agents the rate is counted.
	gapRaters = 4096
)

// GapMisses is what was gathered of one gap.
type GapMisses struct {
	ID       string
	Question string
	Project  string
	AskedIn  []learning.GapPlace
	Agents   []string // the latest first
	Count    int64
	First    time.Time
	Last     time.Time
}

// gathered gathers misses until they are written.
type gathered struct {
	mu      sync.Mutex
	waiting map[string]*GapMisses
	latest  map[string]lastMiss // of each agent: it may be typing on
	rates   map[string]int
	window  time.Time
	dropped int64
}

// lastMiss is the gap that an agent missed last, and how often in a row.
type lastMiss struct {
	id    string
	times int64
}

func newGathered() *gathered {
	return &gathered{waiting: map[string]*GapMisses{}, latest: map[string]lastMiss{}, rates: map[string]int{}}
}

func (m *gathered) add(id string, miss learning.Miss, at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if at.Sub(m.window) >= gapRateWindow || at.Before(m.window) {
		m.window = at
		clear(m.rates)
		clear(m.latest)
	}
	asker := miss.AgentID
	if _, known := m.rates[asker]; !known && len(m.rates) >= gapRaters || m.rates[asker] >= gapRate {
		m.dropped++
		return
	}
	m.rates[asker]++
	last := m.latest[asker]
	if before := m.waiting[last.id]; before != nil && before.Project == miss.Project && slices.Contains(before.AskedIn, miss.In) && at.Sub(before.Last) < gapSettles {
		on := typedOn(before.Question, miss.Question)
		switch {
		case typedOn(miss.Question, before.Question): // letters are being taken away
			return
		case on && last.id == id: // another letter made no other word
			before.Question, before.Last = miss.Question, learning.Later(before.Last, at)
			return
		case on:
			before.withdraw(asker, last.times)
			if before.Count == 0 {
				delete(m.waiting, last.id)
			}
		}
	}
	if last.id != id {
		last = lastMiss{id: id}
	}
	one := m.waiting[id]
	if one == nil {
		if len(m.waiting) >= gapsWaiting {
			m.dropped++
			return
		}
		one = &GapMisses{ID: id, Project: miss.Project, First: at}
		m.waiting[id] = one
	}
	last.times++
	m.latest[asker] = last
	one.Question, one.Last = miss.Question, learning.Later(one.Last, at)
	one.Count++
	if !slices.Contains(one.AskedIn, miss.In) {
		one.AskedIn = append(one.AskedIn, miss.In)
	}
	if asker != "" {
		one.Agents = slices.DeleteFunc(one.Agents, func(a string) bool { return a == asker })
		one.Agents = slices.Insert(one.Agents, 0, asker)
		one.Agents = one.Agents[:min(len(one.Agents), MaxGapAgents)]
	}
}

// withdraw takes back what an agent is counted for.
func (one *GapMisses) withdraw(asker string, times int64) {
	one.Count = max(0, one.Count-times)
	one.Agents = slices.DeleteFunc(one.Agents, func(a string) bool { return a == asker })
}

// typedOn tells whether a text goes on where another ends.
func typedOn(before, after string) bool {
	return len(after) > len(before) && strings.HasPrefix(learning.Fold(after), learning.Fold(before))
}

// take hands out the misses that nobody has added to since before; with a zero
// time, all. They are gone from memory.
func (m *gathered) take(before time.Time) []GapMisses {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []GapMisses
	for id, one := range m.waiting {
		if before.IsZero() || !one.Last.After(before) {
			list = append(list, *one)
			delete(m.waiting, id)
		}
	}
	return list
}

// Add adds to a gap what was gathered of it. An answered one is open again: what
// answered it is gone, or is not found where it was asked now.
func (gap *Gap) Add(misses GapMisses) {
	gap.Question, gap.Count = misses.Question, gap.Count+misses.Count
	gap.LastAsked = learning.Later(gap.LastAsked, misses.Last)
	if gap.Status == GapAnswered {
		gap.open()
		gap.AskedIn = nil
	}
	for _, place := range misses.AskedIn {
		if !slices.Contains(gap.AskedIn, place) {
			gap.AskedIn = append(gap.AskedIn, place)
		}
	}
	old := slices.DeleteFunc(gap.Agents, func(a string) bool { return slices.Contains(misses.Agents, a) })
	gap.Agents = append(slices.Clone(misses.Agents), old...)
	gap.Agents = gap.Agents[:min(len(gap.Agents), MaxGapAgents)]
}
