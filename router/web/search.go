package web

import (
	"skillrouter/router"
)

func (s *Server) searchPages() {
	if s.services.Finder == nil {
		return
	}
	s.page("/ui/search", "search.html", "Search", s.search)
	s.section(memory, "Search", "/ui/search")
}

// search is what the search page shows.
type search struct {
	Query, Project string
	Kinds          []option
	Asked          bool
	Found          []router.Found
	Total          int
}

func (s *Server) search(v *visit) (any, error) {
	page := search{Query: v.value("q"), Project: v.value("project"), Kinds: options("every memory", v.value("kind"), router.FindKinds())}
	if page.Query == "" {
		return page, nil
	}
	found, err := s.services.Finder.Find(v.context(), router.FindQuery{Query: page.Query, Project: page.Project, Kind: v.value("kind")})
	if err != nil {
		return nil, err
	}
	page.Asked, page.Found = true, found
	for _, one := range found {
		page.Total += len(one.Hits)
	}
	return page, nil
}
