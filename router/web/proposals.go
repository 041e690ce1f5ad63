package web

import (
	"cmp"

	"skillrouter/learning/history"
)

func (s *Server) proposalPages() {
	s.page("/ui/proposals", "proposals.html", "Proposals", s.proposals)
	s.section(memory, "Proposals", "/ui/proposals")
	s.notice("proposal-accepted", "The proposal is accepted and remembered.")
	s.notice("proposal-rejected", "The proposal is rejected.")
	s.action("/ui/proposals/accept", "/ui/proposals", func(v *visit) (string, error) {
		_, err := s.services.Consolidation.Accept(v.context(), v.value("id"))
		return link("/ui/proposals", "done", "proposal-accepted"), err
	})
	s.action("/ui/proposals/reject", "/ui/proposals", func(v *visit) (string, error) {
		_, err := s.services.Consolidation.Reject(v.context(), v.value("id"), v.value("notes"))
		return link("/ui/proposals", "done", "proposal-rejected"), err
	})
}

// proposalList is what the list of proposals shows.
type proposalList struct {
	Proposals       []history.Proposal
	Kinds, Statuses []option
	Full            bool // there may be more
}

// maxProposals bounds the page.
const maxProposals = 50

func (s *Server) proposals(v *visit) (any, error) {
	filter := history.ProposalFilter{Kind: history.ProposalKind(v.value("kind")), Status: history.ProposalStatus(v.value("status")), Limit: maxProposals}
	filter.Status = cmp.Or(filter.Status, history.ProposalPending)
	found, err := s.services.Consolidation.Proposals(v.context(), filter)
	return proposalList{
		Proposals: found, Full: len(found) == maxProposals,
		Kinds:    options("every kind", v.value("kind"), []history.ProposalKind{history.ProposalFact, history.ProposalEpisode, history.ProposalProcedure}),
		Statuses: options("", string(filter.Status), []history.ProposalStatus{history.ProposalPending, history.ProposalAccepted, history.ProposalRejected}),
	}, err
}
