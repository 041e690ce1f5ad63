package learning

import (
	"context"
	"slices"
	"strings"

	"skillrouter/tfidf"
)

// Len returns how many procedures can be found.
func (p *Procedures) Len() int { return p.kept.Len() }

// IndexState tells how the search index is doing.
func (p *Procedures) IndexState() tfidf.KeeperState { return p.kept.State() }

// Load opens the index, and leaves to Run what takes long. It is called once,
// before the first search. Procedures may be saved before, and are found.
func (p *Procedures) Load(ctx context.Context) error { return p.kept.Load(ctx) }

// RunIndex keeps the index until ctx ends, and returns nil.
func (p *Procedures) RunIndex(ctx context.Context) error { return p.kept.Run(ctx) }

// Rebuild builds the index anew from the database. Procedures may be saved and
// searched meanwhile.
func (p *Procedures) Rebuild(ctx context.Context) error { return p.kept.Rebuild(ctx) }

// keep and forget keep the index in step with commits; they run in commit order.
func (p *Procedures) keep(stored StoredProcedure) { p.kept.Put(procedureDocument(stored)) }

func (p *Procedures) forget(id string) { p.kept.Delete(id) }

func (p *Procedures) scanDocuments(ctx context.Context, visit func(docs []tfidf.Document) error) error {
	return p.store.ScanProcedures(ctx, func(chunk []StoredProcedure) error { return visit(procedureDocuments(chunk)) })
}

// proceduresAtOnce is how many procedures are read by their ids at a time: so
// few that their texts fit into one answer of the store, whatever they say.
const proceduresAtOnce = 8

func (p *Procedures) documents(ctx context.Context, ids []string) ([]tfidf.Document, error) {
	docs := make([]tfidf.Document, 0, len(ids))
	for part := range slices.Chunk(ids, proceduresAtOnce) {
		found, err := p.store.ProceduresByID(ctx, part)
		if err != nil {
			return nil, err
		}
		docs = append(docs, procedureDocuments(found)...)
	}
	return docs, nil
}

func procedureDocuments(procedures []StoredProcedure) []tfidf.Document {
	docs := make([]tfidf.Document, len(procedures))
	for i := range procedures {
		docs[i] = procedureDocument(procedures[i])
	}
	return docs
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
		Category: s.Body.Category, Tags: written([]string{s.Persona}, s.Author), Order: s.Number, At: moment(s.UpdatedAt),
	}
}
