package knowledge

import (
	"cmp"
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
)

// Take takes in entries of another router, or of another system. An entry
// without an id is known by what it says, as Store knows drafts. It needs ScopeCaptain.
func (k *Base) Take(ctx context.Context, entries []Knowledge, t learning.Taking) ([]learning.Taken, error) {
	by := principal.Of(ctx)
	if err := by.Need(principal.ScopeCaptain); err != nil {
		return nil, err
	}
	taken := make([]learning.Taken, len(entries))
	records, named := make([]Record, len(entries)), make([]bool, len(entries))
	var keys Keys
	now := k.now.Stamp()
	for i, entry := range entries {
		named[i] = entry.ID != ""
		if records[i], taken[i].Err = takenKnowledge(entry, learning.TrustOfTaken(by), now); taken[i].Err != nil {
			taken[i].ID = entry.ID
			continue
		}
		taken[i].ID = records[i].ID
		keys.IDs, keys.Fingerprints = append(keys.IDs, records[i].ID), append(keys.Fingerprints, records[i].Fingerprint)
	}
	var change Change
	err := t.Settle(k.store.ChangeKnowledge(ctx, keys, func(found Found) (Change, error) {
		change = Change{}
		there, says := map[string]bool{}, map[learning.Fingerprint]string{}
		for i, r := range records {
			if taken[i].Err != nil {
				continue
			}
			_, stored := found.Entries[r.ID]
			twin, alike := found.Same[r.Fingerprint]
			if mine, again := says[r.Fingerprint]; again && !alike {
				twin, alike = mine, true
			}
			stored = stored || there[r.ID]
			taken[i].Duplicate = stored || alike && (!named[i] || derived(r.ID))
			if taken[i].Duplicate {
				if !stored {
					taken[i].ID = twin
				}
				continue
			}
			there[r.ID], says[r.Fingerprint] = true, r.ID
			change.Insert = append(change.Insert, r)
			change.Events = append(change.Events, event(EventStored, r.Knowledge, by, now))
		}
		return change, t.Done()
	}, func() {
		stored := make([]Knowledge, len(change.Insert))
		for i, r := range change.Insert {
			stored[i] = r.Knowledge
		}
		k.Put(stored...)
	}))
	return taken, err
}

// derived tells whether an id was made of what the entry says and where it comes from, and not given: another rule of making it may have
// been in force when the same was taken in before.
func derived(id string) bool {
	u, err := uuid.Parse(id)
	return err == nil && u.Version() == 5
}

// takenKnowledge checks an entry, cuts its secrets out and makes it one of ours.
func takenKnowledge(e Knowledge, trust learning.Trust, now time.Time) (r Record, err error) {
	draft := Draft{ID: e.ID, Category: e.Category, Title: e.Title, Content: e.Content, Tags: e.Tags, Source: e.Source, Project: e.Project, Place: e.Place}
	if err := cmp.Or(learning.CheckAuthor("agent_id", e.Author), checkDraft(&draft, learning.TrustImported), learning.CheckFigures("use_count", e.UseCount)); err != nil {
		return r, err
	}
	draft.ID = cmp.Or(draft.ID, check.NewID())
	if e.SupersededBy != "" {
		if err := learning.CheckID("superseded_by", e.SupersededBy); err != nil {
			return r, err
		}
	}
	redactDraft(&draft)
	r.Knowledge = Knowledge{
		ID: draft.ID, Category: draft.Category, Title: draft.Title, Content: draft.Content, Tags: draft.Tags, Source: draft.Source, Author: e.Author,
		Project: draft.Project, Trust: trust, UseCount: e.UseCount, LastUsed: learning.CopyTime(e.LastUsed), CreatedAt: e.CreatedAt, UpdatedAt: e.UpdatedAt, Place: draft.Place,
		SupersededBy: e.SupersededBy,
	}
	if r.SupersededBy == r.ID {
		r.SupersededBy = ""
	}
	learning.Moments(now, now, &r.CreatedAt)
	learning.Moments(now, r.CreatedAt, &r.UpdatedAt)
	learning.OptionalMoments(now, r.LastUsed)
	r.Fingerprint = learning.FingerprintOf(r.Project, r.Title, r.Content)
	return r, nil
}
