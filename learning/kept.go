package learning

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"skillrouter/tfidf"
)

// LogPosition is a place in the event log of learning.db.
type LogPosition = tfidf.Position

// KeptKind is a kind of what is stored and found by an index.
type KeptKind string

// The kinds of which an index is kept. They name the snapshots' files too.
const (
	KeptKnowledge  KeptKind = "knowledge"
	KeptEpisodes   KeptKind = "episodes"
	KeptLessons    KeptKind = "lessons"
	KeptProcedures KeptKind = "procedures"
)

// keptForms are how documents are made of the rows of each kind. A number grows
// whenever the same row makes another document than before: the snapshots of
// earlier versions are built anew then.
var keptForms = map[KeptKind]int{KeptKnowledge: 2, KeptEpisodes: 1, KeptLessons: 2, KeptProcedures: 2}

// KeptSearch asks for rows straight from the database, without an index.
type KeptSearch struct {
	Words   []string // the text holds at least one of them, in any case; there is at least one
	After   int64    // only rows with a greater number
	Project string   // empty: any
}

// KeptStore is the log of what was written, by which indexes are kept in step
// with the database. learning/store implements it on learning.db.
type KeptStore interface {
	// LogPosition returns the place behind the newest event.
	LogPosition(ctx context.Context) (LogPosition, error)
	// HoldsPosition tells whether the log has that very event.
	HoldsPosition(ctx context.Context, at LogPosition) (bool, error)
	// EventsOf visits the events behind a number whose types begin with one of the prefixes, in order.
	EventsOf(ctx context.Context, after int64, prefixes []string, visit func(kind, subject string, data []byte) error) error
	// Settled calls then between two commits: all that were made up to the position have
	// been announced, and none behind it.
	Settled(ctx context.Context, then func(at LogPosition)) error
	// Span returns about how many rows there are of a kind, 0 only if there is none.
	Span(ctx context.Context, kind KeptKind) (int, error)
}

// keptSource is the tfidf.Source of one kind. What is nil of it is never asked for.
type keptSource struct {
	KeptStore
	kind     KeptKind
	prefixes []string // of the types of its events
	// told returns the ids that an event is about, if that is not its subject; ok is
	// false for an event that does not say.
	told      func(kind string, data []byte) (ids []string, special, ok bool)
	scan      func(ctx context.Context, visit func(docs []tfidf.Document) error) error
	documents func(ctx context.Context, ids []string) ([]tfidf.Document, error)
	find      func(ctx context.Context, search KeptSearch, visit func(docs []tfidf.Document) (more bool)) error
}

// keep makes the Keeper of a kind's index.
func keep(source keptSource, options Options) *tfidf.Keeper {
	o := tfidf.KeeperOptions{Form: fmt.Sprintf("%s %d", source.kind, keptForms[source.kind]), Now: options.Now, Log: options.Log}
	if options.Indexes != "" {
		o.Path = filepath.Join(options.Indexes, string(source.kind)+".index")
	}
	return tfidf.NewKeeper(source, o)
}

// Position implements tfidf.Source.
func (s keptSource) Position(ctx context.Context) (tfidf.Position, error) { return s.LogPosition(ctx) }

// Holds implements tfidf.Source.
func (s keptSource) Holds(ctx context.Context, at tfidf.Position) (bool, error) {
	return s.HoldsPosition(ctx, at)
}

// Changed implements tfidf.Source.
func (s keptSource) Changed(ctx context.Context, after tfidf.Position, visit func(ids []string) error) error {
	return s.EventsOf(ctx, after.Seq, s.prefixes, func(kind, subject string, data []byte) error {
		if s.told != nil {
			if ids, special, ok := s.told(kind, data); !ok {
				return fmt.Errorf("an event %s: %w", kind, tfidf.ErrGap)
			} else if special {
				return visit(ids)
			}
		}
		return visit([]string{subject})
	})
}

// Documents implements tfidf.Source.
func (s keptSource) Documents(ctx context.Context, ids []string) ([]tfidf.Document, error) {
	return s.documents(ctx, ids)
}

// Scan implements tfidf.Source.
func (s keptSource) Scan(ctx context.Context, visit func(docs []tfidf.Document) error) error {
	return s.scan(ctx, visit)
}

// Count implements tfidf.Source.
func (s keptSource) Count(ctx context.Context) (int, error) { return s.Span(ctx, s.kind) }

// Containing implements tfidf.Source.
func (s keptSource) Containing(ctx context.Context, words []string, after int64, q tfidf.Query, visit func(docs []tfidf.Document) (more bool)) error {
	return s.find(ctx, KeptSearch{Words: words, After: after, Project: q.Project}, visit)
}

// toldOfEpisodes returns the ids of the episodes that a sweep or a clearing
// deleted. Events of programs that did not write them down do not say.
func toldOfEpisodes(kind string, data []byte) (ids []string, special, ok bool) {
	if kind != EventExperiencesSwept && kind != EventEpisodesCleared {
		return nil, false, true
	}
	var told struct {
		Count int      `json:"count"`
		IDs   []string `json:"ids"`
	}
	if json.Unmarshal(data, &told) != nil || len(told.IDs) != told.Count {
		return nil, true, false
	}
	return told.IDs, true, true
}

// notices joins what an answer has to say.
func notices(list ...string) string {
	said := slices.DeleteFunc(list, func(notice string) bool { return notice == "" })
	return strings.Join(said, "; ")
}
