package app

import (
	"context"
	"log/slog"
	"strings"

	"skillrouter/internal/principal"
	"skillrouter/learning"
	"skillrouter/learning/guard"
	"skillrouter/learning/guard/rule"
	"skillrouter/learning/history"
	"skillrouter/learning/lesson"
	"skillrouter/learning/verdict"
	"skillrouter/operational"
	"skillrouter/router"
	"skillrouter/router/contexts"
	"skillrouter/router/search"
	"skillrouter/router/value"
)

// wireTellings keeps what agents are told and what came of it, for the timeline and for what the memory is worth.
func (a *App) wireTellings(ctx context.Context, p *parts) error {
	p.tellings = operational.NewTellings(a.aside.operations(p.operations), operational.TellingOptions{Now: a.now, Log: a.log, Count: contexts.CountTokens})
	p.value = value.New(p.tellings, a.now)
	a.life.run(ctx, "tellings", p.tellings.Run)
	return nil
}

// toldIncidents are incidents whose answers are noted, also where nothing is known of a failure, and whose sessions say what came of
// what they were told.
type toldIncidents struct {
	*history.Incidents
	tellings *operational.Tellings
	value    *value.Values
	log      *slog.Logger
}

// Answer implements history.Service.
func (t toldIncidents) Answer(ctx context.Context, failure history.Failure) (history.Answer, error) {
	known, err := t.Incidents.Answer(ctx, failure)
	if err != nil {
		return known, err
	}
	told := operational.Telling{Agent: speaker(ctx, failure.AgentID), Project: failure.Project, SessionID: failure.Session, Moment: operational.ToldAtFailure, About: failure.Command}
	if failure.Command == "" {
		told.About = failure.Tool
	}
	if known.Text != "" {
		title, _, _ := strings.Cut(known.Text, "\n")
		told.Items = []operational.ToldItem{{Kind: router.KindIncident, ID: known.Incident, Title: title, Own: true, Text: known.Text, Gives: operational.Gives(known.Text)}}
	}
	t.tellings.Note(told)
	return known, nil
}

// Learn implements history.Service.
func (t toldIncidents) Learn(ctx context.Context, draft history.Draft) (history.Learned, error) {
	learned, err := t.Incidents.Learn(ctx, draft)
	if err == nil {
		if err := t.value.Learned(ctx, draft, t.Incidents); err != nil {
			t.log.WarnContext(ctx, "what came of what a session was told is not known", "error", err)
		}
	}
	return learned, err
}

// toldGuards is a guard whose warnings are noted, and what was done then.
type toldGuards struct {
	guard.Service
	value *value.Values
}

// Check implements guard.Service.
func (t toldGuards) Check(ctx context.Context, action rule.Action) (guard.Checked, error) {
	checked, err := t.Service.Check(ctx, action)
	if err == nil {
		t.value.Checked(speaker(ctx, action.Agent), action, checked)
	}
	return checked, err
}

// Outcome implements guard.Service.
func (t toldGuards) Outcome(ctx context.Context, draft guard.OutcomeDraft) (guard.Settled, error) {
	settled, err := t.Service.Outcome(ctx, draft)
	if err == nil {
		t.value.Settled(settled)
	}
	return settled, err
}

// toldSearches is a search of agents whose answers are noted.
type toldSearches struct {
	search.Service
	tellings *operational.Tellings
}

// Search implements search.Service.
func (t toldSearches) Search(ctx context.Context, query search.Query) (search.Answer, error) {
	found, err := t.Service.Search(ctx, query)
	if err != nil || len(found.Results) == 0 {
		return found, err
	}
	told := operational.Telling{Agent: speaker(ctx, ""), Project: query.Project, Moment: operational.ToldBySearch}
	for _, hit := range found.Results {
		told.Items = append(told.Items, operational.ToldItem{Kind: hit.Kind, ID: hit.ID, Title: hit.Title, Own: hit.Project == query.Project, Text: hit.Title + "\n" + hit.Snippet})
	}
	t.tellings.Note(told)
	return found, err
}

// toldAnswers are entries of which a reader says whether they helped.
type toldAnswers struct {
	verdict.Service
	value *value.Values
}

// Answered implements verdict.Service.
func (t toldAnswers) Answered(ctx context.Context, id string, use verdict.Draft) (verdict.Learned, error) {
	learned, err := t.Service.Answered(ctx, id, use)
	if err == nil {
		t.value.Helped(speaker(ctx, use.AgentID), router.KindKnowledge, id, use.Helpful == nil || *use.Helpful)
	}
	return learned, err
}

// toldLessons are lessons of which a reader says how they went.
type toldLessons struct {
	lesson.Service
	value *value.Values
}

// Apply implements lesson.Service.
func (t toldLessons) Apply(ctx context.Context, ref string, draft lesson.ApplicationDraft) (lesson.Applied, error) {
	applied, err := t.Service.Apply(ctx, ref, draft)
	if err == nil {
		t.value.Helped(speaker(ctx, draft.Agent), router.KindLesson, applied.LessonID, draft.Outcome != learning.ResultFailure)
	}
	return applied, err
}

// toldServices are those that agents call, which note what they told and what came of it.
type toldServices struct {
	guards  guard.Service
	lessons lesson.Service
	search  search.Service
	answers verdict.Service
}

func (p *parts) told(guards guard.Service, lessons lesson.Service) toldServices {
	return toldServices{toldGuards{guards, p.value}, toldLessons{lessons, p.value}, toldSearches{p.search, p.tellings}, toldAnswers{p.verdicts, p.value}}
}

// speaker is whose telling it is: the agent that is named, if the caller may act as it.
func speaker(ctx context.Context, named string) string {
	caller := principal.Of(ctx)
	if agent, err := caller.ActingAs("agent_id", named); err == nil {
		return agent
	}
	return caller.AgentID
}
