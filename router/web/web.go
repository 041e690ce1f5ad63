// Package web is the dashboard that people look at in a browser: pages, and the few scripts, styles and libraries that they
// load, all of it embedded. It owns what is a browser's alone: pages, forms,
// sessions by cookie, what a page may load and where it may send. It calls the
// services as whoever is logged in, holds no rule of any domain, and knows no
// database and no other transport.
//
// Everything that is shown was written by somebody else and is treated as
// hostile: the templates escape it, neutralise makes what cannot be seen
// visible, and the Content-Security-Policy lets no script run but ours.
//
// A kind of thing is described by data, and one handler shows lists, rows and
// forms of all kinds; see thing.go and list.go, and pages.go for how pages are registered.
package web

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"iter"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/comms/lease"
	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/defaults"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning/guard"
	"github.com/skillrouter/skillrouter/learning/history"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/learning/verdict"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/operational/person"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/decision"
	"github.com/skillrouter/skillrouter/router/feed"
	"github.com/skillrouter/skillrouter/router/kind"
	"github.com/skillrouter/skillrouter/router/search"
	"github.com/skillrouter/skillrouter/router/session"
	"github.com/skillrouter/skillrouter/router/value"
)

// Services is what is shown. The pages of a nil service are not served.
type Services struct {
	Auth          router.Authenticator
	Persons       *person.Persons // nil: there is no passphrase
	Presence      *comms.Presence
	Mailbox       *comms.Mailbox
	Tasks         operational.TaskService
	Reminders     operational.ReminderService
	Escalations   operational.EscalationService
	Sessions      session.Service
	Timeline      feed.TimelineService
	Kinds         []kind.Memory // whose rows have pages
	Memory        router.MemoryService
	Knowledge     *knowledge.Base
	Lessons       lesson.Service
	Patterns      lesson.PatternService
	Guard         guard.Service
	Consolidation history.ConsolidationService
	Leases        *lease.Leases
	Health        func(ctx context.Context) router.Health
	Hooks         func(ctx context.Context) []router.SystemCheck // whether agents' hooks ask the guard
	// Projects returns up to limit projects that anything belongs to.
	Projects func(ctx context.Context, limit int) ([]string, error)

	Search    search.Service
	Verdicts  verdict.Service
	Incidents *history.Incidents
	Tellings  *operational.Tellings
	Value     value.Service
	Decisions decision.Service // with Guard, Escalations, Incidents, Knowledge and Consolidation
}

// Options are the settings of a Server. The zero value is usable.
type Options struct {
	// Events is the path that the pages hear of changes from, as server-sent events; empty: they are not live.
	Events string
	// Status is the HTTP status of an error's code. Nil answers 400 to every error.
	Status func(code errs.Code) int
	Log    *slog.Logger
	Now    clock.Clock
	// Private tells whether nobody on the way can read a request; nil: nobody ever can.
	Private func(r *http.Request) bool
}

// Server serves the dashboard. It is an http.Handler for the paths that Routes lists.
type Server struct {
	services Services
	options  Options
	log      *slog.Logger
	now      clock.Clock
	sessions *sessions
	key      [sha256.Size]byte // of this process's forms; see formToken
	loads    map[string]pageOf // by path
	actions  map[string]action // by path
	things   map[string]*thing // by kind
	places   []*place
	known    knownProjects
	notices  map[string]string // what is said after an action, by the code that a redirect bears
	bound    *Server           // shows whoever is bound to projects what keeps to them; nil: this is it
}

// New makes the dashboard of the services. Templates and assets are prepared
// when a browser first asks for them.
func New(services Services, options Options) *Server {
	options.Log, options.Now = defaults.Log(options.Log), options.Now.Given()
	if options.Private == nil {
		options.Private = func(*http.Request) bool { return true }
	}
	if options.Status == nil {
		options.Status = func(errs.Code) int { return http.StatusBadRequest }
	}
	s := &Server{services: services, options: options, log: options.Log, now: options.Now, sessions: &sessions{auth: services.Auth, persons: services.Persons, private: options.Private, now: options.Now, held: map[[sha256.Size]byte]login{}}}
	_, _ = rand.Read(s.key[:]) // never fails, see crypto/rand
	s.bound = &Server{services: services.withinWalls(), options: options, log: s.log, now: s.now, sessions: s.sessions, key: s.key}
	s.pages()
	s.bound.pages()
	return s
}

// withinWalls are the services that keep to the projects of a token that is bound to some. The pages of all others
// are not there for it, nor are the parts of pages that show what is theirs; so a service that joins shows it nothing.
func (s Services) withinWalls() Services {
	kinds := slices.DeleteFunc(slices.Clone(s.Kinds), func(m kind.Memory) bool { return !m.Walled })
	return Services{
		Auth: s.Auth, Persons: s.Persons, Presence: s.Presence, Mailbox: s.Mailbox, Timeline: s.Timeline,
		Kinds: kinds, Knowledge: s.Knowledge, Lessons: s.Lessons, Search: s.Search, Verdicts: s.Verdicts, Value: s.Value,
	}
}

// Routes lists the methods and paths that the dashboard serves. A path that
// ends in "/*" stands for all below it.
func (s *Server) Routes() iter.Seq2[string, string] {
	return func(yield func(method, path string) bool) {
		read := append(slices.Collect(maps.Keys(s.loads)), assetsPath+"*")
		for _, path := range slices.AppendSeq(read, maps.Keys(described().Moved)) {
			if !yield(http.MethodGet, path) {
				return
			}
		}
		for path := range s.actions {
			if !yield(http.MethodPost, path) {
				return
			}
		}
	}
}

// Principal says who the cookie of a request belongs to, if it has one of a session that lasts.
func (s *Server) Principal(r *http.Request) (principal.Principal, bool) {
	return s.sessions.principal(r)
}

// ServeHTTP implements http.Handler. The request's context says who calls
// (principal.Of); the zero Principal is somebody who must log in
// first, and sees the login page and the assets only.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	protect(w.Header())
	if strings.HasPrefix(r.URL.Path, assetsPath) && embedded().serve(w, r) {
		return
	}
	shown := s.shownTo(r)
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		if page, ok := shown.loads[r.URL.Path]; ok {
			shown.show(w, r, page)
			return
		}
		if to, ok := described().Moved[r.URL.Path]; ok {
			http.Redirect(w, r, moved(to, r.URL.Query()), http.StatusFound)
			return
		}
	case http.MethodPost:
		if action, ok := shown.actions[r.URL.Path]; ok {
			shown.act(w, r, action)
			return
		}
	}
	s.NotFound(w, r)
}

// moved is where a page is now that had an address of its own, with its query: links in chats and notes go on working.
func moved(to string, query url.Values) string {
	words := strings.Fields(to)
	for _, word := range words[1:] {
		name, value, set := strings.Cut(word, "=")
		if old, now, renamed := strings.Cut(word, ">"); renamed && query.Has(old) {
			query[now] = query[old]
		} else if set {
			query.Set(name, value)
		}
	}
	return pathWith(words[0], query)
}

// shownTo is what serves the pages of whoever asks.
func (s *Server) shownTo(r *http.Request) *Server {
	if s.bound != nil && principal.Of(r.Context()).Walled() {
		return s.bound
	}
	return s
}

// protect sets what a browser may do with an answer: load from here alone, run
// no script and use no style that is written into a page, be in no frame, send
// forms only here. The referrer is kept to this site; without any, browsers
// would send forms with the Origin "null", which is refused as foreign.
func protect(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "+
		"object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'")
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
}
