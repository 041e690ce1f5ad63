package app

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"skillrouter/cmd/config"
	"skillrouter/cmd/locate"
	"skillrouter/internal/errs"
	"skillrouter/internal/principal"
	"skillrouter/router/web"
)

// demoFolder is where in the data folder the demo's own lies.
const demoFolder = "demo"

// demoStory is what the agents of the demo say, a call a line, in order.
//
//go:embed demo.jsonl
var demoStory []byte

// demo is a router of its own with a team at work, which the dashboard shows in the place of this one. None of its
// rows is in this router's databases, so that nothing is left when its folder is removed. It listens on no address.
type demo struct {
	base    context.Context // of the process: a demo outlives the request that begins it
	data    string
	options Options

	mu  sync.Mutex
	app *App // nil: there is none
}

var _ web.Demo = (*demo)(nil)

// openDemo makes the switch of a router's demo, and removes what a kill left of one.
func (a *App) openDemo(ctx context.Context) *demo {
	d := &demo{base: context.WithoutCancel(ctx), data: filepath.Join(a.config.Data, demoFolder), options: Options{Now: a.options.Now, Version: a.options.Version}}
	d.options.demo = d
	if err := os.RemoveAll(d.data); err != nil {
		a.log.Warn("what is left of the demo data cannot be removed", "error", err)
	}
	a.life.defers("demo", d.end)
	return d
}

// Begin implements web.Demo.
func (d *demo) Begin(ctx context.Context) error {
	if err := principal.Of(ctx).Need(principal.ScopeCaptain); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.app != nil {
		return nil
	}
	settings := config.Default()
	settings.Data, settings.Listen = d.data, "127.0.0.1:0"
	a, err := New(d.base, settings, slog.New(slog.DiscardHandler), d.options)
	if err != nil {
		return errors.Join(errs.Wrap(errs.Unavailable, err, "the demo data cannot be put in: %v", err), os.RemoveAll(d.data))
	}
	d.app = a
	for _, one := range a.doors {
		err = errors.Join(err, one.listener.Close())
	}
	if err = errors.Join(err, tellStory(ctx, a, "")); err != nil {
		return errors.Join(errs.Wrap(errs.Internal, err, "the demo data cannot be put in"), d.stop())
	}
	a.life.run(d.base, "the demo's team", func(ctx context.Context) error { return atWork(ctx, a) })
	return nil
}

// atWork has the team check in, as agents at work do, until the demo ends: a minute of silence looks as if all had gone.
func atWork(ctx context.Context, a *App) error {
	tick := time.NewTicker(a.config.Presence.HeartbeatInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
			if err := tellStory(ctx, a, checkIn); err != nil && ctx.Err() == nil {
				return err
			}
		}
	}
}

// End implements web.Demo.
func (d *demo) End(ctx context.Context) error {
	if err := principal.Of(ctx).Need(principal.ScopeCaptain); err != nil {
		return err
	}
	return d.end()
}

func (d *demo) end() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.stop()
}

// stop ends the demo's router and removes all that it had.
func (d *demo) stop() error {
	if d.app == nil {
		return nil
	}
	a := d.app
	d.app = nil
	grace, cancel := context.WithTimeout(d.base, a.config.ShutdownGrace)
	defer cancel()
	a.closeStreams(grace)
	return errors.Join(a.life.stop(), a.base.stop(), os.RemoveAll(d.data))
}

// Dashboard implements web.Demo.
func (d *demo) Dashboard() http.Handler {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.app == nil {
		return nil
	}
	return d.app.wired.web
}

// checkIn is the path of the calls by which the team checks in.
const checkIn = "/heartbeat"

// tellStory makes the calls of the story, as the agents of a team make them; or those alone that go to one path.
func tellStory(ctx context.Context, a *App, path string) error {
	owner, err := locate.ReadOwnerToken(a.config.Data)
	if err != nil {
		return err
	}
	for line := range bytes.Lines(demoStory) {
		var call struct {
			To  string          `json:"to"`
			Say json.RawMessage `json:"say"`
		}
		if err := json.Unmarshal(line, &call); err != nil {
			return err
		}
		if path != "" && path != call.To {
			continue
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, a.URL()+call.To, bytes.NewReader(call.Say))
		if err != nil {
			return err
		}
		request.RemoteAddr, request.Host = "127.0.0.1:1", request.URL.Host // as if a program of this machine called
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Authorization", "Bearer "+owner)
		answer := callAnswer{header: http.Header{}}
		a.handler.ServeHTTP(&answer, request)
		if answer.status >= http.StatusMultipleChoices {
			return fmt.Errorf("%s: %d %s", call.To, answer.status, answer.body.Bytes())
		}
	}
	return nil
}

// callAnswer is the answer to a call made without a connection.
type callAnswer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *callAnswer) Header() http.Header { return a.header }

func (a *callAnswer) WriteHeader(status int) {
	a.status = cmp.Or(a.status, status)
}

func (a *callAnswer) Write(text []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(text)
}
