package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"skillrouter/internal/errs"
	"skillrouter/learning/fact"
)

// factView is a fact without what a model has no use for.
type factView struct {
	fact.Fact           // its value is null if it is cut
	ValueCut     string `json:"value_cut,omitempty"` // the beginning of a value that is too long for this answer
	CutBytes     int    `json:"cut_bytes,omitempty"` // what is left out of it
	LastAccessed hidden `json:"last_accessed,omitempty"`
	CreatedAt    hidden `json:"created_at,omitempty"`
	UpdatedAt    hidden `json:"updated_at,omitempty"`
}

type recalledFact struct {
	Found  bool            `json:"found"`
	Value  json.RawMessage `json:"value"` // null if there is none, or if it is cut
	Fact   *factView       `json:"fact,omitempty"`
	Notice string          `json:"notice,omitempty"`
}

type foundFacts struct {
	Facts  []factView `json:"facts"`
	Next   string     `json:"next,omitempty"`
	Notice string     `json:"notice,omitempty"`
}

type oneFact struct {
	Fact factView `json:"fact"`
}

const aKey = "Such as database.orders.schema"

// addFactTools offers the persona's semantic memory, in a toolset of its own.
func (s *Server) addFactTools() {
	add(s, tool{
		name: "remember_fact", title: "Remember a fact", set: ToolsetFacts, effect: ensure, holds: "key version",
		description: "Store a value under a key: a schema, a baseline, a setting. It replaces what is there and expires after ttl.",
	}, described[fact.Draft]("key!", "value!", "ttl", "category", "persona", "probe", "source"), then(s.services.Facts.Remember, func(f fact.Stored) (fact.Stored, string) {
		return f, fmt.Sprintf("Stored %s as version %d, %s.%s", visible(f.Key), f.Version, until(f.ExpiresAt), redacted(f.Redacted))
	}))
	add(s, tool{
		name: "recall_fact", title: "Recall a fact", set: ToolsetFacts, effect: reads, holds: "found value",
		description: "The value under a key, or found: false. Ask before an expensive lookup.",
		resource: &resource{
			template: "memory://facts/{persona}/{key}", name: "fact", description: "A fact that a persona remembers", arguments: []string{"persona", "key"}, found: "found",
			latest: func(ctx context.Context, offer func(name string, values ...string)) error {
				page, err := s.services.Facts.Search(ctx, fact.Query{Limit: listedPerKind})
				for _, f := range page.Facts {
					offer(": "+f.Key, f.Persona, f.Key)
				}
				return err
			},
		},
	}, func(p *params, ref *fact.Ref) {
		p.must("key", &ref.Key, aKey)
		p.may("persona", &ref.Persona, whoseMemory)
		p.may("stale_ok", &ref.StaleOK, "An expired one too")
	}, s.recallFact)
	add(s, tool{
		name: "search_facts", title: "Search facts", set: ToolsetFacts, effect: reads, holds: "facts",
		description: "Facts by category and key pattern, in the order of their keys.",
	}, described[fact.Query]("category", "pattern", "persona", "cursor", "limit"), then(s.services.Facts.Search, func(page fact.Page) (foundFacts, string) {
		out := foundFacts{Facts: views(page.Facts, shownFact), Next: page.Next}
		f := listing(out.Facts, &out.Notice, factEntry, "No fact fits.", "Found %s, by key.", count(len(out.Facts), "fact", "facts"))
		if out.Next != "" && len(out.Facts) > 0 {
			f.say("There are more: ask again with the cursor.")
		}
		return out, f.String()
	}))
	add(s, tool{
		name: "update_fact", title: "Update a fact", set: ToolsetFacts, effect: ensure, holds: "fact",
		description: "Give a fact that is there a new value; its time to live begins anew.",
	}, func(p *params, c *change[fact.Ref, fact.Patch]) {
		p.must("key", &c.id.Key, aKey)
		p.must("value", &c.draft.Value, "Any JSON")
		p.may("persona", &c.id.Persona, whoseMemory)
		p.may("ttl", &c.draft.TTL, "Seconds, in place of the fact's own", within(0, fact.MaxTTL))
		p.may("if_version", &c.draft.IfVersion, "Only over this version of it", notNegative)
		p.actor(&c.draft.AgentID)
	}, then(changing(s.services.Facts.Update), func(changed fact.Fact) (oneFact, string) {
		out := oneFact{shownFact(changed)}
		alone(&out.Fact, factEntry, "") // for the fields: its writer knows the value
		return out, fmt.Sprintf("Updated %s to version %d, %s.", visible(changed.Key), changed.Version, until(changed.ExpiresAt))
	}))
	add(s, tool{
		name: "forget_fact", title: "Forget a fact", set: ToolsetFacts, effect: steers, holds: "deleted",
		description: "Delete a fact for good.",
	}, func(p *params, ref *fact.Ref) {
		p.must("key", &ref.Key, aKey)
		p.may("persona", &ref.Persona, whoseMemory)
	}, func(ctx context.Context, ref fact.Ref) (deleted, string, error) {
		return deleted{ref.Key}, "The fact is forgotten.", s.services.Facts.Forget(ctx, ref)
	})
}

func (s *Server) recallFact(ctx context.Context, ref fact.Ref) (out recalledFact, text string, err error) {
	found, err := s.services.Facts.Recall(ctx, ref)
	if errs.CodeOf(err) == errs.NotFound {
		return out, "Nothing is known under this key, or it has expired. Once you have found it out, keep it with remember_fact.", nil
	}
	if err != nil {
		return out, "", err
	}
	one := shownFact(found)
	text = alone(&one, factEntry, "Found.")
	return recalledFact{Found: true, Value: one.Value, Fact: &one, Notice: notice}, text, nil
}

func until(expires *time.Time) string {
	if expires == nil {
		return "for ever"
	}
	return "until " + expires.Format(time.RFC3339)
}

func shownFact(f fact.Fact) factView { return factView{Fact: f} }

// factEntry shows a fact. A value that is cut is JSON no more, and stands beside.
func factEntry(one *factView) entry {
	value := string(one.Value)
	return entry{[]*string{&value, &one.Probe, &one.Source}, func(int) (string, []string) {
		if whole := len(one.Value); len(value) < whole {
			one.Value, one.ValueCut, one.CutBytes = nil, value, whole-len(value)
		}
		label := fmt.Sprintf("version %d, stored %s by %s, trust %q, %s", one.Version, one.CachedAt.Format(time.RFC3339), author(one.Author), string(one.Trust), until(one.ExpiresAt))
		if one.Expired {
			label += ", EXPIRED"
		}
		return label, []string{
			attributes("key", one.Key, "category", one.Category, "persona", one.Persona), value,
			part("Verified by", one.Probe), part("Source", one.Source), cutNote(one.CutBytes),
		}
	}}
}
