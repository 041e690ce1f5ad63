package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"skillrouter"
	"skillrouter/learning"
)

type rememberFact struct {
	Key      string          `json:"key"`
	Value    json.RawMessage `json:"value"`
	TTL      *int64          `json:"ttl"`
	Category string          `json:"category"`
	Persona  string          `json:"persona"`
	Probe    string          `json:"probe"`
	Source   string          `json:"source"`
}

type recallFact struct {
	Key     string `json:"key"`
	Persona string `json:"persona"`
	StaleOK bool   `json:"stale_ok"`
}

type searchFacts struct {
	Category string `json:"category"`
	Pattern  string `json:"pattern"`
	Persona  string `json:"persona"`
	Cursor   string `json:"cursor"`
	Limit    int    `json:"limit"`
}

type updateFact struct {
	Key       string          `json:"key"`
	Value     json.RawMessage `json:"value"`
	Persona   string          `json:"persona"`
	TTL       *int64          `json:"ttl"`
	IfVersion *int64          `json:"if_version"`
}

// fact is what a model needs of a fact.
type fact struct {
	Persona     string          `json:"persona"`
	Key         string          `json:"key"`
	Category    string          `json:"category"`
	Value       json.RawMessage `json:"value"`               // null if it is cut
	ValueCut    string          `json:"value_cut,omitempty"` // the beginning of a value that is too long for this answer
	CutBytes    int             `json:"cut_bytes,omitempty"` // what is left out of it
	Version     int64           `json:"version"`
	TTL         int64           `json:"ttl"`
	ExpiresAt   *time.Time      `json:"expires_at,omitempty"`
	Expired     bool            `json:"expired,omitempty"`
	Probe       string          `json:"probe,omitempty"`
	Source      string          `json:"source,omitempty"`
	Author      string          `json:"agent_id,omitempty"`
	Trust       learning.Trust  `json:"trust"`
	AccessCount int64           `json:"access_count"`
	CachedAt    time.Time       `json:"_cached_at"`
}

type recalledFact struct {
	Found  bool            `json:"found"`
	Value  json.RawMessage `json:"value"` // null if there is none, or if it is cut
	Fact   *fact           `json:"fact,omitempty"`
	Notice string          `json:"notice,omitempty"`
}

type foundFacts struct {
	Facts  []fact `json:"facts"`
	Next   string `json:"next,omitempty"`
	Notice string `json:"notice,omitempty"`
}

// anything is a parameter that takes any JSON.
func anything(name, description string) field {
	return field{name: name, schema: &jsonschema.Schema{Description: description}}
}

type forgetFact struct {
	Key     string `json:"key"`
	Persona string `json:"persona"`
}

// addFactTools offers seed 002's semantic memory, in a toolset of its own.
func (s *Server) addFactTools() {
	key, persona := required(text("key", "Such as database.orders.schema")), text("persona", "Whose memory; default \"default\"")
	add(s, tool{
		name: "remember_fact", title: "Remember a fact", set: ToolsetFacts, effect: ensure,
		description: "Store a value under a key: a schema, a baseline, a setting. It replaces what is there and expires after ttl.",
		input: arguments(
			key,
			required(anything("value", "Any JSON")),
			integer("ttl", "Seconds, default 3600; 0: for ever", 0, learning.MaxFactTTL),
			text("category", "Default general"),
			persona,
			text("probe", "The command or URL that verifies it later; it is never run for you"),
			text("source", ""),
		),
		output: holds("key", "version"),
	}, s.rememberFact)
	add(s, tool{
		name: "recall_fact", title: "Recall a fact", set: ToolsetFacts, effect: reads,
		description: "The value under a key, or found: false. Ask before an expensive lookup.",
		input:       arguments(key, persona, boolean("stale_ok", "An expired one too")),
		output:      holds("found", "value"),
	}, s.recallFact)
	add(s, tool{
		name: "search_facts", title: "Search facts", set: ToolsetFacts, effect: reads,
		description: "Facts by category and key pattern, in the order of their keys.",
		input: arguments(
			text("category", ""),
			text("pattern", "Glob over the whole key: * ? [a-z] [!a]"),
			persona,
			text("cursor", "The next of the page before"),
			integer("limit", "Default 100", 1, learning.MaxFactPage),
		),
		output: holds("facts"),
	}, s.searchFacts)
	add(s, tool{
		name: "update_fact", title: "Update a fact", set: ToolsetFacts, effect: ensure,
		description: "Give a fact that is there a new value; its time to live begins anew.",
		input: arguments(
			key,
			required(anything("value", "Any JSON")),
			persona,
			integer("ttl", "Seconds, in place of the fact's own", 0, learning.MaxFactTTL),
			whole("if_version", "Only over this version of it"),
		),
		output: holds("fact"),
	}, s.updateFact)
	add(s, tool{
		name: "forget_fact", title: "Forget a fact", set: ToolsetFacts, effect: steers,
		description: "Delete a fact for good.",
		input:       arguments(key, persona), output: holds("deleted"),
	}, s.forgetFact)
}

func (s *Server) forgetFact(ctx context.Context, in forgetFact) (reply[deleted], error) {
	if err := s.services.Facts.Forget(ctx, learning.FactRef{Persona: in.Persona, Key: in.Key}); err != nil {
		return reply[deleted]{}, err
	}
	return reply[deleted]{deleted{in.Key}, "The fact is forgotten."}, nil
}

func (s *Server) rememberFact(ctx context.Context, in rememberFact) (reply[learning.FactStored], error) {
	stored, err := s.services.Facts.Remember(ctx, learning.FactDraft{
		Persona: in.Persona, Key: in.Key, Value: in.Value, Category: in.Category, TTL: in.TTL,
		Probe: in.Probe, Source: in.Source, AgentID: s.actor(ctx, ""),
	})
	if err != nil {
		return reply[learning.FactStored]{}, err
	}
	said := fmt.Sprintf("Stored %s as version %d, %s.", visible(stored.Key), stored.Version, until(stored.ExpiresAt))
	if len(stored.Redacted) > 0 {
		said += " Secrets were cut out of it before it was stored: " + strings.Join(stored.Redacted, ", ") + "."
	}
	return reply[learning.FactStored]{stored, said}, nil
}

func (s *Server) recallFact(ctx context.Context, in recallFact) (reply[recalledFact], error) {
	found, err := s.services.Facts.Recall(ctx, learning.FactRef{Persona: in.Persona, Key: in.Key, StaleOK: in.StaleOK})
	if skillrouter.CodeOf(err) == skillrouter.NotFound {
		return reply[recalledFact]{recalledFact{}, "Nothing is known under this key, or it has expired. Once you have found it out, keep it with remember_fact."}, nil
	}
	if err != nil {
		return reply[recalledFact]{}, err
	}
	list := []fact{shownFact(found)}
	f := newFence("Found.")
	f.addFacts(list)
	return reply[recalledFact]{recalledFact{Found: true, Value: list[0].Value, Fact: &list[0], Notice: notice}, f.String()}, nil
}

func (s *Server) searchFacts(ctx context.Context, in searchFacts) (reply[foundFacts], error) {
	page, err := s.services.Facts.Search(ctx, learning.FactQuery{
		Persona: in.Persona, Category: in.Category, Pattern: in.Pattern, Cursor: in.Cursor, Limit: in.Limit,
	})
	if err != nil {
		return reply[foundFacts]{}, err
	}
	out := foundFacts{Facts: []fact{}, Next: page.Next}
	for _, found := range page.Facts {
		out.Facts = append(out.Facts, shownFact(found))
	}
	if len(out.Facts) == 0 {
		return reply[foundFacts]{out, "No fact fits."}, nil
	}
	out.Notice = notice
	f := newFence("Found %s, by key.", count(len(out.Facts), "fact", "facts"))
	f.addFacts(out.Facts)
	if out.Next != "" {
		f.say("There are more: ask again with the cursor.")
	}
	return reply[foundFacts]{out, f.String()}, nil
}

func (s *Server) updateFact(ctx context.Context, in updateFact) (reply[struct {
	Fact fact `json:"fact"`
}], error,
) {
	var out reply[struct {
		Fact fact `json:"fact"`
	}]
	changed, err := s.services.Facts.Update(ctx, learning.FactRef{Persona: in.Persona, Key: in.Key}, learning.FactPatch{
		Value: in.Value, TTL: in.TTL, IfVersion: in.IfVersion, AgentID: s.actor(ctx, ""),
	})
	if err != nil {
		return out, err
	}
	list := []fact{shownFact(changed)}
	fitFacts(list)
	out.out.Fact = list[0]
	out.text = fmt.Sprintf("Updated %s to version %d, %s.", visible(changed.Key), changed.Version, until(changed.ExpiresAt))
	return out, nil
}

func until(expires *time.Time) string {
	if expires == nil {
		return "for ever"
	}
	return "until " + expires.Format(time.RFC3339)
}

func shownFact(f learning.Fact) fact {
	return fact{
		Persona: f.Persona, Key: f.Key, Category: f.Category, Value: f.Value, Version: f.Version, TTL: f.TTL, ExpiresAt: f.ExpiresAt,
		Expired: f.Expired, Probe: f.Probe, Source: f.Source, Author: f.Author, Trust: f.Trust, AccessCount: f.AccessCount, CachedAt: f.CachedAt,
	}
}

// fitFacts leaves out of values what an answer cannot hold, and returns the
// texts to show. A value that is cut is JSON no more, and stands beside.
func fitFacts(list []fact) []string {
	shown, texts := make([]string, len(list)), make([][]*string, len(list))
	for i := range list {
		shown[i] = string(list[i].Value)
		texts[i] = []*string{&shown[i], &list[i].Probe, &list[i].Source}
	}
	fitTexts(texts)
	for i := range list {
		if whole := len(list[i].Value); len(shown[i]) < whole {
			list[i].Value, list[i].ValueCut, list[i].CutBytes = nil, shown[i], whole-len(shown[i])
		}
	}
	return shown
}

// addFacts shortens the facts to what an answer may hold and appends them.
func (f *fence) addFacts(list []fact) {
	shown := fitFacts(list)
	f.explain()
	for i, one := range list {
		label := fmt.Sprintf("%d. version %d, stored %s by %s, trust %q, %s", i+1, one.Version, one.CachedAt.Format(time.RFC3339), author(one.Author), string(one.Trust), until(one.ExpiresAt))
		if one.Expired {
			label += ", EXPIRED"
		}
		f.add(label, attributes("key", one.Key, "category", one.Category, "persona", one.Persona), shown[i],
			part("Verified by", one.Probe), part("Source", one.Source), cutNote(one.CutBytes))
	}
}
