package history

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/redact"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/fact"
	"github.com/skillrouter/skillrouter/learning/procedure"
)

// Accept implements ConsolidationService. One that was rejected may still be accepted.
//
// It is stored first, under an identity that follows from the proposal, and then marked as accepted: who dies in
// between leaves it pending, and to accept it again stores nothing twice.
func (c *Consolidation) Accept(ctx context.Context, id string) (Proposal, error) {
	return c.decide(ctx, id, ProposalAccepted, "", func(p StoredProposal) (StoredProposal, error) {
		if why := p.foreign(); why != "" {
			if _, err := principal.Of(ctx).AsPerson(); err != nil {
				return p, errs.Errorf(errs.CodeOf(err), "it tells agents to run what %s, and a person must accept it: %s", why, errs.MessageOf(err))
			}
		}
		if !c.takes(p.Kind) {
			return p, errs.Errorf(errs.Unavailable, "this router keeps no %ss", p.Kind)
		}
		// From here on it goes to its end, whether or not the caller is still there.
		return c.carryOut(context.WithoutCancel(learning.Noting(ctx, c.now.Stamp(), learning.Accepted, "proposal", p.ID)), p)
	})
}

// Reject implements ConsolidationService. What is stored is deleted where it is stored.
func (c *Consolidation) Reject(ctx context.Context, id, reason string) (Proposal, error) {
	if err := check.Text("reason", reason, learning.MaxReason); err != nil {
		return Proposal{}, err
	}
	reason, _ = redact.Text(strings.TrimSpace(reason))
	return c.decide(ctx, id, ProposalRejected, reason, func(p StoredProposal) (StoredProposal, error) {
		if p.Status == ProposalAccepted {
			return p, errs.Errorf(errs.Conflict, "it is accepted and stored as %s: delete it there", p.StoredAs)
		}
		at := c.now.Stamp()
		p.Status, p.DecidedAt, p.Reason = ProposalRejected, &at, reason
		return p, c.settle(learning.Noting(ctx, at, learning.Declined, "proposal", p.ID), p, EventProposalRejected)
	})
}

// decide lets the caller decide on a proposal, if it is of the caller's own transcript, or the caller is a captain. One that was decided
// so already stays as it is.
func (c *Consolidation) decide(
	ctx context.Context, id string, status ProposalStatus, reason string, decided func(p StoredProposal) (StoredProposal, error),
) (Proposal, error) {
	caller := principal.Of(ctx)
	if err := caller.Need(principal.ScopeAgent); err != nil {
		return Proposal{}, err
	}
	c.deciding.Lock()
	defer c.deciding.Unlock()
	if rule, is, err := c.decideRule(ctx, id, status, reason); err != nil || is {
		return rule, err
	}
	p, ok, err := c.store.Proposal(ctx, id)
	switch {
	case err != nil:
		return Proposal{}, err
	case !ok:
		return Proposal{}, noProposal()
	case !caller.Has(principal.ScopeCaptain) && !caller.Is(p.AgentID):
		return Proposal{}, errs.Errorf(errs.Forbidden, "this is of another agent's transcript: only that agent or a captain may decide on it")
	case p.Status == status:
		return p.Proposal, nil
	}
	p.DecidedBy = decider(caller)
	p, err = decided(p)
	return p.Proposal, err
}

// foreign says why only a person may accept the proposal: see learning.Foreign. An episode tells what happened, and nobody to do it.
func (p *Proposal) foreign() string {
	if p.Kind == ProposalEpisode {
		return ""
	}
	return learning.Foreign(string(p.Content))
}

// decider names who decides; a token that is nobody's own is a captain's.
func decider(caller principal.Principal) string {
	return cmp.Or(caller.AgentID, "captain")
}

// takes tells whether there is a place for proposals of a kind.
func (c *Consolidation) takes(kind ProposalKind) bool {
	return map[ProposalKind]bool{
		ProposalFact: c.ports.Facts != nil, ProposalEpisode: c.ports.Episodes != nil, ProposalProcedure: c.ports.Procedures != nil,
	}[kind]
}

// acceptSure stores what needs nobody's word.
func (c *Consolidation) acceptSure(ctx context.Context, id string) (StoredProposal, error) {
	c.deciding.Lock()
	defer c.deciding.Unlock()
	p, ok, err := c.store.Proposal(ctx, id)
	if err != nil || !ok || !c.atOnce(&p) {
		return p, err
	}
	p.DecidedBy = ThresholdDecided
	done, err := c.carryOut(context.WithoutCancel(ctx), p)
	if err != nil && !later(err) {
		return done, nil
	}
	return done, err
}

// later tells whether what failed may work later.
func later(err error) bool {
	code := errs.CodeOf(err)
	return code == errs.Internal || code == errs.Unavailable || code == errs.StorageFull
}

// storer is as whom an accepted proposal is stored: as the agent of its transcript,
// which may not write over what is another's by having said so; if a captain
// accepted it, as the router.
func (p *StoredProposal) storer(caller principal.Principal) principal.Principal {
	if caller.Has(principal.ScopeCaptain) || p.AgentID == "" || p.DecidedBy != p.AgentID && p.DecidedBy != ThresholdDecided {
		return principal.System()
	}
	return principal.Principal{AgentID: p.AgentID, Scopes: []principal.Scope{principal.ScopeAgent}}
}

// carryOut stores a proposal that somebody accepted, as the agent of its transcript, and says that
// it is done. What its place refuses stays pending, with the reason.
func (c *Consolidation) carryOut(ctx context.Context, p StoredProposal) (StoredProposal, error) {
	ctx = principal.With(ctx, p.storer(principal.Of(ctx)))
	var err error
	switch p.Kind {
	case ProposalFact:
		p.StoredAs, err = c.storeFact(ctx, p)
	case ProposalEpisode:
		p.StoredAs, err = c.storeEpisode(ctx, p)
	default:
		p.StoredAs, err = c.storeProcedure(ctx, p)
	}
	switch {
	case err == nil:
		at := c.now.Stamp()
		p.Status, p.DecidedAt, p.Reason = ProposalAccepted, &at, ""
		return p, c.settle(ctx, p, EventProposalAccepted)
	case later(err):
		return p, err
	}
	p.Status, p.DecidedBy, p.DecidedAt, p.StoredAs = ProposalPending, "", nil, ""
	p.Reason = "it could not be stored: " + errs.MessageOf(err)
	if back := c.store.ChangeProposals(ctx, func(tx ProposalTx) error { return tx.Decide(p) }); back != nil {
		return p, back
	}
	return p, err
}

// settle stores where a proposal stands at last, with its event.
func (c *Consolidation) settle(ctx context.Context, p StoredProposal, kind string) error {
	return c.store.ChangeProposals(ctx, func(tx ProposalTx) error {
		if err := tx.Decide(p); err != nil {
			return err
		}
		event := eventlog.Event{Type: kind, Subject: p.ID, Agent: p.AgentID, Project: p.Project, At: c.now.Stamp()}
		return tx.AddEvents(event.With(ProposalEvent{TranscriptID: p.TranscriptID, Kind: p.Kind, StoredAs: p.StoredAs, DecidedBy: p.DecidedBy}))
	})
}

// origin names a proposal where it is stored.
func origin(p StoredProposal) string { return "proposal " + p.ID }

// storeFact stores a fact unless it is there. It takes the place of what is there now, and of nothing that comes meanwhile.
func (c *Consolidation) storeFact(ctx context.Context, p StoredProposal) (key string, err error) {
	var draft fact.Draft
	if err := json.Unmarshal(p.Content, &draft); err != nil {
		return "", err
	}
	draft.AgentID, draft.Source, draft.IfVersion = p.AgentID, origin(p), new(int64)
	there, err := c.ports.Facts.Recall(principal.With(ctx, principal.System()), fact.Ref{Persona: draft.Persona, Key: draft.Key})
	switch {
	case err == nil && there.Source == draft.Source:
		return draft.Key, nil // an earlier attempt stored it
	case err == nil:
		draft.IfVersion = &there.Version
	case errs.CodeOf(err) != errs.NotFound:
		return "", err
	}
	_, err = c.ports.Facts.Remember(ctx, draft)
	return draft.Key, err
}

func (c *Consolidation) storeEpisode(ctx context.Context, p StoredProposal) (string, error) {
	var content proposedEpisode
	if err := json.Unmarshal(p.Content, &content); err != nil {
		return "", err
	}
	content.AgentID = p.AgentID
	at := p.CreatedAt
	if content.At != nil {
		at = *content.At
	}
	episode, err := c.ports.Episodes.RecordOnce(ctx, origin(p), at, content.Draft)
	return episode.ID, err
}

// proposedEpisode is the content of an episode's proposal: its draft, and when it happened.
type proposedEpisode struct {
	episode.Draft
	At *time.Time `json:"at,omitempty"`
}

// storeProcedure stores a procedure unless it is there.
func (c *Consolidation) storeProcedure(ctx context.Context, p StoredProposal) (name string, err error) {
	var draft procedure.Draft
	if err := json.Unmarshal(p.Content, &draft); err != nil {
		return "", err
	}
	draft.AgentID = p.AgentID
	there, err := c.ports.Procedures.Procedure(ctx, procedure.Ref{Persona: draft.Persona, Name: draft.Name})
	if err == nil && strings.Contains(string(there.LearnedFrom), p.ID) || err != nil && errs.CodeOf(err) != errs.NotFound {
		return draft.Name, err
	}
	_, err = c.ports.Procedures.Save(ctx, draft)
	return draft.Name, err
}
