package store_test

import (
	"math"
	"testing"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/learning/shelf"
)

// TestStoredVectorsKeepTheirForm reads a vector as the version before stored it, and stores one in the same form.
func TestStoredVectorsKeepTheirForm(t *testing.T) {
	s, db := opened(t)
	if err := db.Commit.Write(t.Context(), func(tx *gorm.DB) error {
		return tx.Exec("INSERT INTO embeddings (num, kind, id, model, dimension, hash, scale, code) VALUES (1000000, 'knowledge', 'old', 'm', 2, 7, 0.0062992126, ?)", []byte{127, 0x100 - 95}).Error
	}, nil); err != nil {
		t.Fatal(err)
	}
	key := shelf.EmbeddingKey{Kind: shelf.EmbeddedKnowledge, ID: "new"}
	if err := s.PutEmbeddings(t.Context(), "m", []shelf.Embedding{{EmbeddingKey: key, Hash: 8, Vector: []float32{0.6, -0.8}}}, nil); err != nil {
		t.Fatal(err)
	}
	var scale float64
	var code []byte
	if err := db.Read.Raw("SELECT scale, code FROM embeddings WHERE id = 'new'").Row().Scan(&scale, &code); err != nil || math.Abs(scale-0.8/127) > 1e-8 || len(code) != 2 || code[0] != 95 || int8(code[1]) != -127 {
		t.Errorf("scale %g, code %v; %v", scale, code, err)
	}
	want := map[string][2]float64{"old": {0.8, -0.6}, "new": {0.6, -0.8}}
	seen := 0
	if others, err := s.ScanEmbeddings(t.Context(), "m", func(e shelf.Embedding) error {
		seen++
		for i, x := range e.Vector {
			if math.Abs(float64(x)-want[e.ID][i]) > 0.004 {
				t.Errorf("%s: %v, want about %v", e.ID, e.Vector, want[e.ID])
			}
		}
		return nil
	}); err != nil || seen != 2 || others != 0 {
		t.Errorf("%d vectors, %v", seen, err)
	}
}
