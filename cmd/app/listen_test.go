package app_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/skillrouter/skillrouter/cmd/app"
	"github.com/skillrouter/skillrouter/cmd/config"
	"github.com/skillrouter/skillrouter/internal/errs"
)

// opened is a router in this process, with its settings.
func opened(t *testing.T, cfg config.Config) *app.App {
	t.Helper()
	a, _ := running(t, cfg)
	return a
}

// running is a router in this process, and what stops it before the test ends.
func running(t *testing.T, cfg config.Config) (a *app.App, stop func()) {
	t.Helper()
	return runningAs(t, cfg, app.Options{Version: "test"})
}

func runningAs(t *testing.T, cfg config.Config, options app.Options) (a *app.App, stop func()) {
	t.Helper()
	a, err := app.New(t.Context(), cfg, slog.New(slog.DiscardHandler), options)
	if err != nil {
		t.Fatal(err)
	}
	return a, untilStopped(t, a)
}

// untilStopped runs a router until stop is called, or the test ends.
func untilStopped(t *testing.T, a *app.App) (stop func()) {
	t.Helper()
	cancel, ended := begun(t, a)
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// begun runs a router until cancel is called; ended gets what Run returns.
func begun(t *testing.T, a *app.App) (cancel func(), ended <-chan error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	returned := make(chan error, 1)
	go func() { returned <- a.Run(ctx) }()
	return cancel, returned
}

// ask makes a call and returns its status and what its JSON says.
func ask(t *testing.T, method, address, body string, header http.Header) (int, map[string]any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for name, values := range header {
		r.Header[name] = values
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	_ = json.NewDecoder(bytes.NewReader(text)).Decode(&out) // not every answer is an object
	return answer.StatusCode, out
}

// TestFurtherListeners: what the table of the experience server offers at its own port is
// there unchanged, and the port for WebSockets says what it is for.
func TestFurtherListeners(t *testing.T) {
	cfg := settings(t)
	cfg.Listeners = config.Listeners{HTTP: []string{"127.0.0.1:0"}, WebSocket: []string{"127.0.0.1:0"}}
	doors := opened(t, cfg).Addresses()
	if len(doors) != 3 {
		t.Fatalf("doors: %v", doors)
	}
	experiences, sockets := doors[1], doors[2]
	status, recorded := ask(t, http.MethodPost, experiences+"/api/experience", `{"operation_type":"build","outcome":"success","problem":{"query":"compile"}}`, nil)
	if status != http.StatusCreated || recorded["recorded"] != true {
		t.Errorf("POST /api/experience: %d %v", status, recorded)
	}
	for _, path := range []string{"/health", "/api/stats", "/api/episodes/type/build", "/api/episodes/outcome/success", "/api/patterns", "/api/lessons"} {
		for _, door := range doors {
			if status, _ := ask(t, http.MethodGet, door+path, "", nil); status != http.StatusOK {
				t.Errorf("GET %s%s: %d", door, path, status)
			}
		}
	}
	if status, problem := ask(t, http.MethodGet, sockets+"/", "", nil); status != http.StatusUpgradeRequired || !strings.Contains(problem["detail"].(string), "WebSocket") {
		t.Errorf("the root of the port for WebSockets: %d %v", status, problem)
	}
	// The checks are the same at each: a foreign page is let in nowhere, a page of the door itself is.
	for _, door := range doors {
		at, err := url.Parse(door)
		if err != nil {
			t.Fatal(err)
		}
		if status, _ := ask(t, http.MethodGet, door+"/api/stats", "", http.Header{"Origin": {"http://evil.example"}}); status != http.StatusForbidden {
			t.Errorf("%s lets a foreign page in: %d", door, status)
		}
		if status, _ := ask(t, http.MethodGet, door+"/", "", http.Header{"Origin": {"http://evil.example"}}); status != http.StatusForbidden {
			t.Errorf("the root of %s lets a foreign page in: %d", door, status)
		}
		if status, _ := ask(t, http.MethodGet, door+"/api/stats", "", http.Header{"Origin": {"http://" + at.Host}}); status != http.StatusOK {
			t.Errorf("%s refuses its own page: %d", door, status)
		}
	}
}

// TestSocketAtEachDoor: the feed is a WebSocket at /ws of every door, and at
// the root of the one for WebSockets; a foreign page opens none.
func TestSocketAtEachDoor(t *testing.T) {
	cfg := settings(t)
	cfg.Listeners = config.Listeners{WebSocket: []string{"127.0.0.1:0"}}
	doors := opened(t, cfg).Addresses()
	for _, address := range []string{doors[0] + "/ws", doors[1] + "/ws", doors[1] + "/?after=0"} {
		if _, answer, err := websocket.Dial(t.Context(), address, &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {"http://evil.example"}}}); err == nil || answer.StatusCode != http.StatusForbidden {
			t.Errorf("%s: a foreign page is answered %v", address, err)
		}
		conn, _, err := websocket.Dial(t.Context(), address, nil)
		if err != nil {
			t.Fatalf("%s: %v", address, err)
		}
		if err := conn.Write(t.Context(), websocket.MessageText, []byte(`{"type":"ping"}`)); err != nil {
			t.Fatal(err)
		}
		if _, text, err := conn.Read(t.Context()); err != nil || !strings.Contains(string(text), `"pong"`) {
			t.Errorf("%s answers a ping with %s (%v)", address, text, err)
		}
		_ = conn.CloseNow()
	}
}

// TestDoorBeyondLoopback: one door that others can reach makes every door want a token.
func TestDoorBeyondLoopback(t *testing.T) {
	cfg := settings(t)
	cfg.Listeners.HTTP = []string{"0.0.0.0:0"}
	for _, door := range opened(t, cfg).Addresses() {
		if status, _ := ask(t, http.MethodGet, door+"/api/stats", "", nil); status != http.StatusUnauthorized {
			t.Errorf("%s answers %d without a token", door, status)
		}
	}
	// The negative control: without it none does.
	if status, _ := ask(t, http.MethodGet, opened(t, settings(t)).URL()+"/api/stats", "", nil); status != http.StatusOK {
		t.Errorf("on loopback alone: %d", status)
	}
}

// TestTakenPort: the start names the port that is taken and the setting that
// asks for it, and leaves nothing behind.
func TestTakenPort(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer packets.Close()
	for setting, cfg := range map[string]config.Config{
		"listen":              {Listen: taken.Addr().String()},
		"listeners.http":      {Listeners: config.Listeners{HTTP: []string{"127.0.0.1:0", taken.Addr().String()}}},
		"interlock.listen":    {InterLock: config.InterLock{Listen: packets.LocalAddr().String()}},
		"listeners.websocket": {Listeners: config.Listeners{WebSocket: []string{taken.Addr().String()}}},
	} {
		t.Run(setting, func(t *testing.T) {
			whole := settings(t)
			if cfg.Listen != "" {
				whole.Listen = cfg.Listen
			}
			whole.Listeners, whole.InterLock = cfg.Listeners, cfg.InterLock
			_, port, _ := net.SplitHostPort(taken.Addr().String())
			if cfg.InterLock.Listen != "" {
				_, port, _ = net.SplitHostPort(packets.LocalAddr().String())
			}
			_, err := app.New(t.Context(), whole, slog.New(slog.DiscardHandler), app.Options{})
			message := errs.MessageOf(err)
			if errs.CodeOf(err) != errs.Unavailable || !strings.Contains(message, port) || !strings.Contains(message, "("+setting+")") {
				t.Fatalf("the start says: %v", err)
			}
			whole.Listen, whole.Listeners, whole.InterLock = "127.0.0.1:0", config.Listeners{}, config.InterLock{}
			stop(t, opensAgain(t, whole))
		})
	}
}

// opensAgain makes an App on a folder that a failed start must have given up.
func opensAgain(t *testing.T, cfg config.Config) *app.App {
	t.Helper()
	a, err := app.New(t.Context(), cfg, slog.New(slog.DiscardHandler), app.Options{})
	if err != nil {
		t.Fatalf("after a failed start: %v", err)
	}
	return a
}

// TestStopWaitsForNoSilentConnection has clients hold connections on which they
// asked nothing yet, as browsers and HTTP clients do in advance: a stop waits
// for a call under way and not for these.
func TestStopWaitsForNoSilentConnection(t *testing.T) {
	cfg := config.Default()
	cfg.Data, cfg.Listen, cfg.ShutdownGrace = t.TempDir(), "127.0.0.1:0", time.Minute
	a, stop := running(t, cfg)
	at := strings.TrimPrefix(a.URL(), "http://")
	for range 3 {
		conn, err := net.Dial("tcp", at)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	begun, err := net.Dial("tcp", at) // one that is in the middle of its call
	if err != nil {
		t.Fatal(err)
	}
	defer begun.Close()
	body := `{"persona":"p"}`
	fmt.Fprintf(begun, "POST /api/facts/search HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", at, len(body))
	answer := bufio.NewReader(begun)
	if line, err := answer.ReadString('\n'); err != nil || !strings.Contains(line, "100") { // it reads the body
		t.Fatalf("%q, %v", line, err)
	}
	ended := make(chan struct{})
	go func() { stop(); close(ended) }()
	select {
	case <-ended:
		t.Error("the stop did not wait for a call under way")
	case <-time.After(2 * app.SilentGrace):
	}
	fmt.Fprint(begun, body)
	if text, _ := io.ReadAll(answer); !strings.Contains(string(text), " 201 ") && !strings.Contains(string(text), " 200 ") {
		t.Errorf("the call under way was answered %q", text)
	}
	select {
	case <-ended:
	case <-time.After(4 * time.Second): // net/http's own patience is 5 s
		t.Error("the stop waits for connections that asked nothing")
		<-ended
	}
}
