package app

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/skillrouter/skillrouter/cmd/app/nats"
	"github.com/skillrouter/skillrouter/cmd/hook/offline"
	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/database"
	"github.com/skillrouter/skillrouter/internal/database/postgres"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/client"
	"github.com/skillrouter/skillrouter/router/cluster"
	"github.com/skillrouter/skillrouter/router/cluster/register"
	"github.com/skillrouter/skillrouter/router/httpapi"
)

const (
	// nodeIDName is the file in the data folder that has the id of the folder: a node that begins again is known by it.
	nodeIDName = "node.id"
	// takeWithin is how long a start waits for the lease of a router that was killed; one that lives renews it.
	takeWithin = cluster.Term + 2*time.Second
	// pause is how long a node that failed as the writer leaves the lease to others.
	pause = 2 * cluster.Term
	// firstWait and longestWait are how long a start waits until it looks again for a database server that is away.
	firstWait   = 250 * time.Millisecond
	longestWait = 4 * time.Second
	// drainEvery is how often a node that writes no longer looks whether its calls have ended.
	drainEvery = 10 * time.Millisecond
)

// front is what a node's doors lead to: its own services while it writes, and else the node that does.
type front struct {
	name    string
	secret  cluster.Secret
	lease   *cluster.Lease
	now     clock.Clock
	forward *cluster.Forward
	hosts   func(r *http.Request) error // what a request may be called by that comes from outside
	metrics http.Handler                // of a node that does not write
	bell    cluster.Bell
	callers cluster.Callers

	own       atomic.Pointer[httpapi.Server] // nil: it does not write
	calls     atomic.Int64                   // under way at own
	writing   atomic.Pointer[parts]          // what own is made of
	heads     atomic.Pointer[cluster.Heads]  // how far the databases are, while it writes
	following atomic.Pointer[following]      // nil: it does not follow
	asides    atomic.Int64                   // calls under way at following
	answered  atomic.Int64                   // by what it knows, while another writes
	left      []lesson.CheckRecord           // that were judged while nobody wrote, for the ledger of this node when it does: of the one goroutine that follows and writes in turn
}

// rings tells other nodes how far the databases are that this one writes.
func (f *front) rings(h cluster.Heads) {
	f.heads.Store(&h)
	f.bell.Ring(h)
}

// alone tells whether nobody writes.
func (f *front) alone() bool {
	writer, _ := f.lease.Writer()
	return writer.Epoch == 0
}

// nodeHeader is the header by which an answer says which node took the call.
const nodeHeader = "Skillrouter-Node"

// ServeHTTP implements http.Handler.
func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	from, forwarded, err := f.secret.Accept(r, f.now())
	if errs.CodeOf(err) == errs.Unavailable {
		f.forward.RefuseIdle(w, errs.MessageOf(err))
		return
	}
	if err != nil {
		httpapi.WriteProblem(w, err)
		return
	}
	if !forwarded {
		w.Header().Set(nodeHeader, f.name)
	} else {
		if from.Node != f.name {
			f.lease.Heard()
		}
		if f.forward.Answer(w, r, from) {
			return
		}
	}
	f.calls.Add(1)
	own := f.own.Load()
	if own == nil {
		f.calls.Add(-1)
		f.handOn(w, r, forwarded)
		return
	}
	defer f.calls.Add(-1)
	if !f.lease.Holds() { // it was stopped for a while: somebody else may write
		f.forward.RefuseIdle(w, "this node's lease has ended")
		return
	}
	if forwarded {
		r.RemoteAddr = from.Address
		r = r.WithContext(httpapi.WithForwarded(r.Context(), OnThisMachine(from.URL), from.Private))
	}
	own.ServeHTTP(w, r)
}

// handOn hands a call to the node that writes. What another node has handed on goes no further: the two do not agree on who writes.
func (f *front) handOn(w http.ResponseWriter, r *http.Request, forwarded bool) {
	if forwarded {
		f.forward.RefuseIdle(w, "the node "+f.name+" does not write")
		return
	}
	if err := f.hosts(r); err != nil {
		httpapi.WriteProblem(w, err)
		return
	}
	if f.serveAside(w, r) {
		f.answered.Add(1)
		return
	}
	if r.Method == http.MethodGet && r.URL.Path == "/metrics" { // whether the caller may read them is the writer's to say
		f.forward.Ask(w, r, f.metrics)
		return
	}
	f.forward.ServeHTTP(w, r)
}

// serveAside answers a call by what the node knows, if it can.
func (f *front) serveAside(w http.ResponseWriter, r *http.Request) bool {
	f.asides.Add(1) // before it is looked: who ends the services waits for this
	defer f.asides.Add(-1)
	on := f.following.Load()
	return on != nil && on.serve(w, r)
}

// drain waits until calls under way have ended, or grace has.
func drain(grace context.Context, calls *atomic.Int64) {
	for calls.Load() > 0 && committer.Pause(grace, drainEvery) == nil {
	}
}

// openRegister looks the server of the setting over, makes the schemas that are not there, and opens its register.
func (a *App) openRegister(ctx context.Context) error {
	server, err := a.server()
	if err != nil || server == nil {
		return err
	}
	a.database = server
	self := cluster.Node{Name: a.config.Node, URL: cmp.Or(a.config.NodeURL, a.URL()), Version: a.options.Version}
	if self.ID, err = nodeID(a.config.Data); err != nil {
		return err
	}
	if err := a.awaitServer(ctx, server); err != nil {
		return err
	}
	a.lease = openLease(ctx, server, self, a.now, a.base)
	return nil
}

// awaitServer looks a server over, as soon as it is there if the router is to wait for it. Meanwhile calls are refused.
func (a *App) awaitServer(ctx context.Context, server *postgres.Server) error {
	var said time.Time
	for wait, begun := firstWait, a.now(); ; wait = min(2*wait, longestWait) {
		err := database.PrepareOnServer(ctx, server, a.log)
		if ctx.Err() != nil || !a.options.Waits || !postgres.Away(err) {
			if err == nil && !said.IsZero() {
				a.log.Info("the database server is there", "server", server, "waited_s", int(a.now().Sub(begun).Seconds()))
			}
			return err
		}
		if said.IsZero() {
			a.serveDoors(ctx, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", "1")
				httpapi.WriteProblem(w, errs.Errorf(errs.Unavailable, "this router waits for its database server, which does not answer (its log has the cause): nothing was done, ask again"))
			}))
			a.serve()
		}
		if now := a.now(); now.Sub(said) >= time.Minute {
			said = now
			a.log.Warn("the database server is not there: waiting for it", "server", server, "error", err)
		}
		if err := committer.Pause(ctx, wait); err != nil {
			return err
		}
	}
}

// openLease opens a router's part in the lease of a server's databases, for a life.
func openLease(ctx context.Context, server *postgres.Server, self cluster.Node, now clock.Clock, life *life) *cluster.Lease {
	register := register.Open(server)
	life.defers("register", register.Close)
	return cluster.Open(ctx, register, self, now, life.log)
}

// takeLease takes the lease for a router that is no node of a cluster: it waits no longer than one that was killed had it.
func takeLease(ctx context.Context, lease *cluster.Lease, server *postgres.Server, life *life) error {
	waiting, cancel := context.WithTimeout(ctx, takeWithin)
	defer cancel()
	if err := lease.Acquire(waiting, time.Time{}); err != nil {
		if writer, _ := lease.Writer(); writer.Epoch > 0 {
			return errs.Wrap(errs.Unavailable, err, "another router writes into %s (%s): stop it first, make both nodes of a cluster (the setting node), or take another schema_prefix", server, strings.TrimSpace(writer.Name+" "+writer.URL))
		}
		return errs.Wrap(errs.Unavailable, err, "the database server %s does not say who writes", server)
	}
	holdLease(ctx, lease, life)
	return nil
}

// holdLease renews a lease as long as a life, and gives it back at its end.
func holdLease(ctx context.Context, lease *cluster.Lease, life *life) {
	life.defers("lease", func() error { return lease.Leave(context.WithoutCancel(ctx)) })
	life.run(ctx, "lease", lease.Run)
}

// nodeID is the id of a data folder, which is made if there is none.
func nodeID(dir string) (string, error) {
	path := filepath.Join(dir, nodeIDName)
	text, err := os.ReadFile(path)
	if id := strings.TrimSpace(string(text)); err == nil && id != "" { // a power cut may leave it empty
		return id, nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", err
	}
	id := rand.Text()
	return id, putSynced(path, []byte(id+"\n"))
}

// joinCluster makes the router a node: it takes what all nodes share from their secret, and its doors lead to the front.
func (a *App) joinCluster(ctx context.Context) error {
	secret, err := cluster.ReadSecret(a.config.ClusterSecretFile)
	if err != nil {
		return err
	}
	if err := register.Belongs(ctx, a.database, secret); err != nil {
		return err
	}
	if err := a.lease.Join(ctx); err != nil {
		return err
	}
	owner := operational.TokenPrefix + base64.RawURLEncoding.EncodeToString(secret.Derive("owner's token"))
	if had, err := locate.ReadOwnerToken(a.config.Data); err != nil || had != owner {
		if err := putSynced(filepath.Join(a.config.Data, locate.OwnerTokenName), []byte(owner+"\n")); err != nil {
			return fmt.Errorf("write the owner's token: %w", err)
		}
		a.log.Info("the owner's token of this folder is that of the cluster")
	}
	if changed, err := offline.SetKey(a.config.Data, secret.Derive("signing key")); err != nil {
		return fmt.Errorf("write the signing key: %w", err)
	} else if changed {
		a.log.Info("the signing key of this folder is that of the cluster")
	}
	f := &front{name: a.config.Node, secret: secret, lease: a.lease, now: a.now}
	a.front = f
	f.hosts = a.hostCheck()
	believed, err := client.Trust{CA: a.config.TLSCA}.Config()
	if err != nil {
		return err
	}
	f.forward = cluster.NewForward(a.lease, secret, cluster.ForwardOptions{
		TLS: believed,
		Private: func(r *http.Request, writer string) bool {
			return httpapi.Private(r) && (strings.HasPrefix(writer, "https:") || OnThisMachine(writer))
		},
		Reads: reads, May: func(address string) bool { return !a.config.Airgapped || OnThisMachine(address) },
		Refuse: httpapi.WriteProblem, Told: a.takeTold, Answered: f.callers.Note, Log: a.log, Now: a.now,
	})
	if f.bell, err = a.openBell(ctx, secret, believed); err != nil {
		return err
	}
	f.metrics = promhttp.HandlerFor(a.newRegistry(), promhttp.HandlerOpts{})
	return nil
}

// collect tells /metrics which part a node has in its cluster.
func (f *front) collect(give emit) {
	writer, _ := f.lease.Writer()
	give("skillrouter_node_writes", "Whether this node is the one of its cluster that writes: 1 or 0.", flag(f.lease.Holds()))
	give("skillrouter_node_epoch", "How often the lease of the cluster was taken, as this node knows.", float64(writer.Epoch))
	give("skillrouter_node_forwarded_total", "Requests that this node handed to the one that writes.", float64(f.forward.Count()))
	give("skillrouter_node_answered_total", "Requests that this node answered by what it knows, while another writes.", float64(f.answered.Load()))
	if on := f.following.Load(); on != nil {
		give("skillrouter_node_behind_seconds", "How long ago this node was sure to know all that was committed, while another writes.", on.follower.Age().Seconds())
		give("skillrouter_node_lag_seconds", "How long this node took, when it last found something new, to ask for it and to take it in.", on.follower.Lag().Seconds())
	}
	if b, ok := f.bell.(*nats.Bell); ok {
		rung, heard := b.Counts()
		give("skillrouter_node_bell_rung_total", "Messages that this node sent to others over NATS: that it has committed.", float64(rung))
		give("skillrouter_node_bell_heard_total", "Messages of other nodes that told this one something new.", float64(heard))
	}
}

// checkNodes tells of the nodes of the cluster.
func (a *App) checkNodes(ctx context.Context) []router.SystemCheck {
	if a.front == nil {
		return nil
	}
	nodes, err := a.lease.Nodes(ctx)
	if err != nil {
		return []router.SystemCheck{{Name: "nodes", Detail: err.Error()}}
	}
	checks := make([]router.SystemCheck, 0, len(nodes))
	for _, n := range nodes {
		part := "follows"
		if n.Misses != 0 {
			part = "follows, and does not reach the node that writes"
		}
		if n.Epoch > 0 {
			part = fmt.Sprintf("writes, epoch %d", n.Epoch)
		}
		c := router.SystemCheck{Name: "node " + n.Name, OK: n.Seen < cluster.Silent && n.Misses == 0}
		c.Detail = fmt.Sprintf("%s at %s, version %s, heard of %v ago", part, n.URL, cmp.Or(n.Version, "unknown"), n.Seen.Round(100*time.Millisecond))
		if n.Seen >= cluster.Silent {
			c.Detail = fmt.Sprintf("not heard of for %v (it was at %s)", n.Seen.Round(time.Second), n.URL)
		}
		checks = append(checks, c)
	}
	if b, ok := a.front.bell.(*nats.Bell); ok {
		c := router.SystemCheck{Name: "bell"}
		c.OK, c.Detail = b.Status()
		checks = append(checks, c)
	}
	return checks
}

// runNode has a node write whenever the lease is its own, until ctx ends or it cannot go on.
func (a *App) runNode(ctx context.Context, serve <-chan error) error {
	served, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case err := <-serve:
			cancel(err)
		case <-served.Done():
		}
	}()
	go func() {
		if err := a.front.forward.LeadsHere(served); errs.CodeOf(err) == errs.Conflict {
			cancel(err)
		} else if err != nil && served.Err() == nil {
			a.log.Warn("this node is not reached by its own address, by which the others reach it: see node_url, tls_cert and tls_ca", "node_url", a.lease.Self().URL, "error", err)
		}
	}()
	go a.front.forward.Try(served)
	var notBefore time.Time
	for {
		err := a.standBy(served, notBefore)
		if err == nil {
			select {
			case <-served.Done():
			case failure := <-a.life.failed:
				notBefore = a.standDown(ctx, failure)
				continue
			}
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case served.Err() != nil:
			return context.Cause(served)
		}
		return err
	}
}

// standBy waits for the lease, and opens what a writer has. What fails then is tried again after a pause, in which others may.
func (a *App) standBy(ctx context.Context, notBefore time.Time) error {
	for {
		if err := a.acquire(ctx, notBefore); err != nil {
			return err
		}
		begun := a.now()
		a.life = newLife(a.log)
		holdLease(ctx, a.lease, a.life)
		err := a.open(ctx)
		if err == nil {
			a.enterLeft(ctx)
			a.front.writing.Store(a.wired)
			a.front.own.Store(a.handler)
			a.log.Info("this node writes", "epoch", a.lease.Self().Epoch, "took_ms", a.now().Sub(begun).Milliseconds())
			return nil
		}
		a.log.Error("this node cannot write, and leaves it to others for a while", "error", errors.Join(err, a.life.stop()))
		notBefore = a.now().Add(pause)
	}
}

// enterLeft enters the checks into the ledger that this node judged while nobody wrote.
func (a *App) enterLeft(ctx context.Context) {
	left := a.front.left
	a.front.left = nil
	if len(left) == 0 {
		return
	}
	defer a.life.beginWith(ctx)()
	if err := a.wired.guards.EnterChecks(ctx, left); err != nil {
		a.log.Error("checks that were judged while nobody wrote are not in the ledger", "checks", len(left), "error", err)
	}
}

// acquire waits for the lease, and follows the node that writes until then.
func (a *App) acquire(ctx context.Context, notBefore time.Time) error {
	waiting, stop := context.WithCancel(ctx)
	var following sync.WaitGroup
	following.Go(func() { a.follow(waiting) })
	err := a.lease.Acquire(ctx, notBefore)
	holding, held := context.WithCancel(ctx)
	var renewing sync.WaitGroup
	if err == nil { // the end of following may take as long as the lease
		renewing.Go(func() { _ = a.lease.Run(holding) }) // that it is lost is found out again
	}
	stop()
	following.Wait()
	held()
	renewing.Wait()
	return err
}

// endServices ends the services of this node's present part: its streams and calls under way within a time, and then what runs.
func (a *App) endServices(ctx context.Context, within time.Duration, calls *atomic.Int64) error {
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), within)
	defer cancel()
	a.closeStreams(grace)
	drain(grace, calls)
	return a.life.stop()
}

// standDown ends what a writer has, because of a failure or of another writer.
func (a *App) standDown(ctx context.Context, failure error) (notBefore time.Time) {
	a.log.Warn("this node writes no more", "error", failure)
	a.front.own.Store(nil)
	a.front.writing.Store(nil)
	grace := a.config.ShutdownGrace
	deserted := errors.Is(failure, cluster.ErrDeserted)
	if deserted { // every caller elsewhere waits for the lease
		grace = followGrace
	}
	if err := a.endServices(ctx, grace, &a.front.calls); err != nil {
		a.log.Warn("not all of what was written late is stored", "error", err)
	}
	if errors.Is(failure, cluster.ErrLost) || errors.Is(failure, committer.ErrFenced) {
		return time.Time{}
	}
	return a.now().Add(pause)
}

// openBell opens the bell of the cluster that this router is a node of: one that does nothing, without the setting.
func (a *App) openBell(ctx context.Context, secret cluster.Secret, trust *tls.Config) (cluster.Bell, error) {
	if a.config.NATS == "" {
		return cluster.NoBell{}, nil
	}
	id, err := a.database.ID(ctx)
	if err != nil {
		return nil, err
	}
	bell, err := nats.Open(ctx, nats.Options{Address: a.config.NATS, Node: a.config.Node, TLS: trust, Secret: secret, Database: id, Now: a.now, Log: a.log})
	if err == nil {
		a.base.defers("bell", bell.Close)
	}
	return bell, err
}

// ringAfter tells how far both databases are: now, and after each commit.
func ringAfter(ring func(cluster.Heads), learning, operational *database.DB) {
	var mu sync.Mutex
	var heads cluster.Heads
	for db, head := range map[*database.DB]*int64{learning: &heads.Learning, operational: &heads.Operational} {
		db.OnCommit(func(commits int64) {
			mu.Lock()
			defer mu.Unlock()
			if *head = commits; heads.Learning > 0 && heads.Operational > 0 { // both are known
				ring(heads)
			}
		})
	}
}
