package web

import (
	"slices"
	"strings"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router/search"
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

// findView is what the page shows that finds anything and leads to what can be done; the palette of the pages' script
// shows the same. It changes nothing itself: what it leads to asks first.
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
	agents, orders, err := s.agentsOf(v, page.Query)
	if err != nil {
		return nil, err
	}
	places, made := s.placesOf(v, page.Query)
	hits, err := s.hits(v, page.Query)
	for _, group := range []choices{{"Do", append(orders, made...)}, {"Pages", places}, {"Agents", agents}, {"Found", hits}} {
		if len(group.Choices) > 0 {
			group.Choices = group.Choices[:min(len(group.Choices), maxFound)]
			page.Groups = append(page.Groups, group)
		}
	}
	return page, err
}

// fits tells whether each word that is looked for begins one of a name's.
func fits(lookedFor string, names ...string) bool {
	words := strings.Fields(strings.ToLower(strings.Join(names, " ")))
	return !slices.ContainsFunc(strings.Fields(strings.ToLower(lookedFor)), func(wanted string) bool {
		return !slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(word, wanted) })
	})
}

// placesOf are the places, by their names and by what is done there, and the kinds of things that they have; and what
// can be made there, by the words for it, for whoever may make it.
func (s *Server) placesOf(v *visit, lookedFor string) (found, orders []choice) {
	verb, rest, _ := strings.Cut(lookedFor, " ")
	for _, p := range s.places {
		if fits(lookedFor, p.Name) || lookedFor != "" && fits(lookedFor, p.does) {
			found = append(found, choice{Name: p.Name, Detail: p.does, Path: p.Path})
		}
		for _, kind := range p.kinds {
			t := s.things[kind]
			if lookedFor != "" && t.Many != "" && t.Many != p.Name && fits(lookedFor, t.Many) {
				found = append(found, choice{Name: t.Many, Detail: p.Name, Path: link(p.Path, "kind", kind)})
			}
			if t.New == nil || len(verb) == 1 || !fits(verb, t.New.Say, "add", "create", "broadcast") || s.shown(v, t, *t.New, "", nil) == nil {
				continue
			}
			to := choice{Name: t.New.Say + " …", Path: link(p.Path, "kind", kind, "new", "1")}
			if first := t.New.Fields[0].Name; first == "title" {
				to.Detail = strings.TrimSpace(rest)
				to.Path = link(p.Path, "kind", kind, "new", "1", first, to.Detail)
			}
			orders = append(orders, to)
		}
	}
	return found, orders
}

// agentsOf are the agents, of those that were seen last, that fit what is looked for and, if it begins with a word for it, what is done with those that fit the rest.
func (s *Server) agentsOf(v *visit, lookedFor string) (found, orders []choice, err error) {
	if s.services.Presence == nil || lookedFor == "" {
		return nil, nil, nil
	}
	lookedFor = strings.ToLower(lookedFor)
	verb, rest, _ := strings.Cut(lookedFor, " ")
	agents, err := s.services.Presence.Agents(v.Context(), operational.AgentFilter{Limit: operational.MaxLimit})
	for _, a := range agents {
		named := func(words string) bool {
			return strings.Contains(strings.ToLower(a.ID), words) || fits(words, a.ID, a.Role, a.Project)
		}
		if named(lookedFor) {
			found = append(found, choice{Name: a.ID, Detail: a.CurrentTask, Path: pathOf("agent", a.ID)})
		}
		for _, do := range s.things["agent"].Acts { // their words are those of what is pressed
			if v.principal().Has(principal.ScopeAgent) && len(verb) > 1 && fits(verb, do.Say) && named(strings.TrimSpace(rest)) {
				orders = append(orders, choice{Name: strings.NewReplacer("this agent", a.ID, "a signal", "a signal to "+a.ID).Replace(do.Say) + " …", Detail: a.CurrentTask, Path: pathOf("agent", a.ID) + "#" + do.Verb})
			}
		}
	}
	return found, orders, err
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
