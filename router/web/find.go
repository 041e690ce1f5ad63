package web

import (
	"cmp"
	"slices"
	"strings"

	"skillrouter/internal/errs"
	"skillrouter/internal/principal"
	"skillrouter/learning"
	"skillrouter/operational"
	"skillrouter/router/search"
)

const (
	findPath = "/ui/find"
	// maxFound bounds what is found of each sort: a list to choose from, and no listing.
	maxFound = 8
	// shortestWord is what memories are looked for by at least, in bytes.
	shortestWord = 2
	// maxLookFor bounds what is looked for, in bytes: a question, and no text.
	maxLookFor = 256
)

// findPages registers the page that finds anything and leads to what can be done; the palette of the pages'
// script shows the same. It changes nothing itself: what it leads to asks first.
func (s *Server) findPages() { s.page(findPath, "find.html", "Find or do", s.find) }

// findView is what the page shows.
type findView struct {
	Query  string
	Groups []choices
}

type choices struct {
	Name    string
	Choices []choice
}

// choice is what can be chosen: it leads to Path.
type choice struct{ Name, Detail, Path string }

func (s *Server) find(v *visit) (any, error) {
	page := findView{Query: v.value("q")}
	if len(page.Query) > maxLookFor {
		return nil, errs.InvalidField("q", "is longer than %d bytes", maxLookFor)
	}
	add := func(name string, found []choice) {
		if len(found) > 0 {
			page.Groups = append(page.Groups, choices{name, found[:min(len(found), maxFound)]})
		}
	}
	verb, rest, _ := strings.Cut(page.Query, " ")
	orders, err := s.orders(v, strings.ToLower(verb), strings.TrimSpace(rest))
	if err != nil {
		return nil, err
	}
	add("Do", orders)
	add("Pages", s.pagesOf(page.Query))
	if page.Query != "" {
		agents, err := s.agentsOf(v, page.Query, "", "")
		if err != nil {
			return nil, err
		}
		add("Agents", agents)
	}
	hits, err := s.hits(v, page.Query)
	add("Found", hits)
	return page, err
}

// fits tells whether each word that is looked for begins one of a name's.
func fits(lookedFor string, names ...string) bool {
	words := strings.Fields(strings.ToLower(strings.Join(names, " ")))
	return !slices.ContainsFunc(strings.Fields(strings.ToLower(lookedFor)), func(wanted string) bool {
		return !slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(word, wanted) })
	})
}

// pagesOf are the places, and the kinds of things that they have.
func (s *Server) pagesOf(lookedFor string) (found []choice) {
	for _, p := range s.places {
		if fits(lookedFor, p.Name) {
			found = append(found, choice{Name: p.Name, Path: p.Path})
		}
		for _, kind := range p.kinds {
			if many := s.things[kind].Many; lookedFor != "" && many != "" && many != p.Name && fits(lookedFor, many) {
				found = append(found, choice{Name: many, Detail: p.Name, Path: link(p.Path, "kind", kind)})
			}
		}
	}
	return found
}

// agentsOf are the agents whose names hold what is looked for, or that a word of it begins, with what is to be done with them.
func (s *Server) agentsOf(v *visit, lookedFor, do, part string) (found []choice, err error) {
	if s.services.Presence == nil {
		return nil, nil
	}
	for skip := 0; skip <= maxSkip && len(found) < maxFound; skip += operational.MaxLimit {
		agents, err := s.services.Presence.Agents(v.Context(), operational.AgentFilter{Skip: skip, Limit: operational.MaxLimit})
		if err != nil {
			return nil, err
		}
		for _, a := range agents {
			if strings.Contains(strings.ToLower(a.ID), strings.ToLower(lookedFor)) || fits(lookedFor, a.ID, a.Role, a.Project) {
				found = append(found, choice{Name: do + a.ID + part, Detail: a.CurrentTask, Path: pathOf("agent", a.ID) + cmp.Or(anchors[do], "")})
			}
		}
		if len(agents) < operational.MaxLimit {
			break
		}
	}
	return found, nil
}

// anchors are where an agent's page does what is to be done.
var anchors = map[string]string{"Stop ": "#stop", "Send a signal to ": "#signal"}

// orders are what can be done, by the word for it. Each leads to the page where it is done.
func (s *Server) orders(v *visit, verb, rest string) (found []choice, err error) {
	if !v.principal().Has(principal.ScopeAgent) {
		return nil, nil
	}
	begins := func(words string) bool {
		return verb == "" || len(verb) > 1 && slices.ContainsFunc(strings.Fields(words), func(word string) bool { return strings.HasPrefix(word, verb) })
	}
	for do, words := range map[string]string{"Stop ": "stop halt end", "Send a signal to ": "send signal tell message write pause resume"} {
		if verb != "" && s.services.Mailbox != nil && begins(words) {
			agents, err := s.agentsOf(v, rest, do, " …")
			if err != nil {
				return nil, err
			}
			found = append(found, agents...)
		}
	}
	for _, order := range []struct {
		words  string
		can    bool
		choice choice
	}{
		{"remember note store add new", s.services.Knowledge != nil, choice{"Remember something …", rest, link(memoryPath, "kind", "knowledge", "new", "1", "title", rest)}},
		{"task create add new", s.services.Tasks != nil, choice{"Create a task …", rest, link(workPath, "new", "1", "title", rest)}},
		{"send signal tell broadcast everybody", s.services.Mailbox != nil && v.principal().Has(principal.ScopeCaptain), choice{"Send to every agent …", "", link(messagesPath, "new", "1")}},
		{"answer reply", s.services.Log != nil, choice{"Answer a message …", "", messagesPath}},
		{"decide approve allow accept refuse deny", s.services.Decisions != nil, choice{"Decide what waits for a person", "", inboxPath}},
		{"demo example theme project settings", true, choice{"Settings: colours, project, demo data", "", settingsPath}},
	} {
		if order.can && begins(order.words) {
			found = append(found, order.choice)
		}
	}
	return found, nil
}

// hits are what a search of all memories finds. It leaves no gap: nobody has asked yet, while it is typed.
func (s *Server) hits(v *visit, lookedFor string) (found []choice, err error) {
	if s.services.Search == nil || len(lookedFor) < shortestWord {
		return nil, nil
	}
	answer, err := s.services.Search.Search(learning.NotAsked(v.Context()), search.Query{Query: lookedFor, PreferProject: setting(v.Request, projectSetting), Limit: maxFound})
	for _, hit := range answer.Results {
		if path := pathOf(hit.Kind, hit.ID); path != "" {
			found = append(found, choice{Name: hit.Title, Detail: hit.Snippet, Path: path})
		}
	}
	return found, err
}
