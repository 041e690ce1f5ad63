package shelf

import (
	"container/list"
	"context"
	"sync"
	"time"

	"skillrouter"
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
	// breakFirst and breakMost how long it is until one is tried again, in the background.
	breakAfter = 3
	breakFirst = 5 * time.Second
	breakMost  = time.Minute
)

// What a search says when it went by words alone.
const (
	noticeDown = "search is lexical only: the embedding endpoint does not answer"
	noticeSlow = "search is lexical only: the embedding endpoint took too long"
	noticeBusy = "search is lexical only: too many queries wait for the embedding endpoint"
)

// asked is the vector of a query, which may still be on its way.
type asked struct {
	text  string
	done  chan struct{} // closed when the rest is set
	code  []int8
	scale float32
	err   error

	late bool // somebody gave up waiting for it; guarded by queries.mu
}

// queries makes vectors of queries: it remembers them, asks for each once, and
// stops asking an endpoint that does not answer.
type queries struct {
	embed func(ctx context.Context, text string) ([]float32, error)
	now   skillrouter.Clock
	work  chan *asked

	mu       sync.Mutex
	cached   map[string]*list.Element // of *asked
	order    list.List                // the last used in front
	underway map[string]*asked
	failures int       // in a row
	closed   time.Time // until then nobody asks; zero: everybody may
	pause    time.Duration
	probing  bool // one is being tried again
	since    time.Time
	last     error // the last failure
}

func newQueries(now skillrouter.Clock, embed func(ctx context.Context, text string) ([]float32, error)) *queries {
	return &queries{embed: embed, now: now, work: make(chan *asked, queryQueue), cached: map[string]*list.Element{}, underway: map[string]*asked{}}
}

// ask returns the vector of a text or the promise of one; nil and a notice if
// it is not worth waiting for.
func (q *queries) ask(text string) (*asked, string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if e, ok := q.cached[text]; ok {
		q.order.MoveToFront(e)
		return e.Value.(*asked), ""
	}
	broken := !q.closed.IsZero()
	if a, ok := q.underway[text]; ok && !broken {
		if a.late {
			return nil, noticeSlow
		}
		return a, ""
	}
	if broken && (q.probing || q.now().Before(q.closed)) {
		return nil, noticeDown
	}
	a := &asked{text: text, done: make(chan struct{})}
	select {
	case q.work <- a:
	default:
		return nil, noticeBusy
	}
	q.underway[text] = a
	if broken {
		q.probing = true // in the background: nobody waits for it
		return nil, noticeDown
	}
	return a, ""
}

// wait returns the vector, or why there is none in time.
func (q *queries) wait(ctx context.Context, a *asked) (code []int8, scale float32, notice string) {
	select {
	case <-a.done:
	default:
		timer := time.NewTimer(queryWait)
		defer timer.Stop()
		select {
		case <-a.done:
		case <-ctx.Done():
			return nil, 0, noticeSlow
		case <-timer.C:
			q.mu.Lock()
			defer q.mu.Unlock()
			if !a.late {
				a.late = true
				q.failed(skillrouter.Errorf(skillrouter.Unavailable, "the embedding endpoint took longer than %s for a query", queryWait))
			}
			return nil, 0, noticeSlow
		}
	}
	if a.err != nil {
		return nil, 0, noticeDown
	}
	return a.code, a.scale, ""
}

// failed counts a failure. The caller holds mu.
func (q *queries) failed(err error) {
	q.failures++
	q.last = err
	if q.since.IsZero() {
		q.since = q.now()
	}
	if q.failures < breakAfter || q.now().Before(q.closed) { // calls that were under way fail together
		return
	}
	q.pause = min(max(2*q.pause, breakFirst), breakMost)
	q.closed = q.now().Add(q.pause)
}

// failing returns since when queries have no vectors, or the zero time, and the last failure.
func (q *queries) failing() (time.Time, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.since, q.last
}

// forget drops what is remembered: vectors that cannot be compared any more.
func (q *queries) forget() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.cached = map[string]*list.Element{}
	q.order.Init()
}

// run embeds queries until ctx ends.
func (q *queries) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case a := <-q.work:
			q.answer(ctx, a)
		}
	}
}

func (q *queries) answer(ctx context.Context, a *asked) {
	begin := q.now()
	call, cancel := context.WithTimeout(ctx, queryTime)
	defer cancel()
	vector, err := q.embed(call, a.text)
	if err == nil {
		a.code, a.scale = quantize(vector)
	}
	a.err = err
	q.mu.Lock()
	defer q.mu.Unlock()
	close(a.done)
	delete(q.underway, a.text)
	q.probing = false
	if err == nil {
		q.cached[a.text] = q.order.PushFront(a)
		if q.order.Len() > maxCachedQueries {
			oldest := q.order.Back()
			q.order.Remove(oldest)
			delete(q.cached, oldest.Value.(*asked).text)
		}
	}
	switch {
	case ctx.Err() != nil: // the process stops
	case err != nil && !refusal(err): // else it is this text that it does not take
		q.failed(err)
	case !a.late && q.now().Sub(begin) <= queryWait:
		q.failures, q.pause, q.closed, q.since = 0, 0, time.Time{}, time.Time{}
	case !q.closed.IsZero(): // it answers, and too late for a search
		q.failed(skillrouter.Errorf(skillrouter.Unavailable, "the embedding endpoint took longer than %s for a query", queryWait))
	}
}
