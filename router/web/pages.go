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

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/safetext"
)

// A kind of thing is described in things.yaml and shown by one handler (list.go). A page of its own, which few things
// need, is registered by page, and what a form does in actions. A live part of a page is a section with an id, which is
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
	s.loads, s.things = map[string]pageOf{}, map[string]*thing{}
	s.notices = map[string]string{
		"set": "It is set, for this browser.",
	}
	s.actions = map[string]action{settingsPath: {back: settingsPath, do: s.choose}}
	s.places = []*place{
		{Path: overviewPath, Name: "Overview", Key: "o", file: "overview.html", own: s.overview},
		{Path: inboxPath, Name: "Inbox", Key: "i", split: true, does: "Decide what waits for a person: approve, allow, accept, refuse, decline", count: s.waiting},
		{Path: workPath, Name: "Work", Key: "w", count: s.openTasks},
		{Path: timelinePath, Name: "Timeline", Key: "t"},
		{Path: agentsPath, Name: "Agents", Key: "a", count: s.online},
		{Path: messagesPath, Name: "Messages", Key: "m", does: "Read and answer messages", count: s.unread},
		{Path: memoryPath, Name: "Memory", Key: "k", count: s.memorySize},
		{Path: guardPath, Name: "Guard", Key: "g"},
		{Path: settingsPath, Name: "Settings", Key: "s", does: "Colours, theme, project", file: "settings.html", own: s.system},
	}
	s.loginPages()
	s.page(findPath, "find.html", "Find or do", s.find)
	s.describe()
	if s.things["matter"] != nil {
		s.actions[inboxPath+"/do"] = action{back: inboxPath, do: s.decideAll}
	}
	s.places = slices.DeleteFunc(s.places, func(p *place) bool {
		return p.own == nil && len(p.kinds) == 0
	})
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

// action is what a form does with its POST. do returns where to go on then: a path of the dashboard with its query, to
// which done may have been added; or nowhere, and the page is shown at once.
type action struct {
	back   string // the page that shows what went wrong, or what became of it
	do     func(v *visit) (to string, err error)
	public bool
}

func (s *Server) page(path, file, title string, load func(v *visit) (any, error)) {
	s.loads[path] = pageOf{path: path, file: file, title: title, load: load}
}

// visit is one request of a page, or of an action of one. Templates see it.
type visit struct {
	*http.Request
	layout
	Title    string // the page's own, unless its loader sets another
	Now      time.Time
	Outcomes []decided // what became of the decisions of this form

	server  *Server
	writer  http.ResponseWriter
	file    string // the template, where it is not the page's own
	fault   error  // what went wrong with the action that came back here
	acted   string // the path of the act that was just refused
	removed string // the id of what was removed and can be taken back
}

// layout is what stands around a page, and what its loader has for it.
type layout struct {
	Path, Self     string   // of the page, and with its query, to fetch it again
	Places         []entry  // the navigation; none for a stranger
	Token          string   // of the page's forms
	Notice         string   // what was just done
	Fault, FaultOf string   // what went wrong, and with which field
	Acted          bool     // this answers a form
	Events         string   // where changes are told; empty: the page is not live
	Who, Theme     string   // Theme: light or dark; empty: as the system has it
	Projects       []option // to choose from, in the page's head
	Bound          []string // the projects that whoever looks is bound to: numbers that run through all projects are left out
	LoggedIn       bool
	MayAct         bool // may write at all
	Data           any
}

// entry is a place as the navigation shows it.
type entry struct {
	*place
	Count int // 0: nothing is said
	On    bool
}

func (s *Server) visit(w http.ResponseWriter, r *http.Request, title string) *visit {
	return &visit{Request: r, Title: title, Now: s.now().UTC(), server: s, writer: w}
}

// principal is who calls.
func (v *visit) principal() principal.Principal { return principal.Of(v.Context()) }

// value is a field of the form or of the query, without white space around it.
func (v *visit) value(name string) string { return strings.TrimSpace(v.Form.Get(name)) }

// identified tells whether the request is anybody's.
func identified(r *http.Request) bool { return len(principal.Of(r.Context()).Scopes) > 0 }

// around is what stands around a page.
func (v *visit) around(page pageOf, data any) layout {
	s, p, query := v.server, v.principal(), url.Values{}
	l := layout{
		Path: page.path, Token: s.formToken(v.Request), Acted: v.Method == http.MethodPost, Who: who(p), Theme: themeOf(v.Request),
		Bound: p.Projects(), MayAct: p.Has(principal.ScopeAgent), Data: data,
	}
	for name, values := range v.Form {
		if !l.Acted && name != "done" || name == "id" || name == "kind" { // a form's fields are no query of its page, but for what that is about
			query[name] = values
		}
	}
	l.Self = pathWith(l.Path, query)
	if l.Notice = s.notices[v.Form.Get("done")]; v.fault != nil {
		l.Notice, l.FaultOf = "", errs.FieldOf(v.fault)
		l.Fault = strings.TrimSpace(l.FaultOf + " " + errs.MessageOf(v.fault))
	}
	_, l.LoggedIn = s.sessions.principal(v.Request)
	if !identified(v.Request) { // nobody tells a stranger
		return l
	}
	l.Events = s.options.Events
	chosen := setting(v.Request, projectSetting)
	if !p.Sees(chosen) {
		chosen = ""
	}
	ofProject := v.asking(url.Values{"project": {chosen}})
	if !l.Acted && v.Form.Has("project") {
		chosen = v.Form.Get("project")
	}
	l.Projects = s.projectOptions(v.Context(), chosen)
	for _, p := range s.places {
		l.Places = append(l.Places, entry{p, s.countOf(ofProject, p), p.Path == l.Path})
	}
	return l
}

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

const (
	// MaxForm bounds what a form may send, in bytes: the longest text that one has, URL-encoded.
	MaxForm = 1 << 20
	// maxQuery bounds a page's query, in bytes; it is repeated in the links of the page.
	maxQuery = 4 << 10
)

// show answers a GET.
func (s *Server) show(w http.ResponseWriter, r *http.Request, page pageOf) {
	if !page.public && !identified(r) {
		s.askLogin(w, r)
		return
	}
	v := s.visit(w, r, page.title)
	if len(r.URL.RawQuery) > maxQuery {
		s.fail(v, &errs.Error{Code: errs.TooLarge, Message: "the query of this page is too long"})
		return
	}
	if err := r.ParseForm(); err != nil {
		s.fail(v, errs.Errorf(errs.Invalid, "the query of this page is malformed"))
		return
	}
	if project := setting(r, projectSetting); project != "" && !r.Form.Has("project") && v.principal().Sees(project) {
		r.Form.Set("project", project) // what an address says goes before what the browser keeps
	}
	s.render(v, page, http.StatusOK)
}

// act answers a POST: it does what the form says and sends the browser on, or
// shows the page of the form again with what went wrong.
func (s *Server) act(w http.ResponseWriter, r *http.Request, action action) {
	v := s.visit(w, r, "Not done")
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
	page, there := s.loads[action.back]
	switch v.fault = err; {
	case errs.CodeOf(err) == errs.PassphraseNeeded:
		v.Title = "Log in"
		s.write(v, s.loads[loginPath], http.StatusForbidden, s.loginForm(action.back))
	case err != nil && there:
		v.Title = page.title
		s.log.InfoContext(r.Context(), "an action of the dashboard was refused", "path", r.URL.Path, "code", errs.CodeOf(err), "error", err)
		s.render(v, page, s.options.Status(errs.CodeOf(err)))
	case err != nil:
		s.fail(v, err)
	case there && to == "":
		v.Title = page.title
		s.render(v, page, http.StatusOK)
	default:
		w.Header().Set("Cache-Control", "no-store") // it may bear the cookie of a session
		http.Redirect(w, r, to, http.StatusSeeOther)
	}
}

// render loads the page and writes it.
func (s *Server) render(v *visit, page pageOf, status int) {
	data, err := page.load(v)
	if err != nil {
		s.fail(v, cmp.Or(v.fault, err)) // what the action was about may be gone too: the first failure says more
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
	v.Title, v.fault, v.file = http.StatusText(status), err, "error.html"
	s.write(v, pageOf{}, status, nil)
}

// NotFound answers a browser that asks for a page that there is not.
func (s *Server) NotFound(w http.ResponseWriter, r *http.Request) {
	protect(w.Header())
	shown := s.shownTo(r)
	_, page := s.loads[r.URL.Path]
	_, action := s.actions[r.URL.Path]
	if shown != s && (page || action) {
		shown.fail(shown.visit(w, r, ""), principal.Unkept("this page"))
		return
	}
	shown.fail(shown.visit(w, r, ""), errs.Errorf(errs.NotFound, "there is no such page here"))
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

// write executes the page's template and sends what it made: nothing is sent before all of it is there.
func (s *Server) write(v *visit, page pageOf, status int, data any) {
	v.layout = v.around(page, data)
	var made bytes.Buffer
	if err := templates()[cmp.Or(v.file, page.file)].ExecuteTemplate(&made, "layout", v); err != nil {
		s.log.ErrorContext(v.Context(), "a template of the dashboard failed", "file", cmp.Or(v.file, page.file), "error", err)
		http.Error(v.writer, "this page could not be made; the router's log has the cause", http.StatusInternalServerError)
		return
	}
	h := v.writer.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	v.writer.WriteHeader(status)
	_, _ = io.WriteString(v.writer, safetext.Visible(made.String())) // a browser that has gone cannot be told; of the whole page, so that no template can forget it
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
