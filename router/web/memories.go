package web

import (
	"context"
	"slices"
	"strings"

	"skillrouter/internal/check"
	"skillrouter/learning"
	"skillrouter/learning/episode"
	"skillrouter/learning/fact"
	"skillrouter/operational"
	"skillrouter/router/kind"
)

// memoryKind is an entry of the index of all memory.
type memoryKind struct {
	Name, Path, About string
	Count             int64
	Counted           bool
}

// memoryKinds lists the kinds that have pages, and how much there is of each.
func (s *Server) memoryKinds(ctx context.Context) ([]memoryKind, error) {
	counts := map[string]int64{}
	if s.services.Health != nil {
		counts["pattern"] = s.services.Health(ctx).Stats["patterns"]
	}
	for _, m := range s.services.Kinds {
		if m.Shelf == nil {
			continue
		}
		counts[m.Name] = int64(m.Shelf.Len())
		own, err := m.Shelf.Within(ctx)
		if err != nil {
			return nil, err
		}
		if own != nil {
			counts[m.Name] = int64(own.Len())
		}
	}
	if s.services.Incidents != nil {
		projects, err := s.services.Incidents.Projects(ctx)
		if err != nil {
			return nil, err
		}
		for _, p := range projects {
			counts["incident"] += int64(p.Incidents)
		}
	}
	var kinds []memoryKind
	for _, one := range []struct{ name, about string }{
		{"knowledge", "What agents chose to write down."},
		{"fact", "Values under a key, which expire."},
		{"episode", "What happened, and what was learned from it."},
		{"procedure", "Steps that can be run."},
		{"incident", "Commands that fail in a project, and what works instead."},
		{"lesson", "What experience teaches, with how far it is believed."},
		{"pattern", "What recurs, with the lessons that it is seen in."},
	} {
		count, counted := counts[one.name]
		k := memoryKind{Name: plural(one.name), About: one.about, Count: count, Counted: counted}
		switch {
		case one.name == "incident" && s.services.Incidents != nil, one.name == "lesson" && s.services.Lessons != nil, one.name == "pattern" && s.services.Patterns != nil:
			k.Path = "/ui/" + one.name + "s"
		case slices.ContainsFunc(s.services.Kinds, func(m kind.Memory) bool { return m.Name == one.name && m.Pages.List != nil }):
			k.Path = link(memoryItemPath, "kind", one.name)
		default:
			continue
		}
		kinds = append(kinds, k)
	}
	return kinds, nil
}

// memoryView is what the page of all memory, of a kind or of one item shows: one of them.
type memoryView struct {
	Kinds []memoryKind
	List  *memoryList
	Item  *rememberedView
}

// memoryList is what the list of a kind shows.
type memoryList struct {
	Kind, Query, Project, Persona, Category, Author string
	OfProject                                       bool
	Categories, Personas                            []option
	Rows                                            []memoryHit
	Notice                                          string
	Corrected                                       map[string]string
	pager
	Removed string // what was just removed and can be taken back
}

// memoryHit is a row of a list, and its page.
type memoryHit struct {
	kind.Hit
	Path string
}

// memoryFields are the filters of the list of a kind.
var memoryFields = []string{"kind", "project", "persona", "category", "author"}

// memories lists a kind: the rows in their order, or those that fit the words that are typed.
func (s *Server) memories(v *visit, of kind.Memory) (*memoryList, error) {
	ctx, page := v.context(), &memoryList{
		Kind: of.Name, Query: v.value("q"), Project: v.value("project"), Persona: v.value("persona"), Category: v.value("category"), Author: v.value("author"),
		OfProject: of.OfProject,
	}
	v.title = plural(of.Name)
	if of.Pages.Restore != nil {
		page.Removed = v.value("removed")
	}
	if of.Categories != nil {
		page.Categories = options("every type", page.Category, of.Categories)
	}
	if of.Pages.Personas != nil {
		names, err := of.Pages.Personas(ctx)
		if err != nil {
			return nil, err
		}
		page.choose(names)
	}
	if page.Query == "" {
		found, err := of.Pages.List(ctx, kind.Listing{
			Project: page.Project, Persona: page.Persona, Category: page.Category, Author: page.Author, Cursor: v.value("cursor"), Limit: pageRows,
		})
		page.pager = v.pages(memoryItemPath, found.Next, "First", "More", memoryFields...)
		page.Rows = rowsOf(of, found.Hits)
		return page, err
	}
	found, err := of.Search(learning.NotAsked(ctx), kind.Question{ // what is half typed is no question
		Text: page.Query, Project: page.Project, Persona: page.Persona, Category: page.Category, AgentID: page.Author, Limit: pageRows, Caller: v.principal(), Now: s.now(),
	})
	page.Notice, page.Corrected, page.Rows = found.Notice, found.Corrected, rowsOf(of, found.Hits)
	return page, err
}

// choose fills in whose rows can be shown; where nobody says, everybody's are, if they can be listed together.
func (l *memoryList) choose(names []string) {
	if l.Persona == "" {
		if l.Persona = check.DefaultPersona; slices.Contains(names, episode.EveryPersona) {
			l.Persona = episode.EveryPersona
		}
	}
	if !slices.Contains(names, l.Persona) {
		names = append(names, l.Persona)
	}
	l.Personas = options("", l.Persona, names)
	for i := range l.Personas {
		if l.Personas[i].Value == episode.EveryPersona {
			l.Personas[i].Name = "everybody"
		}
	}
}

func rowsOf(of kind.Memory, hits []kind.Hit) (rows []memoryHit) {
	for _, hit := range hits {
		rows = append(rows, memoryHit{hit, memoryPath(of.Name, hit.ID)})
	}
	return rows
}

// references are what tellings may name a memory by. Of a fact and a procedure of the default persona they may lack the persona.
func references(of, id string) (items []operational.ToldRef) {
	kinds := []string{of}
	if of == "lesson" {
		kinds = []string{"lesson", "principle", "guard", "rule"}
	}
	ids := []string{id}
	if of == "fact" || of == "procedure" {
		if name, common := strings.CutPrefix(id, fact.ID(check.DefaultPersona, "")); common {
			ids = append(ids, name)
		}
	}
	for _, of := range kinds {
		for _, id := range ids {
			items = append(items, operational.ToldRef{Kind: of, ID: id})
		}
	}
	return items
}
