package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
)

// entry is what is stored and found. Scope, if it is not empty, is what a
// question may be bounded to: a conversation, a project.
type entry struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Body  string `json:"text"`
	Scope string `json:"scope"`
}

// question asks for the ids of the best limit entries, of its scope alone if it has one.
type question struct {
	ID    string `json:"id"`
	Text  string `json:"text"`
	Scope string `json:"scope"`
	Limit int    `json:"limit"`
}

// engine is an open store and its index.
type engine interface {
	// add stores entries, in their order; what it returns from is on disk.
	add(ctx context.Context, entries []entry) error
	search(ctx context.Context, q question) ([]string, error)
	close() error
}

// kind is a way to search that is measured.
type kind struct {
	name string // a word for a command line
	says string // a line of the table
	open func(ctx context.Context, dir string) (engine, error)
	// store names the kind whose files it reads, if it does not write its own.
	store string
	// adapt makes its files of those that were copied from store's; nil: store's own are read.
	adapt func(ctx context.Context, dir string) error
}

// kinds lists what is measured; ratios are to the first.
var kinds = []kind{
	{name: "skillrouter", says: "Skill Router", open: openOurs},
	{name: "fts5", says: "FTS5, porter, OR, bm25()", open: openFTS5},
	{name: "fts5-tuned", says: "FTS5, and title ×3, stop words", open: openTunedFTS5, store: "fts5"},
	{name: "bleve-bm25", says: "bleve, English, BM25", open: openBleve},
	{name: "bleve-tfidf", says: "bleve, English, tf-idf", open: openBleve, store: "bleve-bm25", adapt: useTFIDF},
}

func kindOf(name string) (kind, error) {
	at := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
	if at < 0 {
		return kind{}, fmt.Errorf("%q is no engine of this benchmark", name)
	}
	return kinds[at], nil
}

// folder is where the files of k lie below dir.
func (k kind) folder(dir string) string {
	if k.store != "" && k.adapt == nil {
		return filepath.Join(dir, k.store)
	}
	return filepath.Join(dir, k.name)
}
