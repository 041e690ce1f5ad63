package app_test

import (
	"net/http"
	"regexp"
)

// webAccess has the routes of this part. A POST bears what its form holds: {form} is the token of each.
var webAccess = join(memoryPagesAccess, map[string][]access{
	"GET /":           {{may: anyone, path: "/"}},
	"GET /ui":         {{may: anyone, path: "/ui", public: true, answers: http.StatusFound}}, // to the window
	"GET /ui/":        {{may: anyone, path: "/ui/", public: true, answers: http.StatusFound}},
	"GET /ui/login":   {{may: anyone, path: "/ui/login", public: true}},
	"POST /ui/login":  {{may: anyone, path: "/ui/login", body: "token_of_form={form}", public: true, answers: http.StatusBadRequest}},
	"POST /ui/logout": {{may: anyone, path: "/ui/logout", body: "token_of_form={form}", public: true, answers: http.StatusSeeOther}},

	"GET /ui/find":           {{may: anyone, path: "/ui/find?q=a"}},
	"GET /ui/remember":       {{may: anyone, path: "/ui/remember"}},
	"POST /ui/knowledge/new": {{may: agents, path: "/ui/knowledge/new", body: "title=t&content=c&category=note&token_of_form={form}", answers: http.StatusSeeOther}},
	"GET /ui/settings":       {{may: anyone, path: "/ui/settings"}},
	"POST /ui/settings":      {{may: anyone, path: "/ui/settings", body: "theme=dark&token_of_form={form}", answers: http.StatusSeeOther}},

	"GET /ui/demo": {{may: anyone, path: "/ui/demo"}},

	"GET /ui/inbox": {{may: anyone, path: "/ui/inbox"}},
	"GET /ui/work": {
		{may: anyone, path: "/ui/work"},
		{may: anyone, path: "/ui/work?kind=reminder"},
	},
	"GET /ui/timeline": {{may: anyone, path: "/ui/timeline"}},
	"GET /ui/decide":   {{may: anyone, path: "/ui/decide"}},
	// Of each thing it says what became of it: that this incident is not there.
	"POST /ui/inbox/do": {{may: agents, path: "/ui/inbox/do", body: "do=incident.decline&item=kind%3Dincident%26id%3D00000000000000ff&token_of_form={form}", answers: http.StatusOK}},

	"GET /ui/agents":           {{may: anyone, path: "/ui/agents"}},
	"GET /ui/agent":            {{may: anyone, path: "/ui/agent?id=a"}},
	"GET /ui/agent/stop":       {{may: anyone, path: "/ui/agent/stop?id=a"}},
	"POST /ui/agent/stop":      {{may: asAgentA, path: "/ui/agent/stop", body: "id=a&sure=1&token_of_form={form}", answers: http.StatusSeeOther}},
	"POST /ui/agent/signal":    {{may: agents, path: "/ui/agent/signal", body: "id=a&signal=note&token_of_form={form}", answers: http.StatusSeeOther}},
	"GET /ui/tasks":            {{may: anyone, path: "/ui/tasks"}},
	"POST /ui/task/new":        {{may: agents, path: "/ui/task/new", body: "title=t&token_of_form={form}", answers: http.StatusSeeOther}},
	"GET /ui/task":             {{may: anyone, path: "/ui/task?id={task}"}},
	"POST /ui/task/reassign":   {{may: captains, path: "/ui/task/reassign", body: "id={task}&agent_id=b&token_of_form={form}", answers: http.StatusSeeOther}},
	"POST /ui/task/release":    {{may: asAgentA, path: "/ui/task/release", body: "id={task}&token_of_form={form}", answers: http.StatusSeeOther}},
	"POST /ui/task/unblock":    {{may: asAgentA, path: "/ui/task/unblock", body: "id={blocked}&token_of_form={form}", answers: http.StatusSeeOther}},
	"POST /ui/task/cancel":     {{may: asAgentA, path: "/ui/task/cancel", body: "id={task}&sure=1&token_of_form={form}", answers: http.StatusSeeOther}},
	"GET /ui/messages":         {{may: agents, path: "/ui/messages"}},
	"GET /ui/messages/overdue": {{may: agents, path: "/ui/messages/overdue"}},
	"GET /ui/message":          {{may: asAgentA, path: "/ui/message?id={message}", hidden: true}},
	"POST /ui/thread/new":      {{may: agents, path: "/ui/thread/new", body: "signal=note&sure=1&token_of_form={form}", answers: http.StatusSeeOther}},
	"POST /ui/thread/answer":   {{may: agents, path: "/ui/thread/answer", body: "id=t&to=a&text=x&token_of_form={form}", answers: http.StatusSeeOther}},
	"GET /ui/sessions":         {{may: anyone, path: "/ui/sessions"}},
	"GET /ui/session":          {{may: anyone, path: "/ui/session?id={session}"}},
	"GET /ui/reminders":        {{may: anyone, path: "/ui/reminders"}},
	"GET /ui/health":           {{may: anyone, path: "/ui/health"}},

	"GET /assets/*name": {{may: anyone, path: "/assets/{asset}", public: true}},
})

var (
	formToken = regexp.MustCompile(`name="token_of_form" value="([^"]+)"`)
	styles    = regexp.MustCompile(`href="/assets/([^"]+/app\.css)"`)
)

// formToken reads the token of a form that was made for whoever has no session.
func (s *serving) formToken() string { return s.found(formToken) }

// field is an entry's id with what a form of its page says in a field.
func (s *serving) field(page, id, field string) string {
	s.t.Helper()
	_, text := s.do(admin, http.MethodGet, "/ui/memory"+page+"?kind=knowledge&id="+id, "", nil)
	match := regexp.MustCompile(`name="` + field + `" value="([^"]+)"`).FindStringSubmatch(text)
	if match == nil {
		s.t.Fatalf("the page of %s has no %s", id, field)
	}
	return id + "&" + field + "=" + match[1]
}

func (s *serving) found(what *regexp.Regexp) string {
	s.t.Helper()
	_, page := s.do(stranger, http.MethodGet, "/ui/login", "", nil)
	match := what.FindStringSubmatch(page)
	if match == nil {
		s.t.Fatalf("the login page has no %s", what)
	}
	return match[1]
}
