package shelf

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/tfidf"
)

// maxWalls is how many sets of projects a Shelf keeps an index for: those whose tokens asked last. Another set's is made anew
// when it is asked for, by one reading of the table.
const maxWalls = 16

// walls are the indexes of the rows of some projects alone, one for each set of projects that a token is bound to. How rare a
// word is, which words there are and how long texts are, a caller that is bound to projects learns of these rows alone. Each
// is made when it is first asked for, and brought in step with the event log by each search, so that writes do nothing for them.
type walls struct {
	mu   sync.Mutex
	list []*wall // the one that was asked for last comes first
}

// wall is the index of one set of projects.
type wall struct {
	projects []string

	mu    sync.Mutex // held by who brings it in step
	index *tfidf.Index
	at    int64 // the last event that is in
	// places are the documents' places among those of the wall, in the order of writing: by the numbers of the table a
	// search would know how much others wrote between two of them.
	places map[string]int64
}

// of returns the wall around some projects.
func (w *walls) of(projects []string) *wall {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := slices.IndexFunc(w.list, func(one *wall) bool { return slices.Equal(one.projects, projects) })
	one := &wall{projects: projects}
	if at >= 0 {
		one = w.list[at]
		w.list = slices.Delete(w.list, at, at+1)
	}
	w.list = slices.Insert(w.list, 0, one)
	w.list = w.list[:min(len(w.list), maxWalls)]
	return one
}

// Within returns the index of what the caller sees of the Shelf, if it is bound to projects; nil: it sees all.
func (s *Shelf[Row]) Within(ctx context.Context) (*tfidf.Index, error) {
	p := principal.Of(ctx)
	if !p.Walled() {
		return nil, nil
	}
	if len(s.of.Events) == 0 { // no event tells of its rows, which are of no project: facts
		return tfidf.New(tfidf.Options{}), nil
	}
	w := s.walls.of(p.Projects())
	w.mu.Lock()
	defer w.mu.Unlock()
	err := follow(ctx, w, s)
	return w.index, err
}

// follow brings the index in step with what is committed.
func follow[Row any](ctx context.Context, w *wall, s *Shelf[Row]) error {
	now, err := s.log.LastEvent(ctx)
	if err != nil || w.index != nil && now == w.at {
		return err
	}
	if w.index != nil {
		if has, err := s.log.HasEvent(ctx, w.at); err != nil {
			return err
		} else if has {
			err := catchUp(ctx, w, s)
			if !errors.Is(err, errGap) {
				if err == nil {
					w.at = now
				}
				return err
			}
		}
	}
	w.index, w.places = nil, map[string]int64{}
	index := tfidf.New(tfidf.Options{})
	if err := s.scanDocuments(ctx, func(docs []tfidf.Document) error {
		index.Put(w.own(docs)...)
		return ctx.Err()
	}); err != nil {
		return err
	}
	w.index, w.at = index, now
	return nil
}

// catchUp takes in what changed behind the wall's position.
func catchUp[Row any](ctx context.Context, w *wall, s *Shelf[Row]) error {
	changed := map[string]bool{}
	if err := s.changed(ctx, w.at, func(ids []string) error {
		for _, id := range ids {
			changed[id] = true
		}
		return nil
	}); err != nil || len(changed) == 0 {
		return err
	}
	docs, err := s.DocumentsByID(ctx, slices.Sorted(maps.Keys(changed)))
	if err != nil {
		return err
	}
	slices.SortFunc(docs, func(a, b tfidf.Document) int { return cmp.Compare(a.Order, b.Order) })
	own := w.own(docs)
	for _, d := range own {
		delete(changed, d.ID)
	}
	w.index.Put(own...)
	w.index.Delete(slices.Collect(maps.Keys(changed))...)
	return nil
}

// own keeps the documents of the wall's projects, each with its place among them.
func (w *wall) own(docs []tfidf.Document) []tfidf.Document {
	var own []tfidf.Document
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
