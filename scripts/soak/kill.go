package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A round of load lasts for some time between these, and ends in the middle of it.
const (
	shortestLoad = 120 * time.Millisecond
	longestLoad  = 700 * time.Millisecond
	// lastingLoad is that of every lastingEvery-th round: longer than a check of the guard may lag.
	lastingLoad  = 2 * checksMayLag
	lastingEvery = 5
	// loadWriters is how many of each kind write at once.
	loadWriters = 2
	// lastWithin is how soon a follower must have everything.
	lastWithin = 20 * time.Second
	// foundAgain is how many entries are searched for after the last start.
	foundAgain = 25
)

// ends are the ways in which a router ends under load, and how often of ten.
var ends = []struct {
	name   string
	of10   int
	clean  bool
	ending func(r *router) error
}{
	{"kill -9", 6, false, func(r *router) error { r.kill(); return nil }},
	{"SIGSTOP, then kill -9", 2, false, func(r *router) error {
		r.signal(syscall.SIGSTOP)
		<-time.After(50 * time.Millisecond) // what was on its way to the disk arrives
		r.kill()
		return nil
	}},
	{"SIGTERM", 2, true, (*router).stop},
}

// scene is a data folder with the load on it and those who follow it.
type scene struct {
	program, data string
	load          *load
	out           *result
	followers     []*follower
}

func newScene(program, data string, out *result) *scene {
	return &scene{
		program: program, data: data, out: out,
		load:      &load{model: newModel(), out: out, writers: loadWriters},
		followers: []*follower{messagesOf(reader), feed()},
	}
}

// begin starts the router, checks what it has, and sends again what was not answered.
func (s *scene) begin(ctx context.Context) (*router, error) {
	r, err := start(ctx, s.program, s.data)
	if err != nil {
		return nil, err
	}
	s.out.time("start", r.took)
	if err := s.load.model.check(ctx, s.data, s.out); err != nil {
		return r, err
	}
	s.load.resendUnanswered(ctx, r)
	return r, nil
}

// under runs the load and the followers until end has ended the router.
func (s *scene) under(ctx context.Context, r *router, end func() (time.Time, error)) error {
	var all sync.WaitGroup
	all.Go(func() { s.load.run(ctx, r) })
	for _, f := range s.followers {
		all.Go(func() { _ = f.follow(ctx, r) }) // it breaks off with the router
	}
	at, err := end()
	s.load.model.ended(at)
	all.Wait()
	return err
}

// finish starts the router once more, and compares everything: what searches find, what streams gave.
func (s *scene) finish(ctx context.Context) error {
	r, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer r.kill()
	s.searchable(ctx, r)
	following, stop := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer func() {
		stop()
		all.Wait()
	}()
	for _, f := range s.followers {
		all.Go(func() { _ = f.follow(following, r) })
	}
	// A last message: who has it has all that he will be given.
	status, raw, err := r.call(ctx, http.MethodPost, "/signal", map[string]any{"from_agent_id": "captain", "to_agent_id": reader, "signal": "pause"})
	if err != nil || status != http.StatusOK {
		return fmt.Errorf("the last message is answered with %d %s %w", status, raw, err)
	}
	messages, err := storedMessages(ctx, s.data, reader)
	if err != nil {
		return err
	}
	events, err := storedFeed(ctx, r)
	if err != nil {
		return err
	}
	for i, want := range [][]event{messages, events} {
		if len(want) == 0 || !s.followers[i].reach(ctx, want[len(want)-1].seq, lastWithin) {
			s.out.fault("%s: the last of %d events did not come", s.followers[i].path, len(want))
		}
	}
	// Presence may have told something more since: what came later is no matter of this comparison.
	if events, err = storedFeed(ctx, r); err != nil {
		return err
	}
	last := events[len(events)-1].seq
	s.followers[1].reach(ctx, last, lastWithin)
	stop()
	all.Wait()
	s.followers[0].compare(messages, s.out)
	s.followers[1].mu.Lock()
	for n := len(s.followers[1].got); n > 0 && s.followers[1].got[n-1].seq > last; n-- {
		s.followers[1].got = s.followers[1].got[:n-1]
	}
	s.followers[1].mu.Unlock()
	s.followers[1].compare(events, s.out)
	s.out.count("acknowledged", s.load.model.acknowledgements())
	s.out.count("sent again under their keys", int(s.load.resends.Load()))
	return r.stop()
}

// searchable looks whether the index finds what was acknowledged.
func (s *scene) searchable(ctx context.Context, r *router) {
	a := adding{}
	for _, a = range addings {
		if a.name == "knowledge" {
			break
		}
	}
	for range foundAgain {
		known := s.load.anyKnown(a)
		if known.id == "" {
			return
		}
		// Words are shared by all entries; the number alone is this one's.
		q := url.QueryEscape(known.marker)
		status, raw, err := r.call(ctx, http.MethodGet, "/api/search?kind=knowledge&limit=50&q="+q, nil)
		if err != nil || status != http.StatusOK || !strings.Contains(string(raw), known.id) {
			s.out.fault("%s, %q, is not found by its title: %d %v", known.id, known.marker, status, err)
		}
		s.out.count("searches for what was acknowledged", 1)
	}
}

// kills runs rounds of load on one folder that end with the end of the router.
func kills(ctx context.Context, program string, rounds int, out *result) error {
	data, err := os.MkdirTemp("", "soak-kill")
	if err != nil {
		return err
	}
	defer os.RemoveAll(data)
	s := newScene(program, data, out)
	for round := range rounds {
		if out.faulty() {
			return nil // what is broken stays broken; the first faults say what it was
		}
		r, err := s.begin(ctx)
		if err != nil {
			return fmt.Errorf("start again: %w", err)
		}
		how := rand.IntN(10)
		for _, e := range ends {
			if how -= e.of10; how >= 0 {
				continue
			}
			out.count(e.name, 1)
			err = s.under(ctx, r, func() (time.Time, error) {
				lasts := shortestLoad + rand.N(longestLoad-shortestLoad)
				if round%lastingEvery == lastingEvery-1 {
					lasts = lastingLoad
				}
				<-time.After(lasts)
				began := time.Now()
				err := e.ending(r)
				out.time(e.name, time.Since(began))
				if e.clean {
					return time.Now().Add(time.Hour), err
				}
				return began, err
			})
			break
		}
		if err != nil {
			out.fault("%v", err)
		}
	}
	return s.finish(ctx)
}
