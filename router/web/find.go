package web

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"skillrouter/internal/errs"
	"skillrouter/internal/lazyregexp"
	"skillrouter/internal/principal"
	"skillrouter/learning"
	"skillrouter/learning/guard"
	"skillrouter/learning/knowledge"
	"skillrouter/learning/lesson"
	"skillrouter/operational"
	"skillrouter/router/search"
)

const (
	findPath     = "/ui/find"
	rememberPath = "/ui/remember"
	// maxFound bounds what is found of each sort: a list to choose from, and no listing.
	maxFound = 8
	// shortestWord is what memories are looked for by at least, in bytes.
	shortestWord = 2
	// maxLookFor bounds what is looked for, in bytes: a question, and no text.
	maxLookFor = 256
)

// findPages registers the page that finds anything and leads to what can be done; the palette of the pages'
// script shows the same. It changes nothing itself: what it leads to asks first.
func (s *Server) findPages() {
	s.page(findPath, "find.html", "Find or do", s.find)
	if s.services.Knowledge != nil {
		s.page(rememberPath, "remember.html", "Remember something", func(*visit) (any, error) { return nil, nil })
		s.action(rememberPath, rememberPath, s.remember)
		s.notice("remembered", "It is remembered. Agents are told of it where it fits.")
	}
}

// remember stores what somebody wrote as knowledge.
func (s *Server) remember(v *visit) (string, error) {
	stored, err := s.services.Knowledge.Store(v.context(), knowledge.Draft{
		Category: v.value("category"), Title: v.value("title"), Content: v.value("content"), Project: v.value("project"), Source: "written in the dashboard",
		AgentID: v.principal().AgentID,
	})
	return done(memoryPath("knowledge", stored.ID), "remembered"), err
}

// findView is what the page shows.
type findView struct {
	Query  string
	Groups []placeGroup
}

type placeGroup struct {
	Name   string
	Places []place
}

// place is what can be chosen: it leads to Path, or makes a setting.
type place struct {
	Kind, Name, Detail, Path string
	Setting, Value           string
}

func (s *Server) find(v *visit) (any, error) {
	page := findView{Query: v.value("q")}
	if len(page.Query) > maxLookFor {
		return nil, errs.InvalidField("q", "is longer than %d bytes", maxLookFor)
	}
	add := func(name string, places []place) {
		if len(places) > 0 {
			page.Groups = append(page.Groups, placeGroup{name, places[:min(len(places), maxFound)]})
		}
	}
	verb, rest, _ := strings.Cut(page.Query, " ")
	orders, err := s.orders(v, strings.ToLower(verb), strings.TrimSpace(rest))
	if err != nil {
		return nil, err
	}
	rows, err := s.rowsOf(v, page.Query)
	if err != nil {
		return nil, err
	}
	hits, err := s.hits(v, page.Query)
	if err != nil {
		return nil, err
	}
	add("Do", orders)
	add("By id", rows)
	add("Pages", s.pagesOf(page.Query))
	if page.Query != "" {
		agents, err := s.agentsOf(v, page.Query, func(a operational.Agent) place {
			return place{Kind: "agent", Name: a.ID, Detail: a.CurrentTask, Path: link(agentPath, "id", a.ID)}
		})
		if err != nil {
			return nil, err
		}
		add("Agents", agents)
	}
	add("Settings", s.settingsOf(v, page.Query))
	add("Found", hits)
	return page, nil
}

// fits tells whether each word that is looked for begins one of a name's.
func fits(lookedFor string, names ...string) bool {
	words := strings.Fields(strings.ToLower(strings.Join(names, " ")))
	return !slices.ContainsFunc(strings.Fields(strings.ToLower(lookedFor)), func(wanted string) bool {
		return !slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(word, wanted) })
	})
}

// pagesOf are the pages of the navigation.
func (s *Server) pagesOf(lookedFor string) (places []place) {
	for _, one := range s.sections {
		if fits(lookedFor, one.Name, one.Group) {
			places = append(places, place{Kind: "page", Name: one.Name, Detail: one.Group, Path: one.Path})
		}
	}
	if lookedFor == "" {
		return places[:min(len(places), maxFound)]
	}
	return places
}

// agentsOf are the agents whose names hold what is looked for, or that a word of it begins.
func (s *Server) agentsOf(v *visit, lookedFor string, as func(operational.Agent) place) (places []place, err error) {
	if s.services.Presence == nil {
		return nil, nil
	}
	wanted := strings.ToLower(lookedFor)
	for skip := 0; skip <= maxSkip && len(places) < maxFound; skip += operational.MaxLimit {
		found, err := s.services.Presence.Agents(v.context(), operational.AgentFilter{Skip: skip, Limit: operational.MaxLimit})
		if err != nil {
			return nil, err
		}
		for _, a := range found {
			if strings.Contains(strings.ToLower(a.ID), wanted) || fits(lookedFor, a.ID, a.Role, a.Project) {
				places = append(places, as(a))
			}
		}
		if len(found) < operational.MaxLimit {
			break
		}
	}
	return places, nil
}

// orders are what can be done, by the word for it. Each leads to the page where it is done.
func (s *Server) orders(v *visit, verb, rest string) ([]place, error) {
	if !v.principal().Has(principal.ScopeAgent) {
		return nil, nil
	}
	begins := func(words ...string) bool {
		for _, word := range words {
			if strings.HasPrefix(word, verb) && (len(verb) > 1 || verb == "") {
				return true
			}
		}
		return false
	}
	var places []place
	of := func(found []place, err error) error {
		places = append(places, found...)
		return err
	}
	if verb != "" && s.services.Mailbox != nil {
		if begins("stop", "halt", "end") {
			if err := of(s.agentsOf(v, rest, func(a operational.Agent) place {
				return place{Kind: "stop", Name: "Stop " + a.ID + " …", Detail: a.CurrentTask, Path: link("/ui/agent/stop", "id", a.ID)}
			})); err != nil {
				return nil, err
			}
		}
		if begins("send", "signal", "tell", "message", "write", "pause", "resume") {
			if err := of(s.agentsOf(v, rest, func(a operational.Agent) place {
				return place{Kind: "send", Name: "Send a signal to " + a.ID + " …", Detail: a.CurrentTask, Path: link(agentPath, "id", a.ID) + "#send"}
			})); err != nil {
				return nil, err
			}
		}
		if begins("answer", "reply") {
			if err := of(s.answers(v, rest)); err != nil {
				return nil, err
			}
		}
	}
	if verb != "" && begins("approve", "allow", "permit", "refuse", "deny") {
		if err := of(s.approvalsOf(v.context(), rest)); err != nil {
			return nil, err
		}
	}
	if s.services.Knowledge != nil && begins("remember", "note", "store", "add", "new") {
		places = append(places, place{Kind: "remember", Name: "Remember something …", Detail: rest, Path: link(rememberPath, "title", rest)})
	}
	if s.services.Tasks != nil && begins("task", "create", "add", "new") {
		places = append(places, place{Kind: "task", Name: "Create a task …", Detail: rest, Path: link(tasksPath, "title", rest) + "#new"})
	}
	if s.services.Mailbox != nil && v.principal().Has(principal.ScopeCaptain) && begins("send", "signal", "tell", "broadcast", "everybody") {
		places = append(places, place{Kind: "send", Name: "Send to every agent …", Path: messagesPath + "#broadcast"})
	}
	if verb != "" && s.services.Demo != nil && v.principal().Has(principal.ScopeCaptain) && begins("demo", "example") {
		places = append(places, place{Kind: "demo", Name: "Demo data …", Path: demoPath})
	}
	if s.services.Decisions != nil && begins("decide", "approve", "allow", "accept", "refuse") {
		places = append(places, place{Kind: "decide", Name: "Decide what waits for a person", Path: decidePath})
	}
	return places, nil
}

// answers are the latest messages that fit, each of which can be answered.
func (s *Server) answers(v *visit, lookedFor string) (places []place, err error) {
	if s.services.Log == nil {
		return nil, nil
	}
	page, err := s.services.Log.Log(v.context(), operational.LogQuery{Limit: pageRows})
	if err != nil {
		return nil, err
	}
	for _, m := range page.Messages {
		text := m.Text()
		if m.From == v.sender() || m.From == operational.RouterName || !fits(lookedFor, m.From, m.ThreadID, text) {
			continue
		}
		thread := cmp.Or(m.ThreadID, m.ID)
		places = append(places, place{Kind: "answer", Name: "Answer " + m.From + " …", Detail: text, Path: link(messagesPath, "thread", thread) + "#answer"})
	}
	return places, nil
}

// approvalsOf are the blocked actions that wait for a person.
func (s *Server) approvalsOf(ctx context.Context, lookedFor string) (places []place, err error) {
	if s.services.Guard == nil {
		return nil, nil
	}
	found, err := s.services.Guard.Approvals(ctx, guard.ApprovalFilter{State: lesson.ApprovalPending})
	for _, a := range found.Approvals {
		if fits(lookedFor, a.Agent, a.Action) {
			places = append(places, place{Kind: "approve", Name: "Decide on what " + a.Agent + " asked for …", Detail: a.Action, Path: "/ui/guard/approvals#approval-" + a.ID})
		}
	}
	return places, err
}

// settingsOf are the settings that can be chosen.
func (s *Server) settingsOf(v *visit, lookedFor string) (places []place) {
	if lookedFor == "" {
		return nil
	}
	for _, one := range themes {
		if fits(lookedFor, "theme colours", one.Name) {
			places = append(places, place{Kind: "theme", Name: "Theme: " + one.Name, Setting: "theme", Value: one.Value})
		}
	}
	for _, one := range s.projectOptions(v.context(), setting(v.Request, projectSetting)) {
		if fits(lookedFor, "switch project", one.Name) {
			places = append(places, place{Kind: "project", Name: "Project: " + one.Name, Setting: "project", Value: one.Value})
		}
	}
	return places
}

// hits are what a search of all memories finds. It leaves no gap: nobody has asked yet, while it is typed.
func (s *Server) hits(v *visit, lookedFor string) (places []place, err error) {
	if s.services.Search == nil || len(lookedFor) < shortestWord {
		return nil, nil
	}
	found, err := s.services.Search.Search(learning.NotAsked(v.context()), search.Query{Query: lookedFor, PreferProject: setting(v.Request, projectSetting), Limit: maxFound})
	if err != nil {
		return nil, err
	}
	for _, hit := range found.Results {
		if path := hitPath(hit.Kind, hit.ID); path != "" {
			places = append(places, place{Kind: hit.Kind, Name: hit.Title, Detail: hit.Snippet, Path: path})
		}
	}
	return places, nil
}

// hitPath is the page of what was found; empty: it has none.
func hitPath(kind, id string) string {
	switch kind {
	case "task", "message", "session", "agent":
		return link("/ui/"+kind, "id", id)
	case "lesson", "pattern", "knowledge", "episode", "fact", "procedure":
		return memoryPath(kind, id)
	case "approval":
		return "/ui/guard/approvals#approval-" + id
	case "proposal":
		return "/ui/proposals"
	case "escalation":
		return "/ui/escalations"
	}
	return ""
}

var (
	aNumber  = lazyregexp.New(`^#?[0-9]{1,15}$`)
	partOfID = lazyregexp.New(`^[0-9a-f-]{4,36}$`)
)

// withIDs are the kinds whose rows are found by a part of their ids, by what the introspection calls them.
var withIDs = []struct{ kind, of string }{
	{"task", "tasks"},
	{"session", "sessions"},
	{"message", "messages"},
	{"knowledge", "knowledge"},
	{"lesson", "lessons"},
	{"pattern", "patterns"},
	{"episode", "episodes"},
	{"approval", "approvals"},
	{"proposal", "proposals"},
	{"escalation", "escalations"},
}

// rowsOf are what a number or a part of an id may mean, as far as whoever looks may see it.
func (s *Server) rowsOf(v *visit, lookedFor string) (places []place, err error) {
	take := func(kind, id string) error {
		one, err := s.rowOf(v.context(), kind, id)
		switch errs.CodeOf(err) {
		case errs.NotFound, errs.Forbidden, errs.Invalid: // there is none, or none for whoever looks
			return nil
		}
		if err == nil && one.Path != "" {
			places = append(places, one)
		}
		return err
	}
	if aNumber.MatchString(lookedFor) && !v.principal().Walled() { // numbers run through all projects
		for _, kind := range []string{"task", "lesson", "pattern", "episode"} {
			if err := take(kind, strings.TrimPrefix(lookedFor, "#")); err != nil {
				return nil, err
			}
		}
	}
	if s.services.Introspection == nil || !partOfID.MatchString(lookedFor) {
		return places, nil
	}
	for _, one := range withIDs {
		found, err := s.services.Introspection.IDs(v.context(), one.of, lookedFor)
		if errs.CodeOf(err) == errs.Forbidden {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, id := range found.IDs[:min(len(found.IDs), maxFound)] {
			if err := take(one.kind, id); err != nil {
				return nil, err
			}
		}
	}
	return places, nil
}

// rowOf reads what a row is called, as its own service lets whoever looks.
func (s *Server) rowOf(ctx context.Context, kind, id string) (place, error) {
	one := place{Kind: kind, Name: words(kind) + " " + id, Path: hitPath(kind, id)}
	switch kind {
	case "task":
		task, err := s.services.Tasks.Task(ctx, id)
		one.Name, one.Detail, one.Path = "#"+strconv.FormatInt(task.Number, 10)+" "+task.Title, task.ID, hitPath(kind, task.ID)
		return one, err
	case "session":
		session, err := s.services.Sessions.Session(ctx, id)
		one.Name, one.Detail = "Session of "+session.AgentID, session.Goal
		return one, err
	case "message":
		found, err := s.services.Mailbox.Receipts(ctx, id)
		one.Name, one.Detail = "Message "+strconv.FormatInt(found.Message.Seq, 10)+" from "+found.Message.From, found.Message.Text()
		return one, err
	case "lesson", "knowledge", "episode":
		return s.memoryOf(ctx, one, id)
	case "pattern":
		pattern, err := s.services.Patterns.Pattern(ctx, id)
		one.Name, one.Detail, one.Path = pattern.Name, pattern.ID, hitPath(kind, pattern.ID)
		return one, err
	}
	return one, nil
}

// memoryOf reads the title of a memory of a kind of the registry.
func (s *Server) memoryOf(ctx context.Context, one place, id string) (place, error) {
	of, err := s.kindOf(one.Kind)
	if err != nil {
		return one, err
	}
	record, err := of.Undo.Read(ctx, id)
	if err != nil {
		return one, err
	}
	members, err := membersOf(record)
	for _, m := range members {
		switch m.Name {
		case of.Page.Title:
			one.Name = m.Value
		case "id":
			one.Detail, one.Path = m.Value, hitPath(one.Kind, m.Value)
		}
	}
	return one, err
}
