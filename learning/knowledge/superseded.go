package knowledge

import (
	"context"
	"slices"

	"skillrouter"
	"skillrouter/learning"
	"skillrouter/learning/contradict"
	"skillrouter/tfidf"
)

const (
	// compared is how many entries a new one is compared with: those of its project that share most words with it.
	compared = 16
	// comparedBytes is how much of an entry these are looked for by.
	comparedBytes = 512
	// successors bounds how far a line of superseded entries is followed.
	successors = 8
	// laneSuperseded is the part of a score that an entry has because one that it stands in the place of has it.
	laneSuperseded = "superseded"
)

// maySupersede tells why a draft may not stand in the place of the entries that it names; nil: it may.
func (p *plan) maySupersede(d *prepared) error {
	for _, id := range d.supersedes {
		old, there := p.entry(id)
		switch {
		case !there:
			return skillrouter.InvalidField("supersedes", "names no entry that is there")
		case id == d.record.ID:
			return skillrouter.InvalidField("supersedes", "names the entry itself")
		case old.Project != d.record.Project:
			return skillrouter.InvalidField("supersedes", "names an entry of another project")
		}
		mine, there := p.entry(d.record.ID)
		switch {
		case there && mine.SupersededBy == id:
			return skillrouter.InvalidField("supersedes", "names an entry that stands in this one's place")
		case there && mine.SupersededBy != "" && old.SupersededBy != mine.ID: // it may stand there by way of others
			return skillrouter.InvalidField("supersedes", "cannot be said of an entry that is superseded itself, as %s is", mine.ID)
		}
		if err := mayChange(p.writer, old); err != nil {
			return err
		}
	}
	return nil
}

// again has the entry that says what a draft says hold once more, if the draft puts it in the place of another: a team that goes back to
// what it decided first says that again.
func (p *plan) again(id string, d *prepared) error {
	twin, there := p.entry(id)
	if !there || twin.SupersededBy == "" || !slices.ContainsFunc(d.supersedes, func(other string) bool {
		old, _ := p.entry(other)
		return other != id && old.SupersededBy != id
	}) {
		return nil
	}
	for at, steps := twin.SupersededBy, 0; at != "" && at != id; steps++ {
		if steps > len(d.supersedes) || !slices.Contains(d.supersedes, at) {
			return skillrouter.InvalidField("supersedes", "must name %s too, which stands in the place of %s, which says this already", at, id)
		}
		now, _ := p.entry(at) // it is named, and so was read
		at = now.SupersededBy
	}
	if err := mayChange(p.writer, twin); err != nil {
		return err
	}
	twin.SupersededBy, twin.UpdatedAt = "", d.record.UpdatedAt
	p.replace(recordOf(twin))
	return nil
}

// supersede puts a draft's entry in the place of those that it names.
func (p *plan) supersede(d *prepared, f *fate) {
	for _, id := range d.supersedes {
		old, _ := p.entry(id)
		if id == f.ID || old.SupersededBy == f.ID {
			continue
		}
		f.Supersedes = append(f.Supersedes, id)
		old.SupersededBy, old.UpdatedAt, old.Conflicts = f.ID, d.record.UpdatedAt, learning.WithoutConflict(old.Conflicts, f.ID)
		p.replace(recordOf(old))
	}
}

func recordOf(e Knowledge) Record {
	return Record{e, learning.FingerprintOf(e.Project, e.Title, e.Content)}
}

// changing is what writes entries that are there.
func changing(by skillrouter.Principal, entries ...Knowledge) (c Change) {
	for _, e := range entries {
		c.Update = append(c.Update, recordOf(e))
		c.Events = append(c.Events, event(EventUpdated, e, by, e.UpdatedAt))
	}
	return c
}

// settle does what a patch says of an entry beside others, and returns those of the others that it changes.
func settle(by skillrouter.Principal, entry *Knowledge, patch Patch, entries map[string]Knowledge) (others []Knowledge, err error) {
	if patch.SupersededBy != nil && *patch.SupersededBy != entry.SupersededBy {
		id := *patch.SupersededBy
		if was := entry.SupersededBy; id == "" { // the two are never found to contradict each other again
			entry.Conflicts = learning.WithConflict(entry.Conflicts, learning.Conflict{ID: was, Settled: true})
		} else {
			next, there := entries[id]
			switch {
			case !there:
				return nil, skillrouter.InvalidField("superseded_by", "names no entry that is there")
			case id == entry.ID:
				return nil, skillrouter.InvalidField("superseded_by", "names the entry itself")
			case next.Project != entry.Project:
				return nil, skillrouter.InvalidField("superseded_by", "names an entry of another project")
			case next.SupersededBy != "":
				return nil, skillrouter.InvalidField("superseded_by", "names an entry that is superseded itself")
			}
			entry.Conflicts = learning.WithoutConflict(entry.Conflicts, id)
			if len(next.Conflicts) > len(learning.WithoutConflict(next.Conflicts, entry.ID)) {
				next.Conflicts = learning.WithoutConflict(next.Conflicts, entry.ID)
				others = append(others, next)
			}
		}
		entry.SupersededBy = id
	}
	if patch.CompatibleWith == nil {
		return others, nil
	}
	other, there := entries[*patch.CompatibleWith]
	if !there || other.ID == entry.ID {
		return nil, skillrouter.InvalidField("compatible_with", "names no other entry that is there")
	}
	if err := mayChange(by, other); err != nil {
		return nil, err
	}
	entry.Conflicts = learning.WithConflict(entry.Conflicts, learning.Conflict{ID: other.ID, Settled: true})
	other.Conflicts = learning.WithConflict(other.Conflicts, learning.Conflict{ID: entry.ID, Settled: true})
	return append(others, other), nil
}

// compare looks, after an entry was written, for earlier ones of its project that it replaces or may contradict, and
// marks them. It never fails: what was written stays, and is only not compared. An entry is replaced where its writer may
// change it and says in so many words that it is not so any more; all else is for somebody to decide.
func (k *Base) compare(ctx context.Context, writer skillrouter.Principal, entry Knowledge, stored *Stored) {
	text := contradict.Read(contradict.Text{Title: entry.Title, Content: entry.Content})
	found, err := k.Alike(ctx, tfidf.Query{Text: entry.Title + "\n" + skillrouter.Head(entry.Content, comparedBytes), Project: entry.Project, Limit: compared + 1})
	if err != nil {
		return
	}
	ids := make([]string, 0, len(found.Hits))
	for _, hit := range found.Hits {
		if hit.ID != entry.ID {
			ids = append(ids, hit.ID)
		}
	}
	if len(ids) == 0 {
		return
	}
	rows, err := k.store.Knowledge(ctx, ids)
	if err != nil {
		return
	}
	findings, keys := map[string]contradict.Finding{}, Keys{IDs: []string{entry.ID}}
	for i := range rows {
		if earlier(&rows[i], &entry) {
			if f := contradict.Compare(contradict.Read(contradict.Text{Title: rows[i].Title, Content: rows[i].Content}), text); f.Verdict != contradict.Unrelated {
				findings[rows[i].ID] = f
				keys.IDs = append(keys.IDs, rows[i].ID)
			}
		}
	}
	if len(findings) == 0 {
		return
	}
	var outcome Stored
	var changed []Knowledge
	err = k.store.ChangeKnowledge(ctx, keys, func(in Found) (Change, error) {
		outcome, changed = Stored{}, nil
		now, there := in.Entries[entry.ID]
		if !there || now.Title != entry.Title || now.Content != entry.Content || now.Project != entry.Project {
			return Change{}, nil // it says something else by now
		}
		before := now.Conflicts
		for i := range rows {
			old, there := in.Entries[rows[i].ID]
			f, did := findings[rows[i].ID]
			if !there || !did || old.Title != rows[i].Title || old.Content != rows[i].Content || !earlier(&old, &now) {
				continue
			}
			may := mayReplace(writer, &old, &now)
			if f.Verdict == contradict.Replaces && may {
				old.SupersededBy, old.UpdatedAt = now.ID, k.now.Stamp()
				outcome.Supersedes = append(outcome.Supersedes, old.ID)
			} else {
				old.Conflicts = learning.WithConflict(old.Conflicts, learning.Conflict{ID: now.ID, Reason: f.Reason, Newer: true, Yields: may})
				now.Conflicts = learning.WithConflict(now.Conflicts, learning.Conflict{ID: old.ID, Reason: f.Reason})
				outcome.Conflicts = append(outcome.Conflicts, old.ID)
			}
			changed = append(changed, old)
		}
		if !slices.Equal(before, now.Conflicts) {
			changed = append(changed, now)
		}
		return changing(writer, changed...), nil
	}, func() { k.Put(changed...) })()
	if err == nil {
		stored.Supersedes, stored.Conflicts = append(stored.Supersedes, outcome.Supersedes...), append(stored.Conflicts, outcome.Conflicts...)
	}
}

// earlier tells whether an entry was written before another of the same project, and may be contradicted by it.
func earlier(old, entry *Knowledge) bool {
	settled := slices.ContainsFunc(old.Conflicts, func(c learning.Conflict) bool { return c.ID == entry.ID && c.Settled })
	return old.ID != entry.ID && old.Project == entry.Project && old.SupersededBy == "" && !settled && entry.SupersededBy != old.ID &&
		(old.UpdatedAt.Before(entry.UpdatedAt) || old.UpdatedAt.Equal(entry.UpdatedAt) && old.Number < entry.Number)
}

// mayReplace tells whether who wrote an entry may put it in another's place by its words: what somebody else wrote is
// not taken out of use by a text. Who may act as any agent, such as the command line with the owner's token, wrote as the entry's author.
func mayReplace(writer skillrouter.Principal, old, entry *Knowledge) bool {
	switch {
	case writer.IsOpen():
		return skillrouter.SameVoice(old.Author, entry.Author)
	case writer.Has(skillrouter.ScopeCaptain):
		return entry.Author == writer.AgentID || skillrouter.SameVoice(old.Author, entry.Author)
	}
	return writer.Is(old.Author)
}

// successorsFirst orders hits so that none stands above the entry in its place. One that was not found is read, if it fits.
func (k *Base) successorsFirst(ctx context.Context, hits []Hit, limit int, explain bool, fits func(*Knowledge) bool) ([]Hit, error) {
	for range successors {
		var missing []string
		for i := range hits {
			if id := hits[i].SupersededBy; id != "" && at(hits, id) < 0 && !slices.Contains(missing, id) {
				missing = append(missing, id)
			}
		}
		if len(missing) == 0 {
			break
		}
		rows, err := k.store.Knowledge(ctx, missing)
		if err != nil {
			return nil, err
		}
		added := false // what fits the filters
		for _, row := range rows {
			if !fits(&row) {
				continue
			}
			k.show(&row)
			old := slices.IndexFunc(hits, func(h Hit) bool { return h.SupersededBy == row.ID })
			hit := Hit{Knowledge: row} // succeed gives it its score
			if explain {
				hit.Why = []learning.Reason{}
			}
			hits, added = slices.Insert(hits, old+1, hit), true
		}
		if !added {
			break
		}
	}
	learning.SuccessorsFirst(hits, func(h *Hit) string { return h.ID }, func(h *Hit) []string { return learning.Behind(h.SupersededBy, h.Conflicts) }, func(next, old *Hit) {
		if more := old.RelevanceScore - next.RelevanceScore; more > 0 {
			if next.RelevanceScore = old.RelevanceScore; explain {
				next.Why = append(slices.Clone(next.Why), learning.Reason{Lane: laneSuperseded, Weight: more})
			}
		}
		if old.Relevance > next.Relevance {
			next.Relevance, next.Evidence = old.Relevance, old.Evidence
		}
	})
	return hits[:min(len(hits), limit)], nil
}

func at(hits []Hit, id string) int {
	return slices.IndexFunc(hits, func(h Hit) bool { return h.ID == id })
}
