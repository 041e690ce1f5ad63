package exchange

import (
	"encoding/json"
	"io"
	"time"

	"skillrouter/internal/check"
	"skillrouter/learning/episode"
	"skillrouter/learning/experience"
	"skillrouter/learning/fact"
	"skillrouter/router"
	"skillrouter/router/transfer"
)

// sabreLine is a line of SABRE's episodes.jsonl, or a row of the table semantic_facts of its facts.db.
type sabreLine struct {
	Persona string `json:"persona"`

	Timestamp      string          `json:"timestamp"`
	ConversationID *string         `json:"conversation_id"`
	Event          string          `json:"event"`
	Context        json.RawMessage `json:"context"`
	Learned        *string         `json:"learned"`

	Key         string          `json:"key"`
	Category    string          `json:"category"`
	Value       json.RawMessage `json:"value"` // JSON, or a text that holds it, as a column does
	CreatedAt   *string         `json:"created_at"`
	UpdatedAt   *string         `json:"updated_at"`
	ExpiresAt   *string         `json:"expires_at"`
	AccessCount int64           `json:"access_count"`
}

// sabreTables read the facts in SABRE's facts.db.
var sabreTables = []Table{{"", `SELECT key, category, CAST(value AS TEXT) AS value, persona, created_at, updated_at, expires_at, access_count
	FROM semantic_facts ORDER BY persona, key`}}

// IsSabre tells whether a line is one of SABRE's, and not of an export or a collection of entries.
func IsSabre(text []byte) bool {
	var s sabreLine
	var other struct {
		Kind    string `json:"kind"`
		Content string `json:"content"`
	}
	return json.Unmarshal(text, &s) == nil && json.Unmarshal(text, &other) == nil && other.Kind+other.Content == "" &&
		(s.Event != "" && s.Timestamp != "" || s.Key != "" && len(s.Value) > 0)
}

// readSabre reads SABRE's episodes and facts: lines, or a list, as sqlite3 -json prints a table.
func readSabre(r io.Reader, o Options, yield func(Item) bool) error {
	d := newDocument(r)
	visit := each(yield, func(place string, s sabreLine) Item { return s.item(place, o) })
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

func (s sabreLine) item(place string, o Options) Item {
	switch {
	case s.Event != "":
		item := episodeLine(place, episode.Episode{
			ID: idOf("sabre", s.Persona, s.Timestamp, said(s.ConversationID), s.Event, string(s.Context), said(s.Learned)), SessionID: said(s.ConversationID),
			Event: fitting(line(s.Event), check.MaxName), Context: s.Context, Learned: said(s.Learned), CreatedAt: moment(s.Timestamp),
		}, o)
		item.Record.Memory.(*experience.EpisodeRecord).Persona = first(s.Persona, check.DefaultPersona)
		return item
	case s.Key == "":
		return Item{Place: place, Field: "event", Refused: "is required, or key and value of a fact"}
	case len(s.Value) == 0:
		return Item{Place: place, Field: "value", Refused: "is required"}
	}
	f := fact.Fact{
		Persona: first(s.Persona, check.DefaultPersona), Key: s.Key, Category: s.Category, Value: s.Value,
		Source: first(o.Source, "sabre"), Author: o.Agent, AccessCount: s.AccessCount,
		CreatedAt: moment(said(s.CreatedAt)), UpdatedAt: moment(said(s.UpdatedAt)), CachedAt: moment(said(s.UpdatedAt)),
	}
	var text string
	if json.Unmarshal(s.Value, &text) == nil && json.Valid([]byte(text)) {
		f.Value = json.RawMessage(text)
	}
	if end := moment(said(s.ExpiresAt)); !end.IsZero() {
		f.ExpiresAt, f.TTL = &end, max(1, int64(end.Sub(f.CachedAt)/time.Second))
	}
	return Item{Place: place, Record: transfer.Record{Kind: router.KindFact, Memory: &f}}
}
