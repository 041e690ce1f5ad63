package knowledge

import (
	"cmp"
	"context"
	"slices"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
)

// prepared is a draft that was checked and redacted, and needs only to be
// compared with what is stored.
type prepared struct {
	record   Record
	named    bool     // the client gave the id
	redacted []string // kinds of secret that were cut out

	supersedes []string // ids of entries that the draft names
}

// fate is what becomes of a prepared draft.
type fate struct {
	Stored
	err error
}

// plan is what becomes of prepared drafts, in their order, and what it takes.
type plan struct {
	change Change
	fates  []fate

	writer  principal.Principal
	found   Found
	written []*Record          // in their order
	now     map[string]*Record // these by their ids
	fresh   map[string]bool    // those that were not there
}

// prepare checks a draft and cuts its secrets out.
func (k *Base) prepare(writer principal.Principal, draft Draft, trust learning.Trust) (prepared, error) {
	author, err := writer.ActingAs("agent_id", draft.AgentID)
	if err != nil {
		return prepared{}, err
	}
	if err := checkDraft(&draft, trust); err != nil {
		return prepared{}, err
	}
	if err := cmp.Or(writer.Into("project", &draft.Project), writer.NamesNone("id", draft.ID)); err != nil {
		return prepared{}, err
	}
	p := prepared{named: draft.ID != ""}
	draft.ID = cmp.Or(draft.ID, check.NewID())
	p.redacted = redactDraft(&draft)
	at := k.now.Stamp()
	p.record.Knowledge = Knowledge{
		ID: draft.ID, Category: draft.Category, Title: draft.Title, Content: draft.Content, Tags: draft.Tags,
		Source: draft.Source, Author: author, Project: draft.Project, Trust: trust, CreatedAt: at, UpdatedAt: at, Place: draft.Place,
	}
	p.supersedes = draft.Supersedes
	p.record.Fingerprint = learning.FingerprintOf(p.record.Project, p.record.Title, p.record.Content)
	return p, nil
}

// write stores drafts in one transaction. What the plan changed is in the index by then.
func (k *Base) write(ctx context.Context, writer principal.Principal, drafts []prepared) (last plan, err error) {
	var keys Keys
	for _, d := range drafts {
		if d.named {
			keys.IDs = append(keys.IDs, d.record.ID)
		} else {
			keys.Fingerprints = append(keys.Fingerprints, d.record.Fingerprint)
			keys.Twins = keys.Twins || len(d.supersedes) > 0
		}
		keys.IDs = append(keys.IDs, d.supersedes...)
	}
	err = k.store.ChangeKnowledge(ctx, keys, func(found Found) (Change, error) {
		last = decide(drafts, found, writer)
		return last.change, nil
	}, func() {
		records := slices.Concat(last.change.Insert, last.change.Update)
		entries := make([]Knowledge, len(records))
		for i, r := range records {
			entries[i] = r.Knowledge
		}
		k.Put(entries...)
	})()
	return last, err
}

// decide says what becomes of drafts beside what is stored already. It is the
// rule that Service.Store documents, with each draft seeing what the
// ones before it did.
func decide(drafts []prepared, found Found, writer principal.Principal) plan {
	found.within(writer)
	p := plan{fates: make([]fate, len(drafts)), writer: writer, found: found, now: map[string]*Record{}, fresh: map[string]bool{}}
	for i, d := range drafts {
		f := &p.fates[i]
		f.ID, f.Redacted = d.record.ID, d.redacted
		if f.err = p.maySupersede(&d); f.err != nil {
			continue
		}
		if d.named {
			old, there := p.entry(d.record.ID)
			if there {
				p.update(d.record, old, f)
				if f.err == nil {
					p.supersede(&d, f)
				}
				continue
			}
		} else if id, there := p.twin(d.record.Fingerprint); there {
			f.ID, f.Duplicate = id, true
			if f.err = p.again(id, &d); f.err == nil {
				p.supersede(&d, f)
			}
			continue
		}
		p.fresh[d.record.ID] = true
		p.write(EventStored, d.record)
		p.supersede(&d, f)
	}
	for _, r := range p.written {
		if p.fresh[r.ID] {
			p.change.Insert = append(p.change.Insert, *r)
		} else {
			p.change.Update = append(p.change.Update, *r)
		}
	}
	return p
}

// entry returns the entry with the id as it stands by now.
func (p *plan) entry(id string) (Knowledge, bool) {
	if r, written := p.now[id]; written {
		return r.Knowledge, true
	}
	old, ok := p.found.Entries[id]
	return old, ok
}

// twin returns the id of an entry that says the same by now.
func (p *plan) twin(fingerprint learning.Fingerprint) (string, bool) {
	for _, r := range slices.Backward(p.written) {
		if r.Fingerprint == fingerprint {
			return r.ID, true
		}
	}
	id, ok := p.found.Same[fingerprint]
	_, changed := p.now[id] // and says something else now
	return id, ok && !changed
}

func (p *plan) update(record Record, old Knowledge, f *fate) {
	if f.err = learning.MayChange(p.writer, old.Author, itsAuthor); f.err != nil {
		return
	}
	record.Number, record.Author, record.UseCount, record.LastUsed, record.CreatedAt = old.Number, old.Author, old.UseCount, old.LastUsed, old.CreatedAt
	record.SupersededBy, record.Place = old.SupersededBy, old.Place
	if same(old, record.Knowledge) {
		f.Duplicate = true
		return
	}
	f.Updated = true
	p.write(EventUpdated, record)
}

// write writes an entry.
func (p *plan) write(kind string, record Record) {
	if before, again := p.now[record.ID]; again {
		*before = record
	} else {
		p.written, p.now[record.ID] = append(p.written, &record), &record
	}
	p.change.Events = append(p.change.Events, event(kind, record.Knowledge, p.writer, record.UpdatedAt))
}

// same tells whether two entries say the same to the letter.
func same(a, b Knowledge) bool {
	return a.Category == b.Category && a.Title == b.Title && a.Content == b.Content &&
		a.Source == b.Source && a.Project == b.Project && slices.Equal(a.Tags, b.Tags) &&
		a.SupersededBy == b.SupersededBy
}
