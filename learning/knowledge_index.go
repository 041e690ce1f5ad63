package learning

import (
	"context"
	"strings"

	"skillrouter/tfidf"
)

// MaxListed bounds how many ids an IndexCheck lists of each kind.
const MaxListed = 20

// IndexCheck compares a search index with its database.
type IndexCheck struct {
	Stored  int      `json:"stored"`            // rows in the database
	Indexed int      `json:"indexed"`           // documents in the index
	Missing []string `json:"missing,omitempty"` // stored and not indexed, the first MaxListed
	Surplus []string `json:"surplus,omitempty"` // indexed and not stored, the first MaxListed
}

// OK tells whether both hold the same.
func (c IndexCheck) OK() bool { return c.Stored == c.Indexed && len(c.Missing)+len(c.Surplus) == 0 }

// Len returns how many entries can be found.
func (k *KnowledgeBase) Len() int { return k.kept.Len() }

// IndexState tells how the search index is doing.
func (k *KnowledgeBase) IndexState() tfidf.KeeperState { return k.kept.State() }

// Load opens the index, and leaves to Run what takes long. It is called once,
// before the first search. Entries may be written before, and are found.
func (k *KnowledgeBase) Load(ctx context.Context) error { return k.kept.Load(ctx) }

// put and remove keep the index in step with commits; they run in commit order.
func (k *KnowledgeBase) put(entries ...Knowledge) {
	if len(entries) == 0 {
		return
	}
	docs := make([]tfidf.Document, len(entries))
	for i, e := range entries {
		docs[i] = knowledgeDocument(e)
	}
	k.kept.Put(docs...)
	k.vectors.Load().touch(EmbeddedKnowledge, documentIDs(docs)...)
}

func documentIDs(docs []tfidf.Document) []string {
	ids := make([]string, len(docs))
	for i := range docs {
		ids[i] = docs[i].ID
	}
	return ids
}

func (k *KnowledgeBase) remove(id string) {
	k.kept.Delete(id)
	k.vectors.Load().touch(EmbeddedKnowledge, id)
	k.answered.forget(id)
}

// knowledgeDocument is what is searched of an entry. Tags are words of its
// text too: whoever chose them meant the entry to be found by them.
func knowledgeDocument(e Knowledge) tfidf.Document {
	body := e.Content
	if len(e.Tags) > 0 {
		body += "\n" + strings.Join(e.Tags, " ")
	}
	return tfidf.Document{ID: e.ID, Title: e.Title, Body: body, Category: e.Category, Project: e.Project, Tags: written(foldTags(e.Tags), e.Author), Order: e.Number, At: moment(e.UpdatedAt)}
}

// Rebuild builds the index anew from the database. Entries may be written and
// searched meanwhile.
func (k *KnowledgeBase) Rebuild(ctx context.Context) error { return k.kept.Rebuild(ctx) }

// scanDocuments visits what is searched of every entry, oldest first.
func (k *KnowledgeBase) scanDocuments(ctx context.Context, visit func(docs []tfidf.Document) error) error {
	return k.store.ScanKnowledge(ctx, func(chunk []Knowledge) error { return visit(knowledgeDocuments(chunk)) })
}

// documents returns what is searched of entries.
func (k *KnowledgeBase) documents(ctx context.Context, ids []string) ([]tfidf.Document, error) {
	entries, err := k.store.Knowledge(ctx, ids)
	return knowledgeDocuments(entries), err
}

func knowledgeDocuments(entries []Knowledge) []tfidf.Document {
	docs := make([]tfidf.Document, len(entries))
	for i, e := range entries {
		docs[i] = knowledgeDocument(e)
	}
	return docs
}

// unchanged drops the documents that a later commit wrote or deleted.
func unchanged(docs []tfidf.Document, changed map[string]bool) []tfidf.Document {
	if len(changed) == 0 {
		return docs
	}
	kept := docs[:0]
	for _, d := range docs {
		if !changed[d.ID] {
			kept = append(kept, d)
		}
	}
	return kept
}

// Check compares the index with the database. Entries that are written
// meanwhile may show as missing or surplus.
func (k *KnowledgeBase) Check(ctx context.Context) (IndexCheck, error) {
	return checkIndex(k.kept.Index().IDs(), func(visit func(id string)) error { return k.store.KnowledgeIDs(ctx, visit) })
}

func checkIndex(indexed []string, stored func(visit func(id string)) error) (IndexCheck, error) {
	check := IndexCheck{Indexed: len(indexed)}
	left := make(map[string]bool, len(indexed))
	for _, id := range indexed {
		left[id] = true
	}
	err := stored(func(id string) {
		check.Stored++
		if !left[id] && len(check.Missing) < MaxListed {
			check.Missing = append(check.Missing, id)
		}
		delete(left, id)
	})
	for id := range left {
		if len(check.Surplus) == MaxListed {
			break
		}
		check.Surplus = append(check.Surplus, id)
	}
	return check, err
}
