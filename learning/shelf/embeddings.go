package shelf

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/tfidf"
)

var _ EmbeddingService = (*Vectors)(nil)

// Vectors finds knowledge, episodes and lessons by what they mean, beside the
// indexes that find them by their words. It keeps a vector of each item in
// memory and in the database, and makes those that are missing in the
// background, while Run runs. Without an Embedder it does nothing and takes no memory.
type Vectors struct {
	store    EmbeddingStore
	embedder Embedder
	now      clock.Clock
	log      *slog.Logger
	options  VectorOptions

	table   table
	sources map[EmbeddingKind]vectorSource
	wake    chan struct{}
	asking  singleflight.Group // makes the vectors of queries, each text's once

	mu           sync.Mutex
	waiting      []EmbeddingKey // may have changed; the last goes first
	waits        map[EmbeddingKey]bool
	busy, loaded bool // Run is at some that waited; it has read those that were stored
	refused      map[EmbeddingKey]int64
	perSecond    float64
	outage       outage
	answered     map[string][]float32 // the vectors of queries
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
	options.Retry = cmp.Or(options.Retry, time.Second)
	options.Most = cmp.Or(options.Most, MaxVectors)
	v := &Vectors{
		store: store, embedder: embedder, now: o.Now, log: o.Log, options: options,
		sources: map[EmbeddingKind]vectorSource{}, wake: make(chan struct{}, 1),
		waits: map[EmbeddingKey]bool{}, refused: map[EmbeddingKey]int64{}, answered: map[string][]float32{},
	}
	v.table.reset(0)
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
	keys := make([]EmbeddingKey, len(ids))
	for i, id := range ids {
		keys[i] = EmbeddingKey{kind, id}
	}
	v.wait(keys)
}

// Embeddings implements EmbeddingService. It needs ScopeRead.
func (v *Vectors) Embeddings(ctx context.Context) (EmbeddingStatus, error) {
	if err := principal.Of(ctx).Need(principal.ScopeRead); err != nil {
		return EmbeddingStatus{}, err
	}
	return v.Status(), nil
}

// Status is Embeddings for the process itself.
func (v *Vectors) Status() EmbeddingStatus {
	s := EmbeddingStatus{State: EmbeddingsOff, Kinds: []EmbeddingCount{}}
	if !v.configured() {
		return s
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	s.Model = v.embedder.Model()
	s.Dimension, _, _ = v.table.size("")
	for _, kind := range EmbeddingKinds() {
		if source, ok := v.sources[kind]; ok {
			count := EmbeddingCount{Kind: kind, Total: source.Len()}
			_, count.Done, _ = v.table.size(kind)
			s.Kinds = append(s.Kinds, count)
			s.Done, s.Total = s.Done+count.Done, s.Total+count.Total
		}
	}
	s.Bytes = int64(s.Done) * int64(4*s.Dimension+itemBytes)
	s.PerSecond, s.Refused = v.perSecond, len(v.refused)
	if v.full(1) {
		s.LeftOut = max(0, s.Total-s.Done-s.Refused)
	}
	if v.outage.last != nil {
		s.LastError = errs.MessageOf(v.outage.last)
	}
	since := v.outage.since
	switch {
	case !since.IsZero():
		s.State, s.FailingSince = EmbeddingsFailing, &since
	case !v.loaded:
		s.State = EmbeddingsLoading
	case v.busy || len(v.waiting) > 0:
		s.State = EmbeddingsFilling
	default:
		s.State = EmbeddingsReady
	}
	return s
}

// outage says that the model, or the database, failed some times in a row.
type outage struct {
	failures int
	since    time.Time // the first failure; zero: it answers
	until    time.Time // until then no query waits for the model; zero: queries do
	last     error     // the last failure, also one that is over
}

func (o *outage) failed(err error, now time.Time) {
	if o.since.IsZero() {
		o.since = now
	}
	o.failures, o.last = o.failures+1, err
	if o.failures >= breakAfter && !now.Before(o.until) { // calls that were under way fail together
		o.until = now.Add(backoff(breakFirst, o.failures-breakAfter))
	}
}

func (o *outage) over() { *o = outage{last: o.last} }

// backoff is a pause that is twice as long after each further failure, and pauseMost at most.
func backoff(first time.Duration, further int) time.Duration {
	return min(first<<min(further, 16), pauseMost)
}
