package exchange_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skillrouter/skillrouter/learning/experience"
	"github.com/skillrouter/skillrouter/learning/fact"
	"github.com/skillrouter/skillrouter/router/exchange"
)

// sabreEpisode is the line of SABRE's own plan.
const sabreEpisode = `{"timestamp":"2024-11-01T14:23:00Z","persona":"data-analyst","conversation_id":"abc123","event":"mrr-drop-investigation","context":{"symptom":"MRR down 30%","root_cause":"payment processor outage"},"learned":"Always check payment gateway status first for MRR drops"}`

func TestSabre(t *testing.T) {
	for _, format := range []string{"sabre", "jsonl"} {
		items, err := read(t, format, sabreEpisode+"\n\n"+`{"persona":"data-analyst","key":"metrics.mrr","category":"baselines","value":"{\"value\":75000}","created_at":"2024-11-01 10:00:00","updated_at":"2024-11-01 11:00:00","expires_at":"2024-11-01 12:00:00","access_count":3}`, exchange.Options{Agent: "a"})
		if err != nil || len(items) != 2 || items[0].Refused+items[1].Refused != "" {
			t.Fatal(format, items, err)
		}
		e := items[0].Record.Memory.(*experience.EpisodeRecord)
		if e.Persona != "data-analyst" || e.SessionID != "abc123" || e.Event != "mrr-drop-investigation" || !strings.HasPrefix(e.Learned, "Always") ||
			!e.CreatedAt.Equal(time.Date(2024, 11, 1, 14, 23, 0, 0, time.UTC)) || !strings.Contains(string(e.Context), "payment processor") {
			t.Errorf("%s: %+v", format, e.Episode)
		}
		end := time.Date(2024, 11, 1, 12, 0, 0, 0, time.UTC)
		want := fact.Fact{
			Persona: "data-analyst", Key: "metrics.mrr", Category: "baselines", Value: []byte(`{"value":75000}`), TTL: 3600, ExpiresAt: &end, Source: "sabre", Author: "a",
			AccessCount: 3, CachedAt: end.Add(-time.Hour), UpdatedAt: end.Add(-time.Hour), CreatedAt: end.Add(-2 * time.Hour),
		}
		if diff := cmp.Diff(&want, items[1].Record.Memory); diff != "" {
			t.Errorf("%s: fact (-want +got):\n%s", format, diff)
		}
	}
	table, err := read(t, "sabre", ` [{"key":"plain","value":"just a text","persona":"coder"},`+"\n"+`{"key":"n","value":8080},{"event":"e"},{"key":"k"},{"title":"x"},{"key":1}]`, exchange.Options{})
	var got []string
	for _, i := range table {
		if f, ok := i.Record.Memory.(*fact.Fact); ok {
			got = append(got, f.Persona+" "+string(f.Value))
			continue
		}
		got = append(got, i.Refused)
	}
	want := []string{`coder "just a text"`, "default 8080", "", "is required", "is required, or key and value of a fact", "is required"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("a table (-want +got):\n%s%v", diff, err)
	}
	for line, is := range map[string]bool{
		sabreEpisode:                                     true,
		`{"key":"k","value":null}`:                       true,
		`{"kind":"fact","key":"k","value":1}`:            false,
		`{"event":"e","title":"t","content":"c"}`:        false,
		`{"title":"t","content":"c"}`:                    false,
		`{"event":"e","timestamp":"t","content":"text"}`: false,
		`{"key":`: false,
		``:        false,
	} {
		if exchange.IsSabre([]byte(line)) != is {
			t.Errorf("%s: %v", line, !is)
		}
	}
	again, _ := read(t, "sabre", sabreEpisode, exchange.Options{})
	once, _ := read(t, "sabre", sabreEpisode, exchange.Options{})
	if again[0].Record.Memory.(*experience.EpisodeRecord).ID != once[0].Record.Memory.(*experience.EpisodeRecord).ID {
		t.Error("an episode has another id the second time")
	}
}
