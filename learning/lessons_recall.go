package learning

import (
	"context"
	"sync"
	"time"
)

// recollection is the reading in, after a start, of what reports of lessons are
// compared with: the likeness of every lesson, and the representatives of the
// patterns. Searches need none of it. Whoever reports or changes a lesson waits
// for it: a report that were compared with half of the lessons would be stored
// twice, and form patterns of its own.
type recollection struct {
	mu   sync.Mutex
	done chan struct{} // nil: nothing is to be read in
}

// begin makes callers of wait wait.
func (r *recollection) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done = make(chan struct{})
}

// end lets them go on.
func (r *recollection) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done != nil {
		close(r.done)
		r.done = nil
	}
}

// wait waits for the end of the reading, or returns ctx's error.
func (r *recollection) wait(ctx context.Context) error {
	r.mu.Lock()
	done := r.done
	r.mu.Unlock()
	if done == nil {
		return nil
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Load opens the index, and leaves to Run what takes long. It is called once,
// before the first report and the first search: from then on, reports wait
// until Run has read the other lessons in.
func (l *Lessons) Load(ctx context.Context) error {
	l.reading.begin()
	return l.Shelf.Load(ctx)
}

// Rebuild builds the index anew from the database, and reads in what reports
// are compared with. Lessons may be searched meanwhile.
func (l *Lessons) Rebuild(ctx context.Context) error {
	if err := l.Shelf.Rebuild(ctx); err != nil {
		return err
	}
	return l.recall(ctx)
}

// recallAgain is how long a failed reading waits before it is tried again.
const recallAgain = time.Second

// Run reads in what reports are compared with, and keeps the index until ctx
// ends. Then it returns nil.
func (l *Lessons) Run(ctx context.Context) error {
	var reading sync.WaitGroup
	defer reading.Wait()
	reading.Go(func() {
		for told := false; ; told = true {
			err := l.recall(ctx)
			if err == nil || ctx.Err() != nil {
				return
			}
			if !told {
				l.log.ErrorContext(ctx, "the lessons cannot be read in, for which reports of others wait; trying again", "error", err)
			}
			select {
			case <-ctx.Done():
			case <-time.After(recallAgain):
			}
		}
	})
	return l.RunIndex(ctx)
}

// recall reads in the likeness of all lessons, and then the patterns'.
func (l *Lessons) recall(ctx context.Context) error {
	err := l.store.ScanLessons(ctx, func(chunk []Lesson) error {
		for i := range chunk {
			if err := ctx.Err(); err != nil {
				return err // a stop need not wait for the rest of the chunk
			}
			l.prints.add(chunk[i].print())
			l.like.put(chunk[i].ID, l.like.prepare(chunk[i].likenessParts()))
		}
		return nil
	})
	if err != nil {
		return err
	}
	l.prints.complete()
	if l.patterns != nil {
		if err := l.patterns.recall(ctx); err != nil {
			return err
		}
	}
	l.reading.end()
	return nil
}
