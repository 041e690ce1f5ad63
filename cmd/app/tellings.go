package app

import (
	"context"
	"strings"

	"skillrouter"
	"skillrouter/learning/incident"
	"skillrouter/operational"
	"skillrouter/router/contexts"
)

// wireTellings keeps what agents are told, for the timeline.
func (a *App) wireTellings(ctx context.Context, p *parts) error {
	p.tellings = operational.NewTellings(p.operations, a.now, a.log)
	a.life.run(ctx, "tellings", p.tellings.Run)
	return nil
}

// toldContexts are contexts that are noted.
type toldContexts struct {
	contexts.Service
	tellings *operational.Tellings
}

// afterFailures ends the session of what a hook asks for after a failure.
const afterFailures = "-failures"

// Build implements contexts.Service.
func (t toldContexts) Build(ctx context.Context, request contexts.Request) (contexts.Context, error) {
	built, err := t.Service.Build(ctx, request)
	if err != nil || len(built.Items) == 0 && !request.Start {
		return built, err
	}
	told := operational.Telling{
		Agent: speaker(ctx, request.AgentID), Project: request.Project, SessionID: request.SessionID, Tokens: built.Tokens, Moment: operational.ToldAsked,
	}
	switch {
	case request.Start:
		told.Moment = operational.ToldAtStart
	case strings.HasSuffix(request.SessionID, afterFailures):
		told.Moment, told.About = operational.ToldAtFailure, request.Task
	case request.Prompt:
		told.Moment = operational.ToldAtPrompt
	}
	for _, item := range built.Items {
		told.Items = append(told.Items, operational.ToldItem{Kind: item.Kind, ID: item.ID, Title: item.Title})
	}
	t.tellings.Note(told)
	return built, nil
}

// toldIncidents are incidents whose answers are noted, also where nothing is known of a failure.
type toldIncidents struct {
	incident.Service
	tellings *operational.Tellings
}

// Answer implements incident.Service.
func (t toldIncidents) Answer(ctx context.Context, failure incident.Failure) (incident.Answer, error) {
	known, err := t.Service.Answer(ctx, failure)
	if err != nil {
		return known, err
	}
	told := operational.Telling{Agent: speaker(ctx, failure.AgentID), Project: failure.Project, SessionID: failure.Session, Moment: operational.ToldAtFailure, About: failure.Command}
	if failure.Command == "" {
		told.About = failure.Tool
	}
	if known.Incident != "" {
		title, _, _ := strings.Cut(known.Text, "\n")
		told.Items = []operational.ToldItem{{Kind: "incident", ID: known.Incident, Title: title}}
	}
	t.tellings.Note(told)
	return known, nil
}

// speaker is whose telling it is: the agent that is named, if the caller may act as it.
func speaker(ctx context.Context, named string) string {
	caller := skillrouter.PrincipalOf(ctx)
	if agent, err := caller.ActingAs("agent_id", named); err == nil {
		return agent
	}
	return caller.AgentID
}
