package shelf

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"log/slog"
	"sync"
	"time"

	"skillrouter"
	"skillrouter/learning"
	"skillrouter/tfidf"
)

// Vectors finds knowledge, episodes and lessons by what they mean, beside the
// indexes that find them by their words. It keeps a vector of each item in
// memory and in the database, and makes those that are missing in the
// background, while Run runs. Without an Embedder it does nothing and takes no memory.
type Vectors struct {
	store    EmbeddingStore
	embedder Embedder
	now      skillrouter.Clock
	log      *slog.Logger
	retry    time.Duration
	most     int

	queryPrefix, itemPrefix string

	matrix  *matrix
	queries *queries
	sources map[EmbeddingKind]vectorSource

	wake chan struct{}

	mu        sync.Mutex
	touched   map[EmbeddingKey]bool // may have changed; Run looks at them
	sweepDue  bool                  // any item may have changed
	moved     int                   // the dimension that the model's vectors have now, if it is another
	confirmed bool                  // the model has told its dimension since the start
	loaded    bool
	filling   bool // items wait for vectors
	refused   map[EmbeddingKey]int64
	perSecond float64
	since     time.Time // since when items get no vectors; zero: they do
	last      error     // the last failure
}

// vectorSource gives the items of a kind as they are searched.
type vectorSource interface {
	Len() int
	scanDocuments(ctx context.Context, visit func(docs []tfidf.Document) error) error
	// DocumentsByID returns those of the items that exist and can be found, in no order.
	DocumentsByID(ctx context.Context, ids []string) ([]tfidf.Document, error)
}

// VectorOptions are the settings of Vectors. The zero value is usable.
type VectorOptions struct {
	learning.Options
	// Retry is how long a model that makes no vectors of items is left alone first; each
	// further failure doubles it, up to a minute. 0: a second.
	Retry time.Duration
	// Most is how many vectors are kept, if that is fewer than MaxVectors and
	// MaxVectorBytes allow. 0: as many as they allow.
	Most int
	// QueryPrefix and ItemPrefix are put in front of what is embedded: some models want to
	// be told which is which, such as by "query: " and "passage: ".
	QueryPrefix, ItemPrefix string
}

// NewVectors makes Vectors of an embedder; nil: there are none.
func NewVectors(store EmbeddingStore, embedder Embedder, options VectorOptions) *Vectors {
	o := options.Options.WithDefaults()
	v := &Vectors{
		store: store, embedder: embedder, now: o.Now, log: o.Log, retry: options.Retry, most: options.Most,
		queryPrefix: options.QueryPrefix, itemPrefix: options.ItemPrefix,
		matrix: newMatrix(), sources: map[EmbeddingKind]vectorSource{}, wake: make(chan struct{}, 1),
		touched: map[EmbeddingKey]bool{}, sweepDue: true, refused: map[EmbeddingKey]int64{},
	}
	if v.retry <= 0 {
		v.retry = time.Second
	}
	v.queries = newQueries(o.Now, func(ctx context.Context, text string) ([]float32, error) {
		vectors, err := v.embed(ctx, []string{text})
		if err != nil {
			return nil, err
		}
		return vectors[0], nil
	})
	return v
}

// configured tells whether there is a model.
func (v *Vectors) configured() bool { return v != nil && v.embedder != nil }

// touch notes, after a commit, items that it changed or removed. It never waits
// for more than a map.
func (v *Vectors) touch(kind EmbeddingKind, ids ...string) {
	if v == nil {
		return
	}
	v.mu.Lock()
	for _, id := range ids {
		if len(v.touched) >= touchedMost {
			v.sweepDue = true
			break
		}
		v.touched[EmbeddingKey{kind, id}] = true
	}
	v.mu.Unlock()
	skillrouter.Nudge(v.wake)
}

// embed asks the model for vectors and holds its answer to what it must be.
func (v *Vectors) embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors, err := v.embedder.Embed(ctx, texts)
	if err != nil {
		return nil, err
	}
	if len(vectors) != len(texts) {
		return nil, skillrouter.Errorf(skillrouter.Unavailable, "the embedding model answered %d vectors for %d texts", len(vectors), len(texts))
	}
	for _, vector := range vectors {
		if err := checkVector(vector); err != nil {
			return nil, err
		}
		if len(vector) != len(vectors[0]) {
			return nil, skillrouter.Errorf(skillrouter.Unavailable, "the embedding model answered vectors of %d and of %d dimensions", len(vectors[0]), len(vector))
		}
	}
	return vectors, v.agree(len(vectors[0]))
}

// agree holds the model to one dimension. The first answer after a start says
// which: another model may have taken its place under the same name meanwhile.
func (v *Vectors) agree(dimension int) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.loaded {
		return skillrouter.Errorf(skillrouter.Unavailable, "the stored vectors are still being read")
	}
	known := v.matrix.width()
	switch {
	case known == dimension:
		v.confirmed = true
		return nil
	case !v.confirmed:
		v.moved = dimension
		skillrouter.Nudge(v.wake)
		if known == 0 {
			return nil
		}
		return skillrouter.Errorf(skillrouter.Unavailable, "the embedding model's vectors have %d dimensions, and the stored ones %d: they are made anew", dimension, known)
	}
	return skillrouter.Errorf(skillrouter.Unavailable, "the embedding model answered a vector of %d dimensions, and its others have %d", dimension, known)
}

// room is how many vectors of a dimension are kept.
func (v *Vectors) room(dimension int) int {
	if most := capacity(dimension); v.most <= 0 || most < v.most {
		return most
	}
	return v.most
}

// textOf is what is embedded of an item.
func (v *Vectors) textOf(doc tfidf.Document) string {
	text := doc.Body
	if doc.Title != "" {
		text = doc.Title + "\n" + doc.Body
	}
	return v.itemPrefix + skillrouter.Head(text, MaxEmbedText)
}

// hashOf tells texts apart; that two have the same by chance needs billions of them.
func hashOf(text string) int64 {
	sum := sha256.Sum256([]byte(text))
	return int64(binary.LittleEndian.Uint64(sum[:8]))
}

// refusal tells whether an error says that a text is not taken, rather than
// that nothing is.
func refusal(err error) bool {
	code := skillrouter.CodeOf(err)
	return code == skillrouter.Invalid || code == skillrouter.TooLarge
}
