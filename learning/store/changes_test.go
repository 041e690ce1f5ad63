package store_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"gorm.io/gorm"

	"skillrouter/internal/eventlog"
	"skillrouter/learning"
	"skillrouter/learning/feedback"
	"skillrouter/learning/knowledge"
	"skillrouter/learning/shelf"
)

// TestSilentWritesAreNumbered makes each write that leaves no event and that another process must
// learn of: its row of changes gets a number above all others, and no other row moves.
func TestSilentWritesAreNumbered(t *testing.T) {
	s, db := opened(t)
	numbers := func() map[string]int64 {
		var rows []struct {
			What, Key string
			Seq       int64
		}
		if err := db.Read.Raw("SELECT what, key, seq FROM changes").Scan(&rows).Error; err != nil {
			t.Fatal(err)
		}
		found := map[string]int64{}
		for _, r := range rows {
			found[r.What+"/"+r.Key] = r.Seq
		}
		return found
	}
	for _, id := range []string{"e1", "e2"} {
		entry := knowledge.Record{
			Knowledge:   knowledge.Knowledge{ID: id, Category: "c", Title: id, Content: id, Trust: learning.TrustAgent, CreatedAt: noon, UpdatedAt: noon},
			Fingerprint: learning.Fingerprint{id[1]},
		}
		if err := s.ChangeKnowledge(t.Context(), knowledge.Keys{}, func(knowledge.Found) (knowledge.Change, error) {
			return knowledge.Change{Insert: []knowledge.Record{entry}}, nil
		}, nil)(); err != nil {
			t.Fatal(err)
		}
	}
	bounds := knowledge.AnswerBounds{OfEntry: 10, ByAgent: 10, OfAgent: 1, All: 10}
	answer := func(id string) func() error {
		return func() error {
			_, err := s.AddAnswer(t.Context(), knowledge.AnswerVoice{EntryID: id, Key: "k", Question: "q", AgentID: "a", At: noon}, bounds)
			return err
		}
	}
	vector := func(ids ...string) func() error {
		return func() error {
			var put []shelf.Embedding
			for _, id := range ids {
				put = append(put, shelf.Embedding{EmbeddingKey: shelf.EmbeddingKey{Kind: shelf.EmbeddedKnowledge, ID: id}, Vector: []float32{1}})
			}
			return s.PutEmbeddings(t.Context(), "m", put, nil)
		}
	}
	for _, c := range []struct {
		name  string
		write func() error
		moved []string
	}{
		{"feedback", func() error {
			return s.AddQueryFeedback(t.Context(), feedback.QueryFeedback{ID: "f", Query: "q", QueryType: "recon", AgentID: "a", CreatedAt: noon}, 10, 10)
		}, []string{"feedback/"}},
		{"feedback that goes", func() error { _, err := s.DeleteQueryFeedback(t.Context(), "f"); return err }, []string{"feedback/"}},
		{"feedback that is not there", func() error { _, err := s.ClearQueryFeedback(t.Context(), "a"); return err }, nil},
		{"an answer", answer("e1"), []string{"answers/e1"}},
		{"an answer that takes another's place", answer("e2"), []string{"answers/e1", "answers/e2"}},
		{"answers that go", func() error { _, err := s.DeleteAnswers(t.Context(), "e2", "a", false); return err }, []string{"answers/e2"}},
		{"vectors", vector("e1", "e2"), []string{"embeddings/"}},
		{"a vector again", vector("e1"), []string{"embeddings/"}},
		{"vectors of a former model", func() error { _, err := s.DropEmbeddings(t.Context(), "other", 1, 10); return err }, []string{"embeddings/"}},
		{"a vector after all went", vector("e2"), []string{"embeddings/"}},
		{"a write with an event", func() error {
			return s.ChangeKnowledge(t.Context(), knowledge.Keys{}, func(knowledge.Found) (knowledge.Change, error) {
				return knowledge.Change{Events: []eventlog.Event{{Type: "knowledge.created", Subject: "e1", At: noon}}}, nil
			}, nil)()
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := numbers()
			top := slices.Max(slices.Collect(maps.Values(before)))
			if err := c.write(); err != nil {
				t.Fatal(err)
			}
			var moved []string
			for key, seq := range numbers() {
				if seq == before[key] {
					continue
				}
				if moved = append(moved, key); seq <= top {
					t.Errorf("%s has the number %d, and %d was given before", key, seq, top)
				}
			}
			slices.Sort(moved)
			if fmt.Sprint(moved) != fmt.Sprint(c.moved) {
				t.Errorf("moved are %v and not %v", moved, c.moved)
			}
		})
	}

	var vectors []struct {
		ID  string
		Num int64
	}
	if err := db.Read.Raw("SELECT id, num FROM embeddings ORDER BY num").Scan(&vectors).Error; err != nil {
		t.Fatal(err)
	}
	if last := numbers()["embeddings/"]; len(vectors) != 1 || vectors[0].ID != "e2" || vectors[0].Num != last {
		t.Errorf("the vectors are %+v, and the last number is %d", vectors, last)
	}
}

// TestScanEndsItsStatements: a scan of many rows is no one statement, which a server would end that takes too long: what was deleted meanwhile is not seen,
// and every other row is, once and in order.
func TestScanEndsItsStatements(t *testing.T) {
	s, db := opened(t)
	const rows, gone = 20_000, 100
	var all knowledge.Change
	for n := range rows {
		id := fmt.Sprintf("e%05d", n)
		all.Insert = append(all.Insert, knowledge.Record{
			Knowledge:   knowledge.Knowledge{ID: id, Category: "c", Title: id, Content: id, Trust: learning.TrustAgent, CreatedAt: noon, UpdatedAt: noon},
			Fingerprint: learning.Fingerprint{byte(n >> 8), byte(n)},
		})
	}
	if err := s.ChangeKnowledge(t.Context(), knowledge.Keys{}, func(knowledge.Found) (knowledge.Change, error) { return all, nil }, nil)(); err != nil {
		t.Fatal(err)
	}
	var seen []string
	if err := s.ScanKnowledge(t.Context(), func(chunk []knowledge.Knowledge) error {
		for _, e := range chunk {
			seen = append(seen, e.ID)
		}
		if len(seen) > len(chunk) {
			return nil
		}
		return db.Commit.Write(t.Context(), func(tx *gorm.DB) error {
			return tx.Exec("DELETE FROM knowledge WHERE id >= ?", fmt.Sprintf("e%05d", rows-gone)).Error
		}, nil)
	}); err != nil {
		t.Fatal(err)
	}
	if len(seen) != rows-gone || !slices.IsSorted(seen) || len(slices.Compact(slices.Clone(seen))) != len(seen) {
		t.Errorf("%d rows of %d, in order: %t", len(seen), rows-gone, slices.IsSorted(seen))
	}
}
