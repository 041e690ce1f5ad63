package fact

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"skillrouter"
)

// matchSlowly is a glob's meaning, one character at a time.
func matchSlowly(pattern, text []rune) bool {
	if len(pattern) == 0 {
		return len(text) == 0
	}
	switch pattern[0] {
	case '*':
		return matchSlowly(pattern[1:], text) || len(text) > 0 && matchSlowly(pattern, text[1:])
	case '?':
		return len(text) > 0 && matchSlowly(pattern[1:], text[1:])
	case '\\':
		return len(text) > 0 && text[0] == pattern[1] && matchSlowly(pattern[2:], text[1:])
	}
	return len(text) > 0 && text[0] == pattern[0] && matchSlowly(pattern[1:], text[1:])
}

func FuzzGlob(f *testing.F) {
	for _, seed := range [][2]string{
		{"", ""},
		{"*", ""},
		{"a*b", "ab"},
		{"*a*a*", "aaaa"},
		{"?", "ü"},
		{`\*`, "*"},
		{"[a-z]", "q"},
		{"[!a]", "a"},
		{"[", "a"},
		{"a\\", "a"},
		{"[]]", "]"},
		{"[\\]]", "]"},
		{strings.Repeat("?", 200), strings.Repeat("x", 200)},
		{strings.Repeat("*a", 100), strings.Repeat("a", 300)},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		g, err := compileGlob(pattern)
		if err != nil {
			if skillrouter.FieldOf(err) != "pattern" {
				t.Errorf("error %v", err)
			}
			return
		}
		got := g.match(text)
		if got && !strings.HasPrefix(text, g.prefix) {
			t.Errorf("%q fits %q and lacks its beginning %q", text, pattern, g.prefix)
		}
		if strings.Contains(pattern, "[") || len(pattern) > 12 || len(text) > 16 {
			return
		}
		if want := matchSlowly([]rune(pattern), []rune(text)); got != want {
			t.Errorf("%q fits %q: %v, want %v", text, pattern, got, want)
		}
	})
}

// TestGlobIsLinear matches what makes backtracking matchers take for ever.
func TestGlobIsLinear(t *testing.T) {
	g, err := compileGlob(strings.Repeat("*a", 127) + "b")
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	for range 1000 {
		if g.match(strings.Repeat("a", MaxKey)) {
			t.Fatal("it fits")
		}
	}
	if took := time.Since(begin); took > 10*time.Second { // it is about 10 ms
		t.Errorf("a thousand keys took %s", took)
	}
}

func FuzzValue(f *testing.F) {
	for _, seed := range []string{
		`{"password":"hunter2-and-3"}`, `["a\"b","\u0000"]`, `{"a":{"token":"ghp_0123456789abcdefghijABCDEFGHIJ012345"}}`, `1e999`, `"\ud800"`, `{"a":1,"a":2}`, ``, `{`, "\"\xff\"",
		"\"-----BEGIN RSA PRIVATE KEY-----\",\"x\"", `{"k":"-----BEGIN RSA PRIVATE KEY-----","l":"-----END RSA PRIVATE KEY-----"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var r skillrouter.Redaction
		value, err := cleanValue(&r, raw)
		if err != nil {
			return
		}
		if !json.Valid(value) {
			t.Fatalf("%q became %q", raw, value)
		}
		if len(r.Kinds()) == 0 {
			var compact bytes.Buffer
			if err := json.Compact(&compact, raw); err != nil || !bytes.Equal(compact.Bytes(), value) {
				t.Errorf("%q became %q and nothing was redacted", raw, value)
			}
			return
		}
		var more skillrouter.Redaction
		if again, err := cleanValue(&more, value); err == nil && len(more.Kinds()) > 0 {
			t.Errorf("%q is redacted to %q, and that to %q", raw, value, again)
		}
	})
}

// crowd has n wait on one flight, in the order of their numbers.
func crowd(l *leases, ctx context.Context, n int, until time.Time) (answers chan string, all *sync.WaitGroup) {
	answers, all = make(chan string, n), new(sync.WaitGroup)
	for i := range n {
		place, err := l.join("d/k", fmt.Sprint("w", i), time.Second, true)
		if err != nil || place.waiter == nil {
			panic(fmt.Sprint(place, err))
		}
		all.Go(func() {
			token, again, err := l.await(ctx, "d/k", place.waiter, until)
			switch {
			case err != nil:
				answers <- "error"
			case again:
				answers <- "look"
			case token == "":
				answers <- "wait"
			default:
				answers <- fmt.Sprintf("w%d leads", i)
				l.mu.Lock()
				if l.byToken[token].author != fmt.Sprint("w", i) {
					panic("the lease is another's")
				}
				l.mu.Unlock()
			}
		})
	}
	return answers, all
}

// TestLeasesPassOn lets each holder die in turn: each who waits leads once, in
// their order, a lease's time apart.
func TestLeasesPassOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLeases()
		if place, err := l.join("d/k", "first", time.Second, false); err != nil || place.token == "" {
			t.Fatal(place, err)
		}
		begin := time.Now()
		answers, all := crowd(l, t.Context(), 5, begin.Add(time.Hour))
		for i := range 5 {
			if got, want := <-answers, fmt.Sprintf("w%d leads", i); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			if took := time.Since(begin); took < time.Duration(i+1)*time.Second || took > time.Duration(i+1)*time.Second+50*time.Millisecond {
				t.Errorf("number %d leads after %s", i, took)
			}
		}
		all.Wait()
		synctest.Wait()
		<-time.After(time.Second)
		l.tidy()
		if len(l.byID) != 0 || len(l.byToken) != 0 || l.stats.RanOut != 6 {
			t.Errorf("%d leases and %d tokens are left; %d ran out", len(l.byID), len(l.byToken), l.stats.RanOut)
		}
	})
}

// TestLeaseEndings goes over what else can end the waiting.
func TestLeaseEndings(t *testing.T) {
	const minute = time.Minute
	for name, c := range map[string]struct {
		end  func(l *leases, token string, cancel context.CancelFunc)
		want []string // of three who wait
		open int      // leases that are left
	}{
		"stored":            {func(l *leases, token string, _ context.CancelFunc) { _, _, _ = l.begin(token); l.written("d/k", token) }, []string{"look", "look", "look"}, 0},
		"written by others": {func(l *leases, _ string, _ context.CancelFunc) { l.written("d/k", "") }, []string{"look", "look", "look"}, 0},
		"released":          {func(l *leases, token string, _ context.CancelFunc) { _ = l.release(token) }, []string{"w0 leads", "w1 leads", "w2 leads"}, 1},
		"the callers go":    {func(_ *leases, _ string, cancel context.CancelFunc) { cancel() }, []string{"error", "error", "error"}, 1},
		"the router stops":  {func(l *leases, _ string, _ context.CancelFunc) { l.close() }, []string{"wait", "wait", "wait"}, 1},
		"it takes too long": {func(l *leases, token string, _ context.CancelFunc) { _, _, _ = l.begin(token) }, []string{"wait", "wait", "wait"}, 1},
		"storing fails": {func(l *leases, token string, _ context.CancelFunc) {
			_, _, _ = l.begin(token)
			<-time.After(2 * time.Second) // longer than the lease lasts
			l.failed(token)
		}, []string{"w0 leads", "w1 leads", "w2 leads"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLeases()
				place, err := l.join("d/k", "first", time.Second, false)
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				answers, all := crowd(l, ctx, 3, time.Now().Add(minute))
				synctest.Wait()
				c.end(l, place.token, cancel)
				all.Wait()
				for _, want := range c.want {
					if got := <-answers; got != want {
						t.Errorf("got %q, want %q", got, want)
					}
				}
				if len(l.byID) != c.open || len(l.byToken) != c.open {
					t.Errorf("%d leases and %d tokens are left", len(l.byID), len(l.byToken))
				}
			})
		})
	}
}

// TestLeasesAreBounded opens as many as there may be.
func TestLeasesAreBounded(t *testing.T) {
	l := newLeases()
	for i := range MaxLeases {
		if _, err := l.join(fmt.Sprint("d/", i), "", time.Minute, false); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.join("d/more", "", time.Minute, false); skillrouter.CodeOf(err) != skillrouter.RateLimited {
		t.Errorf("one more: %v", err)
	}
	for range MaxLeaseWaiters {
		if place, err := l.join("d/0", "", time.Minute, true); err != nil || place.waiter == nil {
			t.Fatal(place, err)
		}
	}
	if place, err := l.join("d/0", "", time.Minute, true); err != nil || place.waiter != nil || place.token != "" {
		t.Errorf("one more who waits: %+v, %v", place, err)
	}
}

// TestRecentFactsNeverGoBack has a slow reader come back after a write.
func TestRecentFactsNeverGoBack(t *testing.T) {
	r := newRecentFacts()
	seen := r.look("d/k")
	r.put("d/k", Fact{Key: "k", Version: 2})
	r.keep("d/k", Fact{Key: "k", Version: 1}, seen)
	if got, ok := r.get("d/k"); !ok || got.Version != 2 {
		t.Errorf("%+v, %v", got, ok)
	}
	seen = r.look("d/k")
	r.drop("d/k")
	r.keep("d/k", Fact{Key: "k", Version: 2}, seen)
	if got, ok := r.get("d/k"); ok {
		t.Errorf("%+v was deleted", got)
	}
	value := json.RawMessage(`"` + strings.Repeat("x", 100<<10) + `"`)
	for i := range 2000 {
		r.put(fmt.Sprint("d/", i), Fact{Key: fmt.Sprint(i), Value: value})
	}
	size := 0
	for i := range r.parts {
		size += r.parts[i].size
	}
	if held := r.held(); size > recentBytes || held < 200 || held > recentBytes/len(value) {
		t.Errorf("%d facts of %d bytes are held", held, size)
	}
	r.put("d/large", Fact{Key: "large", Value: json.RawMessage(strings.Repeat("1", recentLargest))})
	if _, ok := r.get("d/large"); ok {
		t.Error("a fact that is too large is held")
	}
}
