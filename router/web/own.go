package web

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"skillrouter/internal/errs"
	"skillrouter/internal/principal"
	"skillrouter/learning"
	"skillrouter/learning/guard"
	"skillrouter/learning/history"
	"skillrouter/learning/lesson"
)

// guardThings are what the guard's kinds have of their own.
func (s *Server) guardThings() {
	s.own["check"] = func(t *thing) {
		plain := *t
		plain.row = func(_ *visit, item any, of *record) { of.set("proposed_action", item.(lesson.CheckRecord).Brief()) }
		t.list = func(v *visit) (listing, error) { return s.checks(v, &plain) }
	}
	s.own["rule"] = func(t *thing) {
		t.row = func(_ *visit, item any, of *record) { of.set("standing", standing(item.(guard.Rule))) }
	}
}

// checks lists the checks of the guard, with what keeps hooks from asking it.
func (s *Server) checks(v *visit, t *thing) (listing, error) {
	l, err := s.called(v, t, v.Form)
	if err != nil {
		return l, err
	}
	if s.services.Hooks != nil && v.principal().Has(principal.ScopeCaptain) {
		for _, hook := range s.services.Hooks(v.Context()) {
			if !hook.OK {
				l.Notes = append(l.Notes, hook.Name+": "+hook.Detail)
			}
		}
	}
	if id := v.value("rule_id"); id != "" {
		found, err := s.services.Guard.Rule(v.Context(), id)
		if err != nil && errs.CodeOf(err) != errs.NotFound { // its checks outlive a rule
			return l, err
		}
		l.Notes = append(l.Notes, cmp.Or(after("Checks that showed the rule ", found.Title), "Checks that showed "+short(200, id)+", which is no rule, or no longer")+".")
	}
	return l, nil
}

// standing is what a rule does, in a word.
func standing(r guard.Rule) string {
	switch {
	case r.Demoted:
		return "demoted"
	case !r.Active:
		return "inactive"
	case r.Blocks:
		return "block"
	}
	return "warn"
}

// lesson adds to a lesson how it is changed, where it was told, and the guard's rule that it is.
func (s *Server) lesson(v *visit, item any, d *detail) error {
	ctx, l := v.Context(), item.(lesson.Lesson)
	of, err := s.kindOf("lesson")
	if err = cmp.Or(err, s.offerEdit(v, of, d, l), s.addTold(v, "lesson", d)); err != nil {
		return err
	}
	if s.services.Guard == nil || l.Type != learning.LessonAntiPattern {
		return nil
	}
	d.Chips = append(d.Chips, string(l.Severity))
	rule, err := s.services.Guard.Rule(ctx, l.ID)
	if errs.CodeOf(err) == errs.NotFound {
		return nil
	}
	d.Facts = append(d.Facts, shownFact{Name: "Rule of the guard", Text: standing(rule), Path: pathOf("rule", rule.ID)})
	return err
}

// incidents lists incidents of the project that is asked for or, where none is named, of the one with most that recur.
func (s *Server) incidents(v *visit, t *thing) (listing, error) {
	project, _, err := s.incidentProject(v)
	if err != nil {
		return listing{}, err
	}
	form := maps.Clone(v.Form)
	form.Set("project", project)
	l, err := s.called(v, t, form)
	if words := v.value("query"); words != "" && len(l.Rows) == 0 {
		l.Notes = searchNotes("", nil, words, 0)
	}
	return l, err
}

// incidentProject is the project whose incidents are shown, and all that have some.
func (s *Server) incidentProject(v *visit) (string, []history.ProjectCount, error) {
	projects, err := s.services.Incidents.Projects(v.Context())
	if v.Form.Has("project") || len(projects) == 0 {
		return v.value("project"), projects, err
	}
	return slices.MaxFunc(projects, func(a, b history.ProjectCount) int { return a.Recurring - b.Recurring }).Project, projects, err
}

// incidentProjects are the projects that incidents belong to, with how many each has.
func (s *Server) incidentProjects(v *visit) (list []option, err error) {
	chosen, projects, err := s.incidentProject(v)
	for _, p := range projects {
		list = append(list, option{Value: p.Project, Name: fmt.Sprintf("%s (%d)", cmp.Or(p.Project, "no project"), p.Incidents), Chosen: p.Project == chosen})
	}
	if len(list) > 0 && !slices.ContainsFunc(list, func(o option) bool { return o.Chosen }) {
		list = append(list, option{Value: chosen, Name: cmp.Or(chosen, "none yet"), Chosen: true})
	}
	return list, err
}

// incident adds to an incident how often it was seen, and where it was told.
func (s *Server) incident(v *visit, item any, d *detail) error {
	i := item.(history.Incident)
	if i.Accepted {
		d.Chips = []string{"accepted"}
	}
	d.Facts = append(d.Facts, shownFact{Name: "How often", Text: fmt.Sprintf("%d times in %d sessions", i.Count, i.Sessions)})
	return s.addTold(v, "incident", d)
}

// fixed shows what worked instead of a command: all that was run, and why a person should look at it.
func fixed(_ *visit, item any, of *record) {
	f := item.(history.Fix)
	of.set("command", strings.Join(append(slices.Clone(f.Steps), f.Command), "\n"))
	switch {
	case f.Risky:
		of.set("chip", "risky")
		of.set("why", "It is never offered to an agent.")
	case f.Foreign != "" && !f.Person:
		of.set("chip", "risky")
		of.set("why", f.Foreign+": offered only after a person accepts this incident")
	}
}
