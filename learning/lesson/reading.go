package lesson

import (
	"context"
	"sync"

	"skillrouter/internal/committer"
	"skillrouter/learning"
	"skillrouter/learning/likeness"
)

// Load opens the index, and leaves to Run what takes long. It is called once,
// before the first report and the first search: from then on, reports wait
// until Run has read the other lessons in.
func (l *Lessons) Load(ctx context.Context) error {
	l.reading.Begin()
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
			_ = committer.Pause(ctx, learning.RecallAgain)
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
			l.like.Put(chunk[i].ID, likeness.Prepare(chunk[i].likenessParts()))
		}
		return nil
	})
	if err != nil {
		return err
	}
	if l.patterns != nil {
		if err := l.patterns.recall(ctx); err != nil {
			return err
		}
	}
	l.reading.End()
	return nil
}
