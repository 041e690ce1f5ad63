package web

import (
	"cmp"
	"slices"

	"skillrouter/learning"
	"skillrouter/router/kind"
	"skillrouter/router/search"
)

func (s *Server) searchPages() {
	s.page("/ui/search", "search.html", "Search", s.search)
	s.section(memory, "Search", "/ui/search")
}

// searchView is what the search page shows.
type searchView struct {
	Query, Project string
	Kinds          []option
	Asked          bool
	Found          search.Answer
	Hits           []searchHit
}

// searchHit is a hit, and why it was found.
type searchHit struct {
	search.Hit
	Alike []memoryHit // that say nearly the same
	Parts []scorePart
}

// scorePart is what one lane gives to a hit's score.
type scorePart struct {
	Lane   string
	Weight float64
	Share  float64  // of the hit's score, 0 to 1
	Terms  []string // what fitted, the weightiest first
}

// maxPartTerms bounds the terms that a part names.
const maxPartTerms = 8

func (s *Server) search(v *visit) (any, error) {
	page := searchView{Query: v.value("q"), Project: v.value("project"), Kinds: options("every memory", v.value("kind"), search.Kinds())}
	if page.Query == "" {
		return page, nil
	}
	query := search.Query{Query: page.Query, Project: page.Project, Limit: pageHits, Explain: true}
	if kind := v.value("kind"); kind != "" {
		query.Kinds = []string{kind}
	}
	ctx := v.context()
	if v.Header.Get("Sec-Fetch-Site") != "same-origin" {
		ctx = learning.NotAsked(ctx) // a link of another site may have asked: a question that leaves a gap is asked on a page of ours
	}
	found, err := s.services.Search.Search(ctx, query)
	if err != nil {
		return nil, err
	}
	page.Asked, page.Found = true, found
	for _, one := range learning.FoldFound(found.Results) {
		row := found.Results[one.At]
		hit := searchHit{Hit: row, Parts: scoreParts(row.Why, row.RelevanceScore)}
		for _, id := range one.More {
			hit.Alike = append(hit.Alike, memoryHit{kind.Hit{ID: id}, memoryPath(row.Kind, id)})
		}
		page.Hits = append(page.Hits, hit)
	}
	return page, nil
}

// pageHits is how many hits the page shows.
const pageHits = 20

// scoreParts gathers the reasons of a score by their lanes, the weightiest first.
func scoreParts(why []learning.Reason, score float64) []scorePart {
	why = slices.Clone(why)
	slices.SortStableFunc(why, func(a, b learning.Reason) int { return cmp.Compare(b.Weight, a.Weight) })
	var parts []scorePart
	for _, r := range why {
		i := slices.IndexFunc(parts, func(p scorePart) bool { return p.Lane == r.Lane })
		if i < 0 {
			i = len(parts)
			parts = append(parts, scorePart{Lane: r.Lane})
		}
		p := &parts[i]
		p.Weight += r.Weight
		if r.Term != "" && len(p.Terms) < maxPartTerms && !slices.Contains(p.Terms, r.Term) {
			p.Terms = append(p.Terms, r.Term)
		}
	}
	for i := range parts {
		if score > 0 {
			parts[i].Share = min(max(parts[i].Weight/score, 0), 1)
		}
	}
	slices.SortStableFunc(parts, func(a, b scorePart) int { return cmp.Compare(b.Weight, a.Weight) })
	return parts
}
