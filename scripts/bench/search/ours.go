package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/skillrouter/skillrouter/internal/database"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/learning/store"
	"github.com/skillrouter/skillrouter/tfidf/keep"
)

// ours is the knowledge of a router without its transports: learning.db, the
// committer, the rules of writing and the index.
type ours struct {
	db    *database.DB
	base  *knowledge.Base
	stops []func() error // in the order of starting
}

// idsOnly leaves the rows of what a search found unread: the other engines are
// asked for ids too. What keeps the index up to date reads them.
type idsOnly struct{ *store.Store }

// searching marks the context of a search.
type searching struct{}

// Knowledge implements knowledge.Store.
func (s idsOnly) Knowledge(ctx context.Context, ids []string) ([]knowledge.Knowledge, error) {
	if ctx.Value(searching{}) == nil {
		return s.Store.Knowledge(ctx, ids)
	}
	entries := make([]knowledge.Knowledge, len(ids))
	for i, id := range ids {
		entries[i].ID = id
	}
	return entries, nil
}

func openOurs(ctx context.Context, dir string) (engine, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	db, err := database.Open(ctx, dir, "learning", time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	o := &ours{db: db}
	o.base = knowledge.NewBase(idsOnly{store.New(db.Read, db.Commit)}, learning.Options{})
	o.run(ctx, db.Commit.Run)
	if err := o.base.Load(ctx); err != nil {
		return nil, errors.Join(err, o.close())
	}
	o.run(ctx, o.base.Run)
	for o.base.IndexState().Stage != keep.Complete { // a large index is read beside the first answers
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), o.close())
		case <-time.After(time.Millisecond):
		}
	}
	return o, nil
}

func (o *ours) run(ctx context.Context, run func(context.Context) error) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	o.stops = append(o.stops, func() error {
		cancel()
		return <-done
	})
}

func (o *ours) add(ctx context.Context, entries []entry) error {
	at := 0
	result, err := o.base.Bulk(principal.With(ctx, principal.Open()), func() (knowledge.Draft, error) {
		if at == len(entries) {
			return knowledge.Draft{}, io.EOF
		}
		e := entries[at]
		at++
		return knowledge.Draft{ID: e.ID, Category: "pattern", Title: e.Title, Content: e.Body, Project: e.Scope}, nil
	})
	if err == nil && result.RefusedCount > 0 {
		err = errors.New(result.Refused[0].Error)
	}
	return err
}

func (o *ours) search(ctx context.Context, q question) ([]string, error) {
	ctx = context.WithValue(principal.With(ctx, principal.Open()), searching{}, true)
	found, err := o.base.Find(ctx, knowledge.Query{Query: q.Text, Project: q.Scope, Limit: q.Limit})
	if err == nil && found.Notice != "" { // such as that the index is still being built
		err = errors.New(found.Notice)
	}
	ids := make([]string, len(found.Results))
	for i := range found.Results {
		ids[i] = found.Results[i].ID
	}
	return ids, err
}

// close stops what was started last first.
func (o *ours) close() error {
	var errs []error
	for _, stop := range slices.Backward(o.stops) {
		errs = append(errs, stop())
	}
	return errors.Join(append(errs, o.db.Close())...)
}
