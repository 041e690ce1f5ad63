package web

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
)

const (
	// settingFor is how long a browser keeps what somebody chose.
	settingFor = 365 * 24 * time.Hour
	// projectSetting and themeSetting are cookies, their names without the port: see cookieFor.
	projectSetting = "skillrouter_project"
	themeSetting   = "skillrouter_theme"
	// maxProjects bounds the list of projects to choose from: a longer one is no list to choose from.
	maxProjects = 100
	// projectsFor is how long the list is shown as it was.
	projectsFor = 30 * time.Second
)

var themes = []string{"light", "dark", ""} // empty: as the system has it

// systemView is what the page of the settings shows beside the choices of this browser: how the router is.
type systemView struct {
	Facts, Stats []shownFact
	Status       string
}

func (s *Server) system(v *visit) (any, error) {
	if s.services.Health == nil {
		return systemView{}, nil
	}
	h := s.services.Health(v.Context())
	page := systemView{Status: h.Status, Facts: []shownFact{{Name: "Up for", Text: span(time.Duration(h.UptimeMS) * time.Millisecond)}, {Name: "Version", Text: h.Version}, {Name: "Mesh", Text: h.Interlock}}}
	for _, name := range slices.Sorted(maps.Keys(h.Stats)) {
		page.Stats = append(page.Stats, shownFact{Name: sentence(name), Text: count(h.Stats[name])})
	}
	return page, nil
}

// choose keeps what somebody chooses for one browser, the project whose rows pages show, light or dark, or both, and goes
// back to the page that it was sent from. The choices are cookies that say nothing of who it is, and open nothing.
func (s *Server) choose(v *visit) (string, error) {
	next, err := url.Parse(s.ownPath(v.value("next")))
	if err != nil {
		return "", err
	}
	if v.Form.Has("project") {
		project := v.value("project")
		if err := check.Name("project", project); err != nil {
			return "", err
		}
		v.keep(projectSetting, project)
		query := next.Query()
		for _, name := range []string{"project", "cursor"} { // of the list as it was
			query.Del(name)
		}
		next.RawQuery = query.Encode()
	}
	if v.Form.Has("theme") {
		theme := v.value("theme")
		if !slices.Contains(themes, theme) {
			return "", errs.InvalidField("theme", "must be light, dark or empty")
		}
		v.keep(themeSetting, theme)
	}
	return next.RequestURI(), nil
}

// keep sets the cookie of a setting; an empty value takes it away.
func (v *visit) keep(name, value string) {
	http.SetCookie(v.writer, ownCookie(v.Request, name, url.QueryEscape(value), settingFor))
}

// setting is what a browser keeps of a setting; whatever could not have been chosen is none.
func setting(r *http.Request, name string) string {
	cookie, err := r.Cookie(portOf(r, name))
	if err != nil {
		return ""
	}
	value, err := url.QueryUnescape(cookie.Value)
	if err != nil || check.Name(name, value) != nil {
		return ""
	}
	return value
}

func themeOf(r *http.Request) string {
	theme := setting(r, themeSetting)
	if !slices.Contains(themes, theme) {
		return ""
	}
	return theme
}

// knownProjects are the projects as they were read last: each page offers them, and reading them takes long.
type knownProjects struct {
	mu    sync.Mutex
	at    time.Time
	names []string
}

// projects are those that whoever looks may choose from, sorted.
func (s *Server) projects(ctx context.Context) []string {
	if own := principal.Of(ctx).Projects(); own != nil {
		return own
	}
	if s.services.Projects == nil || principal.Of(ctx).Need(principal.ScopeRead) != nil {
		return nil
	}
	s.known.mu.Lock()
	defer s.known.mu.Unlock()
	if age := s.now().Sub(s.known.at); age < 0 || age >= projectsFor {
		names, err := s.services.Projects(ctx, maxProjects)
		if err != nil { // a page is shown with those of before
			s.log.WarnContext(ctx, "the projects could not be read", "error", err)
			return s.known.names
		}
		s.known.at, s.known.names = s.now(), names
	}
	return s.known.names
}

// projectOptions are the entries of the choice in a page's head. What was chosen is among them, even if nothing belongs to it now.
func (s *Server) projectOptions(ctx context.Context, chosen string) []option {
	names := slices.Clone(s.projects(ctx))
	if chosen != "" && !slices.Contains(names, chosen) {
		names = append(names, chosen)
	}
	if len(names) == 0 {
		return nil
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(strings.ToLower(a), strings.ToLower(b)) })
	list := []option{{Name: "All projects", Chosen: chosen == ""}}
	for _, name := range names {
		list = append(list, option{Value: name, Name: name, Chosen: name == chosen})
	}
	return list
}
