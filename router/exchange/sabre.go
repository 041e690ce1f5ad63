package exchange

import (
	"encoding/json"
	"io"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/experience"
	"github.com/skillrouter/skillrouter/learning/fact"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/transfer"
)

// sabreTables read the facts in SABRE's facts.db.
var sabreTables = []Table{{"", `SELECT key, category, CAST(value AS TEXT) AS value, persona, created_at, updated_at, expires_at, access_count
	FROM semantic_facts ORDER BY persona, key`}}

// IsSabre tells whether a line is one of SABRE's, and not of an export or a collection of entries.
func IsSabre(text []byte) bool {
	var t thing
	return json.Unmarshal(text, &t) == nil && t.text("kind", "content") == "" &&
		(t.text("event") != "" && t.text("timestamp") != "" || t.text("key") != "" && len(t["value"]) > 0)
}

// readSabre reads SABRE's episodes and facts: lines, or a list, as sqlite3 -json prints a table.
func readSabre(r io.Reader, o Options, yield func(Item) bool) error {
	d := newDocument(r)
	visit := each(yield, func(place string, t thing) Item { return sabreItem(place, t, o) })
	next, err := d.peek()
	if err != nil {
		return err
	}
	if next != '[' {
		return ndjson(d.in.from, yield, visit)
	}
	if more, err := d.list("", visit); err != nil || !more {
		return err
	}
	return d.end()
}

// sabreItem is a line of SABRE's episodes.jsonl, or a row of the table semantic_facts of its facts.db.
func sabreItem(place string, t thing, o Options) Item {
	persona := first(t.text("persona"), check.DefaultPersona)
	event, key, value, conversation, learned := t.text("event"), t.text("key"), t["value"], t.text("conversation_id"), t.text("learned")
	switch {
	case event != "":
		item := episodeLine(place, episode.Episode{
			ID:        idOf("sabre", t.text("persona"), t.text("timestamp"), conversation, event, string(t["context"]), learned),
			SessionID: conversation, Event: fitting(line(event), check.MaxName), Context: t["context"], Learned: learned, CreatedAt: t.at("timestamp"),
		}, o)
		item.Record.Memory.(*experience.EpisodeRecord).Persona = persona
		return item
	case key == "":
		return Item{Place: place, Field: "event", Refused: "is required, or key and value of a fact"}
	case len(value) == 0:
		return Item{Place: place, Field: "value", Refused: "is required"}
	}
	f := fact.Fact{
		Persona: persona, Key: key, Category: t.text("category"), Value: value, Source: first(o.Source, "sabre"), Author: o.Agent, AccessCount: t.number("access_count"),
		CreatedAt: t.at("created_at"), UpdatedAt: t.at("updated_at"), CachedAt: t.at("updated_at"),
	}
	var within string // JSON, as a column holds it
	if json.Unmarshal(value, &within) == nil && json.Valid([]byte(within)) {
		f.Value = json.RawMessage(within)
	}
	if end := t.at("expires_at"); !end.IsZero() {
		f.ExpiresAt, f.TTL = &end, max(1, int64(end.Sub(f.CachedAt)/time.Second))
	}
	return Item{Place: place, Record: transfer.Record{Kind: router.KindFact, Memory: &f}}
}
