package web

import (
	"cmp"
	"strconv"

	"skillrouter/internal/errs"
	"skillrouter/operational"
	"skillrouter/router"
	"skillrouter/router/value"
)

func (s *Server) valuePages() {
	s.page("/ui/value", "value.html", "What it is worth", s.value)
	s.section(memory, "What it is worth", "/ui/value")
}

// valuePage is what the page of what the memory is worth shows.
type valuePage struct {
	value.Report
	Rows  []valueRow
	Spans []option
}

// valueRow is an item, and the page on which a person can take it out of use.
type valueRow struct {
	value.Item
	Path string
}

// spans are how many days the page offers.
var spans = []int{value.DefaultDays, 30, 90}

// days is how many days a page was asked for.
func (v *visit) days(otherwise int) (int, error) {
	days, err := strconv.Atoi(cmp.Or(v.value("days"), strconv.Itoa(otherwise)))
	if err != nil || days < 1 {
		return 0, errs.InvalidField("days", "must be a number of days")
	}
	return days, nil
}

func (s *Server) value(v *visit) (any, error) {
	days, err := v.days(value.DefaultDays)
	if err != nil {
		return nil, err
	}
	report, err := s.services.Value.Value(v.context(), value.Query{Days: days, Project: v.value("project")})
	if err != nil {
		return nil, err
	}
	v.charts = true
	page := valuePage{Report: report}
	for _, item := range report.Items {
		row := valueRow{item, toldPath(operational.ToldItem{Kind: item.Kind, ID: item.ID})}
		if item.Kind == router.KindGuard && s.services.Guard != nil {
			if rule, err := s.services.Guard.Rule(v.context(), item.ID); err == nil && rule.LessonID != "" {
				row.Path = link("/ui/lesson", "id", rule.LessonID)
			}
		}
		page.Rows = append(page.Rows, row)
	}
	for _, n := range spans {
		page.Spans = append(page.Spans, option{Value: strconv.Itoa(n), Name: strconv.Itoa(n) + " days", Chosen: n == days})
	}
	return page, nil
}
