package lesson

import (
	"context"
	"sync"

	"github.com/skillrouter/skillrouter/learning/likeness"
)

// Rebuild builds the index anew from the database, and reads in what reports
// are compared with. Lessons may be searched meanwhile.
func (l *Lessons) Rebuild(ctx context.Context) error {
	if err := l.Shelf.Rebuild(ctx); err != nil {
		return err
	}
	l.reading.Lock()
	defer l.reading.Unlock()
	return l.recall(ctx)
}

// Run reads in what reports are compared with, and keeps the index until ctx
// ends. Then it returns nil.
func (l *Lessons) Run(ctx context.Context) error {
	var reading sync.WaitGroup
	defer reading.Wait()
	reading.Go(func() {
		if err := l.ready(ctx); err != nil && ctx.Err() == nil {
			l.log.ErrorContext(ctx, "the lessons cannot be read in; the next report tries again", "error", err)
		}
	})
	return l.RunIndex(ctx)
}

// ready waits until that is read in with which reports and changes are compared: the likeness of every lesson, and the
// representatives of the patterns. A report that were compared with half of the lessons would be stored twice, and form
// patterns of its own. Searches need none of it.
func (l *Lessons) ready(ctx context.Context) error {
	l.reading.Lock()
	defer l.reading.Unlock()
	if l.read {
		return nil
	}
	return l.recall(ctx)
}

// recall reads in the likeness of all lessons, and then the patterns'.
func (l *Lessons) recall(ctx context.Context) error {
	err := l.store.ScanLessons(ctx, func(chunk []Lesson) error {
		for i := range chunk {
			if err := ctx.Err(); err != nil {
				return err // a stop need not wait for the rest of the chunk
			}
			l.like.Put(chunk[i].ID, likeness.Prepare(chunk[i].likenessParts()))
		}
		return nil
	})
	if err == nil && l.patterns != nil {
		err = l.patterns.recall(ctx)
	}
	l.read = l.read || err == nil
	return err
}
