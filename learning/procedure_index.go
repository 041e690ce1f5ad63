package learning

import (
	"context"
	"strings"

	"skillrouter/tfidf"
)

// Tidy tidies the index until ctx ends, and returns nil.
func (p *Procedures) Tidy(ctx context.Context) error { return p.index.Run(ctx) }

// Len returns how many procedures can be found.
func (p *Procedures) Len() int { return p.index.Len() }

// Rebuild fills the index from the database. Procedures may be saved and
// searched meanwhile; a search does not find what has not been read yet.
func (p *Procedures) Rebuild(ctx context.Context) error {
	p.mu.Lock()
	p.changed = map[string]bool{}
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		p.changed = nil
		p.mu.Unlock()
	}()
	return rebuild(ctx, func(ctx context.Context, chunks chan<- []tfidf.Document) error {
		return p.store.ScanProcedures(ctx, func(chunk []StoredProcedure) error {
			docs := make([]tfidf.Document, len(chunk))
			for i, stored := range chunk {
				docs[i] = procedureDocument(stored)
			}
			return send(ctx, chunks, docs)
		})
	}, func(docs []tfidf.Document) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.index.Put(unchanged(docs, p.changed)...)
	})
}

// keep and forget keep the index in step with commits; they run in commit order.
func (p *Procedures) keep(stored StoredProcedure) {
	p.mu.Lock()
	defer p.mu.Unlock()
	doc := procedureDocument(stored)
	if p.changed != nil {
		p.changed[doc.ID] = true
	}
	p.index.Put(doc)
}

func (p *Procedures) forget(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.changed != nil {
		p.changed[id] = true
	}
	p.index.Delete(id)
}

// procedureDocument is what is searched of a procedure. The engine's tag holds
// the persona, which procedures are filtered by.
func procedureDocument(s StoredProcedure) tfidf.Document {
	var body strings.Builder
	for _, step := range s.Body.Steps {
		for _, text := range []string{step.Name, step.Description, step.Action, step.Run} {
			if text != "" {
				body.WriteString(text + "\n")
			}
		}
	}
	return tfidf.Document{
		ID: ProcedureID(s.Persona, s.Name), Title: s.Name + ": " + s.Body.Description, Body: body.String(),
		Category: s.Body.Category, Tags: []string{s.Persona}, Order: s.Number,
	}
}
