package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"skillrouter/learning"
)

type consolidateTranscript struct {
	Transcript string `json:"transcript"`
	SessionID  string `json:"session_id"`
	Project    string `json:"project"`
	Persona    string `json:"persona"`
}

type listProposals struct {
	Persona   string                  `json:"persona"`
	SessionID string                  `json:"session_id"`
	Kind      learning.ProposalKind   `json:"kind"`
	Status    learning.ProposalStatus `json:"status"`
	Limit     int                     `json:"limit"`
}

type decideProposal struct {
	ID     string `json:"proposal_id"`
	Reason string `json:"reason"`
}

// proposal is what a model needs of a proposal.
type proposal struct {
	ID         string                  `json:"id"`
	Kind       learning.ProposalKind   `json:"kind"`
	Content    json.RawMessage         `json:"content"` // null if it is cut
	Confidence float64                 `json:"confidence"`
	Evidence   string                  `json:"evidence"`
	Status     learning.ProposalStatus `json:"status"`
	StoredAs   string                  `json:"stored_as,omitempty"`
	Author     string                  `json:"agent_id,omitempty"`
	Reason     string                  `json:"reason,omitempty"`
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
	persona := text("persona", "Whose memory; default \"default\"")
	add(s, tool{
		name: "consolidate_transcript", title: "Consolidate a transcript", set: ToolsetFacts, former: formerContext, effect: ensure,
		description: "Propose facts, episodes and procedures from a session's transcript. The same one again changes nothing.",
		input: arguments(
			required(text("transcript", "Lines \"User: …\", \"Assistant: …\", \"Tool: …\", or messages as JSON")),
			text("session_id", ""), text("project", ""), persona,
		),
		output: holds("proposals"),
	}, s.consolidateTranscript)
	add(s, tool{
		name: "list_proposals", title: "List proposals", set: ToolsetFacts, former: formerContext, effect: reads,
		description: "What transcripts propose to remember, the latest first, with the evidence.",
		input: arguments(
			persona, text("session_id", ""),
			oneOf("kind", "", learning.ProposalFact, learning.ProposalEpisode, learning.ProposalProcedure),
			oneOf("status", "", learning.ProposalPending, learning.ProposalAccepted, learning.ProposalRejected),
			integer("limit", "Default 100", 1, learning.MaxProposalLimit),
		),
		output: holds("proposals"),
	}, s.listProposals)
	add(s, tool{
		name: "accept_proposal", title: "Accept a proposal", set: ToolsetFacts, former: formerContext, effect: ensure,
		description: "Store what is proposed from a transcript of yours.",
		input:       arguments(required(text("proposal_id", ""))),
		output:      holds("proposal"),
	}, s.acceptProposal)
	add(s, tool{
		name: "reject_proposal", title: "Reject a proposal", set: ToolsetFacts, former: formerContext, effect: ensure,
		description: "Say that a proposal is not worth remembering.",
		input:       arguments(required(text("proposal_id", "")), text("reason", "")),
		output:      holds("proposal"),
	}, s.rejectProposal)
}

func (s *Server) consolidateTranscript(ctx context.Context, in consolidateTranscript) (reply[proposals], error) {
	became, err := s.services.Consolidation.Consolidate(ctx, learning.TranscriptDraft{
		Persona: in.Persona, AgentID: s.actor(ctx, ""), SessionID: in.SessionID, Project: in.Project, Text: in.Transcript,
	})
	if err != nil {
		return reply[proposals]{}, err
	}
	said := fmt.Sprintf("%s from this transcript, by %s.", count(len(became.Proposals), "proposal", "proposals"), became.Extractor)
	if became.Duplicate {
		said = "This transcript was consolidated before. " + said
	}
	if became.Notice != "" {
		said += " Note: " + visible(became.Notice) + "."
	}
	out, text := shownProposals(said, became.Proposals)
	out.Accepted, out.Duplicate = became.Accepted, became.Duplicate
	return reply[proposals]{out, text}, nil
}

func (s *Server) listProposals(ctx context.Context, in listProposals) (reply[proposals], error) {
	list, err := s.services.Consolidation.Proposals(ctx, learning.ProposalFilter{
		Persona: in.Persona, SessionID: in.SessionID, Kind: in.Kind, Status: in.Status, Limit: in.Limit,
	})
	if err != nil {
		return reply[proposals]{}, err
	}
	out, text := shownProposals(fmt.Sprintf("%s, the latest first.", count(len(list), "proposal", "proposals")), list)
	return reply[proposals]{out, text}, nil
}

func (s *Server) acceptProposal(ctx context.Context, in decideProposal) (reply[oneProposal], error) {
	accepted, err := s.services.Consolidation.Accept(ctx, in.ID)
	return decidedProposal(accepted, err)
}

func (s *Server) rejectProposal(ctx context.Context, in decideProposal) (reply[oneProposal], error) {
	rejected, err := s.services.Consolidation.Reject(ctx, in.ID, in.Reason)
	return decidedProposal(rejected, err)
}

func decidedProposal(p learning.Proposal, err error) (reply[oneProposal], error) {
	if err != nil {
		return reply[oneProposal]{}, err
	}
	out, _ := shownProposals("", []learning.Proposal{p})
	said := fmt.Sprintf("The proposal is %s.", p.Status)
	if p.StoredAs != "" {
		said = fmt.Sprintf("Stored as %s %s.", p.Kind, visible(p.StoredAs))
	}
	return reply[oneProposal]{oneProposal{out.Proposals[0], out.Notice}, said}, nil
}

// shownProposals shortens proposals to what an answer may hold, and fences what agents said.
func shownProposals(said string, list []learning.Proposal) (proposals, string) {
	out := proposals{Proposals: []proposal{}}
	contents, texts := make([]string, len(list)), make([][]*string, len(list))
	for i, p := range list {
		out.Proposals = append(out.Proposals, proposal{
			ID: p.ID, Kind: p.Kind, Content: p.Content, Confidence: p.Confidence, Evidence: strings.Join(p.Evidence, "\n"), Status: p.Status,
			StoredAs: p.StoredAs, Author: p.AgentID, Reason: p.Reason,
		})
		contents[i] = string(p.Content)
	}
	for i := range out.Proposals {
		texts[i] = []*string{&contents[i], &out.Proposals[i].Evidence, &out.Proposals[i].Reason}
	}
	fitTexts(texts)
	if len(list) == 0 {
		return out, said
	}
	out.Notice = notice
	f := newFence("%s", said)
	f.explain()
	for i := range out.Proposals {
		p := &out.Proposals[i]
		if contents[i] != string(p.Content) {
			p.Content = nil
		}
		f.add(fmt.Sprintf("%d. %s, %s, confidence %.2f, from a transcript of %s", i+1, p.Kind, p.Status, p.Confidence, author(p.Author)),
			attributes("id", p.ID, "stored_as", p.StoredAs), contents[i], part("Evidence", p.Evidence), part("Reason", p.Reason))
	}
	return out, f.String()
}
