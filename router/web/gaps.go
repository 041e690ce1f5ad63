package web

import "skillrouter/learning/verdict"

func (s *Server) gapPages() {
	s.page("/ui/gaps", "gaps.html", "Knowledge gaps", s.gaps)
	s.section(memory, "Knowledge gaps", "/ui/gaps")
	s.notice("gap-dismissed", "The question is forgotten until it is asked again.")
	s.action("/ui/gap/dismiss", "/ui/gaps", func(v *visit) (string, error) {
		return link("/ui/gaps", "done", "gap-dismissed"), s.services.Verdicts.Dismiss(v.context(), v.value("id"))
	})
}

// gapList is what the list of gaps shows.
type gapList struct {
	verdict.GapPage
	Project string
	Orders  []option
}

func (s *Server) gaps(v *visit) (any, error) {
	query := verdict.GapQuery{Project: v.value("project"), Order: verdict.GapOrder(v.value("order"))}
	if query.Order == "" {
		query.Order = verdict.GapsOften
	}
	found, err := s.services.Verdicts.Gaps(v.context(), query)
	return gapList{GapPage: found, Project: query.Project, Orders: []option{
		{Value: string(verdict.GapsOften), Name: "most often first", Chosen: query.Order == verdict.GapsOften},
		{Value: string(verdict.GapsRecent), Name: "latest first", Chosen: query.Order == verdict.GapsRecent},
	}}, err
}
