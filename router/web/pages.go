package web

import (
	"bytes"
	"cmp"
	"embed"
	"html/template"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"skillrouter/internal/errs"
	"skillrouter/internal/principal"
	"skillrouter/internal/safetext"
)

// A kind of thing is described in things.yaml and shown by one handler (thing.go). A page of its own, which few things
// need, is registered by page, and what a form does by action. A live part of a page is a section with an id, which is
// fetched again after events whose type begins with one of the words of data-live; a form lies outside of it, or what is
// typed would be lost.
//
// Paths are fixed, and what a page is about is in its query (?id=): ids are
// whatever agents chose, and "." and ".." are no steps of a path there.

//go:embed templates/*.html
var templateFiles embed.FS

// The places of the navigation, in their order.
const (
	overviewPath = "/"
	inboxPath    = "/ui/inbox"
	workPath     = "/ui/work"
	timelinePath = "/ui/timeline"
	agentsPath   = "/ui/agents"
	messagesPath = "/ui/messages"
	memoryPath   = "/ui/memory"
	guardPath    = "/ui/guard"
	settingsPath = "/ui/settings"
)

// pages registers every page.
func (s *Server) pages() {
	s.loads, s.actions, s.notices, s.things = map[string]pageOf{}, map[string]action{}, map[string]string{}, map[string]*thing{}
	s.own, s.among = map[string]func(*thing){}, map[string]func(*visit) ([]option, error){}
	s.places = []*place{
		{Path: overviewPath, Name: "Overview", Key: "o", file: "overview.html", own: s.overview},
		{Path: inboxPath, Name: "Inbox", Key: "i", split: true, does: "Decide what waits for a person: approve, allow, accept, refuse, decline", count: s.waiting},
		{Path: workPath, Name: "Work", Key: "w", count: s.openTasks},
		{Path: timelinePath, Name: "Timeline", Key: "t", file: "timeline.html", own: s.timeline},
		{Path: agentsPath, Name: "Agents", Key: "a", count: s.online},
		{Path: messagesPath, Name: "Messages", Key: "m", does: "Read and answer messages", count: s.unread},
		{Path: memoryPath, Name: "Memory", Key: "k", count: s.memorySize},
		{Path: guardPath, Name: "Guard", Key: "g"},
		{Path: settingsPath, Name: "Settings", Key: "s", does: "Colours, theme, project", file: "settings.html", own: s.system},
	}
	s.loginPages()
	s.page(findPath, "find.html", "Find or do", s.find)
	s.worthThings()
	s.inboxThings()
	s.agentThings()
	s.messageThings()
	s.memoryThings()
	s.guardThings()
	s.settingPages()
	s.describe()
	if s.services.Timeline == nil {
		s.places = slices.DeleteFunc(s.places, func(p *place) bool { return p.Path == timelinePath })
	}
	s.places = slices.DeleteFunc(s.places, func(p *place) bool { return p.own == nil && len(p.kinds) == 0 })
	for _, p := range s.places {
		s.page(p.Path, cmp.Or(p.file, "place.html"), p.Name, func(v *visit) (any, error) {
			if p.own != nil && !slices.Contains(p.kinds, v.value("kind")) {
				return p.own(v)
			}
			v.file = "place.html"
			return s.placePage(v, p)
		})
	}
}

// pageOf is a page as it was registered.
type pageOf struct {
	path, file, title string
	load              func(v *visit) (any, error)
	public            bool // also for those who have not logged in
}

// action is a form's POST as it was registered.
type action struct {
	back   string // the page that shows what went wrong, or what became of it
	do     func(v *visit) (to string, err error)
	public bool
}

func (s *Server) page(path, file, title string, load func(v *visit) (any, error)) {
	s.loads[path] = pageOf{path: path, file: file, title: title, load: load}
}

// action registers what a form does. do returns where to go on then: a path of
// the dashboard with its query, to which done may have been added; or nowhere,
// and the page is shown at once.
func (s *Server) action(path, back string, do func(v *visit) (to string, err error)) {
	s.actions[path] = action{back: back, do: do}
}

// visit is one request of a page, or of an action of one.
type visit struct {
	*http.Request
	server  *Server
	writer  http.ResponseWriter
	title   string // the page's own, unless its loader sets another
	file    string // the same of its template
	fault   error  // what went wrong with the action that came back here
	acted   string // the path of the act that was just refused
	done    string // the code of what was done, where it is not the act's own
	removed string // the id of what was removed and can be taken back

	decided []decided // what became of the decisions of this form
}

// principal is who calls.
func (v *visit) principal() principal.Principal { return principal.Of(v.Context()) }

// value is a field of the form or of the query, without white space around it.
func (v *visit) value(name string) string { return strings.TrimSpace(v.Form.Get(name)) }

// view is what a template sees.
type view struct {
	Title    string
	Path     string     // of the page
	Self     string     // path and query of the page, to fetch it again
	Places   []entry    // the navigation; none for a stranger
	Form     url.Values // what was asked for or typed
	Token    string     // of the page's forms
	Notice   string     // what was just done
	Fault    string     // what went wrong
	FaultOf  string     // the field at fault
	Acted    bool       // this answers a form
	Outcomes []decided  // what became of the decisions of this form
	Events   string     // where changes are told; empty: the page is not live
	LoggedIn bool
	Who      string
	Theme    string   // light or dark; empty: as the system has it
	Projects []option // to choose from, in the page's head
	Captain  bool     // may act as any agent
	Bound    []string // the projects that whoever looks is bound to: numbers that run through all projects are left out
	MayAct   bool     // may write at all
	Now      time.Time
	Data     any
}

// entry is a place as the navigation shows it.
type entry struct {
	*place
	Count int // 0: nothing is said
	On    bool
}

// buffers are for pages as they are made: nothing is sent before all of it is there.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// MaxForm bounds what a form may send, in bytes: the longest text that one has, URL-encoded.
const MaxForm = 1 << 20

// maxQuery bounds a page's query, in bytes; it is repeated in the links of the page.
const maxQuery = 4 << 10

// show answers a GET.
func (s *Server) show(w http.ResponseWriter, r *http.Request, page pageOf) {
	if !page.public && !identified(r) {
		s.askLogin(w, r)
		return
	}
	v := &visit{Request: r, server: s, writer: w, title: page.title}
	if len(r.URL.RawQuery) > maxQuery {
		s.fail(v, &errs.Error{Code: errs.TooLarge, Message: "the query of this page is too long"})
		return
	}
	if err := r.ParseForm(); err != nil {
		s.fail(v, errs.Errorf(errs.Invalid, "the query of this page is malformed"))
		return
	}
	if project := setting(r, projectSetting); project != "" && !r.Form.Has("project") && principal.Of(r.Context()).Sees(project) {
		r.Form.Set("project", project) // what an address says goes before what the browser keeps
	}
	s.render(v, page, http.StatusOK)
}

// act answers a POST: it does what the form says and sends the browser on, or
// shows the page of the form again with what went wrong.
func (s *Server) act(w http.ResponseWriter, r *http.Request, action action) {
	v := &visit{Request: r, server: s, writer: w, title: "Not done"}
	r.Body = http.MaxBytesReader(w, r.Body, MaxForm)
	if err := r.ParseForm(); err != nil {
		s.fail(v, &errs.Error{Code: errs.TooLarge, Message: "the form cannot be read, or holds more than the router takes"})
		return
	}
	if err := s.checkForm(r); err != nil {
		s.fail(v, err)
		return
	}
	if !action.public && !identified(r) {
		s.askLogin(w, r)
		return
	}
	to, err := action.do(v)
	if err != nil {
		v.fault = err
		if errs.CodeOf(err) == errs.PassphraseNeeded {
			v.title = "Log in"
			s.write(v, s.loads[loginPath], http.StatusForbidden, s.loginForm(action.back))
			return
		}
		page, ok := s.loads[action.back]
		if !ok {
			s.fail(v, err)
			return
		}
		v.title = page.title
		s.log.InfoContext(r.Context(), "an action of the dashboard was refused", "path", r.URL.Path, "code", errs.CodeOf(err), "error", err)
		s.render(v, page, s.options.Status(errs.CodeOf(err)))
		return
	}
	if page, ok := s.loads[action.back]; ok && to == "" {
		v.title = page.title
		s.render(v, page, http.StatusOK)
		return
	}
	w.Header().Set("Cache-Control", "no-store") // it may bear the cookie of a session
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// render loads the page and writes it.
func (s *Server) render(v *visit, page pageOf, status int) {
	data, err := page.load(v)
	if err != nil {
		if v.fault != nil { // what the action was about is gone too: the first failure says more
			err = v.fault
		}
		s.fail(v, err)
		return
	}
	s.write(v, page, status, data)
}

// fail shows an error as a page of its own.
func (s *Server) fail(v *visit, err error) {
	code := errs.CodeOf(err)
	status := s.options.Status(code)
	if status >= http.StatusInternalServerError && v.Context().Err() == nil {
		s.log.ErrorContext(v.Context(), "a page of the dashboard failed", "path", v.URL.Path, "code", code, "error", err)
	}
	v.title = http.StatusText(status)
	v.fault, v.file = err, "error.html"
	s.write(v, pageOf{}, status, nil)
}

// NotFound answers a browser that asks for a page that there is not.
func (s *Server) NotFound(w http.ResponseWriter, r *http.Request) {
	protect(w.Header())
	v := &visit{Request: r, server: s.shownTo(r), writer: w}
	_, page := s.loads[r.URL.Path]
	_, action := s.actions[r.URL.Path]
	if v.server != s && (page || action) {
		v.server.fail(v, principal.Unkept("this page"))
		return
	}
	v.server.fail(v, errs.Errorf(errs.NotFound, "there is no such page here"))
}

// templates are the pages' templates, by their files, each with the layout and the parts that all share. They are the
// program's own, and a test shows every page: parsing them cannot fail.
var templates = sync.OnceValue(func() map[string]*template.Template {
	all := map[string]*template.Template{}
	files, _ := templateFiles.ReadDir("templates")
	for _, file := range files {
		all[file.Name()] = template.Must(template.New(file.Name()).Funcs(functions).ParseFS(templateFiles, "templates/layout.html", "templates/parts.html", "templates/rows.html", "templates/"+file.Name()))
	}
	return all
})

// write executes the page's template and sends what it made.
func (s *Server) write(v *visit, page pageOf, status int, data any) {
	buffer := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(buffer)
	buffer.Reset()
	if err := templates()[cmp.Or(v.file, page.file)].ExecuteTemplate(buffer, "layout", s.view(v, page, data)); err != nil {
		s.log.ErrorContext(v.Context(), "a template of the dashboard failed", "file", cmp.Or(v.file, page.file), "error", err)
		http.Error(v.writer, "this page could not be made; the router's log has the cause", http.StatusInternalServerError)
		return
	}
	h := v.writer.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	v.writer.WriteHeader(status)
	_, _ = io.WriteString(v.writer, safetext.Visible(buffer.String())) // a browser that has gone cannot be told; of the whole page, so that no template can forget it
}

func (s *Server) view(v *visit, page pageOf, data any) view {
	p := v.principal()
	w := view{
		Title: v.title, Path: page.path, Self: page.path, Form: v.Form, Token: s.formToken(v.Request), Events: s.options.Events,
		Who: who(p), Captain: p.Has(principal.ScopeCaptain), Bound: p.Projects(), MayAct: p.Has(principal.ScopeAgent),
		Now: s.now().UTC(), Data: data, Acted: v.Method == http.MethodPost, Outcomes: v.decided,
	}
	if v.Form == nil {
		w.Form = url.Values{}
	}
	query := url.Values{}
	if v.Method != http.MethodPost { // a form's fields are no query of its page
		for name, values := range w.Form {
			if name != "done" {
				query[name] = values
			}
		}
	} else {
		for _, name := range []string{"id", "kind"} { // what the page is about
			if about := w.Form.Get(name); about != "" {
				query.Set(name, about)
			}
		}
	}
	w.Self = pathWith(w.Self, query)
	w.Notice = s.notices[w.Form.Get("done")]
	if v.fault != nil {
		w.Notice, w.Fault, w.FaultOf = "", errs.MessageOf(v.fault), errs.FieldOf(v.fault)
		if w.FaultOf != "" {
			w.Fault = w.FaultOf + " " + w.Fault
		}
	}
	_, w.LoggedIn = s.sessions.principal(v.Request)
	w.Theme = themeOf(v.Request)
	if identified(v.Request) {
		chosen := setting(v.Request, projectSetting)
		if !p.Sees(chosen) {
			chosen = ""
		}
		if v.Method != http.MethodPost && w.Form.Has("project") {
			chosen = w.Form.Get("project")
		}
		w.Projects = s.projectOptions(v.Context(), chosen)
		counts := s.countsFor(v)
		for i, p := range s.places {
			w.Places = append(w.Places, entry{p, counts[i], p.Path == w.Path})
		}
	} else {
		w.Events = "" // nobody tells a stranger
	}
	return w
}

// identified tells whether the request is anybody's.
func identified(r *http.Request) bool { return len(principal.Of(r.Context()).Scopes) > 0 }

// who names a principal for people.
func who(p principal.Principal) string {
	switch {
	case p.AgentID != "":
		return p.AgentID
	case p.Has(principal.ScopeAdmin):
		return "owner"
	case p.Has(principal.ScopeCaptain):
		return "captain"
	}
	return "reader"
}

// link makes a path with a query. Pairs whose value is empty are left out.
func link(path string, pairs ...string) string {
	query := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			query.Set(pairs[i], pairs[i+1])
		}
	}
	return pathWith(path, query)
}

func pathWith(path string, query url.Values) string {
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}
