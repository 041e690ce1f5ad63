package shelf

import (
	"context"
	"time"

	"github.com/skillrouter/skillrouter/internal/operation"
)

// Embedder makes vectors of texts. router/llm implements it over an
// OpenAI-compatible endpoint. Without one, search is lexical.
type Embedder interface {
	// Model names the model: vectors of different models cannot be compared.
	Model() string
	// Embed returns a vector for each text, in their order. An Unavailable error means
	// that the endpoint cannot be reached now; an Invalid or TooLarge one that it will not
	// take one of the texts.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// EmbeddingKind says which kind of item a vector stands for.
type EmbeddingKind string

// The kinds of items that have vectors.
const (
	EmbeddedKnowledge EmbeddingKind = "knowledge"
	EmbeddedEpisode   EmbeddingKind = "episode"
	EmbeddedLesson    EmbeddingKind = "lesson" // of lessons that are not retired
)

// EmbeddingKinds lists every kind.
func EmbeddingKinds() []EmbeddingKind {
	return []EmbeddingKind{EmbeddedKnowledge, EmbeddedEpisode, EmbeddedLesson}
}

// Bounds of embeddings.
const (
	// MaxDimension bounds a vector: the largest of the models that people run at home and
	// rent have 4,096 dimensions.
	MaxDimension = 4096
	// MaxEmbedText is how much of an item is embedded, in bytes: its title and what follows
	// at once are what it is about, and many models read 512 tokens and no more.
	MaxEmbedText = 4 << 10
	// MaxVectors and MaxVectorBytes bound the vectors that are kept, in the database and in
	// memory: a search goes over all of them. Beyond, the oldest items of the largest kind
	// are found by their words alone.
	MaxVectors     = 200_000
	MaxVectorBytes = 1 << 30
)

// EmbeddingKey names the item that a vector stands for.
type EmbeddingKey struct {
	Kind EmbeddingKind
	ID   string
}

// Embedding is the vector of an item; its length is 1.
type Embedding struct {
	EmbeddingKey
	Hash   int64 // of the text that it was made of
	Vector []float32
}

// EmbeddingStore keeps vectors. learning/store implements it on learning.db.
// They are no part of the event log: all of them can be made again.
type EmbeddingStore interface {
	// ScanEmbeddings visits the vectors of a model, the first stored first, and counts
	// those of other models. A stored vector keeps a cosine to about 0.001.
	ScanEmbeddings(ctx context.Context, model string, visit func(Embedding) error) (others int, err error)
	// PutEmbeddings stores vectors, which have one dimension, in place of older ones of
	// the same items, and drops those of other items, in one transaction.
	PutEmbeddings(ctx context.Context, model string, put []Embedding, drop []EmbeddingKey) error
	// DropEmbeddings drops the vectors that are of another model or dimension.
	DropEmbeddings(ctx context.Context, model string, dimension int) error
}

// EmbeddingState says how the vectors stand.
type EmbeddingState string

// The states.
const (
	EmbeddingsOff     EmbeddingState = "off"     // no model is configured: search is lexical
	EmbeddingsLoading EmbeddingState = "loading" // stored vectors are being read
	EmbeddingsFilling EmbeddingState = "filling" // items wait for their vectors
	EmbeddingsReady   EmbeddingState = "ready"   // every item that shall have one has its vector
	EmbeddingsFailing EmbeddingState = "failing" // the model makes none now; search is lexical
)

// EmbeddingCount is how many items of a kind have a vector.
type EmbeddingCount struct {
	Kind  EmbeddingKind `json:"kind"`
	Done  int           `json:"done"`
	Total int           `json:"total"`
}

// EmbeddingStatus is how far the vectors are.
type EmbeddingStatus struct {
	State     EmbeddingState   `json:"state" enum:"off,loading,filling,ready,failing"`
	Model     string           `json:"model,omitempty"`
	Dimension int              `json:"dimension,omitempty"` // 0: no vector has been made yet
	Done      int              `json:"done"`
	Total     int              `json:"total"`
	Kinds     []EmbeddingCount `json:"kinds"`
	PerSecond float64          `json:"per_second"` // vectors made lately
	Refused   int              `json:"refused"`    // items that the model takes in no length, until they change or the router starts again
	LeftOut   int              `json:"left_out"`   // items beyond MaxVectors or MaxVectorBytes
	Bytes     int64            `json:"bytes"`      // memory of the vectors
	// FailingSince is since when the model makes no vectors, of items or of queries; nil: it does.
	FailingSince *time.Time `json:"failing_since,omitempty"`
	LastError    string     `json:"last_error,omitempty"` // the last failure, also one that is over
}

// EmbeddingService tells how far the vectors are. Vectors implements it beside
// the database, router/client over HTTP.
type EmbeddingService interface {
	// Embeddings returns how far the vectors are. It needs ScopeRead.
	Embeddings(ctx context.Context) (EmbeddingStatus, error)
}

// Operations is how the methods of an EmbeddingService are called from outside.
var Operations = operation.Of("system", "/api/embeddings",
	operation.Get("", "How far the vectors are by which search goes by meaning too", EmbeddingService.Embeddings))
