package app

import (
	"context"
	"fmt"

	"skillrouter/comms"
	"skillrouter/internal/errs"
	"skillrouter/internal/file"
	"skillrouter/learning/episode"
	"skillrouter/learning/escalation"
	"skillrouter/learning/lesson"
	"skillrouter/learning/propagation"
	learningstore "skillrouter/learning/store"
	"skillrouter/operational"
	operationalstore "skillrouter/operational/store"
	"skillrouter/router"
	"skillrouter/router/crossing"
)

// escalationRules loads the rules that the settings name, or the built-in ones.
func (a *App) escalationRules(known func(agent string) bool) (*escalation.Rules, error) {
	supervisors, err := a.config.Escalation.SupervisorOf()
	if err != nil {
		return nil, err
	}
	options := escalation.Options{Supervisors: supervisors, Known: known, Log: a.log}
	if a.config.CompatiblePorts { // the originals' agents poll their own mailboxes
		options.Rename = escalation.Originals
	}
	name := a.config.Escalation.Rules
	if name == "" {
		return escalation.DefaultRules(options)
	}
	text, err := file.ReadHead(name, escalation.MaxFile+1)
	if err != nil {
		return nil, errs.Wrap(errs.Invalid, err, "the escalation rules %s cannot be read", name)
	}
	return escalation.LoadRules(name, text, options)
}

// crossingServices are what stands between the two domains.
type crossingServices struct {
	rules      *escalation.Rules
	escalation *operational.Escalations
	lessons    *propagation.Propagation
	service    *crossing.Crossing
	memory     *router.AgentMemory
}

// escalations are the escalations as callers see them.
func (b crossingServices) escalations() operational.EscalationService {
	return router.SettledEscalations{EscalationService: b.escalation, Crossing: b.service}
}

// relevance is how much each part of a lesson's relevance counts.
func (a *App) relevance() lesson.RelevanceWeights {
	similarity := a.config.Ranking.SimilarityWeight
	return lesson.RelevanceWeights{Similarity: similarity, Recency: 1 - similarity}
}

// cross builds what carries events from one domain to the other. Its Crossing has yet to run.
func (a *App) cross(ctx context.Context, memory *learningstore.Store, operations *operationalstore.Store,
	episodes *episode.Episodes, presence *comms.Presence, mailbox *comms.Mailbox,
) (crossingServices, error) {
	b := crossingServices{escalation: operational.NewEscalations(operations, a.now)}
	var err error
	if b.rules, err = a.escalationRules(presence.Knows); err != nil {
		return b, err
	}
	b.lessons = propagation.New(memory)
	b.service, err = crossing.New(ctx, crossing.Ports{
		Learning: memory, Operational: operations, Escalations: b.escalation, Episodes: episodes, Lessons: b.lessons, Agents: presence,
		Send: mailbox.Tell,
	}, crossing.Options{Now: a.now, Log: a.log, Rules: b.rules})
	if err != nil {
		return b, fmt.Errorf("read how far the logs were followed: %w", err)
	}
	b.memory = router.NewAgentMemory(router.MemorySources{Lessons: memory, Domains: b.lessons, Pending: b.escalation, Crossing: b.service}, a.now)
	return b, nil
}
