package shelf

import (
	"context"
	"slices"
	"sync"

	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/tfidf"
	"github.com/skillrouter/skillrouter/tfidf/keep"
)

// maxWalls is how many sets of projects a Shelf keeps an index for: those whose tokens asked last. Another set's is made anew
// when it is asked for, by one reading of the table.
const maxWalls = 16

// walls are the indexes of the rows of some projects alone, one for each set of projects that a token is bound to. How rare a
// word is, which words there are and how long texts are, a caller that is bound to projects learns of these rows alone. Each
// is made when it is first asked for, and follows each change from then on.
type walls struct {
	mu   sync.Mutex
	list []*wall // the one that was asked for last comes first
}

// wall is the index of one set of projects.
type wall struct {
	projects []string
	keeper   *keep.Keeper
	reading  sync.Mutex // held by who reads all that is stored

	mu sync.Mutex
	// places are the documents' places among those of the wall, in the order of writing: by the numbers of the table a
	// search would know how much others wrote between two of them.
	places map[string]int64
}

// of returns the wall around some projects. create makes it if there is none.
func (w *walls) of(projects []string, create func() *wall) *wall {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := slices.IndexFunc(w.list, func(one *wall) bool { return slices.Equal(one.projects, projects) })
	var one *wall
	if at >= 0 {
		one = w.list[at]
		w.list = slices.Delete(w.list, at, at+1)
	} else {
		one = create()
	}
	w.list = slices.Insert(w.list, 0, one)
	w.list = w.list[:min(len(w.list), maxWalls)]
	return one
}

// take takes in what became of rows: docs are those that there are still.
func (w *walls) take(ids []string, docs []tfidf.Document) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, one := range w.list {
		own, held := one.own(docs), map[string]bool{}
		for _, d := range own {
			held[d.ID] = true
		}
		one.keeper.Put(own...)
		one.keeper.Delete(slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return held[id] })...)
	}
}

// forget has each wall be made anew.
func (w *walls) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = nil
}

// own keeps the documents of the wall's projects, each with its place among them.
func (w *wall) own(docs []tfidf.Document) (own []tfidf.Document) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, d := range docs {
		if !slices.Contains(w.projects, d.Project) {
			continue
		}
		if w.places[d.ID] == 0 {
			w.places[d.ID] = int64(len(w.places) + 1)
		}
		d.Order = w.places[d.ID]
		own = append(own, d)
	}
	return own
}

// walled is a Shelf as the keep.Source of a wall.
type walled[Row any] struct {
	shelfSource[Row]
	wall *wall
}

// Scan implements keep.Source.
func (s walled[Row]) Scan(ctx context.Context, visit func(docs []tfidf.Document) error) error {
	return s.scanDocuments(ctx, func(docs []tfidf.Document) error { return visit(s.wall.own(docs)) })
}

// within returns what keeps the index of what the caller sees of the Shelf, if it is bound to projects; nil: it sees all.
func (s *Shelf[Row]) within(ctx context.Context) (*keep.Keeper, error) {
	p := principal.Of(ctx)
	if !p.Walled() {
		return nil, nil
	}
	w := s.walls.of(p.Projects(), func() *wall {
		w := &wall{projects: p.Projects(), places: map[string]int64{}}
		w.keeper = keep.New(walled[Row]{shelfSource[Row]{s}, w}, keep.Options{Name: string(s.of.Kind)})
		return w
	})
	w.reading.Lock()
	defer w.reading.Unlock()
	if w.keeper.Complete() {
		return w.keeper, nil
	}
	return w.keeper, w.keeper.Rebuild(ctx)
}

// Within returns the index of what the caller sees of the Shelf, if it is bound to projects; nil: it sees all.
func (s *Shelf[Row]) Within(ctx context.Context) (*tfidf.Index, error) {
	keeper, err := s.within(ctx)
	if keeper == nil || err != nil {
		return nil, err
	}
	return keeper.Index(), nil
}
