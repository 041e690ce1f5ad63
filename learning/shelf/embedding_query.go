package shelf

import (
	"context"
	"maps"
	"time"

	"skillrouter/internal/errs"
)

// Bounds of the vectors of queries.
const (
	// queryWait is how long a search waits for the vector of its query, while its words are
	// being looked for: a model on the same machine needs 10 to 100 ms.
	queryWait = 300 * time.Millisecond
	// queryTime bounds a call for a vector that nobody waits for any more. Its answer is for
	// the next who asks the same: a model that is loaded first takes seconds.
	queryTime = 10 * time.Second
	// queryCalls is how many queries are embedded at a time, and queryQueue how many wait
	// for it: more would wait longer than queryWait.
	queryCalls = 4
	queryQueue = 16
	// maxCachedQueries is how many queries' vectors are remembered: agents ask the same again,
	// of several stores and within minutes.
	maxCachedQueries = 512
	// breakAfter is after how many failures or delays in a row no query waits any more, and
	// breakFirst how long it is at first until one is tried again.
	breakAfter = 3
	breakFirst = 5 * time.Second
)

// What a search says when it went by words alone.
const (
	noticeDown = "search is lexical only: the embedding endpoint does not answer"
	noticeSlow = "search is lexical only: the embedding endpoint took too long"
	noticeBusy = "search is lexical only: too many queries wait for the embedding endpoint"
)

// outage says that a model is left alone for a while after some failures in a row.
type outage struct {
	after    int           // failures
	first    time.Duration // the first pause; each further one is twice as long
	failures int           // in a row
	pause    time.Duration
	since    time.Time // the first failure; zero: it answers
	until    time.Time // the end of the pause; zero: there is none
	last     error     // the last failure, also one that is over
}

func (o *outage) failed(err error, now time.Time) {
	o.failures++
	o.last = err
	if o.since.IsZero() {
		o.since = now
	}
	if o.failures < o.after || now.Before(o.until) { // calls that were under way fail together
		return
	}
	o.pause = min(max(2*o.pause, o.first), pauseMost)
	o.until = now.Add(o.pause)
}

func (o *outage) over() { *o = outage{after: o.after, first: o.first, last: o.last} }

// asked is the vector of a query, which may still be on its way.
type asked struct {
	text   string
	done   chan struct{} // closed when the rest is set
	vector []float32
	err    error
}

// query returns the vector of a query or the promise of one; nil and a notice if it is not
// worth waiting for.
func (v *Vectors) query(text string) (*asked, string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	a := v.asked[text]
	if a != nil && a.vector != nil {
		return a, ""
	}
	if v.now().Before(v.queries.until) {
		return nil, noticeDown
	}
	if a != nil {
		return a, ""
	}
	if len(v.asked) >= maxCachedQueries {
		maps.DeleteFunc(v.asked, func(_ string, a *asked) bool { return a.vector != nil })
	}
	a = &asked{text: text, done: make(chan struct{})}
	select {
	case v.work <- a:
		v.asked[text] = a
		return a, ""
	default:
		return nil, noticeBusy
	}
}

// answer returns a query's vector, or why there is none in time.
func (v *Vectors) answer(ctx context.Context, a *asked) (vector []float32, notice string) {
	timer := time.NewTimer(queryWait)
	defer timer.Stop()
	select {
	case <-a.done:
	case <-ctx.Done():
		return nil, noticeSlow
	case <-timer.C:
		v.mu.Lock()
		defer v.mu.Unlock()
		v.queries.failed(errs.Errorf(errs.Unavailable, "the embedding endpoint took longer than %s for a query", queryWait), v.now())
		return nil, noticeSlow
	}
	if a.err != nil {
		return nil, noticeDown
	}
	return a.vector, ""
}

// answerQueries makes the vectors of queries until ctx ends.
func (v *Vectors) answerQueries(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case a := <-v.work:
			begin := v.now()
			vectors, err := v.embed(ctx, queryTime, a.text)
			v.mu.Lock()
			if err == nil {
				a.vector = vectors[0]
			} else {
				a.err = err
				delete(v.asked, a.text)
			}
			close(a.done)
			switch {
			case ctx.Err() != nil: // the process stops
			case err != nil && !refusal(err): // else it is this text that it does not take
				v.queries.failed(err, v.now())
			case v.now().Sub(begin) <= queryWait:
				v.queries.over()
			}
			v.mu.Unlock()
		}
	}
}
