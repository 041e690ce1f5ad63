package knowledge

import (
	"context"
	"slices"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
)

const (
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
			return errs.InvalidField("supersedes", "names no entry that is there")
		case id == d.record.ID:
			return errs.InvalidField("supersedes", "names the entry itself")
		case old.Project != d.record.Project:
			return errs.InvalidField("supersedes", "names an entry of another project")
		}
		mine, there := p.entry(d.record.ID)
		switch {
		case there && mine.SupersededBy == id:
			return errs.InvalidField("supersedes", "names an entry that stands in this one's place")
		case there && mine.SupersededBy != "" && old.SupersededBy != mine.ID: // it may stand there by way of others
			return errs.InvalidField("supersedes", "cannot be said of an entry that is superseded itself, as %s is", mine.ID)
		}
		if err := learning.MayChange(p.writer, old.Author, itsAuthor); err != nil {
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
			return errs.InvalidField("supersedes", "must name %s too, which stands in the place of %s, which says this already", at, id)
		}
		now, _ := p.entry(at) // it is named, and so was read
		at = now.SupersededBy
	}
	if err := learning.MayChange(p.writer, twin.Author, itsAuthor); err != nil {
		return err
	}
	twin.SupersededBy, twin.UpdatedAt = "", d.record.UpdatedAt
	p.write(EventUpdated, recordOf(twin))
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
		old.SupersededBy, old.UpdatedAt = f.ID, d.record.UpdatedAt
		p.write(EventUpdated, recordOf(old))
	}
}

func recordOf(e Knowledge) Record {
	return Record{e, learning.FingerprintOf(e.Project, e.Title, e.Content)}
}

// changing is what writes entries that are there.
func changing(by principal.Principal, entries ...Knowledge) (c Change) {
	for _, e := range entries {
		c.Update = append(c.Update, recordOf(e))
		c.Events = append(c.Events, event(EventUpdated, e, by, e.UpdatedAt))
	}
	return c
}

// settle puts the entry that a patch names in another's place, as far as it may stand there.
func settle(entry *Knowledge, patch Patch, entries map[string]Knowledge) error {
	if patch.SupersededBy == nil || *patch.SupersededBy == entry.SupersededBy {
		return nil
	}
	if id := *patch.SupersededBy; id != "" {
		next, there := entries[id]
		switch {
		case !there:
			return errs.InvalidField("superseded_by", "names no entry that is there")
		case id == entry.ID:
			return errs.InvalidField("superseded_by", "names the entry itself")
		case next.Project != entry.Project:
			return errs.InvalidField("superseded_by", "names an entry of another project")
		case next.SupersededBy != "":
			return errs.InvalidField("superseded_by", "names an entry that is superseded itself")
		}
	}
	entry.SupersededBy = *patch.SupersededBy
	return nil
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
	learning.SuccessorsFirst(hits, func(h *Hit) string { return h.ID }, func(h *Hit) string { return h.SupersededBy }, func(next, old *Hit) {
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
