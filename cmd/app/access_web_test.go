package app_test

import (
	"net/http"
	"regexp"
)

// webAccess has the routes of this part. A POST bears what its form holds: {form} is the token of each.
var webAccess = join(memoryPagesAccess, map[string][]access{
	"GET /":             {{may: anyone, path: "/"}},
	"GET /ui/login":     {{may: anyone, path: "/ui/login", public: true}},
	"POST /ui/login":    {{may: anyone, path: "/ui/login", body: "token_of_form={form}", public: true, answers: http.StatusBadRequest}},
	"POST /ui/logout":   {{may: anyone, path: "/ui/logout", body: "token_of_form={form}", public: true, answers: http.StatusSeeOther}},
	"GET /assets/*name": {{may: anyone, path: "/assets/{asset}", public: true}},
})

// memoryPagesAccess has the pages of what is remembered and learned.
var memoryPagesAccess = map[string][]access{}

var (
	formToken = regexp.MustCompile(`name="token_of_form" value="([^"]+)"`)
	styles    = regexp.MustCompile(`href="/assets/([^"]+/app\.css)"`)
)

// formToken reads the token of a form that was made for whoever has no session.
func (s *serving) formToken() string { return s.found(formToken) }

func (s *serving) found(what *regexp.Regexp) string {
	s.t.Helper()
	_, page := s.do(stranger, http.MethodGet, "/ui/login", "", nil)
	match := what.FindStringSubmatch(page)
	if match == nil {
		s.t.Fatalf("the login page has no %s", what)
	}
	return match[1]
}
