// Package mcpserver offers the services to agents as tools of the Model
// Context Protocol, over streamable HTTP. It owns
// what is the protocol's alone: the tools' names, schemas and wording, how an
// answer is put before a model, sessions, framing, and the one table from
// errors to what a model is told. It must not hold a rule of any domain, and
// knows neither the databases nor the other transports.
package mcpserver

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"log/slog"
	"net/http"
	"reflect"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/comms/lease"
	"github.com/skillrouter/skillrouter/internal/defaults"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/experience"
	"github.com/skillrouter/skillrouter/learning/fact"
	"github.com/skillrouter/skillrouter/learning/guard"
	"github.com/skillrouter/skillrouter/learning/history"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/learning/procedure"
	"github.com/skillrouter/skillrouter/learning/shelf"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/contexts"
	"github.com/skillrouter/skillrouter/router/search"
	"github.com/skillrouter/skillrouter/router/session"
	"github.com/skillrouter/skillrouter/router/trash"
)

// DefaultAgent is who calls are made for when nobody says: the seed's Captain
// is the agent that this memory was first built for.
const DefaultAgent = "captain"

// instructions is what a client puts before its model once, beside the tools.
// It says when to use which; what each takes is in the tools themselves.
//
//go:embed instructions.txt
var instructions string

// Services is what the tools call. A tool whose service is nil is not offered.
type Services struct {
	Knowledge     knowledge.Service
	Episodes      episode.Service
	Facts         fact.Service
	Memory        router.MemoryService
	Router        router.Service
	Mailbox       comms.MailboxService
	Presence      comms.PresenceService // lets check_messages say whether the agent should stop; may be nil beside a Mailbox
	Lessons       lesson.Service
	Experiences   experience.Service
	Guard         guard.Service
	Patterns      lesson.PatternService
	Escalations   operational.EscalationService
	Reminders     operational.ReminderService
	Sessions      session.Service
	Consolidation history.ConsolidationService
	Context       contexts.Service
	Introspection router.IntrospectionService
	Trash         trash.Service
	Tasks         operational.TaskService
	Leases        lease.Service
	Recon         operational.ReconService
	Search        search.Service
	Tokens        operational.TokenService
	System        router.SystemService
	Embeddings    shelf.EmbeddingService
	Procedures    procedure.Service
}

// Options are the settings that have usable zero values.
type Options struct {
	// Agent is who calls are made for when neither the token, nor the URL, nor
	// the call says. Empty leaves it to the services, which know the token.
	Agent    string
	Toolsets Toolsets     // switched on for every client, besides the default one
	Version  string       // of this program, shown to clients
	Log      *slog.Logger // nil discards
	PageSize int          // of the lists of tools and prompts; 0: 1,000, more than there are
	// ProgressEvery is how often a call says that it is under way, to who asks for that; 0: each second.
	ProgressEvery time.Duration
	// Extend adds to what the server offers, for programs that are no router.
	Extend func(*mcp.Server)
}

// EndStreams ends what listens, so that a server that is shut down need not wait for it.
func (s *Server) EndStreams() { s.streams.once.Do(func() { close(s.streams.ended) }) }

// streams is what EndStreams ends.
type streams struct {
	once  sync.Once
	ended chan struct{}
}

// Server offers the services' tools to any number of clients.
type Server struct {
	services  Services
	agent     string
	toolsets  Toolsets
	ready     func()                         // adds what is offered: a hundred tools' schemas take 15 ms, which no start should wait for
	tools     map[string]offered             // by name; written by ready alone, which whoever comes from outside calls first
	index     *router.ToolIndex              // of tools
	receivers map[reflect.Type]reflect.Value // the services that tools call, and this Server
	resources []resource                     // of tools, in the order in which they are listed
	log       *slog.Logger
	mcp       *mcp.Server
	sessions  *sessions

	progressEvery time.Duration
	streams       streams
	asking        sync.Map // the sessions that a question to a person is open in
	handler       http.Handler
}

// New makes a Server.
func New(services Services, options Options) *Server {
	log := defaults.Log(options.Log)
	options.Version = cmp.Or(options.Version, "unknown")
	s := &Server{services: services, agent: options.Agent, toolsets: options.Toolsets, tools: map[string]offered{}, log: log}
	quiet := slog.New(atLeast{log.Handler(), slog.LevelWarn}) // the library logs each session's coming and going
	s.sessions = &sessions{byID: map[string]*sessionUse{}}
	s.streams.ended = make(chan struct{})
	s.progressEvery = cmp.Or(options.ProgressEvery, progressEvery)
	s.mcp = mcp.NewServer(
		&mcp.Implementation{Name: "skillrouter", Title: "Skill Router", Version: options.Version},
		&mcp.ServerOptions{
			Instructions: instructions,
			Logger:       quiet,
			GetSessionID: s.sessions.open,
			// The list of tools is the session's own, and may change. That there is more to
			// read is no news: what is listed is what there is when it is asked for.
			Capabilities: &mcp.ServerCapabilities{
				Tools: &mcp.ToolCapabilities{ListChanged: true}, Prompts: &mcp.PromptCapabilities{}, Resources: &mcp.ResourceCapabilities{},
				//lint:ignore SA1019 protocol 2026-07-28 deprecates log messages, and clients of the earlier ones ask for them
				Logging: &mcp.LoggingCapabilities{},
			},
			CompletionHandler: s.complete,
			PageSize:          options.PageSize,
			// What a list or a resource holds depends on who asks.
			SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) { c.CacheScope = "private" },
		})
	s.sessions.server = s.mcp
	s.mcp.AddReceivingMiddleware(s.recoverPanics, withRequestValues, refuseSubscriptions, s.tellProgress, s.keepToolsets, s.listResources)
	s.mcp.AddSendingMiddleware(s.tellOfTools)
	s.ready = sync.OnceFunc(func() {
		s.addTools()
		s.addFindTools()
		s.addResources()
		s.addPrompts()
		if options.Extend != nil {
			options.Extend(s.mcp)
		}
	})
	s.handler = s.newHandler(quiet)
	return s
}

// addTools adds the tools of the services that there are.
func (s *Server) addTools() {
	s.receivers = map[reflect.Type]reflect.Value{reflect.TypeFor[*Server](): reflect.ValueOf(s)}
	services := reflect.ValueOf(s.services)
	for i := range services.NumField() {
		if service := services.Field(i); service.Kind() == reflect.Interface {
			s.receivers[service.Type()] = service
		}
	}
	for _, family := range []struct {
		set     string // of its tools, but for those of the core
		service any
		tools   func() []tool
	}{
		{"lessons", s.services.Knowledge, knowledgeTools},
		{"facts", s.services.Episodes, episodeTools},
		{"lessons", s.services.Memory, memoryTools},
		{ToolsetCore, s.services.Router, queryTools},
		{"operations", s.services.Mailbox, mailboxTools},
		{"operations", s.services.Presence, agentTools},
		{"lessons", s.services.Lessons, lessonTools},
		{"operations", s.services.Tasks, teamTaskTools},
		{"operations", s.services.Leases, leaseTools},
		{"facts", s.services.Facts, factTools},
		{"procedures", s.services.Procedures, procedureTools},
		{"operations", s.services.Recon, reconTools},
		{"operations", s.services.Search, searchTools},
		{"lessons", s.services.Patterns, patternTools},
		{"lessons", s.services.Escalations, escalationTools},
		{"experience", s.services.Experiences, experienceTools},
		{"lessons", s.services.Guard, guardTools},
		{"admin", s.services.Guard, packTools},
		{"reminders", s.services.Reminders, reminderTools},
		{"operations", s.services.Sessions, sessionTools},
		{"facts", s.services.Consolidation, consolidationTools},
		{"operations", s.services.Context, contextTools},
		{"admin", s.services.Introspection, introspectionTools},
		{"admin", s.services.Trash, trashTools},
		{"admin", s.services.Tokens, tokenTools},
		{"admin", s.services.System, systemTools},
		{"admin", s.services.Embeddings, embeddingTools},
	} {
		if family.service != nil {
			for _, t := range family.tools() {
				s.add(family.set, t)
			}
		}
	}
}

// Handler serves MCP over streamable HTTP. Whoever mounts it checks Host and
// Origin, and puts the principal into the request's context.
func (s *Server) Handler() http.Handler { return s.handler }

// Close ends every session. Calls under way are waited for; those that come
// later are answered as calls of a session that is gone.
func (s *Server) Close() error {
	s.EndStreams()
	var errs []error
	for session := range s.mcp.Sessions() {
		errs = append(errs, session.Close())
	}
	return errors.Join(errs...)
}
