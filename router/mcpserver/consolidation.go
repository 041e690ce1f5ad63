package mcpserver

import (
	"encoding/json"
	"fmt"
	"strings"

	"skillrouter/learning/history"
)

// proposal is what a model needs of a proposal.
type proposal struct {
	ID         string                 `json:"id"`
	Kind       history.ProposalKind   `json:"kind"`
	Content    json.RawMessage        `json:"content"` // null if it is cut
	Confidence float64                `json:"confidence"`
	Evidence   string                 `json:"evidence"`
	Status     history.ProposalStatus `json:"status"`
	StoredAs   string                 `json:"stored_as,omitempty"`
	Author     string                 `json:"agent_id,omitempty"`
	Reason     string                 `json:"reason,omitempty"`
}

type proposals struct {
	Proposals []proposal `json:"proposals"`
	Accepted  int        `json:"accepted"`
	Duplicate bool       `json:"duplicate"`
	Notice    string     `json:"notice,omitempty"`
}

type oneProposal struct {
	Proposal proposal `json:"proposal"`
	Notice   string   `json:"notice,omitempty"`
}

// addConsolidationTools offers what makes memory of a transcript, in the toolset of the memories that it fills.
func (s *Server) addConsolidationTools() {
	consolidation := s.services.Consolidation
	add(s, tool{
		name: "consolidate_transcript", title: "Consolidate a transcript", set: ToolsetFacts, former: formerContext, effect: ensure, holds: "proposals",
		description: "Propose facts, episodes and procedures from a session's transcript. The same one again changes nothing.",
	}, func(p *params, d *history.TranscriptDraft) {
		p.must("transcript", &d.Text, "Lines \"User: …\", \"Assistant: …\", \"Tool: …\", or messages as JSON")
		p.may("session_id", &d.SessionID, "")
		p.belongsHere(&d.Project)
		p.may("persona", &d.Persona, whoseMemory)
		p.actor(&d.AgentID)
	}, then(consolidation.Consolidate, func(became history.Consolidated) (proposals, string) {
		said := fmt.Sprintf("%s from this transcript, by %s.", count(len(became.Proposals), "proposal", "proposals"), became.Extractor)
		if became.Duplicate {
			said = "This transcript was consolidated before. " + said
		}
		if became.Notice != "" {
			said += " Note: " + visible(became.Notice) + "."
		}
		out := proposals{Proposals: views(became.Proposals, shownProposal), Accepted: became.Accepted, Duplicate: became.Duplicate}
		return out, listing(out.Proposals, &out.Notice, proposalEntry, said, "%s", said).String()
	}))
	add(s, tool{
		name: "list_proposals", title: "List proposals", set: ToolsetFacts, former: formerContext, effect: reads, holds: "proposals",
		description: "What transcripts propose to remember, the latest first, with the evidence.",
	}, func(p *params, f *history.ProposalFilter) {
		p.may("persona", &f.Persona, whoseMemory)
		p.may("session_id", &f.SessionID, "")
		p.may("kind", &f.Kind, "", among(history.ProposalKinds()...))
		p.may("status", &f.Status, "", among(history.ProposalPending, history.ProposalAccepted, history.ProposalRejected))
		p.limit(&f.Limit, history.DefaultProposalLimit, history.MaxProposalLimit)
	}, then(consolidation.Proposals, func(list []history.Proposal) (proposals, string) {
		out := proposals{Proposals: views(list, shownProposal)}
		said := count(len(list), "proposal", "proposals") + ", the latest first."
		return out, listing(out.Proposals, &out.Notice, proposalEntry, said, "%s", said).String()
	}))
	add(s, tool{
		name: "accept_proposal", title: "Accept a proposal", set: ToolsetFacts, former: formerContext, effect: ensure, holds: "proposal",
		description: "Store what is proposed from a transcript of yours.",
	}, func(p *params, id *string) { p.must("proposal_id", id, "") }, then(consolidation.Accept, decidedProposal))
	add(s, tool{
		name: "reject_proposal", title: "Reject a proposal", set: ToolsetFacts, former: formerContext, effect: ensure, holds: "proposal",
		description: "Say that a proposal is not worth remembering.",
	}, func(p *params, c *change[string, string]) {
		p.must("proposal_id", &c.id, "")
		p.may("reason", &c.draft, "")
	}, then(changing(consolidation.Reject), decidedProposal))
}

func decidedProposal(p history.Proposal) (oneProposal, string) {
	out := oneProposal{shownProposal(p), notice}
	alone(&out.Proposal, proposalEntry, "") // for the fields: who decides has seen it
	if p.StoredAs != "" {
		return out, fmt.Sprintf("Stored as %s %s.", p.Kind, visible(p.StoredAs))
	}
	return out, fmt.Sprintf("The proposal is %s.", p.Status)
}

func shownProposal(p history.Proposal) proposal {
	return proposal{
		ID: p.ID, Kind: p.Kind, Content: p.Content, Confidence: p.Confidence, Evidence: strings.Join(p.Evidence, "\n"), Status: p.Status,
		StoredAs: p.StoredAs, Author: p.AgentID, Reason: p.Reason,
	}
}

// proposalEntry shows a proposal. A content that is cut is JSON no more, and is left out of the fields.
func proposalEntry(p *proposal) entry {
	content := string(p.Content)
	return entry{[]*string{&content, &p.Evidence, &p.Reason}, func(int) (string, []string) {
		if content != string(p.Content) {
			p.Content = nil
		}
		return fmt.Sprintf("%s, %s, confidence %.2f, from a transcript of %s", p.Kind, p.Status, p.Confidence, author(p.Author)),
			[]string{attributes("id", p.ID, "stored_as", p.StoredAs), content, part("Evidence", p.Evidence), part("Reason", p.Reason)}
	}}
}
