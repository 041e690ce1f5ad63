package web

import (
	"cmp"
	"maps"
	"slices"

	"skillrouter/learning/incident"
)

func (s *Server) replayPages() {
	s.page("/ui/replay", "replay.html", "What replay measured", s.measured)
	s.section(memory, "What replay measured", "/ui/replay")
}

// replayPage is what the page of a replay shows.
type replayPage struct {
	incident.StoredReplay
	Stored   bool
	Shares   []incident.ReplayedShare
	Points   []replayPoint
	Projects []replayRow
	Latest   []replayRow // sessions in which a mistake came back
	More     int         // further ones
}

// replayPoint is all that was measured up to a session.
type replayPoint struct {
	Sessions int
	incident.ReplayedCounts
}

// replayRow is what was measured in a session, or in the sessions of a project.
type replayRow struct {
	Name, Project string
	Sessions      int
	incident.ReplayedCounts
}

const (
	// replayPoints is how many points the picture has: more than that are not told apart in it.
	replayPoints = 120
	// replayRows is how many sessions and projects the page lists; `skillrouter replay --all` and --json have all.
	replayRows = 100
)

func (s *Server) measured(v *visit) (any, error) {
	replay, err := s.services.Incidents.LastReplay(v.context())
	if err != nil {
		return nil, err
	}
	page := replayPage{StoredReplay: replay, Stored: !replay.At.IsZero(), Shares: replay.Total.Shares()}
	projects := map[string]replayRow{}
	var sum replayPoint
	for i, one := range replay.Each {
		sum.Sessions++
		sum.Add(one.ReplayedCounts)
		// A point stands at the end of each of replayPoints parts.
		if n := len(replay.Each); (i+1)*replayPoints/n > i*replayPoints/n {
			page.Points = append(page.Points, sum)
		}
		row := projects[one.Project]
		row.Name, row.Sessions = one.Project, row.Sessions+1
		row.Add(one.ReplayedCounts)
		projects[one.Project] = row
	}
	page.Projects = slices.SortedFunc(maps.Values(projects), func(a, b replayRow) int {
		return cmp.Or(cmp.Compare(b.Repeats, a.Repeats), cmp.Compare(a.Name, b.Name))
	})
	page.Projects = page.Projects[:min(len(page.Projects), replayRows)]
	for _, one := range slices.Backward(replay.Each) {
		switch {
		case one.Repeats == 0:
		case len(page.Latest) == replayRows:
			page.More++
		default:
			page.Latest = append(page.Latest, replayRow{Name: one.Session, Project: one.Project, ReplayedCounts: one.ReplayedCounts})
		}
	}
	return page, nil
}
