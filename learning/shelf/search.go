package shelf

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/trace"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/tfidf"
	"github.com/skillrouter/skillrouter/tfidf/keep"
	"github.com/skillrouter/skillrouter/tfidf/text"
)

// ShelfQuery is what a kind asks its Shelf. Its Limit is how many hits are wanted.
type ShelfQuery struct {
	tfidf.Query
	// category and project are what the kind calls the engine's category and project, for
	// who is told that a search found something without them; empty: the caller chose none.
	Category, Project string
	Hidden            string // a tag that the caller did not choose; empty: there is none
	// Prefer is the project that the caller works in: its rows go first, and imported ones later; empty: none is preferred.
	Prefer string
	// more may add to what words and vectors found; nil: nothing is added.
	More func(ctx context.Context, hits []tfidf.Hit, request tfidf.Query, limit int) ([]tfidf.Hit, error)
}

// finding is what a Shelf found, before the rows are read.
type finding struct {
	tfidf.Result
	Notice  string
	Repairs []learning.Repair

	request   tfidf.Query // as the engine was asked
	Partial   bool        // the index is not complete, so that a miss says nothing
	ByMeaning bool        // vectors took part
	own       bool        // words or vectors found something, without what more added
	prefer    string      // ShelfQuery.Prefer, unless one project alone is asked for
	limit     int         // how many rows are answered
	fused     bool        // scores are of words and vectors together
}

// Where a project is preferred, so many times as many hits are looked at, and so many more:
// what is a quarter less likely stands some places below.
const (
	preferDepth = 2
	preferMore  = 10
	// fusedPrefer is the part of a preference that moves a fused score: from its first to its
	// sixteenth place Reciprocal Rank Fusion loses a fifth, where scores of words fall by half and more.
	fusedPrefer = 0.2
)

// Ask looks for a query by words and, where there are vectors, by meaning. If
// nothing fits, it says what was tried instead.
func (s *Shelf[Row]) Ask(ctx context.Context, q ShelfQuery) (f finding, err error) {
	ctx, span := trace.StartMemory(ctx, "search_memory", string(s.of.Kind))
	defer func() {
		span.Set("skillrouter.results", len(f.Hits))
		span.Finish(err)
	}()
	f.limit = q.Limit
	if q.Prefer != "" && q.Query.Project == "" {
		f.prefer = q.Prefer
		q.Limit = q.Limit*preferDepth + preferMore
	}
	own, err := s.within(ctx)
	if err != nil {
		return f, err
	}
	keeper := cmp.Or(own, s.Keeper)
	var meaning *meaning
	if own == nil { // vectors are of everybody's rows: who is bound to projects asks by words alone
		meaning = s.vectors.Load().ask(ctx, s.of.Embedded, q.Text)
	}
	f.request, f.ByMeaning = q.Query, meaning != nil
	f.request.Limit = meaning.depth(q.Limit)
	if f.request.Corpus == nil && (meaning != nil || !learning.IsHitsAlone(ctx)) { // who reads the hits alone weighs them himself
		f.request.Corpus = corpus(keeper.Index(), q.Text)
	}
	var rebuilding, lexical string
	f.Result, rebuilding = keeper.Search(ctx, f.request)
	f.Partial = rebuilding != ""
	f.Hits, lexical = meaning.fuse(ctx, f.Hits, f.request, q.Limit)
	f.Notice, f.fused = notices(rebuilding, lexical), meaning != nil && lexical == ""
	f.own = len(f.Hits) > 0
	if q.More != nil && own == nil {
		if f.Hits, err = q.More(ctx, f.Hits, f.request, q.Limit); err != nil {
			return f, err
		}
	}
	if f.prefer != "" {
		f.Hits = withOwn(ctx, f, keeper)
	}
	if len(f.Hits) == 0 && !f.Partial {
		f.Repairs, f.Notice = s.repairs.try(ctx, keeper.Index(), f.request, &f.Result, filtersOf(f.request, q.Category, q.Project, q.Hidden), f.Notice)
	}
	return f, nil
}

// withOwn adds the hits of the preferred project that others left no place for.
func withOwn(ctx context.Context, f finding, keeper *keep.Keeper) []tfidf.Hit {
	if f.fused {
		return f.Hits // fused scores compare with no others
	}
	query := f.request
	query.Project, query.Limit = f.prefer, f.limit
	own, _ := keeper.Search(ctx, query)
	hits := f.Hits
	for _, hit := range own.Hits {
		if !slices.ContainsFunc(hits, func(h tfidf.Hit) bool { return h.ID == hit.ID }) {
			hits = append(hits, hit)
		}
	}
	return hits
}

// preferred orders hits as the project and trust of their rows have it, and keeps those that are answered.
func (s *Shelf[Row]) preferred(f finding, rows map[string]*Row) []tfidf.Hit {
	hits := make([]tfidf.Hit, 0, len(f.Hits))
	part := 1.0
	if f.fused {
		part = fusedPrefer
	}
	for _, hit := range f.Hits {
		row := rows[hit.ID]
		if row == nil {
			continue
		}
		var trust learning.Trust
		if s.of.Trust != nil {
			trust = s.of.Trust(row)
		}
		factor, why := learning.Prefer(f.prefer, s.of.Document(row).Project, trust)
		if f.request.Explain {
			hit.Why = slices.Clone(hit.Why)
			for _, r := range why {
				r.Weight *= hit.Score * part
				hit.Why = append(hit.Why, tfidf.Reason(r))
			}
		}
		hit.Score *= 1 + (factor-1)*part
		hits = append(hits, hit)
	}
	slices.SortStableFunc(hits, func(a, b tfidf.Hit) int { return cmp.Compare(b.Score, a.Score) })
	return hits[:min(len(hits), f.limit)]
}

// rows reads the rows of hits, those that there are.
func (s *Shelf[Row]) rows(ctx context.Context, hits []tfidf.Hit) (map[string]*Row, error) {
	rows, err := s.of.Rows(ctx, HitIDs(hits))
	byID := make(map[string]*Row, len(rows))
	for i := range rows {
		byID[s.of.ID(&rows[i])] = &rows[i]
	}
	return byID, err
}

// Fits tells whether a document has what the query's filters ask for, whatever its words.
func (f *finding) Fits(doc tfidf.Document) bool { return Fits(&doc, f.request) }

// NoMatch tells whether nothing was found that its asker can have meant, answered
// being how many rows the answer has.
func (f *finding) NoMatch(answered int) bool {
	if f.Partial {
		return false
	}
	return len(f.Repairs) > 0 || answered == 0 || f.own && !f.ByMeaning && noMatch(f.Result, answered, f.request.Text)
}

// fetchRows is how many rows one query of read asks for: the usual answer at
// once, and little too much where contents are long.
const fetchRows = 16

// Fetch reads the rows of hits and hands them on, best first, until the answer
// has MaxAnswer bytes. It returns how many hits were left out then. Rows that
// were deleted since the index was asked are passed over, and so are those that
// vectors found and that do not fit the query any more.
func (s *Shelf[Row]) Fetch(ctx context.Context, f finding, take func(*Row, tfidf.Hit)) (leftOut int, err error) {
	var known map[string]*Row // read already; nil: to be read part by part
	if f.prefer != "" {
		if known, err = s.rows(ctx, f.Hits); err != nil {
			return 0, err
		}
		f.Hits = s.preferred(f, known)
	}
	again, caller := f.ByMeaning && len(f.Repairs) == 0, principal.Of(ctx)
	total, done := 0, 0
	for part := range slices.Chunk(f.Hits, fetchRows) {
		byID := known
		if byID == nil {
			if byID, err = s.rows(ctx, part); err != nil {
				return 0, err
			}
		}
		for _, hit := range part {
			if total >= learning.MaxAnswer {
				return len(f.Hits) - done, nil
			}
			done++
			row, there := byID[hit.ID]
			if !there || s.of.Findable != nil && !s.of.Findable(row) || caller.Walled() && !caller.Sees(s.of.Document(row).Project) {
				continue
			}
			total += s.of.Size(row)
			if again {
				if doc := s.of.Document(row); !Fits(&doc, f.request) || hit.Evidence == (tfidf.Evidence{}) && s.vectorOfAnother(doc) {
					continue
				}
			}
			take(row, hit)
		}
	}
	return 0, nil
}

// vectorOfAnother tells whether the vector of a row is of what it said before: its new one is
// still being made, and nothing but the old text speaks for it.
func (s *Shelf[Row]) vectorOfAnother(doc tfidf.Document) bool {
	v := s.vectors.Load()
	of, there := v.table.of(EmbeddingKey{s.of.Embedded, doc.ID})
	return there && of.Hash != hashOf(v.textOf(doc))
}

// HitIDs returns the ids of hits, in their order.
func HitIDs(hits []tfidf.Hit) []string {
	ids := make([]string, len(hits))
	for i, h := range hits {
		ids[i] = h.ID
	}
	return ids
}

// Reasons returns the parts of a score as an answer has them.
func Reasons(why []tfidf.Reason) []learning.Reason {
	if why == nil {
		return nil
	}
	out := make([]learning.Reason, len(why))
	for i, r := range why {
		out[i] = learning.Reason(r)
	}
	return out
}

// notices joins what an answer has to say.
func notices(list ...string) string {
	said := slices.DeleteFunc(list, func(notice string) bool { return notice == "" })
	return strings.Join(said, "; ")
}

// noMatch tells whether a search by words found nothing that its asker can have
// meant: no hit, or more than half of the question's words, two at least, stand
// in nothing that is remembered, so that what was found shares only the others.
func noMatch(found tfidf.Result, hits int, question string) bool {
	if hits == 0 {
		return true
	}
	if len(found.Unknown) < 2 {
		return false
	}
	stems, _ := text.QueryTerms(question)
	return 2*len(found.Unknown) > len(stems)
}

// Relevance is how probably a hit is what was meant, by what speaks for it. What meaning found, or what others said of a
// like question, has no words that speak for it: it is as relevant as what may just be shown.
func Relevance(e tfidf.Evidence) float64 {
	if e == (tfidf.Evidence{}) {
		return learning.ShownRelevance
	}
	return e.Relevance()
}

// corpus tells how rare a question's words are in one index alone.
func corpus(index *tfidf.Index, question string) *tfidf.Corpus {
	corpus := &tfidf.Corpus{}
	words, joined := text.QueryTerms(question)
	for _, stems := range [][]string{words[:min(len(words), tfidf.MaxQueryTerms)], joined[:min(len(joined), tfidf.MaxQueryTerms)]} {
		frequencies, rows := index.Frequencies(stems)
		corpus.Add(stems, frequencies, rows)
		corpus.Docs = rows // they are the same rows
	}
	return corpus
}

// authorTag begins the engine's tag that says who wrote something. No tag that
// a writer chooses begins so.
const authorTag = "\x00by:"

// Written returns tags and the one for an author, if there is one.
func Written(tags []string, author string) []string {
	if author == "" {
		return tags
	}
	return append(slices.Clip(tags), authorTag+author)
}

// SpanOf joins the three ways in which a query bounds a time.
func SpanOf(since, until time.Time, said string, now time.Time) (learning.TimeRange, error) {
	span, err := learning.ParseTimeRange("time_range", said, now)
	return span.Meet(learning.TimeRange{From: since, To: until}), err
}

// Moment is a time as the index compares it; 0 is none.
func Moment(t time.Time) int64 {
	switch ms := t.UnixMilli(); {
	case t.IsZero():
		return 0
	case ms == 0:
		return -1 // nothing is of that millisecond either
	default:
		return ms
	}
}
