package web

import (
	"cmp"
	"slices"
	"strconv"

	"skillrouter/learning/history"
)

const incidentsPath = "/ui/incidents"

func (s *Server) incidentPages() {
	s.page(incidentsPath, "incidents.html", "Incidents", s.incidents)
	s.page("/ui/incident", "incident.html", "Incident", s.incident)
	s.section(memory, "Incidents", incidentsPath)
	s.notice("incident-accepted", "It is accepted: agents are warned before they run it again, and told what works.")
	s.notice("incident-undone", "The acceptance is taken back: nobody is warned of it.")
	for _, act := range []struct {
		path, done string
		undo       bool
	}{{"/ui/incident/accept", "incident-accepted", false}, {"/ui/incident/undo", "incident-undone", true}} {
		s.action(act.path, "/ui/incident", func(v *visit) (string, error) {
			id := v.value("id")
			_, err := s.services.Incidents.Accept(v.context(), history.Decision{IDs: []string{id}, Undo: act.undo, By: v.by()})
			return link("/ui/incident", "id", id, "done", act.done), err
		})
	}
}

// incidentList is what the list of incidents shows.
type incidentList struct {
	history.Page
	Query, Project string
	Projects       []option
	Often          []option
	pager
}

func (s *Server) incidents(v *visit) (any, error) {
	ctx := v.context()
	page := incidentList{Query: v.value("q"), Project: v.value("project")}
	projects, err := s.services.Incidents.Projects(ctx)
	if err != nil {
		return nil, err
	}
	// Incidents belong to a project each. Where none is named, the one with most that recur is shown.
	if _, named := v.Form["project"]; !named && len(projects) > 0 {
		page.Project = slices.MaxFunc(projects, func(a, b history.ProjectCount) int { return a.Recurring - b.Recurring }).Project
	}
	for _, p := range projects {
		name := cmp.Or(p.Project, "no project")
		page.Projects = append(page.Projects, option{Value: p.Project, Name: name + " (" + strconv.Itoa(p.Incidents) + ")", Chosen: p.Project == page.Project})
	}
	if !slices.ContainsFunc(page.Projects, func(o option) bool { return o.Chosen }) {
		page.Projects = append(page.Projects, option{Value: page.Project, Name: cmp.Or(page.Project, "none yet"), Chosen: true})
	}
	filter := history.Filter{Project: page.Project, Query: page.Query, Cursor: v.value("cursor"), Limit: pageRows}
	if v.value("sessions") == "2" {
		filter.Sessions = 2
	}
	page.Often = []option{{Name: "all", Chosen: filter.Sessions == 0}, {Value: "2", Name: "of two sessions and more", Chosen: filter.Sessions == 2}}
	if page.Page, err = s.services.Incidents.List(ctx, filter); err != nil {
		return nil, err
	}
	page.pager = v.turns("cursor", page.Next, filter.Cursor != "", "First", "More")
	return page, nil
}

// incidentPage is what an incident's page shows.
type incidentPage struct {
	history.Incident
	toldView
}

func (s *Server) incident(v *visit) (any, error) {
	found, err := s.services.Incidents.Incident(v.context(), v.value("id"))
	if err != nil {
		return nil, err
	}
	v.title = short(80, found.Program+": "+found.Error)
	page := incidentPage{Incident: found}
	page.toldView, err = s.toldOf(v.context(), "incident", found.ID)
	return page, err
}
