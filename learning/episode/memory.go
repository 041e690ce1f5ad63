package episode

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/redact"
	"github.com/skillrouter/skillrouter/learning"
)

// EveryPersona stands, in a filter, for the episodes of all personas, as an empty persona does.
const EveryPersona = "*"

// Bounds of what the persona memory's episodes hold besides the sidecar's.
const (
	// MaxContext bounds a context, in bytes of JSON without white space: what an
	// investigation found, not the dump that it was found in.
	MaxContext = 256 << 10
	// MaxLearned bounds what was learned, in bytes: some paragraphs.
	MaxLearned = 64 << 10
)

// SplitEventType reads the persona memory's event_type, which may be one of the four
// event types or the name of an event.
func SplitEventType(text string) (eventType, event string) {
	if slices.Contains(EventTypes(), text) {
		return text, ""
	}
	return "", text
}

// Prepare checks a draft, its author apart, cuts its secrets out, and
// returns the episode that it is, without id, session and author. Of an event
// (of the persona's memory) the name is the title, and what was learned and the context are
// the content, unless the draft says otherwise; it is an outcome, unless it says so.
func Prepare(draft Draft, at time.Time) (e Episode, err error) {
	e = Episode{EventType: draft.EventType, Project: draft.Project, Place: draft.Place, Importance: DefaultImportance, CreatedAt: at.UTC().Truncate(time.Millisecond)}
	if e.Persona, err = check.Persona(draft.Persona); err != nil {
		return e, err
	}
	if err = cmp.Or(learning.CheckPlace(draft.Place), check.Name("event", draft.Event), check.Text("learned", draft.Learned, MaxLearned)); err != nil {
		return e, err
	}
	var redaction redact.Redaction
	if e.Context, err = CleanObject(&redaction, "context", draft.Context, MaxContext); err != nil {
		return e, err
	}
	e.Event, e.Learned, e.Title, e.Content = strings.TrimSpace(draft.Event), draft.Learned, check.OneLine(draft.Title), draft.Content
	redaction.Text(&e.Event, &e.Learned, &e.Title, &e.Content)
	e.Context = redaction.JSON(e.Context)
	draft.Title, draft.Content = e.Title, e.Content
	if e.Event != "" {
		draft.EventType = cmp.Or(draft.EventType, EventOutcome)
		draft.Title = cmp.Or(draft.Title, e.Event)
		if draft.Content == "" {
			if draft.Content = e.rendered(); draft.Content == "" {
				draft.Content = draft.Title
			}
		}
	}
	if err = checkDraft(draft); err != nil {
		return e, err
	}
	e.EventType = draft.EventType
	if draft.Importance != nil {
		e.Importance = *draft.Importance
	}
	e.Title, e.Content = check.OneLine(draft.Title), draft.Content
	return e, nil
}

// CleanObject checks a JSON object, takes its white space out and cuts secrets
// out of its strings, which may be those of a record. None, null and an empty one are none.
func CleanObject(redaction *redact.Redaction, field string, raw json.RawMessage, most int) (json.RawMessage, error) {
	text := bytes.TrimSpace(raw)
	if len(text) == 0 || bytes.Equal(text, []byte("null")) {
		return nil, nil
	}
	if text[0] != '{' || !json.Valid(text) {
		return nil, errs.InvalidField(field, "must be a JSON object")
	}
	clean, err := learning.CleanJSON(redaction, field, text, most)
	if string(clean) == "{}" {
		return nil, nil
	}
	return clean, err
}

// members visits the members of a JSON object in their order.
func members(object json.RawMessage) func(yield func(string, json.RawMessage) bool) {
	return func(yield func(string, json.RawMessage) bool) {
		d := json.NewDecoder(bytes.NewReader(object))
		if open, err := d.Token(); err != nil || open != json.Delim('{') {
			return
		}
		for d.More() {
			name, err := d.Token()
			var value json.RawMessage
			if err != nil || d.Decode(&value) != nil || !yield(name.(string), value) {
				return
			}
		}
	}
}

// plainValue is a JSON value as people write it: a text without its quotation
// marks, a list of texts with semicolons, null as nothing, anything else as it is.
func plainValue(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil { // null too
		return text
	}
	var list []string
	if json.Unmarshal(raw, &list) == nil {
		return strings.Join(list, "; ")
	}
	return string(raw)
}
