package web

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"skillrouter/internal/errs"
	"skillrouter/internal/principal"
	"skillrouter/learning"
	"skillrouter/learning/guard"
	"skillrouter/learning/history"
	"skillrouter/learning/lesson"
)

// Bounds of a lesson's page and a pattern's.
const (
	lessonSources   = 8   // source lessons that are shown with their titles; each is a reading
	lessonHistory   = 100 // changes
	lessonAmong     = 100 // patterns of its domain that are looked through for it
	patternEvidence = 10  // lessons that are shown with their titles
)

// guardThings are what the guard's kinds have of their own.
func (s *Server) guardThings() {
	if s.services.Guard == nil {
		return
	}
	s.own["check"] = func(t *thing) bool {
		plain := *t
		plain.row = func(_ *visit, item any, of record) { of["proposed_action"] = item.(lesson.CheckRecord).Brief() }
		t.list = func(v *visit) (listing, error) { return s.checks(v, &plain) }
		return true
	}
	s.own["rule"] = func(t *thing) bool {
		t.row = func(_ *visit, item any, of record) { of["standing"] = standing(item.(guard.Rule)) }
		p := s.placeAt(guardPath)
		p.kinds = append(p.kinds, "approval") // past ones are read here; deciding is the inbox's
		return true
	}
}

// checks lists the checks of the guard, with what keeps hooks from asking it.
func (s *Server) checks(v *visit, t *thing) (listing, error) {
	l, err := s.called(v, t)
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

// lessons lists lessons or, if there are words, those that fit these.
func (s *Server) lessons(v *visit, t *thing) (l listing, err error) {
	words := v.value("q")
	if words == "" {
		if l, err = s.called(v, t); err == nil {
			err = s.countTold(v, l.Rows)
		}
		return l, err
	}
	query := lesson.Query{Context: words, Domain: v.value("domain"), Narrow: true, Limit: learning.MaxLimit}
	if tag := v.value("tag"); tag != "" {
		query.Tags = []string{tag}
	}
	found, err := s.services.Lessons.Relevant(learning.NotAsked(v.Context()), query) // what is half typed is no question
	if err != nil {
		return l, err
	}
	for _, hit := range found.Results {
		fits := func(name, has string) bool { return v.value(name) == "" || v.value(name) == has }
		if fits("lesson_type", string(hit.Type)) && fits("level", string(hit.Level)) && fits("status", string(hit.Status)) && len(l.items) < pageRows {
			l.items = append(l.items, hit.Lesson)
		}
	}
	l.Order = "The likeliest first"
	l.Rows, err = s.rowsFrom(v, t, l.items)
	return l, err
}

// lesson adds to a lesson what stands around it, and its history.
func (s *Server) lesson(v *visit, _ string, item any, _ record, d *detail) error {
	l := item.(lesson.Lesson)
	if l.Type == learning.LessonAntiPattern {
		d.Chips = append(d.Chips, string(l.Severity))
	}
	if err := s.lessonPlace(v, l, d); err != nil {
		return err
	}
	of, err := s.kindOf("lesson")
	if err != nil {
		return err
	}
	if err := s.surround(v, of, d, l); err != nil {
		return err
	}
	history, err := s.services.Lessons.History(v.Context(), l.ID)
	changes := plainTable("When | w72;What | w112;By | w128 x;Confidence | w112 x;Note | t")
	for i := len(history) - 1; i >= 0 && len(changes.Rows) < lessonHistory; i-- {
		h, moved := history[i], ""
		if h.Before != nil && h.After != nil {
			moved = percent(h.Before.Confidence) + " → " + percent(h.After.Confidence)
		}
		changes.add(at(h.At), head("", words(h.Kind), ""), agentCell(h.Agent), text(moved), text(h.Note))
	}
	d.Blocks = append(d.Blocks, block{ID: "history", Title: "History", Table: changes, Empty: "Nothing yet."})
	return err
}

// lessonPlace finds what stands before and after a lesson: its sources, patterns and the guard's rule.
func (s *Server) lessonPlace(v *visit, l lesson.Lesson, d *detail) error {
	ctx := v.Context()
	links := func(name string, found []cell) {
		if len(found) > 0 {
			d.Facts = append(d.Facts, shownFact{Name: name, Links: found})
		}
	}
	named := func(ids ...string) (found []cell) {
		for _, id := range ids {
			if one, err := s.services.Lessons.Lesson(ctx, id); id != "" && err == nil { // it may be another project's
				found = append(found, cell{Text: one.Title, Path: pathOf("lesson", id)})
			}
		}
		return found
	}
	links("Superseded by", named(l.SupersededBy))
	links("Drawn from", named(l.SourceCaseIDs[:min(len(l.SourceCaseIDs), lessonSources)]...))
	if s.services.Patterns != nil {
		among, err := s.services.Patterns.List(ctx, lesson.PatternFilter{Domain: l.Domain, Limit: lessonAmong})
		if err != nil {
			return err
		}
		var in []cell
		for _, p := range among {
			if p.ID == l.PatternID || slices.Contains(p.LessonIDs, l.ID) {
				in = append(in, cell{Text: p.Name, Path: pathOf("pattern", p.ID)})
			}
		}
		links("Patterns", in)
	}
	if s.services.Guard == nil || l.Type != learning.LessonAntiPattern {
		return nil
	}
	rule, err := s.services.Guard.Rule(ctx, l.ID)
	if err == nil {
		d.Facts = append(d.Facts, shownFact{Name: "Rule of the guard", Text: standing(rule), Path: pathOf("rule", rule.ID)})
	}
	if errs.CodeOf(err) == errs.NotFound {
		return nil
	}
	return err
}

// pattern adds to a pattern the lessons that it gathers.
func (s *Server) pattern(v *visit, _ string, item any, _ record, d *detail) error {
	p := item.(lesson.Pattern)
	var evidence []any
	for _, id := range p.LessonIDs[:min(len(p.LessonIDs), patternEvidence)] {
		if s.things["lesson"] != nil {
			if one, err := s.services.Lessons.Lesson(v.Context(), id); err == nil {
				evidence = append(evidence, one)
			}
		}
	}
	if len(evidence) == 0 {
		return nil
	}
	t := s.things["lesson"]
	rows, err := s.rowsFrom(v, t, evidence)
	d.Blocks = append(d.Blocks, block{ID: "lessons", Title: "Its lessons", Live: "lesson.", Table: &table{Columns: columnsOf(t.Columns...), Rows: rows}})
	return err
}

// incidents lists incidents of the project that is asked for or, where none is named, of the one with most that recur.
func (s *Server) incidents(v *visit, t *thing) (listing, error) {
	of := *v
	of.Request = v.WithContext(v.Context())
	of.Form = maps.Clone(v.Form)
	project, _, err := s.incidentProject(v)
	if err != nil {
		return listing{}, err
	}
	of.Form.Set("project", project)
	l, err := s.called(&of, t)
	if words := v.value("query"); words != "" && len(l.Rows) == 0 {
		l.Notes = searchNotes("", nil, words, 0)
	}
	return l, err
}

// incidentProject is the project whose incidents are shown, and all that have some.
func (s *Server) incidentProject(v *visit) (string, []history.ProjectCount, error) {
	projects, err := s.services.Incidents.Projects(v.Context())
	if named, ok := v.Form["project"]; ok || len(projects) == 0 {
		return first(named), projects, err
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

// incident adds to an incident what worked instead, and where it was told.
func (s *Server) incident(v *visit, id string, item any, _ record, d *detail) error {
	i := item.(history.Incident)
	if i.Accepted {
		d.Chips = []string{"accepted"}
	}
	d.Facts = append(d.Facts, shownFact{Name: "How often", Text: fmt.Sprintf("%d times in %d sessions", i.Count, i.Sessions)})
	fixes := plainTable("Commands | t;Worked | w72 n;Failed | w72 n;Last | w64 n")
	for _, f := range i.Fixes {
		name := cell{Head: true, Code: true}
		for _, step := range f.Steps {
			name.Text += step + "\n"
		}
		name.Text += f.Command
		switch {
		case f.Risky:
			name.Chip, name.Sub = "risky", "It is never offered to an agent."
		case f.Foreign != "" && !f.Person:
			name.Chip, name.Sub = "risky", f.Foreign+": offered only after a person accepts this incident"
		}
		fixes.add(name, text(count(f.Worked)), text(count(f.Failed)), at(f.Last))
	}
	d.Blocks = []block{{ID: "works", Title: "What worked instead", Table: fixes, Empty: "Nothing that the router saw."}}
	if len(i.Others) > 0 {
		failed := block{ID: "others", Title: "Failed too"}
		for _, o := range i.Others {
			failed.Facts = append(failed.Facts, shownFact{Name: count(o.Count) + "×", Text: o.Command, Code: true})
		}
		d.Blocks = append(d.Blocks, failed)
	}
	told, err := s.toldBlocks(v, "incident", i.ID)
	d.Blocks = append(d.Blocks, told...)
	return err
}
