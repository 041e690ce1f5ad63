package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// books are databases that count.
type books struct {
	mu    sync.Mutex
	heads Heads
	fail  error
	asked int
}

func (b *books) set(h Heads, fail error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.heads, b.fail = h, fail
}

func (b *books) look(context.Context) (Heads, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked++
	return b.heads, b.fail
}

func (b *books) looks() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.asked
}

// followed is a Follower of books, which runs until the test ends, and its end.
func followed(t *testing.T, b *books, take func(from, to Heads) error, rung *atomic.Bool) (f *Follower, ended chan error) {
	t.Helper()
	f = NewFollower(FollowerOptions{
		From: b.heads, Heads: b.look, Take: func(_ context.Context, from, to Heads) error { return take(from, to) }, Rung: rung.Load, Now: time.Now, Log: slog.New(slog.DiscardHandler),
	})
	ended = make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { ended <- f.Run(ctx) }()
	t.Cleanup(cancel)
	return f, ended
}

// TestFollower: what is committed is taken in after a look, each step from where the last one ended; a node says how old its knowledge is; what fails is done
// again; and databases that were put back end it.
func TestFollower(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &books{heads: Heads{5, 7}}
		var steps [][2]Heads
		var fail atomic.Pointer[error]
		f, ended := followed(t, b, func(from, to Heads) error {
			if failure := fail.Load(); failure != nil {
				return *failure
			}
			if from != to {
				steps = append(steps, [2]Heads{from, to})
			}
			return nil
		}, &atomic.Bool{})
		<-time.After(followEvery)
		synctest.Wait()
		if f.Age() > followEvery || len(steps) > 0 {
			t.Errorf("nothing is new: %v old, %v", f.Age(), steps)
		}
		b.set(Heads{6, 7}, nil)
		if !f.Wait(t.Context(), Heads{6, 7}) || !f.Wait(t.Context(), Heads{4, 4}) {
			t.Error("what is committed is not known")
		}
		begun := time.Now()
		if f.Wait(t.Context(), Heads{1 << 60, 0}) || time.Since(begun) != waitAtMost {
			t.Errorf("what nobody committed was waited for %v", time.Since(begun))
		}
		fresh, stop := f.WhileFresh(t.Context())
		defer stop()
		<-time.After(FreshFor)
		synctest.Wait()
		if fresh.Err() != nil {
			t.Error("it looks all the time, and is not fresh")
		}
		b.set(Heads{6, 9}, errors.New("away"))
		<-time.After(FreshFor + followEvery)
		synctest.Wait()
		again, stop := f.WhileFresh(t.Context())
		defer stop()
		if fresh.Err() == nil || again.Err() == nil {
			t.Error("what a database that is away is asked for is waited for")
		}
		if f.Age() < FreshFor-followEvery || f.Applied() != (Heads{6, 7}) {
			t.Errorf("the database is away: %v old, at %v", f.Age(), f.Applied())
		}
		notYet := errors.New("not yet")
		fail.Store(&notYet)
		b.set(Heads{6, 9}, nil)
		<-time.After(FollowLate)
		synctest.Wait()
		if f.Applied() != (Heads{6, 7}) {
			t.Error("what was not taken in counts as known")
		}
		fail.Store(nil)
		<-time.After(FollowLate)
		synctest.Wait()
		if again, stop = f.WhileFresh(t.Context()); again.Err() != nil {
			t.Error("the database is back, and the node is not fresh")
		}
		defer stop()
		if want := [][2]Heads{{{5, 7}, {6, 7}}, {{6, 7}, {6, 9}}}; fmt.Sprint(steps) != fmt.Sprint(want) {
			t.Errorf("steps %v, want %v", steps, want)
		}
		b.set(Heads{6, 8}, nil)
		if err := <-ended; !errors.Is(err, ErrBack) {
			t.Errorf("put back: %v", err)
		}
	})
}

// TestFollowerLooks: while somebody may ring it looks seldom, but at once when it is told of more, and as often as without a bell once nobody can ring; callers
// who ask for what never comes cost one look each.
func TestFollowerLooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &books{}
		var rung atomic.Bool
		rung.Store(true)
		f, _ := followed(t, b, func(_, _ Heads) error { return nil }, &rung)
		<-time.After(10 * FollowLate)
		synctest.Wait()
		if n := b.looks(); n > 11 {
			t.Errorf("%d looks in %v", n, 10*FollowLate)
		}
		b.set(Heads{3, 3}, nil)
		f.Heard(Heads{3, 3})
		synctest.Wait()
		if f.Applied() != (Heads{3, 3}) {
			t.Error("the bell was not heard")
		}
		before := b.looks()
		f.Heard(Heads{2, 3})
		synctest.Wait()
		if n := b.looks() - before; n > 0 {
			t.Errorf("%d looks for what is known", n)
		}
		var waiting sync.WaitGroup
		for range 50 {
			waiting.Go(func() { f.Wait(t.Context(), Heads{9, 9}) })
		}
		waiting.Wait()
		if n := b.looks() - before; n > 50+10 {
			t.Errorf("%d looks for 50 callers", n)
		}
		rung.Store(false)
		<-time.After(FollowLate)
		before = b.looks()
		<-time.After(FollowLate)
		if n := b.looks() - before; n < int(FollowLate/followEvery)-1 {
			t.Errorf("%d looks in %v, and nobody can ring", n, FollowLate)
		}
	})
}

// TestCallers: a caller gets no less than it was told of, neither does one that names a state; others are not held up by it, and the oldest are forgotten.
func TestCallers(t *testing.T) {
	var c Callers
	request := func(method, token string) *http.Request {
		r := httptest.NewRequestWithContext(t.Context(), method, "/", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		return r
	}
	note := func(token, heads string, status int) {
		c.Note(&http.Response{Request: request(http.MethodPost, token), StatusCode: status, Header: http.Header{SeqHeader: {heads}}})
	}
	note("a", "l=5,o=7", http.StatusOK)
	note("a", "l=4,o=9", http.StatusCreated)
	note("b", "l=5,o=7", http.StatusUnauthorized)
	note("c", "nonsense", http.StatusOK)
	for token, want := range map[string]Heads{"a": {5, 9}, "b": {}, "c": {}} {
		if got := c.After(request(http.MethodGet, token)); got != want {
			t.Errorf("%s: %v, want %v", token, got, want)
		}
	}
	r := request(http.MethodGet, "a")
	r.Header.Set(AfterHeader, "l=9,o=1")
	if got := c.After(r); got != (Heads{9, 9}) {
		t.Errorf("%v", got)
	}
	for n := range maxCallers {
		note(fmt.Sprint("many", n), "l=1,o=1", http.StatusOK)
	}
	if len(c.now)+len(c.old) > maxCallers || c.After(request(http.MethodGet, "a")) != (Heads{}) {
		t.Errorf("%d and %d callers are remembered", len(c.now), len(c.old))
	}
}

// TestTentative: an answer that does not pass leaves nothing of itself.
func TestTentative(t *testing.T) {
	for _, status := range []int{http.StatusOK, http.StatusNotFound, 0} {
		w := httptest.NewRecorder()
		p := Tentative(w, func(status int) bool { return status/100 == 2 })
		p.Header().Set("X", "1")
		if status != 0 {
			p.WriteHeader(status)
		}
		_, _ = p.Write([]byte("text"))
		p.Flush()
		passes := status != http.StatusNotFound
		if p.Passed() != passes || (w.Body.Len() > 0) != passes || (w.Header().Get("X") != "") != passes {
			t.Errorf("%d: passed %t, %q, %v", status, p.Passed(), w.Body, w.Header())
		}
	}
}

func FuzzParseHeads(f *testing.F) {
	for _, text := range []string{"l=1,o=2", "", "l=-1,o=2", "o=1,l=2", "l=1,o=2,x=3", "l=9223372036854775808,o=1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		h, ok := ParseHeads(text)
		again, same := ParseHeads(h.String())
		if ok && (!same || again != h || h.Learning < 0 || h.Operational < 0) || !ok && h != (Heads{}) {
			t.Errorf("%q is %v, %t", text, h, ok)
		}
	})
}
