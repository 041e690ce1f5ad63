//go:build unix

package nats_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	client "github.com/nats-io/nats.go"
	"go.uber.org/goleak"

	"github.com/skillrouter/skillrouter/cmd/app/nats"
	"github.com/skillrouter/skillrouter/cmd/app/nats/natstest"
	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/errs"
	routerclient "github.com/skillrouter/skillrouter/router/client"
	"github.com/skillrouter/skillrouter/router/cluster"
)

// wait is how long anything may take on a busy machine.
const wait = 20 * time.Second

// log is what a bell said.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// count tells how many lines say something.
func (l *log) count(what string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), what)
}

// open opens a bell of a cluster.
func open(t testing.TB, address, database string, to *log) *nats.Bell {
	t.Helper()
	return openTrusting(t, nil, address, database, to)
}

func openTrusting(t testing.TB, trust *tls.Config, address, database string, to *log) *nats.Bell {
	t.Helper()
	b, err := nats.Open(t.Context(), nats.Options{
		Address: address, Node: "test", TLS: trust, Secret: cluster.Secret(strings.Repeat("s", 32)), Database: database,
		Now: time.Now, Log: slog.New(slog.NewTextHandler(to, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

// ear is who listens to a bell.
type ear struct {
	mu    sync.Mutex
	heads cluster.Heads
	again committer.Bell
}

func listen(t testing.TB, b cluster.Bell) *ear {
	e := &ear{}
	go func() {
		_ = b.Run(t.Context(), func(h cluster.Heads) {
			e.mu.Lock()
			e.heads = h
			e.mu.Unlock()
			e.again.Ring()
		})
	}()
	return e
}

// hears waits until the heads were heard, or for a time, and tells whether.
func (e *ear) hears(want cluster.Heads, within time.Duration) bool {
	late := time.After(within)
	for {
		again := e.again.Wait()
		e.mu.Lock()
		there := e.heads == want
		e.mu.Unlock()
		if there {
			return true
		}
		select {
		case <-again:
		case <-late:
			return false
		}
	}
}

// until waits for something to be so.
func until(t testing.TB, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(wait); !so(); <-time.After(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it is never so: %s", what)
		}
	}
}

func connected(b *nats.Bell) func() bool {
	return func() bool { yes, _ := b.Status(); return yes }
}

// TestBell: what one node rings is heard by others, by one that comes later too, and by nobody of another cluster on the same server.
func TestBell(t *testing.T) {
	server := natstest.NewNATS(t)
	database := t.Name() + strconv.FormatInt(time.Now().UnixNano(), 10) // the server may have been used before
	var said log
	writer, follower, other := open(t, server.Address, database, &said), open(t, server.Address, database, &said), open(t, server.Address, database+" elsewhere", &said)
	hears, elsewhere, own := listen(t, follower), listen(t, other), listen(t, writer)
	for _, b := range []*nats.Bell{writer, follower, other} {
		until(t, "connected", connected(b))
	}
	rung := cluster.Heads{Learning: 1<<32 + 5, Operational: 2 << 32}
	writer.Ring(rung)
	if !hears.hears(rung, wait) {
		t.Fatal("nobody hears the bell")
	}
	theirs := cluster.Heads{Learning: 9 << 32, Operational: 9 << 32}
	other.Ring(theirs)
	later := open(t, server.Address, database, &said)
	if !listen(t, later).hears(rung, wait) {
		t.Error("who comes later does not hear what was rung last")
	}
	if elsewhere.hears(rung, 0) || hears.hears(theirs, 0) || own.hears(rung, 0) {
		t.Error("another cluster hears the bell, or a node itself")
	}
	if n, _ := writer.Counts(); n < 1 || n > 2 { // twice, if it was rung while the connection was looked over
		t.Errorf("%d messages", n)
	}
	until(t, "connected, with JetStream", func() bool { // which is asked for once there is a connection
		ok, detail := follower.Status()
		return ok && strings.Contains(detail, "connected to "+server.Address+" since ") && !strings.Contains(detail, "without")
	})
}

// TestBellIgnores: whoever else may speak on the server tells nobody anything.
func TestBellIgnores(t *testing.T) {
	server := natstest.PrivateNATS(t)
	var said log
	writer, follower := open(t, server.Address, "here", &said), open(t, server.Address, "here", &said)
	hears := listen(t, follower)
	until(t, "connected", func() bool { return connected(writer)() && connected(follower)() })
	conn, err := client.Connect(server.Address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	overheard := make(chan *client.Msg, 10_000)
	if _, err := conn.ChanSubscribe("sr.*.head", overheard); err != nil || conn.Flush() != nil {
		t.Fatal(err)
	}
	first, second := cluster.Heads{Learning: 1 << 32, Operational: 1 << 32}, cluster.Heads{Learning: 2 << 32, Operational: 1 << 32}
	writer.Ring(first)
	old := <-overheard
	writer.Ring(second)
	if <-overheard; !hears.hears(second, wait) {
		t.Fatal("the bell is not heard")
	}
	if strings.Contains(old.Subject, "here") || len(old.Data) != 24+32 {
		t.Errorf("%s, %d bytes", old.Subject, len(old.Data))
	}
	forged := bytes.Clone(old.Data)
	forged[8] = 0x7f // a head that nobody ever comes to
	for range 1000 {
		for _, data := range [][]byte{forged, old.Data, nil, []byte(strings.Repeat("x", 56))} {
			if err := conn.Publish(old.Subject, data); err != nil {
				t.Fatal(err)
			}
		}
	}
	third := cluster.Heads{Learning: 3 << 32, Operational: 1 << 32}
	if err := conn.Flush(); err != nil {
		t.Fatal(err)
	}
	writer.Ring(third)
	if !hears.hears(third, wait) {
		t.Error("the bell is not heard after what was forged")
	}
	if _, heard := follower.Counts(); heard != 3 {
		t.Errorf("%d messages were heeded", heard)
	}
}

// TestBellServerRestarts: a server that is killed, loses what it has stored and comes back is rung over as before. What was rung while it was
// away is told once it is back, and a node that was never connected is from then on.
func TestBellServerRestarts(t *testing.T) {
	server := natstest.PrivateNATS(t)
	server.Kill()
	var said log
	writer, follower := open(t, server.Address, "here", &said), open(t, server.Address, "here", &said)
	hears := listen(t, follower)
	rung := cluster.Heads{Learning: 1 << 32}
	writer.Ring(rung)
	until(t, "one line says that there is no server", func() bool { return said.count("is not connected") == 2 })
	if ok, detail := follower.Status(); ok || !strings.Contains(detail, "not connected to nats://") || !strings.Contains(detail, " since ") {
		t.Error(detail)
	}
	var slowest time.Duration
	for round := range 20 {
		begun := time.Now()
		server.Start()
		if !hears.hears(rung, wait) {
			t.Fatalf("round %d: what was rung meanwhile is not heard", round)
		}
		slowest = max(slowest, time.Since(begun))
		until(t, "connected", func() bool { return connected(writer)() && connected(follower)() })
		rung.Operational++
		writer.Ring(rung)
		if !hears.hears(rung, wait) {
			t.Fatalf("round %d: the bell is not heard", round)
		}
		server.Kill()
		server.Wipe()
		until(t, "gone", func() bool { return !connected(writer)() && !connected(follower)() })
		rung.Operational++
		writer.Ring(rung)
	}
	t.Logf("20 times killed and wiped; heard again at most %v after the start", slowest.Round(time.Millisecond))
	if n := said.count("is not connected"); n != 2*21 {
		t.Errorf("%d lines say that there is no connection", n)
	}
}

// TestBellSilentServer: one that takes connections and says nothing keeps nobody waiting, and one that stops talking is left.
func TestBellSilentServer(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	var taken []net.Conn
	go func() {
		for {
			conn, err := silent.Accept()
			if err != nil {
				return
			}
			taken = append(taken, conn) // and nothing more
		}
	}()
	var said log
	begun := time.Now()
	mute := open(t, "nats://"+silent.Addr().String(), "here", &said)
	for i := range int64(1000) {
		mute.Ring(cluster.Heads{Learning: i})
	}
	if took := time.Since(begun); took > time.Second {
		t.Errorf("a silent server was waited for: %v", took)
	}
	until(t, "it is said", func() bool { return said.count("is not connected") == 1 })
	begun = time.Now()
	if err := mute.Close(); err != nil || time.Since(begun) > wait/2 {
		t.Errorf("closed after %v: %v", time.Since(begun), err)
	}

	server := natstest.PrivateNATS(t)
	writer, follower := open(t, server.Address, "here", &said), open(t, server.Address, "here", &said)
	hears := listen(t, follower)
	until(t, "connected", func() bool { return connected(writer)() && connected(follower)() })
	server.Signal(syscall.SIGSTOP)
	begun = time.Now()
	rung := cluster.Heads{Learning: 1}
	for ; connected(writer)() || connected(follower)(); <-time.After(5 * time.Millisecond) {
		rung.Learning++
		writer.Ring(rung)
		if time.Since(begun) > wait {
			t.Fatal("a server that hangs is taken for one that answers")
		}
	}
	t.Logf("a server that hangs is noticed after %v", time.Since(begun).Round(10*time.Millisecond))
	server.Signal(syscall.SIGCONT)
	if !hears.hears(rung, wait) {
		t.Error("the bell is not heard again")
	}
}

// TestBellWithoutJetStream: a server without streams bears the bell all the same, and that is said once.
func TestBellWithoutJetStream(t *testing.T) {
	server := natstest.PrivateNATS(t, "-m", "-1")
	var said log
	writer, follower := open(t, server.Address, "here", &said), open(t, server.Address, "here", &said)
	hears := listen(t, follower)
	until(t, "it is said", func() bool { return said.count("no stream") == 2 })
	rung := cluster.Heads{Learning: 1}
	writer.Ring(rung)
	if !hears.hears(rung, wait) {
		t.Error("the bell is not heard")
	}
	if ok, detail := writer.Status(); !ok || !strings.Contains(detail, "without JetStream") {
		t.Error(detail)
	}
	server.Kill()
	until(t, "gone", func() bool { return !connected(writer)() && !connected(follower)() })
	server.Start("-m", "-1")
	until(t, "back", func() bool { return connected(writer)() && connected(follower)() })
	rung.Learning++
	writer.Ring(rung)
	if !hears.hears(rung, wait) || said.count("no stream") != 2 {
		t.Errorf("after a restart; it was said %d times", said.count("no stream"))
	}
}

// TestBellPassword: a server that wants a password gets it, and is asked for no more than docs/operations.md says that the user needs; no line and no page
// shows the password.
func TestBellPassword(t *testing.T) {
	dir := t.TempDir()
	rights := filepath.Join(dir, "conf")
	if err := os.WriteFile(rights, []byte(`jetstream { store_dir: "`+dir+`" }
authorization { users = [ { user: bell, password: s3cret, permissions: {
	publish: ["sr.*.head", "$JS.API.>"], subscribe: ["sr.*.head", "_INBOX.>"] } } ] }`), 0o600); err != nil {
		t.Fatal(err)
	}
	server := natstest.PrivateNATS(t, "-c", rights)
	var said log
	as := func(user string) string { return strings.Replace(server.Address, "nats://", "nats://"+user+"@", 1) }
	refused, writer := open(t, as("bell:wr0ng"), "here", &said), open(t, as("bell:s3cret"), "here", &said)
	until(t, "connected", connected(writer))
	until(t, "refused", func() bool { return said.count("is not connected") == 1 })
	until(t, "it has its stream", func() bool { _, detail := writer.Status(); return !strings.Contains(detail, "without") })
	writer.Ring(cluster.Heads{Learning: 1})
	follower := open(t, as("bell:s3cret"), "here", &said)
	if !listen(t, follower).hears(cluster.Heads{Learning: 1}, wait) {
		t.Error("a user with few rights does not hear the bell")
	}
	_, detail := refused.Status()
	if _, other := writer.Status(); strings.Contains(detail+other, "s3cret") || strings.Contains(detail, "wr0ng") || !strings.Contains(strings.ToLower(detail), "authorization") || said.count("wr0ng")+said.count("s3cret") > 0 {
		t.Errorf("%s; %s", detail, other)
	}
	for _, bad := range []string{"", "127.0.0.1:4222", "http://127.0.0.1", "nats://"} {
		if _, err := nats.Open(t.Context(), nats.Options{Address: bad, Now: time.Now, Log: slog.New(slog.DiscardHandler)}); errs.CodeOf(err) != errs.Invalid {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestBellTLS: a server by TLS is believed by the authorities that were named, and no other; nats+tls never speaks in the clear.
func TestBellTLS(t *testing.T) {
	made := httptest.NewUnstartedServer(nil) // for its certificate, which is of 127.0.0.1
	made.StartTLS()
	defer made.Close()
	key, err := x509.MarshalPKCS8PrivateKey(made.TLS.Certificates[0].PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, block := range map[string]*pem.Block{"crt": {Type: "CERTIFICATE", Bytes: made.Certificate().Raw}, "key": {Type: "PRIVATE KEY", Bytes: key}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	secured, plain := natstest.PrivateNATS(t, "--tls", "--tlscert", filepath.Join(dir, "crt"), "--tlskey", filepath.Join(dir, "key")), natstest.PrivateNATS(t)
	trust, err := routerclient.Trust{CA: filepath.Join(dir, "crt")}.Config()
	if err != nil {
		t.Fatal(err)
	}
	var said log
	byTLS := func(s *natstest.NATS) string { return strings.Replace(s.Address, "nats://", "nats+tls://", 1) }
	writer, follower := openTrusting(t, trust, byTLS(secured), "here", &said), openTrusting(t, trust, secured.Address, "here", &said)
	until(t, "connected", connected(writer)) // what is rung before is rung to nobody
	hears := listen(t, follower)
	writer.Ring(cluster.Heads{Learning: 1})
	if !hears.hears(cluster.Heads{Learning: 1}, wait) {
		t.Error("the bell is not heard over TLS")
	}
	for what, refused := range map[string]*nats.Bell{
		"unknown authority": open(t, byTLS(secured), "here", &said), "secure connection not available": openTrusting(t, trust, byTLS(plain), "here", &said),
	} {
		until(t, "refused: "+what, func() bool { _, detail := refused.Status(); return strings.Contains(detail, what) })
	}
}

// TestBellCloses: nothing of a bell is left after it was closed, whatever its server does.
func TestBellCloses(t *testing.T) {
	server := natstest.PrivateNATS(t)
	before := goleak.IgnoreCurrent()
	var said log
	there, gone := open(t, server.Address, "here", &said), open(t, "nats://127.0.0.1:1", "here", &said)
	until(t, "connected", connected(there))
	until(t, "refused", func() bool { return said.count("is not connected") == 1 })
	there.Ring(cluster.Heads{Learning: 1})
	if err := errors.Join(there.Close(), gone.Close()); err != nil {
		t.Error(err)
	}
	if err := goleak.Find(before); err != nil {
		t.Error(err)
	}
	if said.count("is not connected") != 1 {
		t.Error("a bell that was closed complains that it is not connected")
	}
}

// measure rings a bell so often a second, for a time, and returns how long each ring took to be heard.
func measure(t testing.TB, rung, heard cluster.Bell, from int64, rate int, lasting time.Duration) (took []time.Duration, err error) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var mu sync.Mutex
	var at []time.Time // of the rings
	all := make(chan struct{})
	total := max(1, int(lasting.Seconds()*float64(rate)))
	var listens sync.WaitGroup
	listens.Go(func() {
		_ = heard.Run(ctx, func(h cluster.Heads) {
			now := time.Now()
			mu.Lock()
			defer mu.Unlock()
			for ; len(took) < len(at) && int64(len(took)) < h.Learning-from; took = append(took, now.Sub(at[len(took)])) {
			}
			if len(took) == total {
				close(all)
			}
		})
	})
	begun := time.Now()
	for i := range total {
		if next := begun.Add(time.Duration(i) * time.Second / time.Duration(rate)); time.Until(next) > 0 {
			<-time.After(time.Until(next))
		}
		mu.Lock()
		at = append(at, time.Now())
		mu.Unlock()
		rung.Ring(cluster.Heads{Learning: from + int64(i) + 1})
	}
	late := time.After(wait / 4)
	select {
	case <-all:
	case <-late:
		mu.Lock()
		err = fmt.Errorf("of %d rings %d were heard", total, len(took))
		mu.Unlock()
	}
	stop()
	listens.Wait()
	slices.Sort(took)
	return took, err
}

// TestBellLatency measures how long a ring takes to be heard: SKILLROUTER_TEST_ROUNDS says for how many seconds at each rate.
func TestBellLatency(t *testing.T) {
	server := natstest.NewNATS(t)
	seconds, _ := strconv.Atoi(os.Getenv("SKILLROUTER_TEST_ROUNDS"))
	var said log
	database := t.Name() + strconv.FormatInt(time.Now().UnixNano(), 10)
	writer, follower := open(t, server.Address, database, &said), open(t, server.Address, database, &said)
	until(t, "connected", func() bool { return connected(writer)() && connected(follower)() })
	for i, rate := range []int{1, 200, 5000, 10_000} {
		sent, _ := writer.Counts()
		begun := time.Now()
		took, err := measure(t, writer, follower, int64(i+1)<<32, rate, time.Duration(max(1, seconds))*time.Second)
		if err != nil {
			t.Errorf("%d a second: %v", rate, err)
			continue
		}
		now, _ := writer.Counts()
		percentile := func(p int) time.Duration { return took[(len(took)-1)*p/100].Round(10 * time.Microsecond) }
		t.Logf("%d rings a second: %d rings, %d messages; p50 %v, p99 %v, longest %v", rate, len(took), now-sent, percentile(50), percentile(99), took[len(took)-1].Round(10*time.Microsecond))
		if most := time.Since(begun)/(5*time.Millisecond) + 2; now-sent > int64(most) {
			t.Errorf("%d a second: %d messages, and %d were to be the most", rate, now-sent, most)
		}
	}
	if _, err := measure(t, cluster.NoBell{}, follower, 9<<32, 200, time.Second); err == nil { // the negative control
		t.Error("a bell that never rings is heard")
	}
}
