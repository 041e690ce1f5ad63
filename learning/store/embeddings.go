package store

import (
	"context"
	"database/sql"
	"slices"

	"gorm.io/gorm"

	"skillrouter/learning/shelf"
)

var _ shelf.EmbeddingStore = (*Store)(nil)

var embeddingColumns = []string{"num", "kind", "id", "model", "dimension", "hash", "scale", "code"}

// ScanEmbeddings implements shelf.EmbeddingStore.
func (s *Store) ScanEmbeddings(ctx context.Context, model string, visit func(shelf.Embedding) error) (others int, err error) {
	if others, err = scalar[int](s.read.WithContext(ctx), "SELECT count(*) FROM embeddings WHERE model <> ?", model); err != nil {
		return 0, err
	}
	return others, each(query(s.read.WithContext(ctx), "SELECT kind, id, hash, scale, code FROM embeddings WHERE model = ? ORDER BY num", model)).visit(func(rows *sql.Rows) (bool, error) {
		var e shelf.Embedding
		var code []byte
		if err := rows.Scan(&e.Kind, &e.ID, &e.Hash, &e.Scale, &code); err != nil {
			return false, err
		}
		e.Code = int8s(code)
		return true, visit(e)
	})
}

// PutEmbeddings implements shelf.EmbeddingStore.
func (s *Store) PutEmbeddings(ctx context.Context, model string, put []shelf.Embedding, drop []shelf.EmbeddingKey) error {
	return s.commit.Write(ctx, func(tx *gorm.DB) error {
		for _, kind := range shelf.EmbeddingKinds() {
			var ids []any
			for _, key := range drop {
				if key.Kind == kind {
					ids = append(ids, key.ID)
				}
			}
			for part := range slices.Chunk(ids, lookups) {
				if _, err := exec(tx, "DELETE FROM embeddings WHERE kind = '"+string(kind)+"' AND id IN ("+marks(len(part))+")", part...); err != nil {
					return err
				}
			}
		}
		last, err := changed(tx, changedEmbeddings, "", max(1, len(put)))
		if err != nil {
			return err
		}
		return insertOr(tx, orReplace(embeddingColumns, "kind", "id"), "embeddings", embeddingColumns, len(put), func(i int, row []any) []any {
			e := &put[i]
			return append(row, last-int64(len(put)-1-i), string(e.Kind), e.ID, model, len(e.Code), e.Hash, float64(e.Scale), bytesOf(e.Code))
		})
	}, nil)
}

// DropEmbeddings implements shelf.EmbeddingStore.
func (s *Store) DropEmbeddings(ctx context.Context, model string, dimension, limit int) (int, error) {
	dropped, err := s.deleteRows(ctx, changedEmbeddings, "", "DELETE FROM embeddings WHERE num IN (SELECT num FROM embeddings WHERE model <> ? OR dimension <> ? LIMIT ?)", model, dimension, limit)
	return int(dropped), err
}

func int8s(code []byte) []int8 {
	parts := make([]int8, len(code))
	for i, b := range code {
		parts[i] = int8(b)
	}
	return parts
}

func bytesOf(code []int8) []byte {
	text := make([]byte, len(code))
	for i, c := range code {
		text[i] = byte(c)
	}
	return text
}
