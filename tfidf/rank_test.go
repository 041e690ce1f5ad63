package tfidf_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/tfidf"
)

// lanes lists the lanes of the first hit.
func lanes(r tfidf.Result) (lanes []string) {
	if len(r.Hits) == 0 {
		return nil
	}
	for _, w := range r.Hits[0].Why {
		if !slices.Contains(lanes, w.Lane) {
			lanes = append(lanes, w.Lane)
		}
	}
	return lanes
}

// filler makes documents about other things, so that frequencies mean something.
func filler(n int) (docs []tfidf.Document) {
	for i := range n {
		docs = append(docs, tfidf.Document{ID: fmt.Sprintf("filler%03d", i), Title: "note " + word(uint64(i)), Body: word(uint64(i+500)) + " " + word(uint64(i+900))})
	}
	return docs
}

func TestLanes(t *testing.T) {
	for name, tt := range map[string]struct {
		docs  []tfidf.Document
		query string
		want  string // the first hit
		lane  string // one of its lanes
	}{
		"a related word": {
			[]tfidf.Document{{ID: "a", Body: "remove the directory"}, {ID: "b", Body: "paint the wall"}},
			"delete folder", "a", tfidf.LaneRelated,
		},
		"an unknown word's relatives": {
			[]tfidf.Document{{ID: "a", Body: "credentials expire"}, {ID: "b", Body: "credits roll"}},
			"passwords secret", "a", tfidf.LaneRelated,
		},
		"a compound by its parts": {
			[]tfidf.Document{{ID: "a", Body: "a data frame of numbers"}, {ID: "b", Body: "a window pane of glass"}},
			"dataframe", "a", tfidf.LaneCompound,
		},
		"a compound from its parts": {
			[]tfidf.Document{{ID: "a", Body: "the filename is wrong"}, {ID: "b", Body: "the moon is full"}},
			"file name", "a", tfidf.LaneCompound,
		},
		"a word form that stemming does not reach": {
			[]tfidf.Document{{ID: "a", Body: "authoritative server"}, {ID: "b", Body: "another server"}},
			"server authority", "a", tfidf.LaneLetters,
		},
		"a time where one is asked for": {
			[]tfidf.Document{{ID: "a", Body: "deployed gateway yesterday"}, {ID: "b", Body: "deployed gateway cleanly"}},
			"when was the gateway deployed", "a", tfidf.LaneTime,
		},
		"what is quoted counts less": {
			[]tfidf.Document{{ID: "a", Body: "cannot borrow as mutable"}, {ID: "b", Body: "the counter is shown"}},
			"cannot borrow `counter`", "a", tfidf.LaneWord,
		},
		"a command that does what is asked for": {
			[]tfidf.Document{{ID: "a", Title: "chmod", Body: "sets the bits of a mode"}, {ID: "b", Body: "paint the wall"}},
			"make a script executable", "a", tfidf.LaneRelated,
		},
		"a word of every day": {
			[]tfidf.Document{{ID: "a", Body: "the physician came late"}, {ID: "b", Body: "the painter came late"}},
			"doctor", "a", tfidf.LaneRelated,
		},
		"a member of the kind asked for": {
			[]tfidf.Document{{ID: "a", Body: "the team moved to portugal"}, {ID: "b", Body: "the team moved to monday"}},
			"which country did the team move to", "a", tfidf.LaneRelated,
		},
		"a title that is asked for whole": {
			[]tfidf.Document{{ID: "a", Title: "gateway", Body: "restarts, probes"}, {ID: "b", Title: "gateway replicas budget", Body: "restarts"}},
			"gateway", "a", tfidf.LaneTitle,
		},
		"words in their order": {
			[]tfidf.Document{{ID: "a", Body: "retry budget exhausted"}, {ID: "b", Body: "budget talks and one retry"}},
			"retry budget", "a", tfidf.LaneNear,
		},
	} {
		t.Run(name, func(t *testing.T) {
			ix := tfidf.New(tfidf.Options{})
			ix.Put(filler(60)...)
			ix.Put(tt.docs...)
			r := ix.Search(tfidf.Query{Text: tt.query, Explain: true})
			if len(r.Hits) == 0 || r.Hits[0].ID != tt.want || !slices.Contains(lanes(r), tt.lane) {
				t.Errorf("want %s by %s, got %+v", tt.want, tt.lane, r.Hits)
			}
		})
	}
}

// TestNeighbours ranks two equal documents: the one written next to a good hit is the better one.
func TestNeighbours(t *testing.T) {
	docs := append(filler(60),
		tfidf.Document{ID: "hit", Title: "gateway timeout", Body: "gateway timeout behind the proxy", Order: 100},
		tfidf.Document{ID: "x", Body: "the gateway was restarted", Order: 500},
		tfidf.Document{ID: "y", Body: "the gateway was restarted", Order: 101},
	)
	ix := tfidf.New(tfidf.Options{})
	ix.Put(docs...)
	r := ix.Search(tfidf.Query{Text: "gateway timeout", Explain: true})
	if got := found(r); !strings.HasPrefix(got, "hit y x") {
		t.Errorf("found %q", got)
	}
	w := tfidf.DefaultWeights()
	w.Neighbour = 0
	ix = tfidf.New(tfidf.Options{Weights: &w})
	ix.Put(docs...)
	if got := found(ix.Search(tfidf.Query{Text: "gateway timeout"})); !strings.HasPrefix(got, "hit x y") {
		t.Errorf("without neighbours found %q", got)
	}
}

// TestAlike finds what shares words with the best hit that the query does not have.
func TestAlike(t *testing.T) {
	ix := tfidf.New(tfidf.Options{})
	ix.Put(filler(60)...)
	ix.Put(
		tfidf.Document{ID: "best", Title: "kubernetes rollout stalls", Body: "kubernetes rollout stalls when the readiness probe fails"},
		tfidf.Document{ID: "x", Body: "a rollout of carpets in the office upstairs, with tea"},
		tfidf.Document{ID: "y", Body: "a rollout in which the readiness probe fails, with logs"},
	)
	r := ix.Search(tfidf.Query{Text: "kubernetes rollout", Explain: true})
	if got := found(r); got != "best y x" {
		t.Errorf("found %q: %+v", got, r.Hits)
	}
}

func TestSpoiltWords(t *testing.T) {
	ix := tfidf.New(tfidf.Options{})
	ix.Put(filler(60)...)
	ix.Put(tfidf.Document{ID: "a", Body: "the certificate of the database expired"})
	for _, q := range []string{"certifcate", "certificatte", "cretificate", "dertificate", "certificat database", "datbaase"} {
		if got := found(ix.Search(tfidf.Query{Text: q})); got != "a" {
			t.Errorf("%q found %q", q, got)
		}
	}
}

// TestLongDocument holds a document that is longer than the second pass reads.
func TestLongDocument(t *testing.T) {
	long := tfidf.Document{ID: "long", Body: strings.Repeat("padding ", 3000) + "needle"}
	for name, fill := range map[string]int{"in the tail": 10, "in a segment": 400} {
		t.Run(name, func(t *testing.T) {
			ix := tfidf.New(tfidf.Options{})
			ix.Put(append(filler(fill), long)...)
			r := ix.Search(tfidf.Query{Text: "needle", Explain: true})
			if found(r) != "long" || lanes(r)[0] != tfidf.LaneWord {
				t.Errorf("found %+v", r.Hits)
			}
		})
	}
}

// TestToolsOfShells asks for what a command does in another language, which is not to find the command.
func TestToolsOfShells(t *testing.T) {
	ix := tfidf.New(tfidf.Options{})
	ix.Put(filler(60)...)
	ix.Put(
		tfidf.Document{ID: "command", Title: "chmod", Body: "sets the bits of a mode"},
		tfidf.Document{ID: "function", Title: "set_mode", Body: "makes the path executable"},
	)
	for query, want := range map[string]bool{"make executable": true, "python make executable": false} {
		if r := ix.Search(tfidf.Query{Text: query}); slices.Contains(r.Terms, "chmod") != want {
			t.Errorf("%q searched for %q", query, r.Terms)
		}
	}
}
