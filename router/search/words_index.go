package search

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/learning/shelf"
	"github.com/skillrouter/skillrouter/router/follow"
	"github.com/skillrouter/skillrouter/router/kind"
	"github.com/skillrouter/skillrouter/tfidf"
)

// wordIndex finds rows of operational.db by their words. It is filled in the
// background after the start, so that nobody waits for it, and then kept in
// step with a log of that database: a search first takes in what was committed
// before it, so that whoever wrote something finds it.
type wordIndex struct {
	kind  kind.Kind
	index *tfidf.Index
	log   follow.EventLog
	// read puts the documents of all rows into the index, page by page.
	read func(ctx context.Context) error
	// told returns the documents that a batch of the log changed, and the ids that it
	// changed: those among them without a document are gone.
	told func(ctx context.Context, events []eventlog.Event) (docs []tfidf.Document, changed []string, err error)
	find func(q kind.Question) tfidf.Result
	hits func(ctx context.Context, found tfidf.Result, now time.Time) (kind.Found, error)

	filled atomic.Bool
	seen   atomic.Int64 // every event up to and including this is taken in
	mu     sync.Mutex   // held by who takes events in
}

const (
	// wordEvents is how many events are taken in at once.
	wordEvents = 500
	// wordsGather is how long the index waits for more to take in together, while nobody searches.
	wordsGather = 100 * time.Millisecond
)

// wordRows say of the rows of a kind how they are read, found and shown.
type wordRows[Row any] struct {
	after    func(ctx context.Context, last Row) ([]Row, error) // a page of those behind one, in order; behind the zero Row: the first
	of       func(ctx context.Context, ids []string) ([]Row, error)
	told     func(ctx context.Context, events []eventlog.Event) (ids []string, err error) // which ones events tell of
	document func(*Row) tfidf.Document
	hit      func(row *Row, now time.Time) (hit kind.Hit, still bool) // still: it may be found now
}

func newWordIndex[Row any](of kind.Kind, log follow.EventLog, rows wordRows[Row]) *wordIndex {
	x := &wordIndex{kind: of, index: tfidf.New(tfidf.Options{}), log: log}
	x.find = func(q kind.Question) tfidf.Result { return x.index.Search(queryOf(q)) }
	documents := func(page []Row) (docs []tfidf.Document) {
		for i := range page {
			docs = append(docs, rows.document(&page[i]))
		}
		return docs
	}
	x.read = func(ctx context.Context) error {
		for last := *new(Row); ; {
			page, err := rows.after(ctx, last)
			if err != nil || len(page) == 0 {
				return cmp.Or(err, ctx.Err())
			}
			x.index.Put(documents(page)...)
			last = page[len(page)-1]
		}
	}
	x.told = func(ctx context.Context, events []eventlog.Event) (docs []tfidf.Document, changed []string, err error) {
		changed, err = rows.told(ctx, events)
		for part := range slices.Chunk(changed, wordEvents) {
			page, failed := rows.of(ctx, part)
			docs, err = append(docs, documents(page)...), cmp.Or(err, failed)
		}
		return docs, changed, err
	}
	x.hits = func(ctx context.Context, found tfidf.Result, now time.Time) (f kind.Found, err error) {
		var ids []string
		for _, hit := range found.Hits {
			ids = append(ids, hit.ID)
		}
		if len(ids) == 0 {
			return f, nil
		}
		page, err := rows.of(ctx, ids)
		byID := make(map[string]kind.Hit, len(page))
		for i := range page {
			if hit, still := rows.hit(&page[i], now); still {
				byID[hit.ID] = hit
			}
		}
		for _, one := range found.Hits { // rows that are not there any more are passed over
			if hit, there := byID[one.ID]; there {
				hit.Score, hit.Evidence, hit.Why = one.Score, one.Evidence, shelf.Reasons(one.Why)
				f.Hits = append(f.Hits, hit)
			}
		}
		return f, err
	}
	return x
}

// queryOf is what is asked of an index for a question, without the tags that are the kind's own.
func queryOf(q kind.Question) tfidf.Query {
	query := tfidf.Query{
		Text: q.Text, Category: q.Category, Project: q.Project, From: instant(q.Span.From), To: instant(q.Span.To),
		Limit: q.Limit, Explain: q.Explain, Corpus: q.Corpus,
	}
	if q.AgentID != "" {
		query.Tags = []string{ofAgent + q.AgentID}
	}
	return query
}

// search finds the rows that a question asks for, the best first.
func (x *wordIndex) search(ctx context.Context, q kind.Question) (kind.Found, error) {
	if err := x.catchUp(ctx); err != nil {
		return kind.Found{}, err
	}
	result := x.find(q)
	f, err := x.hits(ctx, result, q.Now)
	f.Hits, f.Corrected = f.Hits[:min(len(f.Hits), q.Limit)], result.Corrected
	if !x.filled.Load() {
		f.Notice = x.kind.Reading()
	}
	return f, err
}

// run fills the index and keeps it in step until ctx ends.
func (x *wordIndex) run(ctx context.Context, logger *slog.Logger) {
	x.log.EventBell().Follow(ctx, wordsGather, follow.RetryAfter, func() error {
		if !x.filled.Load() {
			if err := x.fill(ctx); err != nil {
				return err
			}
		}
		return x.catchUp(ctx)
	}, func(err error) {
		logger.WarnContext(ctx, "what is searched by words is behind its log; trying again", "kind", x.kind.Name, "filled", x.filled.Load(), "error", err)
	})
}

// fill reads every row. What is committed meanwhile is taken in afterwards.
func (x *wordIndex) fill(ctx context.Context) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	seq, err := x.log.LastEvent(ctx)
	if err != nil {
		return err
	}
	if err := x.read(ctx); err != nil {
		return err
	}
	x.seen.Store(seq)
	x.filled.Store(true)
	return nil
}

// catchUp takes in what is committed. While the index is being filled it does nothing.
func (x *wordIndex) catchUp(ctx context.Context) error {
	if !x.filled.Load() {
		return nil
	}
	last, err := x.log.LastEvent(ctx)
	if err != nil || last <= x.seen.Load() {
		return err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for x.seen.Load() < last {
		events, err := x.log.Events(ctx, x.seen.Load(), wordEvents)
		if err != nil {
			return err
		}
		if len(events) == 0 {
			break
		}
		docs, changed, err := x.told(ctx, events)
		if err != nil {
			return err
		}
		x.take(docs, changed)
		x.seen.Store(events[len(events)-1].Seq)
	}
	return nil
}

// take puts documents in, and takes those of the changed ids out that have none.
func (x *wordIndex) take(docs []tfidf.Document, changed []string) {
	there := make(map[string]bool, len(docs))
	for _, d := range docs {
		there[d.ID] = true
	}
	var gone []string
	for _, id := range changed {
		if !there[id] {
			gone = append(gone, id)
		}
	}
	x.index.Put(docs...)
	x.index.Delete(gone...)
}

// keep takes out of the index what is not stored any more.
func (x *wordIndex) keep(ctx context.Context, stored func(ctx context.Context, visit func(id string)) error) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	left := map[string]bool{}
	for _, id := range x.index.IDs() {
		left[id] = true
	}
	if err := stored(ctx, func(id string) { delete(left, id) }); err != nil {
		return err
	}
	x.index.Delete(slices.Collect(maps.Keys(left))...)
	return nil
}

// subjectsOf tells of which ids the events are whose types begin so, each once.
func subjectsOf(types string) func(ctx context.Context, events []eventlog.Event) ([]string, error) {
	return func(_ context.Context, events []eventlog.Event) (ids []string, err error) {
		for _, e := range events {
			if strings.HasPrefix(e.Type, types) && e.Subject != "" && !slices.Contains(ids, e.Subject) {
				ids = append(ids, e.Subject)
			}
		}
		return ids, nil
	}
}
