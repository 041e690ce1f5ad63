package httpapi

import (
	"encoding/json"
	"strconv"
	"time"

	"skillrouter/learning/fact"
)

// appendFact appends a fact as its type's tags have it. encoding/json would
// look through the whole value again, which was checked when it was stored,
// and take longer than everything else that the reading of a fact needs.
func appendFact(b []byte, f *fact.Fact) []byte {
	text := func(name, value string) {
		b = append(append(b, name...), ':')
		b = appendText(b, value)
	}
	moment := func(name string, t time.Time) {
		b = append(append(b, name...), ':', '"')
		b = append(t.AppendFormat(b, time.RFC3339Nano), '"')
	}
	number := func(name string, n int64) {
		b = strconv.AppendInt(append(append(b, name...), ':'), n, 10)
	}
	text(`{"persona"`, f.Persona)
	text(`,"key"`, f.Key)
	text(`,"category"`, f.Category)
	b = append(append(b, `,"value":`...), f.Value...)
	number(`,"version"`, f.Version)
	number(`,"ttl"`, f.TTL)
	if f.ExpiresAt != nil {
		moment(`,"expires_at"`, *f.ExpiresAt)
	}
	if f.Expired {
		b = append(b, `,"expired":true`...)
	}
	for _, optional := range []struct{ name, value string }{{`,"probe"`, f.Probe}, {`,"source"`, f.Source}, {`,"agent_id"`, f.Author}} {
		if optional.value != "" {
			text(optional.name, optional.value)
		}
	}
	text(`,"trust"`, string(f.Trust))
	number(`,"access_count"`, f.AccessCount)
	if f.LastAccessed != nil {
		moment(`,"last_accessed"`, *f.LastAccessed)
	}
	moment(`,"_cached_at"`, f.CachedAt)
	moment(`,"created_at"`, f.CreatedAt)
	moment(`,"updated_at"`, f.UpdatedAt)
	return append(b, '}')
}

// appendText appends a text as a JSON string.
func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			quoted, _ := json.Marshal(s) // strings cannot fail
			return append(b, quoted...)
		}
	}
	return append(append(append(b, '"'), s...), '"')
}
