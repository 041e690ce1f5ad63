// Package app is the composition root: it opens the databases, wires the
// services to each other and to their transports, starts what runs, and stops
// it in reverse order. It owns no rule
// of any domain.
package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"golang.org/x/sync/errgroup"

	"github.com/skillrouter/skillrouter/cmd/config"
	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/cmd/process"
	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/database"
	"github.com/skillrouter/skillrouter/internal/database/postgres"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/router/classify"
	"github.com/skillrouter/skillrouter/router/cluster"
	"github.com/skillrouter/skillrouter/router/httpapi"
)

// App is a sidecar that is open, wired and bound to its address.
type App struct {
	config    config.Config
	options   Options
	log       *slog.Logger
	now       clock.Clock
	base      *life                        // what lives as long as the process
	life      *life                        // what a writer has: it ends before the rest, and on a node of a cluster it may begin again
	doors     []door                       // the first is the one that the process is known by
	leads     atomic.Pointer[http.Handler] // what the doors lead to
	served    chan error                   // what ends the doors' servers; nil: they do not serve yet
	socket    string                       // where it answers its own user, as the lock file has it; empty: nowhere
	noSocket  error                        // why it has none
	seesPeers bool                         // this system tells whose calls over loopback are
	started   time.Time

	certificate *certificate // that all doors show; nil: none

	database *postgres.Server // nil: the databases are files
	lease    *cluster.Lease   // nil: the databases are files
	front    *front           // nil: this is no node of a cluster

	classifier            func() (*classify.Classifier, error)
	learning, operational *database.DB
	ballast               *ballast
	streams               []func(ctx context.Context) error // what ends the streams of the services, if there are any
	wired                 *parts
	aside                 *aside // what takes the place of writes on a node that follows; nil: this router writes
	handler               *httpapi.Server
	copying               sync.Mutex // a backup is being made
}

// Options are what an App takes besides its settings. The zero value is the real thing.
type Options struct {
	Now     clock.Clock // time.Now if nil
	Version string
	// CreateMissing makes a database anew that was lost, and gives up what it held.
	CreateMissing bool
	// Waits has New wait for a database server that is away. Until it is there, calls are refused.
	Waits bool
}

// New takes the data folder, binds the address, opens and migrates the
// databases and wires the services. If any step fails, those before it are
// undone. The App answers once Run is called.
func New(ctx context.Context, cfg config.Config, log *slog.Logger, options Options) (_ *App, err error) {
	if err := checkAirgapped(cfg); err != nil {
		return nil, err
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	a := &App{config: cfg, options: options, log: log, now: options.Now, base: newLife(log), life: newLife(log)}
	a.started = a.now()
	defer func() {
		if err != nil {
			err = errors.Join(err, a.life.stop(), a.base.stop())
		}
	}()
	if err := prepareFolder(cfg.Data); err != nil {
		return nil, err
	}
	holder := locate.Holder{PID: os.Getpid(), Listen: cfg.Listen, Started: a.started}
	lock, err := Acquire(cfg.Data, holder)
	if err != nil {
		return nil, err
	}
	a.base.defers("lock", lock.Release)
	if err := errors.Join(finishRestore(cfg.Data), sweepBackups(cfg.Data)); err != nil {
		return nil, err
	}
	if err := a.openDoors(); err != nil {
		return nil, err
	}
	a.openSocket(lock.former)
	holder.Listen, holder.Socket = a.URL(), a.socket
	if err := lock.SetHolder(holder); err != nil {
		return nil, fmt.Errorf("write the lock file: %w", err)
	}
	a.classifier = sync.OnceValues(classify.NewClassifier)
	go func() { _, _ = a.classifier() }() // whoever needs it later is told its error
	if err := a.openRegister(ctx); err != nil {
		return nil, err
	}
	if cfg.Node != "" {
		if err := a.joinCluster(ctx); err != nil {
			return nil, err
		}
		a.serveDoors(ctx, a.front)
		return a, nil
	}
	if a.lease != nil {
		err = takeLease(ctx, a.lease, a.database, a.life)
	} else {
		err = refuseLost(ctx, cfg.Data, options.CreateMissing, log)
	}
	if err != nil {
		return nil, err
	}
	if err := a.open(ctx); err != nil {
		return nil, err
	}
	a.serveDoors(ctx, a.handler)
	return a, nil
}

// open opens the databases, and wires the services to them.
func (a *App) open(ctx context.Context) error {
	defer a.life.beginWith(ctx)()
	if err := a.openDatabases(ctx); err != nil {
		return err
	}
	if err := a.noteLosses(ctx); err != nil {
		return err
	}
	if err := a.wire(ctx, a.newRegistry()); err != nil {
		return err
	}
	for _, db := range []*database.DB{a.learning, a.operational} {
		a.warnOfClock(ctx, db)
		a.life.run(ctx, db.Name+" check", db.CheckLate)
		a.life.run(ctx, db.Name+" log", db.CopyLog)
	}
	return nil
}

// newRegistry makes a registry of metrics with those of the process, and of the node that it is.
func (a *App) newRegistry() *prometheus.Registry {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), collected(a.certificate.collect))
	if a.front != nil {
		registry.MustRegister(collected(a.front.collect))
	}
	return registry
}

// openDatabases opens both at the same time, as each waits for its disk, and starts their committers.
func (a *App) openDatabases(ctx context.Context) error {
	a.ballast = openBallast(a.config.Data, a.log)
	server := a.database
	names := []string{"learning", "operational"}
	opened, errs := make([]*database.DB, len(names)), make([]error, len(names))
	var all sync.WaitGroup
	for i, name := range names {
		all.Go(func() {
			if server != nil {
				opened[i], errs[i] = database.OpenOnServer(ctx, server, name, a.now, a.log)
			} else {
				opened[i], errs[i] = database.Open(ctx, a.config.Data, name, a.now, a.log)
			}
		})
	}
	all.Wait()
	if a.front != nil && errors.Join(errs...) == nil {
		ringAfter(a.front.rings, opened[0], opened[1])
	}
	for i, db := range opened {
		if errs[i] == nil {
			if db.EndWith(a.life.stopping); server == nil {
				db.Commit.Reserve = reserve{a.ballast, db}
			}
			a.life.defers(names[i]+".db", db.Close)
			a.life.run(ctx, names[i]+" committer", db.Commit.Run)
		}
	}
	a.learning, a.operational = opened[0], opened[1]
	return errors.Join(errs...)
}

// server is the one that the databases are on; nil: they are files in the data folder. A folder that has them as files
// is refused: what is in them would be missing.
func (a *App) server() (*postgres.Server, error) {
	if a.config.Database == "" {
		return nil, nil
	}
	for _, name := range database.Names() {
		if path := filepath.Join(a.config.Data, name+".db"); fileThere(path) {
			return nil, errs.Errorf(errs.Conflict, "%s is there, and the setting database names a server: what is in the file would be missing. Move it there (skillrouter migrate --to …), or name another data folder", path)
		}
	}
	return postgres.Parse(a.config.Database)
}

func fileThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Routes lists what the App serves over HTTP, for the tests that go over all of it.
func (a *App) Routes() []httpapi.Route { return a.handler.Routes() }

// URL is the address that the App is bound to.
func (a *App) URL() string {
	return locate.URL(a.config.Scheme(), a.doors[0].listener.Addr().String())
}

// Handler is what is served, for tests that need no connection; nil on a node that does not write.
func (a *App) Handler() *httpapi.Server {
	if a.front != nil {
		return a.front.own.Load()
	}
	return a.handler
}

// Run serves until ctx ends, and then stops everything: streams are told to
// come back, calls under way get the grace period, what is in memory only is
// written, and the databases are closed. It returns nil after a clean stop.
func (a *App) Run(ctx context.Context) error {
	a.serve()
	a.log.Info("listening", "url", strings.Join(a.Addresses(), " "), "data", a.config.Data, "version", a.options.Version)
	var failure error
	if a.front != nil {
		failure = a.runNode(ctx, a.served)
	} else {
		select {
		case <-ctx.Done():
		case failure = <-a.served:
		case failure = <-a.life.failed:
		}
	}
	if failure != nil {
		a.log.Error("the router ends: a part of it failed", "error", failure)
	}
	begin := time.Now()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.config.ShutdownGrace)
	defer cancel()
	a.closeStreams(grace)
	a.shutDoors(grace)
	err := errors.Join(failure, a.life.stop(), a.base.stop())
	a.log.Info("stopped", "took_ms", time.Since(begin).Milliseconds(), "clean", err == nil)
	return err
}

// closeStreams tells the streams to come back, all at once, and waits for them within the grace period.
func (a *App) closeStreams(grace context.Context) {
	var all errgroup.Group
	for _, end := range a.streams {
		all.Go(func() error { return end(grace) })
	}
	a.streams = nil
	if err := all.Wait(); err != nil {
		a.log.Warn("streams did not end in time", "error", err)
	}
}

// prepareFolder makes the data folder, and takes other users' rights on it away.
func prepareFolder(dir string) error {
	if err := MakeFolder(dir); err != nil {
		return errs.Wrap(errs.Unavailable, err, "cannot make the data folder %s", dir)
	}
	if err := database.Writable(dir); err != nil {
		return errs.Wrap(errs.Unavailable, err, "the data folder %s cannot be written to (%v): this user needs the right to make files in it", dir, err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	if err := process.Close(dir); err != nil {
		return errs.Wrap(errs.Unavailable, err, "the data folder %s is open to other users and cannot be closed to them", filepath.Clean(dir))
	}
	return nil
}

// MakeFolder makes a folder and those above it, each for good: a power cut
// takes a folder that its parent does not know yet, with all that is in it.
func MakeFolder(dir string) error {
	var made []string
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); err == nil || at == filepath.Dir(at) {
			break
		}
		made = append(made, at)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, one := range made {
		if err := database.SyncFolder(filepath.Dir(one)); err != nil {
			return err
		}
	}
	return nil
}

func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// life starts components in order and stops them in reverse order, each only
// when the one started after it has ended. It rolls a half-finished start back
// in the same way.
type life struct {
	log   *slog.Logger
	parts []part
	// failed gets the error of the first component that ends by itself.
	failed chan error
	once   sync.Once
	// stopping ends when stop begins.
	stopping context.Context
	begin    context.CancelFunc
}

type part struct {
	name string
	stop func() error
}

func newLife(log *slog.Logger) *life {
	l := &life{log: log, failed: make(chan error, 1)}
	l.stopping, l.begin = context.WithCancel(context.Background())
	return l
}

// beginWith has stopping end with ctx, until end is called: for what is waited for before anybody can call stop.
func (l *life) beginWith(ctx context.Context) (end func()) {
	stop := context.AfterFunc(ctx, l.begin)
	return func() { stop() }
}

// defers adds a clean-up.
func (l *life) defers(name string, stop func() error) { l.parts = append(l.parts, part{name, stop}) }

// run starts a component whose run blocks until its context ends.
func (l *life) run(ctx context.Context, name string, run func(ctx context.Context) error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // it ends in its turn, not with the signal
	done := make(chan error, 1)
	go func() {
		err := run(ctx)
		if ctx.Err() == nil && l.fail(name, err) { // nobody asked it to end
			err = nil // it is told of already
		}
		done <- err
	}()
	l.defers(name, func() error {
		cancel()
		err := <-done
		if errors.Is(err, context.Canceled) {
			return nil
		}
		return err
	})
}

// fail tells of a failure, and whether it was the first.
func (l *life) fail(name string, err error) (first bool) {
	if err == nil {
		err = errors.New("ended by itself")
	}
	l.once.Do(func() {
		first = true
		l.failed <- fmt.Errorf("%s: %w", name, err)
	})
	return first
}

// stop ends everything, the last started first, and returns what went wrong.
func (l *life) stop() error {
	l.begin()
	var errs []error
	for i := len(l.parts) - 1; i >= 0; i-- {
		p := l.parts[i]
		l.log.Debug("stopping", "component", p.name)
		if err := p.stop(); err != nil {
			errs = append(errs, fmt.Errorf("stop %s: %w", p.name, err))
		}
	}
	l.parts = nil
	return errors.Join(errs...)
}
