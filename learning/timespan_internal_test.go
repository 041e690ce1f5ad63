package learning

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// TestFindTimespan asks on a Wednesday, half past ten, two hours east of Greenwich.
func TestFindTimespan(t *testing.T) {
	zone := time.FixedZone("test", 2*3600)
	now := time.Date(2026, 11, 18, 10, 30, 0, 0, zone)
	const form = "2006-01-02 15:04"
	for query, want := range map[string]struct{ from, to, rest string }{
		"what happened yesterday":                             {"2026-11-17 00:00", "2026-11-18 00:00", "what happened"},
		"who broke main yesterday":                            {"2026-11-17 00:00", "2026-11-18 00:00", "who broke main"},
		"what did you change the day before yesterday":        {"2026-11-16 00:00", "2026-11-17 00:00", "what did you change"},
		"what happened last night?":                           {"2026-11-17 18:00", "2026-11-18 08:00", "what happened"},
		"yesterday evening":                                   {"2026-11-17 17:00", "2026-11-18 00:00", ""},
		"anything this morning?":                              {"2026-11-18 04:00", "2026-11-18 12:00", "anything"},
		"earlier today someone deleted a bucket":              {"2026-11-18 00:00", "2026-11-19 00:00", "someone deleted a bucket"},
		"what did we do last tuesday":                         {"2026-11-17 00:00", "2026-11-18 00:00", "what did we do"},
		"what did we do on wednesday":                         {"2026-11-11 00:00", "2026-11-12 00:00", "what did we do"},
		"recount the failed deploy of last week":              {"2026-11-09 00:00", "2026-11-16 00:00", "recount the failed deploy"},
		"what did we do this week":                            {"2026-11-16 00:00", "2026-11-23 00:00", "what did we do"},
		"in the past week":                                    {"2026-11-11 10:30", "", ""},
		"in the last two hours":                               {"2026-11-18 08:30", "", ""},
		"over the last 3 days":                                {"2026-11-15 10:30", "", ""},
		"the last hour":                                       {"2026-11-18 09:30", "", ""},
		"what happened 3 days ago":                            {"2026-11-15 00:00", "2026-11-16 00:00", "what happened"},
		"a week ago":                                          {"2026-11-07 10:30", "2026-11-15 10:30", ""},
		"a couple of days ago":                                {"2026-11-16 00:00", "2026-11-17 00:00", ""},
		"an hour ago":                                         {"2026-11-18 09:00", "2026-11-18 10:00", ""},
		"earlier this month someone deleted the wrong bucket": {"2026-11-01 00:00", "2026-12-01 00:00", "someone deleted the wrong bucket"},
		"everything that occurred on 12 september":            {"2026-09-12 00:00", "2026-09-13 00:00", "everything that occurred"},
		"on the 24th of december":                             {"2025-12-24 00:00", "2025-12-25 00:00", ""},
		"september 12, 2024":                                  {"2024-09-12 00:00", "2024-09-13 00:00", ""},
		"on 2026-09-12":                                       {"2026-09-12 00:00", "2026-09-13 00:00", ""},
		"in 2025":                                             {"2025-01-01 00:00", "2026-01-01 00:00", ""},
		"how we dealt with the angry customer in july":        {"2026-07-01 00:00", "2026-08-01 00:00", "how we dealt with the angry customer"},
		"what did agent red report after its scan in april":   {"2026-04-01 00:00", "2026-05-01 00:00", "what did agent red report after its scan"},
		"last november":                                       {"2025-11-01 00:00", "2025-12-01 00:00", ""},
		"in december":                                         {"2025-12-01 00:00", "2026-01-01 00:00", ""},
		"since monday":                                        {"2026-11-16 00:00", "", ""},
		"since last week":                                     {"2026-11-09 00:00", "", ""},
		"before yesterday":                                    {"", "2026-11-17 00:00", ""},
		"after monday":                                        {"2026-11-17 00:00", "", ""},
		"between monday and yesterday":                        {"2026-11-16 00:00", "2026-11-18 00:00", ""},
		"from 1 july to 3 july":                               {"2026-07-01 00:00", "2026-07-04 00:00", ""},
		"last weekend":                                        {"2026-11-14 00:00", "2026-11-16 00:00", ""},
		"machines missing the march patches":                  {"none", "", "machines missing the march patches"},
		"may i start":                                         {"none", "", "may i start"},
		"how many retries has job 9 used":                     {"none", "", "how many retries has job 9 used"},
		"on 31 february":                                      {"none", "", "on 31 february"},
		"the spring release":                                  {"none", "", "the spring release"},
		"a few tasks":                                         {"none", "", "a few tasks"},
		"last session":                                        {"none", "", "last session"},
		"99999999999999999999 days ago":                       {"none", "", "99999999999999999999 days ago"},
		"describe the handoff from alice to bob":              {"none", "", "describe the handoff from alice to bob"},
	} {
		span, rest, found := timespanOf(query, now)
		from, to := "", ""
		if !span.From.IsZero() {
			from = span.From.Format(form)
		}
		if !span.To.IsZero() {
			to = span.To.Format(form)
		}
		if !found {
			from = "none"
		}
		if from != want.from || to != want.to || strings.Join(rest, " ") != want.rest {
			t.Errorf("%q is %s to %s, rest %q; want %s to %s, rest %q", query, from, to, strings.Join(rest, " "), want.from, want.to, want.rest)
		}
	}
}

func FuzzFindTimespan(f *testing.F) {
	for _, seed := range []string{
		"since last week", "between monday and 12 september", "a couple of days ago", "the day before yesterday", "last",
		"in 0000-00-00", "9999 years ago", "q4 9999", "29 february 2023", "from q1 to", "this", "past few", "between the and the",
	} {
		f.Add(seed, int64(1_763_000_000))
	}
	f.Fuzz(func(t *testing.T, query string, unix int64) {
		now := time.Unix(unix%4_000_000_000, 0).UTC()
		words := phrase(query)
		span, start, end := Timespan(words, now)
		if end == 0 {
			return
		}
		if start < 0 || end <= start || end > len(words) {
			t.Fatalf("%q: %d to %d of %d words", query, start, end, len(words))
		}
		if !span.From.IsZero() && !span.To.IsZero() && !span.From.Before(span.To) {
			t.Fatalf("%q: the span ends before it begins: %v", query, span)
		}
		if span.From.IsZero() && span.To.IsZero() {
			t.Fatalf("%q: a span without ends: %v", query, span)
		}
	})
}

// phrase is the words of a question.
func phrase(query string) []string {
	return strings.FieldsFunc(strings.ToLower(query), func(r rune) bool { return strings.ContainsRune(" ?,", r) })
}

func timespanOf(query string, now time.Time) (span TimeRange, rest []string, found bool) {
	words := phrase(query)
	span, start, end := Timespan(words, now)
	return span, slices.Concat(words[:start], words[end:]), end > 0
}
