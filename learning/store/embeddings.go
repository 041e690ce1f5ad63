package store

import (
	"context"
	"database/sql"
	"math"
	"slices"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/learning/shelf"
)

var _ shelf.EmbeddingStore = (*Store)(nil)

var embeddingColumns = []string{"num", "kind", "id", "model", "dimension", "hash", "scale", "code"}

// ScanEmbeddings implements shelf.EmbeddingStore.
func (s *Store) ScanEmbeddings(ctx context.Context, model string, visit func(shelf.Embedding) error) (others int, err error) {
	if others, err = table.Scalar[int](s.Read.WithContext(ctx), "SELECT count(*) FROM embeddings WHERE model <> ?", model); err != nil {
		return 0, err
	}
	return others, table.Each(table.Query(s.Read.WithContext(ctx), "SELECT kind, id, hash, scale, code FROM embeddings WHERE model = ? ORDER BY num", model)).Visit(func(rows *sql.Rows) (bool, error) {
		var e shelf.Embedding
		var scale float32
		var code []byte
		if err := rows.Scan(&e.Kind, &e.ID, &e.Hash, &scale, &code); err != nil {
			return false, err
		}
		e.Vector = make([]float32, len(code))
		for i, b := range code {
			e.Vector[i] = float32(int8(b)) * scale
		}
		return true, visit(e)
	})
}

// PutEmbeddings implements shelf.EmbeddingStore.
func (s *Store) PutEmbeddings(ctx context.Context, model string, put []shelf.Embedding, drop []shelf.EmbeddingKey) error {
	return s.Commit.Write(ctx, func(tx *gorm.DB) error {
		for _, kind := range shelf.EmbeddingKinds() {
			var ids []any
			for _, key := range drop {
				if key.Kind == kind {
					ids = append(ids, key.ID)
				}
			}
			for part := range slices.Chunk(ids, table.Lookups) {
				if _, err := table.Exec(tx, "DELETE FROM embeddings WHERE kind = '"+string(kind)+"' AND id IN ("+table.Marks(len(part))+")", part...); err != nil {
					return err
				}
			}
		}
		last, err := table.Scalar[int64](tx, "SELECT coalesce(max(num), 0) FROM embeddings")
		if err != nil {
			return err
		}
		return table.InsertOr(tx, table.OrReplace(embeddingColumns, "kind", "id"), "embeddings", embeddingColumns, len(put), func(i int, row []any) []any {
			e := &put[i]
			code, scale := encoded(e.Vector)
			return append(row, last+1+int64(i), string(e.Kind), e.ID, model, len(code), e.Hash, scale, code)
		})
	}, nil)
}

// DropEmbeddings implements shelf.EmbeddingStore.
func (s *Store) DropEmbeddings(ctx context.Context, model string, dimension int) error {
	_, err := s.DeleteRows(ctx, "DELETE FROM embeddings WHERE model <> ? OR dimension <> ?", model, dimension)
	return err
}

// encoded makes a signed byte of each part of a vector: the nearest of 255 steps up to the
// largest part. The cosine of two vectors is kept to about 0.001, in a quarter of the room.
func encoded(vector []float32) (code []byte, scale float64) {
	for _, x := range vector {
		scale = max(scale, math.Abs(float64(x))/127)
	}
	code = make([]byte, len(vector))
	for i, x := range vector {
		code[i] = byte(int8(math.Round(float64(x) / scale)))
	}
	return code, scale
}
