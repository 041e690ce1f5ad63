package learning

import (
	"context"
	"time"

	"skillrouter"
)

// Take takes in entries of another router, or of another system. An entry
// without an id is known by what it says, as Store knows drafts. It needs ScopeCaptain.
func (k *KnowledgeBase) Take(ctx context.Context, entries []Knowledge, t Taking) ([]Taken, error) {
	by := skillrouter.PrincipalOf(ctx)
	if err := by.Need(skillrouter.ScopeCaptain); err != nil {
		return nil, err
	}
	taken := make([]Taken, len(entries))
	records, named := make([]KnowledgeRecord, len(entries)), make([]bool, len(entries))
	var keys KnowledgeKeys
	now := k.now.Stamp()
	for i, entry := range entries {
		named[i] = entry.ID != ""
		if records[i], taken[i].Err = takenKnowledge(entry, now); taken[i].Err != nil {
			taken[i].ID = entry.ID
			continue
		}
		taken[i].ID = records[i].ID
		keys.IDs, keys.Fingerprints = append(keys.IDs, records[i].ID), append(keys.Fingerprints, records[i].Fingerprint)
	}
	var change KnowledgeChange
	err := t.settle(k.store.ChangeKnowledge(ctx, keys, func(found FoundKnowledge) (KnowledgeChange, error) {
		change = KnowledgeChange{}
		there, says := map[string]bool{}, map[Fingerprint]string{}
		for i, r := range records {
			if taken[i].Err != nil {
				continue
			}
			_, stored := found.Entries[r.ID]
			twin, alike := found.Same[r.Fingerprint]
			if mine, again := says[r.Fingerprint]; again && !alike {
				twin, alike = mine, true
			}
			taken[i].Duplicate = stored || there[r.ID] || !named[i] && alike
			if taken[i].Duplicate {
				if !named[i] {
					taken[i].ID = twin
				}
				continue
			}
			there[r.ID], says[r.Fingerprint] = true, r.ID
			change.Insert = append(change.Insert, r)
			change.Events = append(change.Events, knowledgeEvent(EventKnowledgeStored, r.Knowledge, by, now))
		}
		return change, t.done()
	}, func() {
		stored := make([]Knowledge, len(change.Insert))
		for i, r := range change.Insert {
			stored[i] = r.Knowledge
		}
		k.put(stored...)
	}))
	return taken, err
}

// takenKnowledge checks an entry, cuts its secrets out and makes it one of ours.
func takenKnowledge(e Knowledge, now time.Time) (r KnowledgeRecord, err error) {
	draft := KnowledgeDraft{ID: e.ID, Category: e.Category, Title: e.Title, Content: e.Content, Tags: e.Tags, Source: e.Source, Project: e.Project}
	if err := checkAuthor("agent_id", e.Author); err != nil {
		return r, err
	}
	if err := checkDraft(&draft, TrustImported); err != nil {
		return r, err
	}
	if err := checkFigures("use_count", e.UseCount); err != nil {
		return r, err
	}
	if draft.ID == "" {
		if draft.ID, err = newID(); err != nil {
			return r, err
		}
	}
	var c skillrouter.Redaction
	c.Text(&draft.Title, &draft.Content, &draft.Source)
	c.List(draft.Tags)
	r.Knowledge = Knowledge{
		ID: draft.ID, Category: draft.Category, Title: draft.Title, Content: draft.Content, Tags: draft.Tags, Source: draft.Source, Author: e.Author,
		Project: draft.Project, Trust: TrustImported, UseCount: e.UseCount, LastUsed: copyTime(e.LastUsed), CreatedAt: e.CreatedAt, UpdatedAt: e.UpdatedAt,
	}
	moments(now, now, &r.CreatedAt)
	moments(now, r.CreatedAt, &r.UpdatedAt)
	optionalMoments(now, r.LastUsed)
	r.Fingerprint = fingerprint(r.Project, r.Title, r.Content)
	return r, nil
}
