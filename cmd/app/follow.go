package app

import (
	"bytes"
	"cmp"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/skillrouter/skillrouter/cmd/app/nats"
	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/database"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/learning/guard"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/learning/shelf"
	learningstore "github.com/skillrouter/skillrouter/learning/store"
	"github.com/skillrouter/skillrouter/learning/verdict"
	"github.com/skillrouter/skillrouter/operational"
	operationalstore "github.com/skillrouter/skillrouter/operational/store"
	"github.com/skillrouter/skillrouter/router/cluster"
	"github.com/skillrouter/skillrouter/router/cluster/register"
	"github.com/skillrouter/skillrouter/router/httpapi"
)

const (
	// slowEvery is how often a node reads what leaves no event: what failed in projects, and which entries answered which questions.
	slowEvery = 2 * time.Second
	// sweptEvery is how often a node looks which messages are gone, of which no event tells. None of them is found before.
	sweptEvery = 10 * time.Minute
	// listeningEvery is how often a node says who listens to it.
	listeningEvery = comms.BeyondFor / 3
	// maxLeft bounds the checks that wait until this node writes: as many as a ledger has wait.
	maxLeft = 4096
	// lostAfter is how long a node that does not know what is new goes on with its streams.
	lostAfter = 2 * cluster.FreshFor
	// followGrace is how long calls under way may take to end when the node begins to write itself: every caller waits for that.
	followGrace = time.Second
	// maxAside bounds the body of a call that a node answers by what it knows, in bytes: an action that is checked is the largest.
	maxAside = guard.MaxProposal + 256<<10
	// followAgain is how long a node waits that could not follow.
	followAgain = time.Second
)

// aside is what a node has in the place of writes while another writes: what its services would write behind their answers, it tells
// that one. A nil aside is that of a router which writes: its methods return what they are given.
type aside struct {
	tell func(ctx context.Context, what string, text []byte) error
	// alone tells whether the node that writes cannot be asked.
	alone func() bool

	mu   sync.Mutex
	ends bool                 // the node follows no longer, as it writes itself or stops
	left []lesson.CheckRecord // that could not be told then
}

// What a node tells the one that writes.
const (
	toldUses       = "uses"
	toldMisses     = "misses"
	toldTellings   = "tellings"
	toldChecks     = "checks"
	toldDeliveries = "deliveries"
	toldListening  = "listening"
)

type tellingsTold struct {
	Tellings []operational.Telling
	Keep     operational.ToldKeep
}

// tells tells the node that writes something that it is to store.
func (s *aside) tells(ctx context.Context, what string, value any) error {
	var text bytes.Buffer
	if err := gob.NewEncoder(&text).Encode(value); err != nil {
		return err
	}
	return s.tell(ctx, what, text.Bytes())
}

// takeTold stores what another node tells this one.
func (a *App) takeTold(ctx context.Context, node, what string, text []byte) error {
	p := a.front.writing.Load()
	if p == nil || !a.lease.Holds() {
		return errs.Errorf(errs.Unavailable, "this node does not write")
	}
	from := gob.NewDecoder(bytes.NewReader(text))
	switch what {
	case toldUses:
		return take(from, func(uses map[string]shelf.Use) error { return p.memory.AddUse(ctx, uses) })
	case toldMisses:
		return take(from, func(misses []verdict.Verdict) error { return p.memory.AddMisses(ctx, misses) })
	case toldTellings:
		return take(from, func(t tellingsTold) error { return p.operations.AddTellings(ctx, t.Tellings, t.Keep) })
	case toldChecks:
		return take(from, func(checks []lesson.CheckRecord) error { return p.guards.EnterChecks(ctx, checks) })
	case toldDeliveries:
		return take(from, func(deliveries []operational.Delivery) error { return p.mailbox.DeliveredBeyond(ctx, deliveries) })
	case toldListening:
		return take(from, func(l comms.Listening) error { return p.mailbox.ListenBeyond(ctx, node, l) })
	}
	return errs.Errorf(errs.Invalid, "a node of another version tells %q: this one does not know it", what)
}

func take[T any](from *gob.Decoder, store func(T) error) error {
	var value T
	if err := from.Decode(&value); err != nil {
		return errs.Wrap(errs.Invalid, err, "what another node tells cannot be read")
	}
	return store(value)
}

// The stores of what is written behind answers.

type memoryAside struct {
	*learningstore.Store
	aside *aside
}

// AddUse implements knowledge.Store.
func (s memoryAside) AddUse(ctx context.Context, uses map[string]shelf.Use) error {
	return s.aside.tells(ctx, toldUses, uses)
}

// AddMisses implements verdict.Store.
func (s memoryAside) AddMisses(ctx context.Context, misses []verdict.Verdict) error {
	return s.aside.tells(ctx, toldMisses, misses)
}

// memory is what is written behind answers into learning.
func (s *aside) memory(store *learningstore.Store) interface {
	knowledge.Store
	verdict.Store
} {
	if s == nil {
		return store
	}
	return memoryAside{store, s}
}

type operationsAside struct {
	*operationalstore.Store
	aside *aside
}

// AddTellings implements operational.TellingStore.
func (s operationsAside) AddTellings(ctx context.Context, tellings []operational.Telling, keep operational.ToldKeep) error {
	return s.aside.tells(ctx, toldTellings, tellingsTold{tellings, keep})
}

// SaveDeliveries implements comms.MessageStore.
func (s operationsAside) SaveDeliveries(ctx context.Context, deliveries []operational.Delivery) error {
	if len(deliveries) == 0 {
		return nil
	}
	return s.aside.tells(ctx, toldDeliveries, deliveries)
}

// operations is what is written behind answers into operational.
func (s *aside) operations(store *operationalstore.Store) interface {
	operational.TellingStore
	comms.MessageStore
} {
	if s == nil {
		return store
	}
	return operationsAside{store, s}
}

// mailOptions are those of a mailbox whose messages another router stores and sweeps.
func (s *aside) mailOptions(o comms.MailboxOptions) comms.MailboxOptions {
	if s != nil {
		o.Retention = 0
		o.Listens = func(ctx context.Context, agentID string) error {
			return s.tells(ctx, toldListening, comms.Listening{Agents: []string{agentID}})
		}
	}
	return o
}

// enter has checks entered into the ledger.
func (s *aside) enter() func(ctx context.Context, checks []lesson.CheckRecord) error {
	if s == nil {
		return nil
	}
	return func(ctx context.Context, checks []lesson.CheckRecord) error {
		err := s.tells(ctx, toldChecks, checks)
		s.mu.Lock()
		defer s.mu.Unlock()
		if err != nil && s.ends {
			s.left = append(s.left, checks...)
			return nil
		}
		return err
	}
}

// guards judge by the rules alone, and leave to the node that writes what they are not sure of, while it answers.
func (s *aside) guards(guards *guard.Guards) guard.Service {
	if s == nil {
		return guards
	}
	return guardsAside{guards, s}
}

type guardsAside struct {
	*guard.Guards
	aside *aside
}

// errElsewhere sends a call to the node that writes.
var errElsewhere = errs.Errorf(errs.Unavailable, "the node that writes answers this")

// Check implements guard.Service.
func (g guardsAside) Check(ctx context.Context, action rule.Action) (guard.Checked, error) {
	instead, _ := ctx.Value(insteadKey{}).(bool)
	alone := g.aside.alone() || instead
	checked, sure, err := g.Guards.CheckAside(ctx, action, alone)
	switch {
	case err != nil:
	case alone:
		checked.Stale = true
	case !sure:
		err = errElsewhere
	}
	return checked, err
}

// runs runs a part that only the router which writes has.
func (a *App) runs(ctx context.Context, name string, run func(ctx context.Context) error) {
	if a.aside == nil {
		a.life.run(ctx, name, run)
	}
}

// stamp says in answers how far the databases are, on a node of a cluster; nil: this is none.
func (a *App) stamp() func(http.Header) {
	if a.front == nil || a.aside != nil {
		return nil
	}
	return func(header http.Header) { header.Set(cluster.SeqHeader, a.front.heads.Load().String()) }
}

// following is what a node has that follows the one which writes.
type following struct {
	*parts
	app      *App
	told     *aside
	follower *cluster.Follower
	handler  *httpapi.Server

	// The last events that were taken in: the Follower's own.
	learned, operated int64
	swept             time.Time
	stale             atomic.Bool // something was stored since what leaves no event was read
	callersStale      bool        // a token was issued or revoked, or the passphrase changed, since they were read
}

// The calls that a node answers by what it knows: those that there are most of.
var asideCalls = map[string]bool{
	streamCall: true, checkCall: true,
	"GET /api/search": true, "POST /api/search": true,
	"GET /api/knowledge": true, "POST /api/knowledge/search": true, "GET /lessons": true, "POST /lessons/search": true, "POST /query/relevant": true,
	"POST /api/episodes/search": true, "POST /api/procedures/search": true,
}

const (
	streamCall = "GET /messages"
	checkCall  = "POST /check/anti-pattern"

	outcomeCall = "POST /check/outcome"
)

// reads tells whether a call changes nothing.
func reads(r *http.Request) bool {
	call := r.Method + " " + r.URL.Path
	return r.Method == http.MethodGet || r.Method == http.MethodHead || asideCalls[call] && call != checkCall
}

// serve answers a call by what the node knows, and tells whether it did. What it cannot answer well, or would refuse, is the other node's to answer.
func (f *following) serve(w http.ResponseWriter, r *http.Request) bool {
	call := r.Method + " " + r.URL.Path
	if call == outcomeCall { // of a check that may not be told yet
		f.guards.Settle(r.Context())
	}
	if !asideCalls[call] || f.embedder != nil && call != checkCall && call != streamCall { // vectors are the writer's
		return false
	}
	front := f.app.front
	ctx := r.Context()
	if call != streamCall { // a stream ends later: see tellListening
		var stop func()
		ctx, stop = f.follower.WhileFresh(ctx)
		defer stop()
	}
	fresh := f.follower.Age() < cluster.FreshFor && f.follower.Wait(ctx, front.callers.After(r))
	if !fresh && call != checkCall {
		return false
	}
	again, ok := repeatable(w, r)
	if !ok {
		return false
	}
	if fresh {
		answer := cluster.Tentative(w, func(status int) bool { return status/100 == 2 })
		if f.handler.ServeHTTP(answer, again().WithContext(ctx)); answer.Passed() {
			return true
		}
	}
	restored := again()
	r.Body = restored.Body
	if call != checkCall {
		return false
	}
	front.forward.ServeOr(w, restored, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		r := again()
		f.handler.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), insteadKey{}, true)))
	}))
	return true
}

// repeatable reads a request's body, and returns what makes the request anew; false: it is too long, and begun.
func repeatable(w http.ResponseWriter, r *http.Request) (again func() *http.Request, ok bool) {
	if r.Body == nil || r.Method == http.MethodGet {
		return func() *http.Request { return r.Clone(r.Context()) }, true
	}
	if r.ContentLength > maxAside {
		return nil, false
	}
	rest, control := r.Body, http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(httpapi.BodyTimeout)) // by the connection's own clock
	defer func() { _ = control.SetReadDeadline(time.Time{}) }()
	body, err := io.ReadAll(io.LimitReader(rest, maxAside+1))
	r.Body = readCloser{io.MultiReader(bytes.NewReader(body), rest), rest}
	if err != nil || len(body) > maxAside {
		return nil, false
	}
	return func() *http.Request {
		one := r.Clone(r.Context())
		one.Body = io.NopCloser(bytes.NewReader(body))
		return one
	}, true
}

type readCloser struct {
	io.Reader
	io.Closer
}

// insteadKey marks the check of a node that answers in the place of one which does not.
type insteadKey struct{}

// follow has the node answer by what it knows, as far as it can, until ctx ends. What goes wrong is begun anew.
func (a *App) follow(ctx context.Context) {
	for first := true; ctx.Err() == nil; first = false {
		err := a.followOnce(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case first && errs.CodeOf(err) == errs.Unavailable: // the first writer of a database has yet to begin
			a.log.Info("this node hands everything on until it can follow the node that writes", "because", err)
		case errors.Is(err, cluster.ErrBack):
			a.front.callers.Forget()
			a.log.Warn("the databases were put back to an earlier state: what this node knows of them is read anew")
		default:
			a.log.Warn("this node hands everything on until it can follow the node that writes", "error", err)
		}
		_ = committer.Pause(ctx, followAgain)
	}
}

func (a *App) followOnce(ctx context.Context) (err error) {
	a.life = newLife(a.log)
	a.streams = nil
	told := &aside{tell: a.front.forward.Tell, alone: a.front.alone}
	a.aside = told
	defer func() {
		told.mu.Lock()
		told.ends = true
		told.mu.Unlock()
		a.front.following.Store(nil)
		err = errors.Join(err, a.endServices(ctx, followGrace, &a.front.asides))
		a.front.left = append(a.front.left, told.left...)
		a.front.left = a.front.left[max(0, len(a.front.left)-maxLeft):]
		a.aside = nil
	}()
	f, err := a.openFollowing(ctx)
	if err != nil {
		return err
	}
	heard, stop := context.WithCancel(ctx)
	defer stop()
	go func() { _ = a.front.bell.Run(heard, f.follower.Heard) }()
	a.front.following.Store(f)
	a.log.Info("this node follows the one that writes")
	select {
	case <-ctx.Done():
		return nil
	case err := <-a.life.failed:
		return err
	}
}

// openFollowing opens the databases for reading, and wires the services that answer by them.
func (a *App) openFollowing(ctx context.Context) (*following, error) {
	conn := a.database.Reader("operational", 1)
	a.life.defers("heads", conn.Close)
	heads := register.Heads(a.database, conn)
	from, err := heads(ctx)
	if err != nil {
		return nil, err
	}
	f := &following{app: a, told: a.aside, swept: a.now()}
	for _, of := range []struct {
		name string
		db   **database.DB
	}{{"learning", &a.learning}, {"operational", &a.operational}} {
		if *of.db, err = database.OpenFollowing(a.database, of.name); err != nil {
			return nil, err
		}
		a.life.defers(of.name, (*of.db).Close)
	}
	// What is committed from here on is followed; what is read below may know it already.
	if f.learned, err = learningstore.New(a.learning.Read, a.learning.Commit).LastEvent(ctx); err != nil {
		return nil, err
	}
	if f.operated, err = operationalstore.New(a.operational.Read, a.operational.Commit).LastEvent(ctx); err != nil {
		return nil, err
	}
	if err := a.wire(ctx, a.newRegistry()); err != nil {
		return nil, err
	}
	f.parts, f.handler = a.wired, a.handler
	f.follower = cluster.NewFollower(cluster.FollowerOptions{
		From: from, Heads: heads, Take: func(ctx context.Context, from, to cluster.Heads) error { return takes(f, ctx, from, to) },
		Rung: a.front.rung, Now: a.now, Log: a.log,
	})
	a.life.run(ctx, "follower", f.follower.Run)
	a.life.run(ctx, "what leaves no event", f.readSlow)
	a.life.run(ctx, "listening", f.tellListening)
	return f, nil
}

// rung tells whether this node would hear the bell.
func (f *front) rung() (connected bool) {
	if b, ok := f.bell.(*nats.Bell); ok {
		connected, _ = b.Status()
	}
	return connected
}

// takes is take, for the test that has nodes take in nothing.
var takes = (*following).take

// take takes in what the node that writes has committed.
func (f *following) take(ctx context.Context, from, to cluster.Heads) error {
	// A message is handed out once what was stored before it is known.
	var last int64
	var err error
	if to.Operational != from.Operational {
		if last, err = f.operations.LastSeq(ctx); err != nil {
			return err
		}
	}
	if to.Learning != from.Learning {
		if err := f.learn(ctx); err != nil {
			return err
		}
		f.stale.Store(true)
	}
	if to.Operational != from.Operational {
		if err := f.operate(ctx, last); err != nil {
			return err
		}
	}
	if f.app.now().Sub(f.swept) >= sweptEvery {
		f.swept = f.app.now()
		f.operations.SweptBell().Ring()
	}
	return nil
}

// readSlow reads what leaves no event, until ctx ends. It may be tens of thousands of rows, and what leaves events does not wait for it.
func (f *following) readSlow(ctx context.Context) error {
	for committer.Pause(ctx, slowEvery) == nil {
		if f.stale.Swap(false) && errors.Join(f.incidents.Load(ctx), f.verdicts.Load(ctx)) != nil {
			f.stale.Store(true) // it is read again
		}
	}
	return nil
}

// errSwept has a node begin anew that has missed events which were removed meanwhile.
var errSwept = fmt.Errorf("events that this node did not know were removed for their age: %w", cluster.ErrBack)

// learn takes in the events of learning.
func (f *following) learn(ctx context.Context) error {
	to, err := f.memory.LastEvent(ctx)
	if err != nil {
		return err
	}
	for f.learned < to {
		events, err := f.memory.Events(ctx, f.learned, learningstore.MaxEvents)
		if err != nil {
			return err
		}
		if len(events) == 0 {
			break
		}
		if events[0].Seq > f.learned+1 { // it was stopped for so long that what came next was removed for its age
			return errSwept
		}
		for _, k := range f.kinds {
			if k.Shelf == nil {
				continue
			}
			if err := k.Shelf.Follow(ctx, events); err != nil {
				return err
			}
		}
		if err := f.guards.Follow(ctx, events); err != nil {
			return err
		}
		f.learned = events[len(events)-1].Seq
	}
	f.memory.EventBell().Ring()
	return nil
}

// operate takes in the events of operational, and its messages up to the last.
func (f *following) operate(ctx context.Context, last int64) error {
	for {
		events, err := f.operations.Events(ctx, f.operated, operationalstore.MaxEvents)
		if err != nil {
			return err
		}
		if len(events) > 0 && events[0].Seq > f.operated+1 {
			return errSwept
		}
		f.callersStale = f.callersStale || slices.ContainsFunc(events, func(e eventlog.Event) bool {
			return strings.HasPrefix(e.Type, "token.") || strings.HasPrefix(e.Type, "passphrase.")
		})
		if len(events) > 0 {
			f.operated = events[len(events)-1].Seq
		}
		if len(events) < operationalstore.MaxEvents {
			break
		}
	}
	if f.callersStale { // and stays so until they are read: the events are behind it
		if err := cmp.Or(f.tokens.Load(ctx), f.persons.Load(ctx)); err != nil {
			return err
		}
		f.callersStale = false
	}
	err := f.mailbox.Follow(ctx, last)
	f.operations.EventBell().Ring()
	f.operations.SignalLog().EventBell().Ring()
	return err
}

// tellListening tells the node that writes who listens here, until ctx ends, and ends the streams while the node does not know what is new.
func (f *following) tellListening(ctx context.Context) error {
	some := false
	for committer.Pause(ctx, listeningEvery) == nil {
		if f.follower.Age() > lostAfter {
			f.mailbox.Interrupt()
			continue
		}
		agents := f.mailbox.Listening()
		if some = some || len(agents) > 0; some {
			_ = f.told.tells(ctx, toldListening, comms.Listening{Agents: agents, All: true}) // it is told again
		}
		some = len(agents) > 0
	}
	return nil
}
