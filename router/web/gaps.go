package web

import (
	"cmp"
	"strings"

	"skillrouter/internal/principal"
	"skillrouter/learning"
	"skillrouter/learning/feedback"
	"skillrouter/learning/knowledge"
)

func (s *Server) gapPages() {
	s.page("/ui/gaps", "gaps.html", "Knowledge gaps", s.gaps)
	s.page("/ui/gap", "gap.html", "Knowledge gap", s.gap)
	s.section(memory, "Knowledge gaps", "/ui/gaps")
	s.notice("gap-dismissed", "The gap is dismissed. It stays so, however often it is asked.")
	s.notice("gap-reopened", "The gap is open again.")
	s.notice("gap-answered", "The question finds something now: the gap is closed.")
	s.notice("gap-open", "The question still finds nothing.")
	s.notice("gap-stored", "The answer is stored, but the question does not find it yet: does it say the question's words?")
	s.action("/ui/gap/dismiss", "/ui/gap", func(v *visit) (string, error) {
		_, err := s.services.Gaps.Dismiss(v.context(), v.value("id"), v.value("reason"))
		return link("/ui/gaps", "done", "gap-dismissed"), err
	})
	s.action("/ui/gap/reopen", "/ui/gap", func(v *visit) (string, error) {
		id := v.value("id")
		_, err := s.services.Gaps.Reopen(v.context(), id)
		return link("/ui/gap", "id", id, "done", "gap-reopened"), err
	})
	s.action("/ui/gap/check", "/ui/gap", func(v *visit) (string, error) {
		return s.checkGap(v, "gap-open")
	})
	if s.services.Knowledge != nil {
		s.action("/ui/gap/answer", "/ui/gap", s.answerGap)
	}
}

// checkGap asks the gap's question again and says what came of it.
func (s *Server) checkGap(v *visit, otherwise string) (string, error) {
	gap, err := s.services.Gaps.Check(v.context(), v.value("id"))
	if err != nil {
		return "", err
	}
	if gap.Status == feedback.GapAnswered {
		otherwise = "gap-answered"
	}
	return link("/ui/gap", "id", gap.ID, "done", otherwise), nil
}

func (s *Server) answerGap(v *visit) (string, error) {
	if err := v.principal().Keeping().Need(principal.ScopeAgent); err != nil { // before it is told whether there is such a gap
		return "", err
	}
	gap, err := s.services.Gaps.Gap(v.context(), v.value("id"))
	if err != nil {
		return "", err
	}
	if _, err := s.services.Knowledge.Store(v.context(), knowledge.Draft{
		Category: v.value("category"), Title: v.value("title"), Content: v.value("content"), Project: gap.Project, Source: "written in the dashboard", AgentID: v.by(),
	}); err != nil {
		return "", err
	}
	return s.checkGap(v, "gap-stored")
}

// gapList is what the list of gaps shows.
type gapList struct {
	Gaps                     []feedback.Gap
	Total                    int64
	Project                  string
	Statuses, Places, Orders []option
	pager
}

func (s *Server) gaps(v *visit) (any, error) {
	query := feedback.GapQuery{
		Status: feedback.GapStatus(v.value("status")), Project: v.value("project"), AskedIn: learning.GapPlace(v.value("in")),
		Order: feedback.GapOrder(v.value("order")), Cursor: v.value("cursor"),
	}
	query.Status = cmp.Or(query.Status, feedback.GapOpen)
	query.Order = cmp.Or(query.Order, feedback.GapsOften)
	found, err := s.services.Gaps.List(v.context(), query)
	if err != nil {
		return nil, err
	}
	fields := []string{"status", "project", "in", "order"}
	return gapList{
		Gaps: found.Gaps, Total: found.Total, Project: query.Project,
		Statuses: options("", string(query.Status), feedback.GapStatuses()),
		Places:   options("anywhere", v.value("in"), learning.GapPlaces()),
		Orders: []option{
			{Value: string(feedback.GapsOften), Name: "most often first", Chosen: query.Order == feedback.GapsOften},
			{Value: string(feedback.GapsRecent), Name: "latest first", Chosen: query.Order == feedback.GapsRecent},
		},
		pager: v.pages("/ui/gaps", found.Next, "First", "More", fields...),
	}, nil
}

// gapPage is what a gap's page shows.
type gapPage struct {
	Gap      feedback.Gap
	Lesson   string // id of the lesson that answered it
	Category string
	CanWrite bool
}

func (s *Server) gap(v *visit) (any, error) {
	gap, err := s.services.Gaps.Gap(v.context(), v.value("id"))
	if err != nil {
		return nil, err
	}
	v.title = short(80, gap.Question)
	return gapPage{
		Gap: gap, Lesson: lessonOf(gap.AnsweredBy), Category: "answers",
		CanWrite: s.services.Knowledge != nil && v.principal().Has(principal.ScopeAgent),
	}, nil
}

// lessonOf is the id in kind/id, if that is a lesson's.
func lessonOf(answer string) string {
	if id, ok := strings.CutPrefix(answer, "lesson/"); ok {
		return id
	}
	return ""
}
