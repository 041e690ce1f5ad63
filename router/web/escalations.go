package web

import (
	"context"

	"skillrouter/operational"
)

func (s *Server) escalationPages() {
	s.page("/ui/escalations", "escalations.html", "Escalations", s.escalations)
	s.section(memory, "Escalations", "/ui/escalations")
	for _, verdict := range []struct {
		verb, sentence string
		do             func(context.Context, string, operational.EscalationVerdict) (operational.Escalation, error)
	}{
		{"review", "The escalation is marked as looked at.", s.services.Escalations.Review},
		{"resolve", "The escalation is resolved.", s.services.Escalations.Resolve},
		{"dismiss", "The escalation is dismissed: it is not raised again for this reason.", s.services.Escalations.Dismiss},
	} {
		s.notice("escalation-"+verdict.verb, verdict.sentence)
		s.action("/ui/escalations/"+verdict.verb, "/ui/escalations", func(v *visit) (string, error) {
			_, err := verdict.do(v.context(), v.value("id"), operational.EscalationVerdict{By: v.by(), Notes: v.value("notes")})
			return link("/ui/escalations", "status", v.value("status"), "done", "escalation-"+verdict.verb), err
		})
	}
}

// escalationList is what the list of escalations shows.
type escalationList struct {
	Escalations []operational.Escalation
	Statuses    []option
	Status, To  string
	Full        bool // there may be more
}

// maxEscalations bounds the escalations of one status on the page: what does not fit is less urgent.
const maxEscalations = 40

func (s *Server) escalations(v *visit) (any, error) {
	page := escalationList{Status: v.value("status"), To: v.value("to"), Statuses: options("open", v.value("status"), operational.EscalationStatuses())}
	statuses := []operational.EscalationStatus{operational.EscalationStatus(page.Status)}
	if page.Status == "" {
		statuses = []operational.EscalationStatus{operational.EscalationPending, operational.EscalationReviewed}
	}
	// One status at a time: the most urgent of each lie together in the index, and those of several do not.
	for _, status := range statuses {
		found, err := s.services.Escalations.List(v.context(), operational.EscalationFilter{
			To: page.To, Status: []operational.EscalationStatus{status}, Limit: maxEscalations,
		})
		if err != nil {
			return nil, err
		}
		page.Escalations = append(page.Escalations, found...)
		page.Full = page.Full || len(found) == maxEscalations
	}
	return page, nil
}
