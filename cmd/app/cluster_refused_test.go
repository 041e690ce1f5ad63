package app_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/cmd/app"
	"github.com/skillrouter/skillrouter/cmd/config"
	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/internal/database/databasetest"
	"github.com/skillrouter/skillrouter/internal/errs"
)

// aNode are the settings of a node beside another, on the same database; with nil, of the first.
func aNode(t *testing.T, name string, beside *config.Config) config.Config {
	t.Helper()
	cfg := settings(t)
	if cfg.Node = name; beside == nil {
		cfg.ClusterSecretFile = secretOf(t)
	} else {
		cfg.ClusterSecretFile, cfg.Database = beside.ClusterSecretFile, beside.Database
	}
	return cfg
}

// TestClusterNodeIsRefused: a node that would be no part of its cluster, or would break it, is refused at its start, beside one that writes.
func TestClusterNodeIsRefused(t *testing.T) {
	databasetest.ServerOnly(t)
	first := aNode(t, "first", nil)
	a, _ := runningAs(t, first, app.Options{})
	until(t, "it writes", func() bool { return a.Handler() != nil })
	secret := func(t *testing.T, text string, mode os.FileMode) string {
		path := filepath.Join(t.TempDir(), "secret")
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, test := range map[string]struct {
		change func(t *testing.T, cfg *config.Config, options *app.Options)
		code   errs.Code
		says   string
	}{
		"another secret": {func(t *testing.T, cfg *config.Config, _ *app.Options) {
			cfg.ClusterSecretFile = secret(t, strings.Repeat("other-", 8), 0o600)
		}, errs.Conflict, "give this node the cluster_secret_file that the others have"},
		"a secret that all may read": {func(t *testing.T, cfg *config.Config, _ *app.Options) {
			cfg.ClusterSecretFile = secret(t, strings.Repeat("s3cret-", 8), 0o644)
		}, errs.Invalid, "chmod 600 it"},
		"an empty secret":     {func(t *testing.T, cfg *config.Config, _ *app.Options) { cfg.ClusterSecretFile = secret(t, "", 0o600) }, errs.Invalid, "openssl rand"},
		"the name of another": {func(_ *testing.T, cfg *config.Config, _ *app.Options) { cfg.Node = "first" }, errs.Conflict, "a name of its own"},
		"a clock that is two minutes late": {func(_ *testing.T, _ *config.Config, options *app.Options) {
			options.Now = func() time.Time { return time.Now().Add(-2 * time.Minute) }
		}, errs.Unavailable, "the clock of this machine is 2m0s off"},
		"a clock that is two minutes early": {func(_ *testing.T, _ *config.Config, options *app.Options) {
			options.Now = func() time.Time { return time.Now().Add(2 * time.Minute) }
		}, errs.Unavailable, "the clock of this machine is 2m0s off"},
		"the address of another": {func(_ *testing.T, cfg *config.Config, _ *app.Options) { cfg.NodeURL = a.URL() }, errs.Conflict, "leads to another node"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, options := aNode(t, "second", &first), app.Options{}
			test.change(t, &cfg, &options)
			other, err := app.New(t.Context(), cfg, slog.New(slog.DiscardHandler), options)
			if err == nil {
				ctx, stop := context.WithTimeout(t.Context(), startTime)
				defer stop()
				err = other.Run(ctx)
			}
			if errs.CodeOf(err) != test.code || !strings.Contains(errs.MessageOf(err), test.says) {
				t.Errorf("%v", err)
			}
		})
	}
	if a.Handler() == nil {
		t.Error("the first writes no more")
	}
}

// TestServersOfAnAddress: of several servers the one is taken that is written to, also for what only reads.
func TestServersOfAnAddress(t *testing.T) {
	databasetest.ServerOnly(t)
	cfg := aNode(t, "n", nil)
	cfg.Database += "&target_session_attrs=read-write"
	a, _ := runningAs(t, cfg, app.Options{})
	until(t, "it writes", func() bool { return a.Handler() != nil })
}

// TestStartWaits: a router whose database server is away at its start waits for it, refuses calls meanwhile and says so, once; what asks whether it could
// start is told at once.
func TestStartWaits(t *testing.T) {
	databasetest.ServerOnly(t)
	cfg := settings(t)
	wire, address := wireTo(t, databasetest.Address(t, cfg.Data))
	network, place := wire.leads()
	wire.lead("tcp", "127.0.0.1:1")
	cfg.Database = address
	if _, err := app.New(t.Context(), cfg, slog.New(slog.DiscardHandler), app.Options{}); errs.CodeOf(err) != errs.Unavailable || !strings.Contains(err.Error(), "cannot be used") {
		t.Errorf("not to wait: %v", err)
	}
	said := &output{}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		a, err := app.New(ctx, cfg, slog.New(slog.NewTextHandler(said, nil)), app.Options{Waits: true})
		if err == nil {
			err = a.Run(ctx)
		}
		ended <- err
	}()
	var at string
	until(t, "it says that it waits", func() bool {
		holder, err := locate.ReadHolder(cfg.Data)
		at = holder.Listen
		return err == nil && strings.Contains(said.String(), "waiting for it")
	})
	status, problem := ask(t, http.MethodPost, at+"/heartbeat", `{"agent_id":"one"}`, nil)
	if status != http.StatusServiceUnavailable || !strings.Contains(fmt.Sprint(problem), "waits for its database server") {
		t.Errorf("%d %v", status, problem)
	}
	<-time.After(time.Second)
	wire.lead(network, place)
	until(t, "it answers", func() bool {
		status, _ := ask(t, http.MethodPost, at+"/heartbeat", `{"agent_id":"one"}`, nil)
		return status == http.StatusOK
	})
	if n := strings.Count(said.String(), "waiting for it"); n != 1 {
		t.Errorf("it says %d times that it waits", n)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestReadsWithoutSchema: what is read of a database whose schema is gone, or whose connections are ended, is refused as unavailable, and never as a fault of
// the router's own.
func TestReadsWithoutSchema(t *testing.T) {
	databasetest.ServerOnly(t)
	cfg := settings(t)
	a, _ := runningAs(t, cfg, app.Options{})
	for n := range 20 {
		if status, said := ask(t, http.MethodPost, a.URL()+"/api/knowledge", fmt.Sprintf(`{"title":"PATCH not PUT %d","content":"PUT replaces the whole resource %d","category":"gotcha"}`, n, n), nil); status != http.StatusCreated {
			t.Fatalf("%d %v", status, said)
		}
	}
	reads := []string{"/api/search?q=resource", "/api/knowledge", "/lessons", "/api/knowledge/search?q=whole", "/api/tasks", "/agents", "/api/episodes", "/api/facts/default", "/api/events", "/api/timeline", "/api/reminders", "/api/doctor"}
	all := func(what string, may func(status int) bool) {
		t.Helper()
		for _, path := range reads {
			if status, said := ask(t, http.MethodGet, a.URL()+path, "", nil); !may(status) {
				t.Errorf("%s: %s is %d %v", what, path, status, said)
			}
		}
	}
	known := map[int]bool{}
	all("at first", func(status int) bool { known[status] = true; return status < 500 })
	for range 5 {
		databasetest.Beside(t, cfg.Data, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()")
		all("ended", func(status int) bool { return status < 500 || status == http.StatusServiceUnavailable })
	}
	databasetest.Beside(t, cfg.Data, "ALTER SCHEMA {}learning RENAME TO {}gone", "ALTER SCHEMA {}operational RENAME TO {}away")
	all("without schemas", func(status int) bool { return status < 500 || status == http.StatusServiceUnavailable })
	databasetest.Beside(t, cfg.Data, "ALTER SCHEMA {}gone RENAME TO {}learning", "ALTER SCHEMA {}away RENAME TO {}operational")
}

// TestClusterSchemaIsDropped: a cluster whose schemas are gone answers that it stores nothing, and goes on once they are there again.
func TestClusterSchemaIsDropped(t *testing.T) {
	databasetest.ServerOnly(t)
	cfg := aNode(t, "n", nil)
	a, _ := runningAs(t, cfg, app.Options{})
	until(t, "it writes", func() bool { return a.Handler() != nil })
	token, err := locate.ReadOwnerToken(cfg.Data)
	if err != nil {
		t.Fatal(err)
	}
	write := func() int {
		status, _ := ask(t, http.MethodPost, a.URL()+"/api/tasks", `{"title":"t","project":"p"}`, http.Header{"Authorization": {"Bearer " + token}})
		return status
	}
	if status := write(); status != http.StatusCreated && status != http.StatusOK {
		t.Fatal(status)
	}
	databasetest.Beside(t, cfg.Data, "ALTER SCHEMA {}operational RENAME TO {}gone")
	for range 3 {
		if status := write(); status != http.StatusServiceUnavailable {
			t.Errorf("without its schema: %d", status)
		}
	}
	until(t, "it writes no more", func() bool { return a.Handler() == nil })
	databasetest.Beside(t, cfg.Data, "ALTER SCHEMA {}gone RENAME TO {}operational")
	until(t, "it writes again", func() bool { return write()/100 == 2 })
}

// TestClusterAnotherPast is the same of nodes: what they know of is gone, and is found no more.
func TestClusterAnotherPast(t *testing.T) {
	databasetest.ServerOnly(t)
	first := aNode(t, "first", nil)
	wire, through := wireTo(t, first.Database)
	a, stop := runningAs(t, first, app.Options{})
	until(t, "it writes", func() bool { return a.Handler() != nil })
	second := aNode(t, "second", &first)
	second.Database = through
	b, _ := runningAs(t, second, app.Options{})
	until(t, "it follows", b.Follows)
	token, err := locate.ReadOwnerToken(first.Data)
	if err != nil {
		t.Fatal(err)
	}
	as := http.Header{"Authorization": {"Bearer " + token}}
	add := func(title string) {
		t.Helper()
		if status, said := ask(t, http.MethodPost, a.URL()+"/api/knowledge", `{"category":"gotcha","title":"`+title+`","content":"of the zebra"}`, as); status != http.StatusCreated {
			t.Fatal(status, said)
		}
	}
	finds := func(title string) func() bool {
		return func() bool {
			status, said := ask(t, http.MethodGet, b.URL()+"/api/search?q="+url.QueryEscape("zebra "+title), "", as)
			text, _ := said["results"].([]any)
			for _, one := range text {
				if hit, _ := one.(map[string]any); hit["title"] == title {
					return status == http.StatusOK
				}
			}
			return false
		}
	}
	add("ancient")
	databasetest.InSchema(t, first.Data, "learning", "CREATE TABLE heads_then AS SELECT * FROM heads; CREATE TABLE knowledge_then AS SELECT * FROM knowledge; CREATE TABLE events_then AS SELECT * FROM events")
	add("phantom")
	until(t, "it finds it", finds("phantom"))
	wire.set(true) // so that it cannot look
	stop()
	databasetest.InSchema(t, first.Data, "learning", "DELETE FROM heads; INSERT INTO heads SELECT * FROM heads_then; DELETE FROM knowledge WHERE id NOT IN (SELECT id FROM knowledge_then); DELETE FROM events WHERE seq NOT IN (SELECT seq FROM events_then)")
	a, _ = runningAs(t, first, app.Options{})
	until(t, "it writes again", func() bool { return a.Handler() != nil })
	add("another")
	wire.set(false)
	until(t, "it is forgotten", func() bool { return !finds("phantom")() && finds("another")() && b.Follows() })
}
