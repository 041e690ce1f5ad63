package httpapi

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"skillrouter/learning"
	"skillrouter/learning/fact"
)

// TestAppendFact holds what is written by hand to what encoding/json reads
// back. A field that joins the type fails it until it is written here.
func TestAppendFact(t *testing.T) {
	moment := rapid.Custom(func(r *rapid.T) time.Time {
		return time.UnixMilli(rapid.Int64Range(0, 4_000_000_000_000).Draw(r, "ms")).UTC()
	})
	rapid.Check(t, func(r *rapid.T) {
		word := rapid.OneOf(rapid.SampledFrom([]string{"", "plain", `a"b\c`, "<&>", "ü\u2028", "\x00\x1f\x7f"}), rapid.String())
		want := fact.Fact{
			Persona: word.Draw(r, "persona"), Key: word.Draw(r, "key"), Category: word.Draw(r, "category"), Value: json.RawMessage(`{"a":[1.0,"x"]}`),
			Version: rapid.Int64().Draw(r, "version"), TTL: rapid.Int64().Draw(r, "ttl"), Expired: rapid.Bool().Draw(r, "expired"),
			Probe: word.Draw(r, "probe"), Source: word.Draw(r, "source"), Author: word.Draw(r, "author"), Trust: learning.TrustAgent,
			AccessCount: rapid.Int64().Draw(r, "count"), CachedAt: moment.Draw(r, "cached"), CreatedAt: moment.Draw(r, "created"), UpdatedAt: moment.Draw(r, "updated"),
		}
		if rapid.Bool().Draw(r, "times") {
			a, b := moment.Draw(r, "expires"), moment.Draw(r, "accessed")
			want.ExpiresAt, want.LastAccessed = &a, &b
		}
		var byHand, byTags map[string]any
		text := appendFact(nil, &want)
		tags, err := json.Marshal(want)
		if err != nil {
			r.Fatal(err)
		}
		if json.Unmarshal(text, &byHand) != nil || json.Unmarshal(tags, &byTags) != nil || !reflect.DeepEqual(byHand, byTags) {
			r.Fatalf("%s\nis not\n%s", text, tags)
		}
	})
	if n := reflect.TypeFor[fact.Fact]().NumField(); n != 17 {
		t.Errorf("a fact has %d fields: write the new ones in appendFact, and count them here", n)
	}
}
