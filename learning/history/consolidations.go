package history

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/decision"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/fact"
	lessons "github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/learning/procedure"
)

// Ports are where accepted proposals are stored. Without one,
// proposals of its kind are made and cannot be accepted.
type Ports struct {
	Facts      fact.Service
	Episodes   *episode.Episodes
	Procedures procedure.Service
	Rules      *lessons.Lessons // nil: no rule is among the proposals
	// InForce returns the sentences of the decisions that are in force in a project, which are not proposed again; nil: none are.
	InForce func(ctx context.Context, project string) ([]string, error)
}

// ConsolidationOptions are the settings of a Consolidation. The zero value is usable.
type ConsolidationOptions struct {
	learning.Options
	// Extractor is asked before the rules; nil: the rules alone.
	Extractor Extractor
	// ExtractTimeout bounds the Extractor; 0 means the constant of the name.
	ExtractTimeout time.Duration
	// Threshold is the confidence from which a proposal is stored at once; 0: none is.
	Threshold float64
}

// Consolidation is the ConsolidationService beside the database.
type Consolidation struct {
	store ProposalStore
	ports Ports
	ConsolidationOptions
	now   clock.Clock
	log   *slog.Logger
	rules Rules

	deciding sync.Mutex // held by the one that decides on a proposal and stores it
}

var _ ConsolidationService = (*Consolidation)(nil)

// NewConsolidation makes a Consolidation.
func NewConsolidation(store ProposalStore, ports Ports, options ConsolidationOptions) *Consolidation {
	options.Options = options.WithDefaults()
	if options.ExtractTimeout <= 0 {
		options.ExtractTimeout = ExtractTimeout
	}
	return &Consolidation{store: store, ports: ports, ConsolidationOptions: options, now: options.Now, log: options.Log}
}

// Consolidate implements ConsolidationService.
func (c *Consolidation) Consolidate(ctx context.Context, draft TranscriptDraft) (Consolidated, error) {
	author, err := principal.Of(ctx).ActingAs("agent_id", draft.AgentID)
	if err != nil {
		return Consolidated{}, err
	}
	draft.AgentID = author
	transcript, err := prepareTranscript(draft)
	if err != nil {
		return Consolidated{}, err
	}
	id := transcriptID(transcript)
	if draft.Compacted {
		return Consolidated{TranscriptID: id, Extractor: c.rules.Name(), Proposals: []Proposal{}}, c.conclude(ctx, id, transcript)
	}
	_, known, err := c.store.Transcript(ctx, id)
	if err != nil {
		return Consolidated{}, err
	}
	if !known {
		if known, err = c.propose(ctx, id, transcript, draft.Ended); err != nil {
			return Consolidated{}, err
		}
	}
	if draft.Ended {
		if err := c.conclude(ctx, id, transcript); err != nil {
			return Consolidated{}, err
		}
	}
	return c.became(ctx, id, known)
}

// conclude keeps how a session went: once, however often its transcript comes.
func (c *Consolidation) conclude(ctx context.Context, id string, t Transcript) error {
	d, ok := summarize(t)
	if !ok || c.ports.Episodes == nil {
		return nil
	}
	_, err := c.ports.Episodes.RecordOnce(ctx, SummaryEvent+"/"+id, c.now.Stamp(), d.draft(t))
	return err
}

// propose extracts and stores what a new transcript proposes; known is true if it was there after all. Of a
// session that ended, nobody asked for proposals: what is said again, there or in another session, is proposed once.
func (c *Consolidation) propose(ctx context.Context, id string, transcript Transcript, ended bool) (known bool, err error) {
	drafts, extractor, notice, err := c.extract(ctx, transcript, ended)
	if err != nil {
		return false, err
	}
	if c.ports.InForce != nil {
		kept, err := c.ports.InForce(ctx, transcript.Project)
		if err != nil {
			return false, err
		}
		drafts = slices.DeleteFunc(drafts, func(d ProposalDraft) bool {
			return d.Episode != nil && slices.ContainsFunc(kept, func(text string) bool { return decision.Same(text, d.Episode.Title) })
		})
	}
	at := c.now.Stamp()
	record := TranscriptRecord{
		ID: id, Persona: transcript.Persona, AgentID: transcript.AgentID, SessionID: transcript.SessionID, Project: transcript.Project,
		Turns: len(transcript.Turns), Extractor: extractor, Notice: notice, CreatedAt: at,
	}
	for _, turn := range transcript.Turns {
		record.Bytes += len(turn.Content)
	}
	list := prepareProposals(id, transcript, drafts, at)
	for i := range list {
		if ended {
			list[i].Mark = list[i].markOf(transcript)
		}
	}
	err = c.store.ChangeProposals(ctx, func(tx ProposalTx) error {
		stored, added, err := tx.AddTranscript(record, list)
		if known = !added; err != nil || known {
			return err
		}
		event := eventlog.Event{Type: EventTranscriptConsolidated, Subject: id, Agent: record.AgentID, Project: record.Project, At: at}
		return tx.AddEvents(event.With(TranscriptEvent{Persona: record.Persona, SessionID: record.SessionID, Extractor: extractor, Proposals: stored}))
	})
	return known, err
}

// extract asks the configured extractor and, if it fails, the rules: of a session that ended, only for what a person said.
func (c *Consolidation) extract(ctx context.Context, transcript Transcript, ended bool) (drafts []ProposalDraft, extractor, notice string, err error) {
	if c.Extractor != nil {
		bounded, cancel := context.WithTimeout(ctx, c.ExtractTimeout)
		defer cancel()
		drafts, err = c.Extractor.Extract(bounded, transcript)
		switch {
		case err == nil:
			return drafts, c.Extractor.Name(), "", nil
		case ctx.Err() != nil:
			return nil, "", "", errs.Wrap(errs.Unavailable, err, "the call ended before the transcript was read")
		case bounded.Err() != nil:
			notice = "the model did not answer in time, and the rules were asked instead"
		default:
			notice = "the model could not be asked, and the rules were: " + errs.MessageOf(err)
		}
		c.log.WarnContext(ctx, "extraction by model failed", "extractor", c.Extractor.Name(), "error", err)
	}
	if ended {
		drafts, err = c.rules.Said(ctx, transcript)
	} else {
		drafts, err = c.rules.Extract(ctx, transcript)
	}
	return drafts, c.rules.Name(), notice, err
}

// atOnce tells whether a proposal is stored without anybody's word. One that could not be stored waits for somebody's eye, with the reason.
func (c *Consolidation) atOnce(p *StoredProposal) bool {
	return c.Threshold > 0 && p.Confidence >= c.Threshold && p.Status == ProposalPending && p.Reason == "" && c.takes(p.Kind) && p.foreign() == ""
}

// became says what became of a transcript, after storing what is sure enough.
func (c *Consolidation) became(ctx context.Context, id string, duplicate bool) (Consolidated, error) {
	list, err := c.store.ProposalsOf(ctx, id)
	if err != nil {
		return Consolidated{}, err
	}
	record, _, err := c.store.Transcript(ctx, id)
	if err != nil {
		return Consolidated{}, err
	}
	out := Consolidated{TranscriptID: id, Duplicate: duplicate, Extractor: record.Extractor, Notice: record.Notice, Proposals: []Proposal{}}
	for _, p := range list {
		if c.atOnce(&p) {
			if p, err = c.acceptSure(ctx, p.ID); err != nil {
				return Consolidated{}, err
			}
		}
		if p.DecidedBy == ThresholdDecided && p.Status == ProposalAccepted {
			out.Accepted++
		}
		out.Proposals = append(out.Proposals, p.Proposal)
	}
	return out, nil
}

// Proposals implements ConsolidationService.
func (c *Consolidation) Proposals(ctx context.Context, filter ProposalFilter) ([]Proposal, error) {
	if err := cmp.Or(principal.Of(ctx).Need(principal.ScopeRead), checkProposalFilter(&filter)); err != nil {
		return nil, err
	}
	rules, err := c.proposedRules(ctx, filter)
	if err != nil || filter.Kind == ProposalRule {
		return append([]Proposal{}, rules...), err
	}
	list, err := c.store.Proposals(ctx, filter)
	out := make([]Proposal, len(list))
	for i := range list {
		out[i] = list[i].Proposal
	}
	out = append(out, rules...)
	slices.SortStableFunc(out, func(a, b Proposal) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return out[:min(len(out), filter.Limit)], err
}

// Proposal implements ConsolidationService.
func (c *Consolidation) Proposal(ctx context.Context, id string) (Proposal, error) {
	if err := principal.Of(ctx).Need(principal.ScopeRead); err != nil {
		return Proposal{}, err
	}
	p, ok, err := c.store.Proposal(ctx, id)
	if err == nil && !ok {
		if p.Proposal, ok, err = c.proposedRule(ctx, id); err == nil && !ok {
			err = noProposal()
		}
	}
	return p.Proposal, err
}

func noProposal() error {
	return errs.Errorf(errs.NotFound, "there is no proposal with this id")
}
