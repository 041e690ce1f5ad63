package search

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/router/kind"
	"github.com/skillrouter/skillrouter/tfidf"
)

// notes is a Searcher over a few entries, the first written three days ago and each a day later than the one before.
func notes(now time.Time, entries ...string) *Searcher {
	ix, texts, written := tfidf.New(tfidf.Options{}), map[string]string{}, map[string]time.Time{}
	for i, entry := range entries {
		title, body, _ := strings.Cut(entry, "|")
		id := fmt.Sprint("k", i+1)
		texts[id], written[id] = entry, now.AddDate(0, 0, i-3)
		ix.Put(tfidf.Document{ID: id, Title: title, Body: body, Order: int64(i)})
	}
	k := kind.Knowledge
	return NewSearcher([]kind.Memory{{Kind: k, Words: ix, Search: func(_ context.Context, q kind.Question) (f kind.Found, err error) {
		for _, hit := range ix.Search(tfidf.Query{Text: q.Text, Limit: q.Limit, Corpus: q.Corpus}).Hits {
			at := written[hit.ID]
			if !q.Span.From.IsZero() && at.Before(q.Span.From) || !q.Span.To.IsZero() && !at.Before(q.Span.To) {
				continue
			}
			title, body, _ := strings.Cut(texts[hit.ID], "|")
			f.Hits = append(f.Hits, kind.Hit{ID: hit.ID, Title: title, Text: body, At: at, Score: hit.Score, Evidence: hit.Evidence})
		}
		return f, nil
	}}}, SearcherOptions{Now: func() time.Time { return now }})
}

// TestWhatWasSaid asks a small store as people do.
func TestWhatWasSaid(t *testing.T) {
	now := time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC)
	s := notes(now, "Deployment|Connect the VPN first.", "Pool size|Max 20 connections.", "Lint rules|Use ruff.", "The Who|to be or not to be", "Not scanned|Files in old are not read.")
	for query, want := range map[string]string{
		"connection leak":                 "k2", // one word of two is known
		"too many connections":            "k2",
		"leaks of mysterious connections": "", // more is unknown than known
		"to be or not to be":              "k4",
		"To be, or NOT to be?":            "k4",
		"zzgl":                            "",
		"ruff today":                      "k3", // nothing of today: another time answers
		"vpn three days ago":              "k1",
		"connections in july":             "k2",
	} {
		answer, err := s.Search(reader(), Query{Query: query, Shown: true})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if answer.Count > 0 {
			got = answer.Results[0].ID
		}
		if got != want {
			t.Errorf("%q finds %q first, want %q", query, got, want)
		}
		for _, tried := range answer.Repairs {
			if strings.Contains(tried.Detail, `"today"`) {
				t.Errorf("%q is told of words that nobody typed: %s", query, tried.Detail)
			}
		}
	}
	answer, err := s.Search(reader(), Query{Query: "ruff today"})
	if err != nil || answer.Outside == "" {
		t.Errorf("that nothing is of today is not said: %+v %v", answer, err)
	}
	if answer, err = s.Search(reader(), Query{Query: "ruff yesterday"}); err != nil || answer.Count != 1 || answer.Outside != "" {
		t.Errorf("what is of the time: %+v %v", answer, err)
	}
	if answer, err = s.Search(reader(), Query{Query: "ruff yesterday", Since: now}); err != nil || answer.Count != 0 {
		t.Errorf("a time that was given as a filter empties: %+v %v", answer, err)
	}
	// What nobody wrote is named as it was typed, and not by its stem.
	answer, err = s.Search(reader(), Query{Query: "mysteries"})
	if err != nil || len(answer.Repairs) == 0 || !strings.Contains(answer.Repairs[0].Detail, `"mysteries"`) {
		t.Errorf("%+v %v", answer.Repairs, err)
	}
}
