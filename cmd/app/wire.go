package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/comms/lease"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/trace"
	"github.com/skillrouter/skillrouter/learning"
	said "github.com/skillrouter/skillrouter/learning/decision"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/experience"
	"github.com/skillrouter/skillrouter/learning/fact"
	"github.com/skillrouter/skillrouter/learning/guard"
	"github.com/skillrouter/skillrouter/learning/history"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/learning/procedure"
	"github.com/skillrouter/skillrouter/learning/shelf"
	learningstore "github.com/skillrouter/skillrouter/learning/store"
	"github.com/skillrouter/skillrouter/learning/verdict"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/operational/person"
	operationalstore "github.com/skillrouter/skillrouter/operational/store"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/contexts"
	"github.com/skillrouter/skillrouter/router/decision"
	"github.com/skillrouter/skillrouter/router/feed"
	"github.com/skillrouter/skillrouter/router/httpapi"
	"github.com/skillrouter/skillrouter/router/kind"
	"github.com/skillrouter/skillrouter/router/llm"
	"github.com/skillrouter/skillrouter/router/mcpserver"
	"github.com/skillrouter/skillrouter/router/otlp"
	"github.com/skillrouter/skillrouter/router/question"
	"github.com/skillrouter/skillrouter/router/search"
	"github.com/skillrouter/skillrouter/router/session"
	"github.com/skillrouter/skillrouter/router/stream"
	"github.com/skillrouter/skillrouter/router/transfer"
	"github.com/skillrouter/skillrouter/router/trash"
	"github.com/skillrouter/skillrouter/router/value"
	"github.com/skillrouter/skillrouter/router/web"
)

// wire builds every service on the open databases, and the transports on the services.
func (a *App) wire(ctx context.Context, registry *prometheus.Registry) error {
	p := &parts{registry: registry}
	tracer, err := a.wireTelemetry(ctx, registry) // first: it ends last, and sends the spans of what ended before
	if err != nil {
		return err
	}
	p.operations = operationalstore.New(a.operational.Read, a.operational.Commit)
	if _, err := locate.ReadOwnerToken(a.config.Data); errors.Is(err, locate.ErrEmptyToken) {
		a.log.Warn("the owner's token was empty, as a power cut leaves it, and is made anew: what had the old one elsewhere is refused")
	}
	owner, err := OwnerToken(a.config.Data)
	if err != nil {
		return err
	}
	p.tokens, err = operational.OpenTokens(ctx, p.operations, a.now, operational.DigestOf(owner))
	if err != nil {
		return fmt.Errorf("load the tokens: %w", err)
	}
	if err := a.issueFirst(ctx, p.tokens); err != nil {
		return err
	}
	p.persons, err = person.OpenPersons(ctx, p.operations, a.now)
	if err != nil {
		return fmt.Errorf("load the passphrase: %w", err)
	}
	mayStop := a.config.AgentsMayStop && p.persons.MayStop()
	p.tasks = operational.NewTasks(p.operations, a.now)
	p.presence, err = comms.NewPresence(ctx, p.operations, p.tasks, a.now, a.log, comms.PresenceOptions{
		HeartbeatEvery: a.config.Presence.HeartbeatInterval,
		StaleAfter:     a.config.Presence.StaleAfter,
		OfflineAfter:   a.config.Presence.OfflineAfter,
	})
	if err != nil {
		return fmt.Errorf("load the agents: %w", err)
	}
	a.runs(ctx, "presence", p.presence.Run)
	p.mailbox, err = comms.NewMailbox(ctx, p.presence, a.aside.operations(p.operations), a.log, a.aside.mailOptions(comms.MailboxOptions{Retention: a.config.Retention.Messages, OnlyCaptainsStop: !mayStop}))
	if err != nil {
		return fmt.Errorf("load the mailboxes: %w", err)
	}
	a.life.run(ctx, "mailbox", p.mailbox.Run)
	p.leases, err = lease.Open(ctx, p.operations, p.presence, p.mailbox, a.log, lease.Options{Now: a.now, Files: projectFiles})
	if err != nil {
		return fmt.Errorf("load the leases: %w", err)
	}
	p.presence.OnLeave(p.leases.Nudge)
	if a.aside == nil {
		if err := p.leases.Look(ctx); err != nil { // of those whose holders had left, before anybody asks
			a.log.Warn("leases that have ended could not be settled", "error", err)
		}
	}
	a.runs(ctx, "leases", p.leases.Run)
	hub := stream.New(p.mailbox, func(w http.ResponseWriter, _ *http.Request, err error) { httpapi.WriteProblem(w, err) }, a.log)

	p.memory = learningstore.New(a.learning.Read, a.learning.Commit)
	p.knowledge = knowledge.NewBase(a.aside.memory(p.memory), a.learningOptions())
	p.episodes = episode.NewEpisodes(p.memory, a.learningOptions())
	p.incidents = history.New(p.memory, learning.Options{Now: a.now, Log: a.log})
	p.guards = guard.NewGuards(ctx, p.memory, guard.GuardsOptions{
		Options: learning.Options{Now: a.now, Log: a.log}, Retention: a.config.Retention.Checks, Confine: !mayStop, Packs: a.config.Guard.Packs, Notice: p.persons.Reset, Failed: failedBefore(p.incidents), Claimed: claimed(p.leases), Enter: a.aside.enter(),
	})
	p.crossing, err = a.cross(ctx, p.memory, p.operations, p.episodes, p.presence, p.mailbox)
	if err != nil {
		return err
	}
	p.patterns = lesson.NewPatterns(p.memory, lesson.PatternOptions{Options: learning.Options{Now: a.now, Log: a.log}, Rules: p.guards})
	p.lessons = lesson.NewLessons(p.memory, lesson.Options{
		Options: a.learningOptions(), Patterns: p.patterns, Escalations: p.crossing.rules, DomainOf: p.crossing.lessons.DomainOf, Rules: p.guards,
		Relevance: lesson.RelevanceWeights{Similarity: a.config.Ranking.SimilarityWeight, Recency: 1 - a.config.Ranking.SimilarityWeight},
	})
	if err := os.RemoveAll(filepath.Join(a.config.Data, indexesFolder)); err != nil {
		a.log.Warn("what an earlier version kept of the search indexes cannot be removed", "error", err)
	}
	p.facts = fact.NewFacts(p.memory, a.learningOptions())
	a.runs(ctx, "facts", p.facts.Run)
	a.streams = append(a.streams, hub.Shutdown)
	begin := time.Now()
	// No check of the guard may pass because a rule was not read yet: that one is waited for.
	loading, loadCtx := errgroup.WithContext(ctx)
	for _, load := range []func(context.Context) error{p.knowledge.Load, p.episodes.Load, p.lessons.Load, p.guards.Load, p.incidents.Load} {
		loading.Go(func() error { return load(loadCtx) })
	}
	if err := loading.Wait(); err != nil {
		return fmt.Errorf("open the search indexes of learning.db: %w", err)
	}
	if reset := p.persons.Stored().ResetAt; reset != nil && a.aside == nil { // before anybody is answered
		if err := p.guards.EndPermissions(ctx, *reset); err != nil {
			return fmt.Errorf("end the permissions of before the passphrase was reset: %w", err)
		}
	}
	a.log.Debug("indexes opened", "took_ms", time.Since(begin).Milliseconds())
	a.life.run(ctx, "knowledge", p.knowledge.Run)
	a.life.run(ctx, "episodes", p.episodes.Run)
	if a.aside == nil {
		a.life.run(ctx, "lessons", p.lessons.Run)
	} else { // it compares no reports
		a.life.run(ctx, "lessons", p.lessons.RunIndex)
	}
	a.runs(ctx, "patterns", p.patterns.Run)
	p.experiences = experience.NewExperiences(p.memory, p.episodes, p.lessons, experience.Options{
		Options: learning.Options{Now: a.now, Log: a.log}, KeepEpisodes: a.config.Retention.Episodes, KeepPatterns: a.config.Retention.Patterns,
	})
	a.runs(ctx, "experiences", p.experiences.Run)
	a.life.run(ctx, "guard", p.guards.Run)
	// A node that follows writes one of its own: its machine's hooks need it while no node answers.
	a.life.run(ctx, "copy of the guard's rules", func(ctx context.Context) error { return a.keepGuardCopy(ctx, p.guards) })

	// Each of these may use what those before it have built.
	for _, wire := range []func(context.Context, *parts) error{
		a.wireLLM, a.wireEmbeddings, a.wireProcedures, a.wireRunbooks, a.wireTellings, a.wireConsolidation, a.wireReminders, a.wireSessions, a.wireKinds, a.wireContext, a.wireChat,
		a.wireFeed, a.wireMesh, a.wireVerdicts, a.wireSearch,
	} {
		if err := wire(ctx, p); err != nil {
			return err
		}
	}

	a.wireTrash(ctx, p)
	p.transfer = transfer.New(p.kinds, p.memory, a.now)
	p.introspection = a.introspection(p)

	a.runs(ctx, "crossing", p.crossing.service.Run)

	registry.MustRegister(collected(p.collect))

	recon := operational.NewRecon(p.operations, a.now)
	classifier, err := a.classifier()
	if err != nil {
		return fmt.Errorf("load the classifier: %w", err)
	}
	p.decisions = decision.New(decision.Sources{
		Guard: p.guards, Escalations: p.crossing.escalations(), Incidents: p.incidents, Consolidation: p.consolidation, Agents: p.presence, Tasks: p.tasks,
	})
	p.queries = question.New(classifier, p.search, question.Sources{
		Agents: p.presence, Tasks: p.tasks, Recon: recon, Mail: p.operations, Leases: p.leases, Reminders: p.reminders, Escalations: p.crossing.escalations(), Guard: p.guards,
		Incidents: p.incidents, Lessons: p.lessons, Patterns: p.patterns, Knowledge: p.knowledge, Episodes: p.episodes, Facts: p.facts, Procedures: p.procedures, Decisions: p.decisions,
	}, question.Options{Now: a.now, Names: p.operations, Kinds: p.kinds, Misses: p.verdicts})

	toolsets, err := mcpserver.ParseToolsets(a.config.MCP.Toolsets...)
	if err != nil {
		return errs.InvalidField("mcp.toolsets", "%s", errs.MessageOf(err))
	}
	// What agents call notes what it told, and what came of it.
	guards, lessons, searches := toldGuards{a.aside.guards(p.guards), p.value}, toldLessons{p.lessons, p.value}, toldSearches{p.search, p.tellings}
	tools := mcpserver.New(mcpserver.Services{
		Knowledge: p.knowledge, Episodes: p.episodes, Router: p.queries, Mailbox: p.mailbox, Presence: p.presence, Guard: guards, Experiences: p.experiences,
		Lessons: lessons, Patterns: p.patterns, Escalations: p.crossing.escalations(),
		Facts: p.facts, Memory: p.crossing.memory,
		Procedures: p.procedures, Reminders: p.reminders, Sessions: p.sessions, Consolidation: p.consolidation, Context: p.context, Introspection: p.introspection, Trash: p.trash,
		Search: searches,
		Tasks:  p.tasks, Leases: p.leases, Recon: recon, Tokens: p.tokens, System: system{a}, Embeddings: p.vectors,
	}, mcpserver.Options{Agent: mcpserver.DefaultAgent, Toolsets: toolsets, Version: a.options.Version, Log: a.log})
	a.life.defers("mcp sessions", tools.Close)
	a.streams = append(a.streams, func(context.Context) error {
		tools.EndStreams()
		return nil
	})

	a.wireWeb(ctx, p)

	a.handler = httpapi.New(httpapi.Services{
		Auth: p.tokens, Names: principal.NewNames(func(ctx context.Context, limit int) ([]string, error) { return projectsOf(ctx, p, limit) }),
		Tokens: p.tokens, Persons: p.persons, Presence: p.presence, Mailbox: p.mailbox, Messages: hub,
		Knowledge: p.knowledge, Episodes: p.episodes, Router: p.queries, Tasks: p.tasks, Leases: p.leases, Recon: recon, Guard: guards, Experiences: p.experiences, Tools: tools,
		Escalations: p.crossing.escalations(), Memory: p.crossing.memory,
		Lessons: lessons, Patterns: p.patterns,
		Facts: p.facts,
		Kinds: p.routes, Reminders: p.reminders, Sessions: p.sessions, Consolidation: p.consolidation, Context: p.context, Chat: p.chat,
		Introspection: p.introspection, Embeddings: p.vectors, Search: searches, Verdicts: toldAnswers{p.verdicts, p.value},
		Feed: p.feed, Timeline: p.timeline, Events: p.events, Socket: p.socket, Web: p.web, Mesh: p.mesh,
		Backup: a.backup, Transfer: p.transfer,
		MCP: tools.Handler(), System: system{a}, Registry: registry,
	}, httpapi.Options{
		Tracer:  tracer,
		Version: a.options.Version, RequireToken: a.needsToken(),
		AllowedHosts: a.config.AllowedHosts, Certified: a.certificate.names, Log: a.log, Now: a.now, Stamp: a.stamp(),
	})
	a.wired = p
	return nil
}

// wireTelemetry makes what spans are sent by; nil: none are.
func (a *App) wireTelemetry(ctx context.Context, registry *prometheus.Registry) (*trace.Tracer, error) {
	if a.config.Telemetry.Endpoint == "" {
		return nil, nil
	}
	exporter, err := otlp.New(ctx, a.config.Telemetry.Endpoint, a.options.Version, registry, a.log)
	if err != nil {
		return nil, err
	}
	a.life.run(ctx, "telemetry", exporter.Run)
	return &trace.Tracer{Spans: exporter.Tracer("skillrouter"), Now: a.now, Content: a.config.Telemetry.Content}, nil
}

// health is the answer of GET /health.
func (a *App) health(ctx context.Context) router.Health {
	now := a.now()
	status := router.StatusHealthy
	lost, err := Losses(a.config.Data)
	if err != nil {
		lost = []string{err.Error()}
	}
	if len(lost) > 0 {
		status = "degraded"
	}
	h := router.Health{
		Status: status, Server: "skillrouter", Version: a.options.Version, UptimeMS: now.Sub(a.started).Milliseconds(), Timestamp: now.UTC(),
		Stats: map[string]int64{}, Search: map[string]string{},
	}
	if !principal.Of(ctx).Walled() { // the figures are of every project
		h.Problems, h.Stats, h.Search = lost, a.wired.stats(ctx, a.log), a.wired.states()
		h.Guard, h.Interlock = ledgerSaid(a.wired.guards.LedgerState()), a.wired.meshState
	}
	return h
}

// parts is what wire has built so far, for what is built on it.
type parts struct {
	memory     *learningstore.Store
	operations *operationalstore.Store
	tasks      *operational.Tasks
	presence   *comms.Presence
	mailbox    *comms.Mailbox
	leases     *lease.Leases
	knowledge  *knowledge.Base
	episodes   *episode.Episodes
	lessons    *lesson.Lessons
	patterns   *lesson.Patterns
	guards     *guard.Guards
	facts      *fact.Facts
	crossing   crossingServices

	// model is what the router itself may ask, and embedder makes vectors; each is nil unless it is
	// configured (llm.base_url with llm.model, llm.embedding_model). wireLLM sets them, before all others.
	model    *llm.Chat
	vectors  *shelf.Vectors
	embedder shelf.Embedder
	endpoint *llm.Endpoint // what model is at, and /v1 is in front of; nil without llm.base_url

	procedures    *procedure.Procedures
	consolidation history.ConsolidationService
	said          *said.Decisions // what people decided at agents' prompts
	reminders     *operational.Reminders
	sessions      session.Service
	context       contexts.Service
	chat          http.Handler
	verdicts      *verdict.Verdicts
	kinds         []kind.Memory
	routes        []httpapi.Routes
	search        *search.Searcher
	experiences   *experience.Experiences
	incidents     *history.Incidents
	tellings      *operational.Tellings
	value         *value.Values
	decisions     *decision.Decisions
	transfer      transfer.Service
	trash         trash.Service

	feed           feed.Service
	timeline       feed.TimelineService
	events, socket http.Handler // the feed's two transports

	// What the dashboard shows beside the above; set when all parts are wired.
	tokens        *operational.Tokens
	persons       *person.Persons
	queries       router.Service
	introspection router.IntrospectionService
	web           *web.Server // the dashboard

	mesh       comms.MeshService
	meshState  string            // for GET /health
	meshStatus func() comms.Mesh // for the metrics; nil: it is off
	outbound   router.Outbound   // whom the mesh sends to

	registry *prometheus.Registry
}

// wireKinds gathers the kinds of memory in the order of the registry, each with the service that keeps it.
func (a *App) wireKinds(ctx context.Context, p *parts) error {
	words := search.NewWords(p.operations, p.operations.SignalLog(), a.log)
	a.life.run(ctx, "words", words.Run)
	p.kinds = slices.Concat([]kind.Memory{
		kind.Procedures(p.procedures, p.memory), kind.Lessons(p.lessons, p.memory), kind.Patterns(p.patterns, p.memory), kind.Entries(p.knowledge, p.memory),
		kind.Facts(p.facts, p.memory, a.now), kind.Episodes(p.episodes, p.experiences, p.memory), kind.Reminders(p.reminders, p.operations), kind.Sessions(p.operations),
	}, words.Memories())
	for i, k := range p.kinds {
		if k.Name == kind.Task.Name {
			p.kinds[i] = kind.Tasks(k, operational.NewTasks(p.operations, a.now), p.operations)
		}
	}
	place := map[string]int{}
	for i, k := range kind.All() {
		place[k.Name] = i
	}
	slices.SortStableFunc(p.kinds, func(a, b kind.Memory) int { return place[a.Name] - place[b.Name] })
	return nil
}

// wireSearch builds the search over all memories, and lets each tell what the others have.
func (a *App) wireSearch(_ context.Context, p *parts) error {
	p.search = search.NewSearcher(p.kinds, search.SearcherOptions{Now: a.now, Misses: p.verdicts})
	for _, memory := range p.kinds {
		if memory.Shelf != nil {
			memory.Shelf.TellElsewhere(memory.Name, p.search)
		}
	}
	return nil
}

// wireContext builds the context builder on whatever stores there are.
func (a *App) wireContext(ctx context.Context, p *parts) error {
	a.life.run(ctx, "facts index", p.facts.RunIndex)
	sources := contexts.Sources{
		Guards: p.guards, Lessons: p.lessons, Knowledge: p.knowledge, Facts: p.facts, Kinds: p.kinds, Index: p.memory,
		Episodes: p.episodes, Tasks: p.tasks, Sessions: p.sessions, Incidents: p.incidents,
		Words: []router.Frequencies{p.knowledge, p.lessons, p.episodes, p.facts},
	}
	tell := func(ctx context.Context, told operational.Telling) {
		told.Agent = speaker(ctx, told.Agent)
		p.tellings.Note(told)
	}
	p.context = contexts.NewBuilder(sources, contexts.Options{Now: a.now, Log: a.log, VouchedOnly: a.config.TellVouched, Tell: tell})
	return nil
}
