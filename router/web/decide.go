package web

import (
	"skillrouter"
	"skillrouter/learning/consolidate"
	"skillrouter/learning/guard"
	"skillrouter/learning/lesson"
	"skillrouter/operational"
)

const decidePath = "/ui/decide"

func (s *Server) decidePages() {
	s.page(decidePath, "decide.html", "Decide", s.decide)
	s.section(operations, "Decide", decidePath)
}

// decisions is what wants a person's decision.
type decisionsPage struct {
	Approvals   []lesson.Approval
	May         bool // the visitor decides on approvals
	Proposals   []consolidate.Proposal
	Escalations []matter
	Stale       []operational.Agent
	Blocked     []operational.Task
	None        bool
}

// matter is what was escalated, once, to whomever.
type matter struct {
	operational.Escalation
	To []string
}

func (s *Server) decide(v *visit) (any, error) {
	ctx, page := v.context(), decisionsPage{}
	var err error
	if s.services.Guard != nil {
		found, err := s.services.Guard.Approvals(ctx, guard.ApprovalFilter{State: lesson.ApprovalPending})
		if err != nil {
			return nil, err
		}
		page.Approvals = found.Approvals
		_, refused := skillrouter.PrincipalOf(ctx).AsPerson()
		page.May = refused == nil
	}
	if s.services.Consolidation != nil {
		if page.Proposals, err = s.services.Consolidation.Proposals(ctx, consolidate.ProposalFilter{Status: consolidate.ProposalPending, Limit: pageRows}); err != nil {
			return nil, err
		}
	}
	if s.services.Escalations != nil {
		found, err := s.services.Escalations.List(ctx, operational.EscalationFilter{Status: []operational.EscalationStatus{operational.EscalationPending}, Limit: maxEscalations})
		if err != nil {
			return nil, err
		}
		page.Escalations = onceEach(found)
	}
	if s.services.Presence != nil {
		if page.Stale, err = s.services.Presence.Agents(ctx, operational.AgentFilter{State: operational.AgentStale, Limit: pageRows}); err != nil {
			return nil, err
		}
	}
	if s.services.Tasks != nil {
		if page.Blocked, err = s.services.Tasks.List(ctx, operational.TaskFilter{Status: []operational.TaskStatus{operational.TaskBlocked}, Limit: pageRows}); err != nil {
			return nil, err
		}
	}
	page.None = len(page.Approvals)+len(page.Proposals)+len(page.Escalations)+len(page.Stale)+len(page.Blocked) == 0
	return page, nil
}

// onceEach gathers escalations of one matter, which may have gone to several.
func onceEach(found []operational.Escalation) (matters []matter) {
	place := map[string]int{}
	for _, e := range found {
		id := e.LessonID + "/" + e.PatternID
		i, there := place[id]
		if !there {
			i = len(matters)
			place[id], matters = i, append(matters, matter{Escalation: e})
		}
		matters[i].To = append(matters[i].To, e.To)
	}
	return matters
}
