package app

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	said "github.com/skillrouter/skillrouter/learning/decision"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/fact"
	"github.com/skillrouter/skillrouter/learning/guard"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
	"github.com/skillrouter/skillrouter/learning/history"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/learning/procedure"
	"github.com/skillrouter/skillrouter/learning/runbooks"
	"github.com/skillrouter/skillrouter/learning/share"
	"github.com/skillrouter/skillrouter/learning/shelf"
	"github.com/skillrouter/skillrouter/learning/verdict"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/contexts"
	"github.com/skillrouter/skillrouter/router/httpapi"
	"github.com/skillrouter/skillrouter/router/llm"
	"github.com/skillrouter/skillrouter/router/search"
	"github.com/skillrouter/skillrouter/router/trash"
	"github.com/skillrouter/skillrouter/router/value"
)

// wireProcedures builds the procedures, and reads their index.
func (a *App) wireProcedures(ctx context.Context, p *parts) error {
	p.procedures = procedure.NewProcedures(p.memory, procedure.Options{
		Options: a.learningOptions(), Lessons: p.lessons,
		Facts: func(ctx context.Context, persona, key string) (json.RawMessage, bool, error) {
			fact, err := p.facts.Recall(ctx, fact.Ref{Persona: persona, Key: key})
			if errs.CodeOf(err) == errs.NotFound {
				return nil, false, nil
			}
			return fact.Value, err == nil, err
		},
	})
	p.routes = append(p.routes, httpapi.Offer(procedure.Operations, p.procedures))
	if err := p.procedures.Load(ctx); err != nil {
		return fmt.Errorf("open the index of procedures: %w", err)
	}
	a.life.run(ctx, "procedures", p.procedures.RunIndex)
	return nil
}

// wireRunbooks keeps the folder of procedures in step with them.
func (a *App) wireRunbooks(ctx context.Context, p *parts) error {
	if a.aside != nil {
		return nil // the folder is that of the node that writes
	}
	if own := filepath.Join(a.config.Data, proceduresFolder); a.config.ProceduresFolder() == own {
		// Made by an earlier version, it is open to others: they would read it where the data folder is not in the way.
		if info, err := os.Stat(own); err == nil && info.Mode().Perm()&0o077 != 0 {
			if err := os.Chmod(own, 0o700); err != nil {
				return fmt.Errorf("close the folder of procedures to others: %w", err)
			}
		}
	}
	folder, err := runbooks.Open(a.config.ProceduresFolder(), p.procedures, runbooks.Options{Now: a.now, Log: a.log})
	if err != nil {
		return err
	}
	// What was edited while the router was down counts before the first request.
	if err := folder.Sync(principal.With(ctx, principal.System())); err != nil {
		return fmt.Errorf("bring the folder of procedures in step: %w", err)
	}
	a.life.run(ctx, "runbooks", func(ctx context.Context) error {
		return folder.Run(principal.With(ctx, principal.System()))
	})
	return nil
}

// wireConsolidation builds what makes memory of transcripts. With a model it asks that first.
func (a *App) wireConsolidation(_ context.Context, p *parts) error {
	options := history.ConsolidationOptions{
		Options: learning.Options{Now: a.now, Log: a.log}, Threshold: a.config.Consolidation.Threshold,
	}
	if p.model != nil {
		options.Extractor = llm.NewExtractor(p.model)
	}
	p.said = said.New(p.knowledge, func(number int64) string { return router.HandleOf(router.KindKnowledge, number) })
	p.routes = append(p.routes, httpapi.Offer(said.Operations, p.said))
	p.consolidation = history.NewConsolidation(p.memory, history.Ports{Facts: p.facts, Episodes: p.episodes, Procedures: p.procedures, Rules: p.lessons, InForce: p.said.InForce}, options)
	return nil
}

// wireVerdicts has the searches tell of what was asked and not found, and heed which entries answered which questions.
func (a *App) wireVerdicts(ctx context.Context, p *parts) (err error) {
	options := verdict.Options{Options: learning.Options{Now: a.now, Log: a.log}, Used: p.knowledge.Used}
	if a.aside == nil { // else the node that writes asks gaps again
		options.Changed = p.memory.EventBell()
		options.Finders = []verdict.Finder{
			func(ctx context.Context, question, project string) (bool, error) {
				found, err := p.knowledge.Find(ctx, knowledge.Query{Query: question, Project: project, Limit: 1})
				return len(found.Results) > 0 && !found.NoMatch, err
			},
			func(ctx context.Context, question, project string) (bool, error) {
				found, err := p.lessons.Relevant(ctx, lesson.Query{Context: question, Project: project, Limit: 1})
				return len(found.Results) > 0 && !found.NoMatch, err
			},
			func(ctx context.Context, question, project string) (bool, error) {
				found, err := p.episodes.Search(ctx, episode.Query{Query: question, Project: project, Limit: 1})
				return len(found.Results) > 0 && !found.NoMatch, err
			},
		}
	}
	if p.verdicts, err = verdict.New(ctx, a.aside.memory(p.memory), options); err != nil {
		return fmt.Errorf("read what was said of answers: %w", err)
	}
	p.knowledge.LearnFrom(p.verdicts)
	p.knowledge.ReportMisses(p.verdicts)
	p.episodes.ReportMisses(p.verdicts)
	p.lessons.ReportMisses(p.verdicts)
	a.life.run(ctx, "verdicts", p.verdicts.Run)
	return nil
}

// wireTrash gives back what was deleted. A page that removes a row offers that.
func (a *App) wireTrash(ctx context.Context, p *parts) {
	bin := trash.New(p.memory, trash.Ports{
		Kinds: p.kinds, Decisions: p.said, Incidents: p.incidents, Consolidation: p.consolidation,
		Follow: func(ctx context.Context, events []eventlog.Event) error {
			return cmp.Or(p.guards.Follow(ctx, events), p.verdicts.Load(ctx))
		},
	}, a.now)
	for i := range p.kinds {
		if of := &p.kinds[i]; of.Pages.List != nil && of.Undo.Remove != nil {
			of.Pages.Restore = func(ctx context.Context, id string) error {
				_, err := bin.Restore(ctx, trash.DeletedRef{Kind: of.Name, ID: id})
				return err
			}
		}
	}
	p.trash, p.routes = bin, append(p.routes, httpapi.Offer(trash.Operations, bin))
	if a.aside == nil {
		a.life.run(ctx, "trash", bin.Run)
	}
}

// failedBefore gives the guard what failed before as matches.
func failedBefore(incidents *history.Incidents) func(project, command string) []rule.Match {
	return func(project, command string) []rule.Match {
		w := incidents.Warn(project, command)
		if w == nil {
			return nil
		}
		reason := fmt.Sprintf("it failed in %d of %d uses", w.Failures, w.Uses)
		if by := w.By(); by != "" {
			reason += "; what worked was " + by
		}
		return []rule.Match{{
			RuleID: w.Incident.ID, Title: "This fails here: " + w.Incident.Example, Severity: learning.SeverityLow, Lane: rule.LaneIncident,
			Reason:       reason,
			Alternatives: w.Alternatives(), Confidence: float64(w.Failures) / float64(w.Uses),
		}}
	}
}

// wireTellings keeps what agents are told and what came of it, for the timeline and for what the memory is worth, and serves
// what fails in projects.
func (a *App) wireTellings(ctx context.Context, p *parts) error {
	p.tellings = operational.NewTellings(a.aside.operations(p.operations), operational.TellingOptions{Now: a.now, Log: a.log, Count: contexts.CountTokens})
	p.value = value.New(p.tellings, a.now)
	a.life.run(ctx, "tellings", p.tellings.Run)
	p.incidents.VouchedOnly(a.config.TellVouched)
	p.routes = append(p.routes, httpapi.Offer(history.Operations.Incidents, toldIncidents{p.incidents, p.tellings, p.value, a.log}), httpapi.Offer(value.Operations, p.value),
		httpapi.Offer(share.Operations, share.New(p.memory, share.Memory{Knowledge: p.knowledge, Lessons: p.lessons, Episodes: p.episodes}, a.now)))
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

// speaker is whose telling it is: the agent that is named, if the caller may act as it.
func speaker(ctx context.Context, named string) string {
	caller := principal.Of(ctx)
	if agent, err := caller.ActingAs("agent_id", named); err == nil {
		return agent
	}
	return caller.AgentID
}

// wireLLM builds the ways out that are configured; by default there are none.
func (a *App) wireLLM(_ context.Context, p *parts) error {
	settings := a.config.LLM
	if settings.BaseURL != "" {
		endpoint, err := a.endpoint(settings.BaseURL)
		if err != nil {
			return err
		}
		p.endpoint = endpoint
		if settings.Model != "" {
			p.model = llm.NewChat(endpoint, settings.Model, settings.ContextWindow)
		}
	}
	if base := settings.EmbeddingBase(); base != "" {
		endpoint, err := a.endpoint(base)
		if err != nil {
			return err
		}
		p.embedder = llm.NewEmbeddings(endpoint, settings.EmbeddingModel)
	}
	return nil
}

// wireChat puts memory in front of the endpoint. It comes after all that memory is made of.
func (a *App) wireChat(ctx context.Context, p *parts) error {
	settings := a.config.LLM
	options := llm.ProxyOptions{Context: p.context, Budget: settings.MemoryBudget, Window: settings.ContextWindow, Log: a.log}
	if settings.Record {
		options.Episodes = p.episodes
	}
	proxy := llm.NewProxy(p.endpoint, httpapi.WriteChatProblem, options)
	if settings.Record {
		a.runs(ctx, "exchanges", proxy.Run)
	}
	if p.endpoint != nil { // the first conversation would not wait for the vocabulary
		a.life.run(ctx, "tokenizer", func(ctx context.Context) error {
			contexts.CountTokens("")
			<-ctx.Done()
			return nil
		})
	}
	p.chat = proxy
	return nil
}

// endpoint makes the way to a base address, which is closed with the App. The key is the first endpoint's alone.
func (a *App) endpoint(base string) (*llm.Endpoint, error) {
	settings := a.config.LLM
	options := llm.Options{
		Timeouts: llm.Timeouts{FirstByte: settings.Timeout, Idle: settings.Timeout},
		Now:      a.now, Log: a.log,
	}
	if base == settings.BaseURL {
		options.Key = llm.Secret(settings.APIKey)
	}
	endpoint, err := llm.NewEndpoint(base, options)
	if err != nil {
		return nil, err
	}
	a.life.defers("model endpoint", endpoint.Close)
	return endpoint, nil
}

// wireEmbeddings lets searches go by meaning too, if a model is configured.
func (a *App) wireEmbeddings(ctx context.Context, p *parts) error {
	p.vectors = shelf.NewVectors(p.memory, p.embedder, shelf.VectorOptions{
		Options:     learning.Options{Now: a.now, Log: a.log},
		QueryPrefix: a.config.LLM.QueryPrefix, ItemPrefix: a.config.LLM.ItemPrefix,
	})
	p.knowledge.UseVectors(p.vectors)
	p.episodes.UseVectors(p.vectors)
	p.lessons.UseVectors(p.vectors)
	a.runs(ctx, "vectors", p.vectors.Run)
	return nil
}
