package app_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/cmd/app"
	"github.com/skillrouter/skillrouter/cmd/app/nats"
	"github.com/skillrouter/skillrouter/cmd/app/nats/natstest"
	"github.com/skillrouter/skillrouter/cmd/config"
	"github.com/skillrouter/skillrouter/cmd/hook/offline"
	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/internal/committer"
	"github.com/skillrouter/skillrouter/internal/database"
	"github.com/skillrouter/skillrouter/internal/database/databasetest"
	"github.com/skillrouter/skillrouter/internal/database/postgres"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/router/cluster"
)

const (
	// clusterNodes is how many nodes the tests' cluster has.
	clusterNodes = 3
	// clusterRounds is how often each fault is made; SKILLROUTER_TEST_ROUNDS says otherwise.
	clusterRounds = 2
	// patience is how long a caller waits for an answer before it asks another node.
	patience = 3 * time.Second
	// lookAgain is how often a test asks again.
	lookAgain = 20 * time.Millisecond
	// takeover is how long a cluster is waited for that has no writer. It is written down how long it was; a busy machine is no fault.
	takeover = startTime
)

// wire is the way from one node to the database, which can be cut: what is sent then arrives nowhere, and nobody is told.
type wire struct {
	listener net.Listener
	mu       sync.Mutex
	cut      bool
	network  string
	address  string // where it leads; empty: nowhere
	mended   *sync.Cond
}

func newWire(t *testing.T, network, address string) *wire {
	t.Helper()
	w := &wire{network: network, address: address}
	w.mended = sync.NewCond(&w.mu)
	var err error
	if w.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.listener.Close(); w.set(false) })
	go func() {
		for {
			near, err := w.listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer near.Close()
				w.pass()
				far, err := w.dial()
				if err != nil {
					return
				}
				go w.carry(near, far)
				w.carry(far, near)
			}()
		}
	}()
	return w
}

// wireTo is a wire to a database, and the address by which it is reached over it.
func wireTo(t *testing.T, database string) (*wire, string) {
	t.Helper()
	address, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	query := address.Query()
	host, port := query.Get("host"), "5432"
	if host == "" {
		host = address.Hostname()
	}
	if p := query.Get("port") + address.Port(); p != "" {
		port = p
	}
	network, at := "tcp", net.JoinHostPort(host, port)
	if strings.HasPrefix(host, "/") {
		network, at = "unix", filepath.Join(host, ".s.PGSQL."+port)
	}
	w := newWire(t, network, at)
	host, port, _ = net.SplitHostPort(w.listener.Addr().String())
	query.Set("host", host)
	query.Set("port", port)
	query.Set("sslmode", "disable")
	address.RawQuery = query.Encode()
	return w, address.String()
}

// pass waits until the wire carries.
func (w *wire) pass() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.cut {
		w.mended.Wait()
	}
}

// dial connects to where the wire leads.
func (w *wire) dial() (net.Conn, error) {
	network, address := w.leads()
	return net.Dial(network, address)
}

// leads is where the wire leads.
func (w *wire) leads() (network, address string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.network, w.address
}

// lead has the wire lead elsewhere.
func (w *wire) lead(network, address string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.network, w.address = network, address
}

func (w *wire) set(cut bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = cut
	w.mended.Broadcast()
}

func (w *wire) carry(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	text := make([]byte, 32<<10)
	for {
		n, err := from.Read(text)
		w.pass()
		if n > 0 {
			if _, err := to.Write(text[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// team is a cluster of routers in processes of their own.
type team struct {
	t         *testing.T
	program   string
	secret    string
	token     string
	home      string // the folder that the database belongs to, for tests
	data      []string
	wires     []*wire  // to the database
	ways      []*wire  // by which the others reach each node
	databases []string // as each node reaches the database, over its wire
	fact      atomic.Int64
	mu        sync.Mutex
	nodes     []*process
}

// secretOf is the file of a cluster's secret.
func secretOf(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte(strings.Repeat("s3cret-", 8)), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// startTeam starts the nodes of a cluster, and waits until one writes.
func startTeam(t *testing.T, program string) *team {
	t.Helper()
	c := &team{t: t, program: program, secret: secretOf(t), home: t.TempDir(), nodes: make([]*process, clusterNodes)}
	for range clusterNodes {
		w, address := wireTo(t, databasetest.Address(t, c.home))
		c.data, c.wires, c.databases, c.ways = append(c.data, t.TempDir()), append(c.wires, w), append(c.databases, address), append(c.ways, newWire(t, "tcp", ""))
	}
	for i := range clusterNodes {
		c.begin(i)
	}
	var err error
	if c.token, err = locate.ReadOwnerToken(c.data[0]); err != nil {
		t.Fatal(err)
	}
	for i := range c.nodes {
		c.nodes[i].token = c.token
	}
	if c.awaitWriter(-1, startTime) < 0 {
		t.Fatalf("no node writes\n%s", c)
	}
	return c
}

// begin starts a node.
func (c *team) begin(i int) {
	c.t.Helper()
	p := startWith(c.t, &process{token: c.token}, c.program, c.data[i], "--node", fmt.Sprint("n", i), "--cluster-secret-file", c.secret, "--database", c.databases[i], "--nats", os.Getenv("SKILLROUTER_TEST_NATS"), "--node-url", "http://"+c.ways[i].listener.Addr().String())
	c.ways[i].lead("tcp", strings.TrimPrefix(p.url, "http://"))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.nodes[i] = p
}

func (c *team) node(i int) *process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nodes[i]
}

// String is what the nodes wrote to their logs.
func (c *team) String() string {
	var out strings.Builder
	for i := range c.nodes {
		fmt.Fprintf(&out, "-- n%d\n%s", i, c.node(i).stderr)
	}
	return out.String()
}

// awaitWriter waits until a node other than not writes, and returns its place; -1: none does.
func (c *team) awaitWriter(not int, atMost time.Duration) int {
	deadline := time.Now().Add(atMost)
	for look := time.NewTicker(lookAgain); time.Now().Before(deadline); <-look.C {
		for i := range c.nodes {
			if i == not {
				continue
			}
			ctx, cancel := context.WithTimeout(c.t.Context(), patience)
			status, text, err := c.node(i).get(ctx, "/metrics")
			cancel()
			if err == nil && status == http.StatusOK && strings.Contains(string(text), "\nskillrouter_node_writes 1\n") {
				return i
			}
		}
	}
	return -1
}

// ask makes a call at any node. A refused one was not begun, or got no answer that says what became of it.
func (c *team) ask(ctx context.Context, method, path string, body any) (status int, raw []byte, refused bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	status, raw, err = c.node(mathrand.IntN(clusterNodes)).call(ctx, method, path, body)
	return status, raw, err != nil || status == http.StatusServiceUnavailable || status == http.StatusBadGateway, err
}

// load writes through any node until ctx ends. What is refused or unanswered is asked for again, at another node; messages with the
// same key.
func (c *team) load(ctx context.Context, stored *acknowledged, last *atomic.Int64, faults chan<- string) {
	for n := mathrand.Int64(); ctx.Err() == nil; n++ {
		w := writers[mathrand.IntN(len(writers))]
		body := w.body(n)
		if w.table == "messages" {
			body["idempotency_key"] = fmt.Sprint("key-", n)
		}
		for ctx.Err() == nil {
			status, raw, refused, _ := c.ask(context.WithoutCancel(ctx), http.MethodPost, w.path, body)
			if refused {
				if status == http.StatusBadGateway && !strings.Contains(string(raw), "outcome_unknown") {
					faults <- fmt.Sprintf("%s answered %d %s", w.path, status, raw)
				}
				if w.table == "messages" {
					continue
				}
				break
			}
			var answer map[string]any
			if status/100 != 2 || json.Unmarshal(raw, &answer) != nil {
				faults <- fmt.Sprintf("%s answered %d %s", w.path, status, raw)
				return
			}
			id, _ := answer[w.id].(string)
			seq, _ := answer["seq"].(float64)
			stored.add(w.table, id, int64(seq))
			last.Store(time.Now().UnixNano())
			break
		}
	}
}

// step is one operation on the fact that several callers change by compare-and-set. Each writes values of its own, so that a version
// and its value stand for each other.
type step struct {
	Fact     int64
	Write    bool
	If, Then string // a write's: the value that it replaces, and the one that it puts there
}

// came is what an operation answered.
type came struct {
	Value   string // a read's
	Done    bool   // a write's: it replaced the value
	Unknown bool   // no answer came
}

// register is how a fact behaves that is one thing in one place (https://github.com/anishathalye/porcupine).
var register = (&porcupine.NondeterministicModel{
	Partition: func(history []porcupine.Operation) (facts [][]porcupine.Operation) {
		place := map[int64]int{}
		for _, o := range history {
			fact := o.Input.(step).Fact
			if _, ok := place[fact]; !ok {
				place[fact] = len(facts)
				facts = append(facts, nil)
			}
			facts[place[fact]] = append(facts[place[fact]], o)
		}
		return facts
	},
	Init: func() []any { return []any{""} },
	Step: func(state, input, output any) []any {
		in, out := input.(step), output.(came)
		switch replaces := state == in.If; {
		case !in.Write && state == out.Value, in.Write && !out.Done && !out.Unknown && !replaces:
			return []any{state}
		case in.Write && out.Done && replaces:
			return []any{in.Then}
		case in.Write && out.Unknown && replaces:
			return []any{state, in.Then}
		case in.Write && out.Unknown:
			return []any{state}
		}
		return nil
	},
}).ToModel()

// roundsOfFact is after how many faults another fact is changed: what got no answer may happen whenever, and a history with many of these cannot be checked.
const roundsOfFact = 8

// contend changes a fact by compare-and-set through any node until ctx ends: the one that c.fact names. It adds what it did
// to history; what is refused as not begun has not happened.
func (c *team) contend(ctx context.Context, client int, history *[]porcupine.Operation, mu *sync.Mutex, said chan<- string) {
	var fact struct {
		Version int64           `json:"version"`
		Value   json.RawMessage `json:"value"`
	}
	do := func(method, path string, body any) (from, to int64, status int, raw []byte, err error) {
		from = time.Now().UnixNano()
		status, raw, _, err = c.ask(context.WithoutCancel(ctx), method, path, body)
		return from, time.Now().UnixNano(), status, raw, err
	}
	add := func(o porcupine.Operation) {
		mu.Lock()
		defer mu.Unlock()
		o.ClientId = client
		*history = append(*history, o)
	}
	for n := 0; ctx.Err() == nil; n++ {
		<-time.After(mathrand.N(2 * lookAgain))
		number := c.fact.Load()
		path := fmt.Sprint("/api/facts/default/register-", number)
		from, to, status, raw, err := do(http.MethodGet, path, nil)
		var value string
		switch {
		case err == nil && status == http.StatusOK && json.Unmarshal(raw, &fact) == nil && json.Unmarshal(fact.Value, &value) == nil:
		case err == nil && status == http.StatusNotFound:
			fact.Version = 0
		case err != nil || status == http.StatusServiceUnavailable:
			<-time.After(lookAgain)
			continue
		default:
			said <- fmt.Sprintf("reading the fact answered %d %s", status, raw)
			return
		}
		add(porcupine.Operation{Input: step{Fact: number}, Output: came{Value: value}, Call: from, Return: to})
		next := fmt.Sprintf("%d-%d", client, n)
		from, to, status, raw, err = do(http.MethodPut, path, map[string]any{"value": next, "ttl": 0, "if_version": fact.Version})
		out := came{Done: status/100 == 2 && err == nil, Unknown: err != nil || status == http.StatusBadGateway}
		switch {
		case out.Unknown:
			to = math.MaxInt64 // it may happen whenever
		case status == http.StatusServiceUnavailable:
			continue
		case !out.Done && status != http.StatusConflict:
			said <- fmt.Sprintf("writing the fact answered %d %s", status, raw)
			return
		}
		add(porcupine.Operation{Input: step{Fact: number, Write: true, If: value, Then: next}, Output: out, Call: from, Return: to})
	}
}

// fault is what happens to the node that writes, and how it ends.
type fault struct {
	name       string
	begin, end func(c *team, i int)
}

var clusterFaults = []fault{
	{"killed", func(c *team, i int) { c.node(i).kill() }, func(c *team, i int) { c.begin(i) }},
	{"restarted", func(c *team, i int) {
		_ = c.node(i).cmd.Process.Signal(syscall.SIGTERM)
		err := <-c.node(i).ended
		c.node(i).ended <- err
	}, func(c *team, i int) { c.begin(i) }},
	{
		"stopped in its tracks", func(c *team, i int) { _ = c.node(i).cmd.Process.Signal(syscall.SIGSTOP) },
		func(c *team, i int) { _ = c.node(i).cmd.Process.Signal(syscall.SIGCONT) },
	},
	{"cut from the database", func(c *team, i int) { c.wires[i].set(true) }, func(c *team, i int) { c.wires[i].set(false) }},
	{"cut from the other nodes", func(c *team, i int) { c.ways[i].set(true) }, func(c *team, i int) { c.ways[i].set(false) }},
}

// disturb makes rounds of faults under load, and returns what was wrong, and how long nothing was acknowledged in each round.
func disturb(t *testing.T, program string, rounds int, kinds []fault) (faults []string, pauses map[string][]time.Duration) {
	c := startTeam(t, program)
	for i := range c.nodes { // each machine's hooks have rules to judge by while nobody writes
		for deadline := time.Now().Add(startTime); ; <-time.After(lookAgain) {
			rules, err := offline.Read(c.data[i])
			if err == nil && rules.Router == c.node(i).url {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("n%d has no copy of the guard's rules: %v", i, err)
			}
		}
	}
	stored := &acknowledged{ids: map[string][]string{}, signals: map[string]int64{}}
	reader := newReader("reader")
	reader.token = c.token
	reader.at(c.node(0).url)
	following, stopFollowing := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { reader.follow(following) })
	ctx, stop := context.WithCancel(t.Context())
	var last atomic.Int64
	said := make(chan string, 1000)
	var load sync.WaitGroup
	for range 8 {
		load.Go(func() { c.load(ctx, stored, &last, said) })
	}
	var history []porcupine.Operation
	var recording sync.Mutex
	for client := range 4 {
		load.Go(func() { c.contend(ctx, client, &history, &recording, said) })
	}
	reminded := []string{"reader"} // several: a mailbox takes 2,500 messages that its agent has not acknowledged
	for k := range 7 {
		reminded = append(reminded, fmt.Sprint("reminded-", k))
	}
	happens := &once{reminders: &scheduled{agents: reminded, signal: map[string]int64{}, sent: map[string]bool{}}, claimed: map[string]string{}}
	happens.run(ctx, t, c, &load)
	pauses = map[string][]time.Duration{}
	for round := range rounds * len(kinds) {
		kind := kinds[round%len(kinds)]
		c.fact.Store(int64(round / roundsOfFact))
		<-time.After(shortestRound + mathrand.N(longestRound-shortestRound))
		at := c.awaitWriter(-1, takeover)
		if at < 0 {
			t.Fatalf("round %d: nobody writes\n%s", round, c)
		}
		begun := time.Now()
		kind.begin(c, at)
		next := c.awaitWriter(at, startTime)
		taken := time.Now() // what was on its way may still come before
		if next < 0 {
			t.Fatalf("round %d: %s, and nobody took over\n%s", round, kind.name, c)
		}
		for look := time.NewTicker(5 * time.Millisecond); last.Load() < taken.UnixNano(); <-look.C {
			if time.Since(begun) > startTime {
				t.Fatalf("round %d: nothing is acknowledged\n%s", round, c)
			}
		}
		t.Logf("round %d at %v: n%d %s, n%d writes", round, begun.UTC().Format("05.000"), at, kind.name, next)
		pauses[kind.name] = append(pauses[kind.name], time.Unix(0, last.Load()).Sub(begun))
		reader.at(c.node(next).url)
		<-time.After(mathrand.N(time.Second))
		kind.end(c, at)
		reader.at(c.node(mathrand.IntN(clusterNodes)).url)
	}
	stop()
	load.Wait()
	close(said)
	for one := range said {
		faults = append(faults, one)
	}
	if result := porcupine.CheckOperationsTimeout(register, history, time.Minute); result == porcupine.Illegal {
		faults = append(faults, "the fact did not change as one thing in one place does")
	} else if result == porcupine.Unknown {
		t.Error("the history of the fact is too long to be checked")
	}
	t.Logf("%d operations on the fact", len(history))
	writer := c.awaitWriter(-1, takeover)
	if writer < 0 {
		t.Fatalf("nobody writes at the end\n%s", c)
	}
	reader.at(c.node(writer).url)
	var status int
	var raw []byte
	var err error
	for deadline := time.Now().Add(startTime); time.Now().Before(deadline); <-time.After(lookAgain) { // the others may not know yet who writes
		status, raw, err = c.node((writer+1)%clusterNodes).post(t.Context(), "/signal", map[string]any{"from_agent_id": "captain", "to_agent_id": "reader", "signal": "last", "idempotency_key": "last"})
		if status != http.StatusServiceUnavailable {
			break
		}
	}
	if err != nil || status != http.StatusOK {
		t.Fatalf("%d %s %v", status, raw, err)
	}
	if !reader.waitFor(t.Context(), "last", startTime) {
		faults = append(faults, "the reader did not get the last message")
	}
	stopFollowing()
	faults = append(faults, check(t, c.home, stored)...)
	faults = append(faults, searchable(t, c.node(writer), stored)...)
	// A call that nobody waits for any more, such as one to the node that was stopped in its tracks, may be stored after the last message.
	log := messagesIn(t, c.home)
	reader.mu.Lock()
	if n := len(reader.got); n > 0 {
		log = log[:slices.Index(log, reader.got[n-1].id)+1]
	}
	reader.mu.Unlock()
	faults = append(faults, reader.compare(log, stored)...)
	faults = append(faults, gaps(t, c.home)...)
	faults = append(faults, happens.missed(t, c, writer)...)
	// What was acknowledged and is not there, or is doubled, would be noticed.
	lost := &acknowledged{ids: map[string][]string{"tasks": {"01a1ffc1-0000-7000-8000-000000000000"}}, signals: map[string]int64{"01a1ffc1-0000-7000-8000-000000000001": 1}}
	if len(check(t, c.home, lost)) == 0 || len(reader.compare(messagesIn(t, c.home), lost)) == 0 {
		faults = append(faults, "what was never stored is not missed")
	}
	// The chains of events would fork if two had written at once.
	status, raw, err = c.node(writer).get(t.Context(), "/api/doctor")
	if err != nil || status != http.StatusOK || !strings.Contains(string(raw), "are as they were stored") {
		faults = append(faults, fmt.Sprintf("doctor says %d %s %v", status, raw, err))
	}
	for _, w := range writers {
		t.Logf("acknowledged %s: %d", w.table, len(stored.ids[w.table]))
	}
	running.Wait()
	return faults, pauses
}

// TestCluster has the node that writes killed, stopped in its tracks and cut from the database, under load through all nodes. Another
// takes over in time, what was acknowledged is there once and in its order, and what comes back stands by.
func TestCluster(t *testing.T) {
	databasetest.ServerOnly(t)
	faults, pauses := disturb(t, program(t, buildProgram), roundsOr(clusterRounds), clusterFaults)
	for _, fault := range faults {
		t.Error(fault)
	}
	for name, all := range pauses {
		slices.Sort(all)
		t.Logf("%s %d times: nothing acknowledged for %v (median), %v (99 %%), %v (longest)", name, len(all), all[len(all)/2], all[len(all)*99/100], all[len(all)-1])
	}
}

// TestClusterNoticesEarlyAcknowledgement is the negative control.
func TestClusterNoticesEarlyAcknowledgement(t *testing.T) {
	databasetest.ServerOnly(t)
	wrong := program(t, buildAckEarly)
	noticed(t, func() []string {
		faults, _ := disturb(t, wrong, 3, clusterFaults[:1])
		return faults
	})
}

// TestRegisterRefuses is the negative control of the model: an old value, and two that replaced the same one, are no history of one fact.
func TestRegisterRefuses(t *testing.T) {
	write := func(from, to int64, replaces, then string) porcupine.Operation {
		return porcupine.Operation{Input: step{Write: true, If: replaces, Then: then}, Output: came{Done: true}, Call: from, Return: to}
	}
	read := func(from, to int64, value string) porcupine.Operation {
		return porcupine.Operation{Input: step{}, Output: came{Value: value}, Call: from, Return: to}
	}
	for name, test := range map[string]struct {
		history []porcupine.Operation
		fits    bool
	}{
		"in order":            {[]porcupine.Operation{write(1, 2, "", "a"), read(3, 4, "a"), write(5, 6, "a", "b"), read(5, 7, "a")}, true},
		"an old value":        {[]porcupine.Operation{write(1, 2, "", "a"), write(3, 4, "a", "b"), read(5, 6, "a")}, false},
		"replaced two times":  {[]porcupine.Operation{write(1, 2, "", "a"), write(3, 6, "a", "b"), write(4, 7, "a", "c")}, false},
		"a value out of none": {[]porcupine.Operation{write(1, 2, "", "a"), read(3, 4, "x")}, false},
	} {
		if porcupine.CheckOperations(register, test.history) != test.fits {
			t.Errorf("%s: fits %t", name, !test.fits)
		}
	}
}

// runningThrough runs a router. With SKILLROUTER_TEST_THROUGH=node, on PostgreSQL, through is the address of another node of its cluster, which
// hands each call to it.
func runningThrough(t *testing.T, cfg config.Config, options app.Options) (a *app.App, stop func(), through string) {
	t.Helper()
	if !databasetest.OnPostgres() || os.Getenv("SKILLROUTER_TEST_THROUGH") != "node" {
		a, stop = runningAs(t, cfg, options)
		return a, stop, ""
	}
	cfg.ClusterSecretFile = secretOf(t)
	cfg.Node = "writer"
	a, stop = runningAs(t, cfg, options)
	for deadline := time.Now().Add(startTime); a.Handler() == nil; <-time.After(lookAgain) {
		if time.Now().After(deadline) {
			t.Fatal("it does not write")
		}
	}
	cfg.Node, cfg.Data, cfg.Listeners = "other", t.TempDir(), config.Listeners{}
	other, _ := runningAs(t, cfg, options)
	for deadline := time.Now().Add(startTime); ; <-time.After(lookAgain) {
		answer, err := http.Get(other.URL() + "/health")
		if err == nil {
			_ = answer.Body.Close()
		}
		if err == nil && answer.StatusCode == http.StatusOK && answer.Header.Get("Skillrouter-Node") == "other" && other.Follows() {
			return a, stop, other.URL()
		}
		if time.Now().After(deadline) {
			t.Fatalf("it is not reached through another node: %v", err)
		}
	}
}

// TestClusterBell: a node that writes rings how far both databases are, once it may write and after each commit, and says how its bell is.
func TestClusterBell(t *testing.T) {
	databasetest.ServerOnly(t)
	server := natstest.NewNATS(t)
	cfg := settings(t)
	cfg.ClusterSecretFile = filepath.Join(t.TempDir(), "secret")
	secret := strings.Repeat("s3cret-", 8)
	if err := os.WriteFile(cfg.ClusterSecretFile, []byte(secret), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg.Node, cfg.NATS = "writer", server.Address
	database, err := postgres.Parse(cfg.Database)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := runningAs(t, cfg, app.Options{})
	id, err := database.ID(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other, err := nats.Open(t.Context(), nats.Options{Address: server.Address, Secret: cluster.Secret(secret), Database: id, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	var heard atomic.Pointer[cluster.Heads]
	heard.Store(&cluster.Heads{})
	go func() { _ = other.Run(t.Context(), func(h cluster.Heads) { heard.Store(&h) }) }()
	learned, operated := databasetest.Look(t, cfg.Data, "learning"), databasetest.Look(t, cfg.Data, "operational")
	defer learned.Close()
	defer operated.Close()
	agrees := func(what string) cluster.Heads {
		t.Helper()
		for deadline := time.Now().Add(startTime); ; <-time.After(lookAgain) {
			const query = "SELECT seq FROM heads WHERE log = 'commits'"
			want := cluster.Heads{Learning: column[int64](t, learned, query)[0], Operational: column[int64](t, operated, query)[0]}
			if *heard.Load() == want {
				return want
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s: %v was rung, and the databases are at %v", what, *heard.Load(), want)
			}
		}
	}
	for deadline := time.Now().Add(startTime); a.Handler() == nil; <-time.After(lookAgain) {
		if time.Now().After(deadline) {
			t.Fatal("it does not write")
		}
	}
	begun := agrees("at the start")
	token, err := locate.ReadOwnerToken(cfg.Data)
	if err != nil {
		t.Fatal(err)
	}
	as := http.Header{"Authorization": {"Bearer " + token}}
	if status, said := ask(t, http.MethodPost, a.URL()+"/api/knowledge", `{"title":"PATCH not PUT","content":"PUT replaces the whole resource","category":"gotcha"}`, as); status != http.StatusCreated {
		t.Fatalf("%d %v", status, said)
	}
	if now := agrees("after a write"); now.Learning <= begun.Learning || now.Learning>>32 != begun.Learning>>32 {
		t.Errorf("%v after %v", now, begun)
	}
	registry := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, a.URL()+"/metrics", nil)
	r.Header = as
	a.Handler().ServeHTTP(registry, r)
	if text := registry.Body.String(); !regexp.MustCompile(`\nskillrouter_node_bell_rung_total [1-9]`).MatchString(text) || !strings.Contains(text, "\nskillrouter_node_bell_heard_total 0\n") {
		t.Errorf("%d %.300s", registry.Code, text)
	}
	_, system := ask(t, http.MethodGet, a.URL()+"/api/doctor", "", as)
	if said := fmt.Sprint(system); !strings.Contains(said, "connected to "+server.Address) {
		t.Error(said)
	}
}

// TestOpenedWriterIsFenced: who opens a database after another keeps that one from writing, at once and for good.
func TestOpenedWriterIsFenced(t *testing.T) {
	databasetest.ServerOnly(t)
	dir := t.TempDir()
	write := func(db *database.DB) error {
		return db.Commit.Write(t.Context(), func(tx *gorm.DB) error {
			return tx.Exec("INSERT INTO marks (agent_id, kind, seq, at) VALUES (?, 'read', 1, 1)", rand.Text()).Error
		}, nil)
	}
	open := func() *database.DB {
		db, err := databasetest.OpenIn(t, dir, "operational", time.Now, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		go func() { _ = db.Commit.Run(t.Context()) }()
		return db
	}
	first := open()
	if err := write(first); err != nil {
		t.Fatal(err)
	}
	second := open()
	if err := write(first); errs.CodeOf(err) != errs.Unavailable || !errors.Is(err, committer.ErrFenced) {
		t.Errorf("the first: %v", err)
	}
	if err := write(first); errs.CodeOf(err) != errs.Unavailable {
		t.Errorf("the first, asked again: %v", err)
	}
	if err := write(second); err != nil {
		t.Errorf("the second does not write: %v", err)
	}
	db := databasetest.Look(t, dir, "operational")
	defer db.Close()
	if n := column[int64](t, db, "SELECT count(*) FROM marks"); n[0] != 2 {
		t.Errorf("%d rows", n[0])
	}
}
