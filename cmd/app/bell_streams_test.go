package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	mathrand "math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/skillrouter/skillrouter/cmd/app/nats/natstest"
	"github.com/skillrouter/skillrouter/internal/database/databasetest"
	"github.com/skillrouter/skillrouter/router/cluster"
	"github.com/skillrouter/skillrouter/scripts/soak/early"
)

const (
	// bellStreams is how many streams are open over the nodes; SKILLROUTER_TEST_STREAMS says otherwise.
	bellStreams = 60
	// bellSenders send messages, each after a pause of up to twice sendEvery: a load that leaves the machine time.
	bellSenders = 4
	sendEvery   = 10 * time.Millisecond
)

// span is a time in which the bell is there, or is not.
type span struct{ from, to time.Time }

// audience are the agents of a cluster whose streams are spread over its nodes, and what was sent to them.
type audience struct {
	team    *team
	readers []*reader
	writer  int // the node that writes

	mu     sync.Mutex
	stored []*acknowledged      // of each agent
	sent   map[string]time.Time // when the sender of a message had its answer
}

// read has agent k read its stream at its node, or at the next one when it ends, until ctx does.
func (a *audience) read(ctx context.Context, k int) {
	last := "0"
	for at := k; ctx.Err() == nil; at++ {
		last = a.readers[k].read(ctx, a.team.node(at%clusterNodes).url, last)
		select {
		case <-ctx.Done():
		case <-time.After(lookAgain):
		}
	}
}

// send sends agent k a message through any node, again with the same key until it is acknowledged, and returns what was wrong.
func (a *audience) send(ctx context.Context, k int, signal string) error {
	body := map[string]any{"from_agent_id": "captain", "to_agent_id": a.readers[k].agent, "signal": signal, "idempotency_key": fmt.Sprint("key-", mathrand.Uint64())}
	for {
		status, raw, refused, _ := a.team.ask(ctx, http.MethodPost, "/signal", body)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if refused {
			<-time.After(lookAgain)
			continue
		}
		var answer struct {
			ID  string `json:"message_id"`
			Seq int64  `json:"seq"`
		}
		if status/100 != 2 || json.Unmarshal(raw, &answer) != nil {
			return fmt.Errorf("a message to %s is answered %d %s", a.readers[k].agent, status, raw)
		}
		a.mu.Lock()
		a.sent[answer.ID] = time.Now()
		a.mu.Unlock()
		a.stored[k].add("messages", answer.ID, answer.Seq)
		return nil
	}
}

// heard is how many messages of the bell each node that follows has heeded.
func (a *audience) heard(t *testing.T) (counts []int) {
	t.Helper()
	for i := range clusterNodes {
		if i == a.writer {
			continue
		}
		_, text, err := a.team.node(i).get(t.Context(), "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(text), "\nskillrouter_node_bell_heard_total ")
		digits, _, _ := strings.Cut(rest, "\n")
		n, err := strconv.ParseFloat(digits, 64)
		if err != nil {
			t.Fatalf("there is no such figure in %.300s", text)
		}
		counts = append(counts, int(n))
	}
	return counts
}

// rings waits until every node that follows has heard the bell since before, and tells whether they did.
func (a *audience) rings(t *testing.T, before []int) bool {
	t.Helper()
	for deadline := time.Now().Add(startTime); time.Now().Before(deadline); <-time.After(lookAgain) {
		all := true
		for i, n := range a.heard(t) {
			all = all && n > before[i]
		}
		if all {
			return true
		}
	}
	return false
}

// late is how late messages were at the streams of nodes that follow, after their senders' answers, in order; of those alone that were answered in some spans.
func (a *audience) late(spans []span) (late []time.Duration) {
	for k, r := range a.readers {
		if k%clusterNodes == a.writer {
			continue
		}
		for _, m := range r.got {
			sent, ok := a.sent[m.id]
			if ok && slices.ContainsFunc(spans, func(s span) bool { return !sent.Before(s.from) && sent.Before(s.to) }) {
				late = append(late, max(0, m.at.Sub(sent)))
			}
		}
	}
	slices.Sort(late)
	return late
}

// listenToBell kills the NATS server of a cluster, removes what it has stored and starts it again, while messages flow to streams at all nodes,
// and returns what was wrong: messages that are lost, doubled or in another order, and a bell that nobody hears.
func listenToBell(t *testing.T, program string, streams, rounds int) (faults []string) {
	server := natstest.PrivateNATS(t)
	t.Setenv("SKILLROUTER_TEST_NATS", server.Address)
	c := startTeam(t, program)
	a := &audience{team: c, writer: c.awaitWriter(-1, startTime), sent: map[string]time.Time{}}
	following, stopFollowing := context.WithCancel(t.Context())
	defer stopFollowing()
	var reading sync.WaitGroup
	var joining errgroup.Group
	joining.SetLimit(2 * clusterNodes)
	for k := range streams {
		r := newReader(fmt.Sprint("agent-", k))
		r.token = c.token
		a.readers = append(a.readers, r)
		a.stored = append(a.stored, &acknowledged{ids: map[string][]string{}, signals: map[string]int64{}})
		joining.Go(func() error {
			status, raw, err := c.node(a.writer).post(t.Context(), "/heartbeat", map[string]any{"agent_id": r.agent})
			if err != nil || status != http.StatusOK {
				return fmt.Errorf("%d %s %w", status, raw, err)
			}
			reading.Go(func() { a.read(following, k) })
			return nil
		})
	}
	if err := joining.Wait(); err != nil {
		t.Fatal(err)
	}
	// Each has got a message before anything is disturbed.
	for k := range streams {
		if err := a.send(t.Context(), k, "first"); err != nil {
			t.Fatal(err)
		}
	}
	deadline := time.Now().Add(startTime)
	for _, r := range a.readers {
		if !r.waitFor(t.Context(), "first", time.Until(deadline)) {
			return []string{r.agent + " never got its first message"}
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	var load errgroup.Group
	for range bellSenders {
		load.Go(func() error {
			for ctx.Err() == nil {
				if err := a.send(t.Context(), mathrand.IntN(streams), "note"); err != nil {
					return err
				}
				<-time.After(mathrand.N(2 * sendEvery))
			}
			return nil
		})
	}
	var calm, silent []span
	begin := a.rings(t, make([]int, clusterNodes-1))
	for round := 0; begin && round < rounds; round++ {
		from := time.Now()
		<-time.After(shortestRound + mathrand.N(longestRound-shortestRound))
		killed := time.Now()
		server.Kill()
		calm = append(calm, span{from, killed})
		server.Wipe()
		<-time.After(mathrand.N(time.Second))
		silent = append(silent, span{killed, time.Now()})
		before := a.heard(t) // what was under way has come
		server.Start()
		begin = a.rings(t, before)
	}
	if !begin {
		faults = append(faults, "no node hears the bell")
	}
	stop()
	if err := load.Wait(); err != nil {
		faults = append(faults, err.Error())
	}
	for k := range streams {
		if err := a.send(t.Context(), k, "last"); err != nil {
			t.Fatal(err)
		}
	}
	deadline = time.Now().Add(startTime)
	for _, r := range a.readers {
		if !r.waitFor(t.Context(), "last", time.Until(deadline)) {
			faults = append(faults, r.agent+" did not get its last message")
		}
	}
	stopFollowing()
	reading.Wait()
	db := openReadOnly(t, c.home, "operational")
	defer db.Close()
	logs := map[string][]string{}
	for _, m := range column[string](t, db, "SELECT to_agent || ' ' || id FROM messages ORDER BY seq") {
		to, id, _ := strings.Cut(m, " ")
		logs[to] = append(logs[to], id)
	}
	connections := 0
	for k, r := range a.readers {
		connections += r.connections
		for _, fault := range r.compare(logs[r.agent], a.stored[k]) {
			faults = append(faults, r.agent+": "+fault)
		}
	}
	t.Logf("%d messages to %d streams over %d connections, the NATS server killed and emptied %d times", len(a.sent), streams, connections, len(silent))
	for name, late := range map[string][]time.Duration{"with the bell": a.late(calm), "without it": a.late(silent)} {
		if len(late) == 0 {
			continue
		}
		t.Logf("%s %d messages came after their senders' answers by %v (median), %v (99 %%), %v (longest)", name, len(late), late[len(late)/2], late[len(late)*99/100], late[len(late)-1])
		// Whoever looks every FollowLate alone is late by half of it.
		if median := late[len(late)/2]; name == "with the bell" && median > cluster.FollowLate/4 {
			faults = append(faults, fmt.Sprintf("half of the messages come later than %v after they were stored, with the bell", median))
		}
	}
	return faults
}

// TestClusterBellStreams: a NATS server that is killed and loses its store costs the streams of a cluster nothing but time.
func TestClusterBellStreams(t *testing.T) {
	databasetest.ServerOnly(t)
	streams := bellStreams
	if n, err := strconv.Atoi(os.Getenv("SKILLROUTER_TEST_STREAMS")); err == nil {
		streams = n
	}
	for _, fault := range listenToBell(t, program(t, buildProgram), streams, roundsOr(clusterRounds)) {
		t.Error(fault)
	}
}

// TestClusterNoticesBell is the negative control: a bell that is not rung is found out by those who do not hear it; one that
// says nothing new, by how late messages are; and a node that is behind and takes in the newest alone, by what its streams lack.
func TestClusterNoticesBell(t *testing.T) {
	databasetest.ServerOnly(t)
	for name, test := range map[string]struct {
		file, finds string
		mistake     early.Change
	}{
		"silent": {"cmd/app/node.go", "no node hears the bell", early.Change{Right: "\tf.bell.Ring(h)\n"}},
		"unheeded": {
			"router/cluster/follow.go", "half of the messages come later",
			early.Change{Right: "\tif f.Applied().before(h) {\n\t\tf.look.Ring()", Wrong: "\tif h.before(f.Applied()) {\n\t\tf.look.Ring()"},
		},
		"skipping": {
			"comms/follow.go", " never ",
			early.Change{Right: "messages, err := b.store.MessagesAfter(ctx, b.newest.Load())", Wrong: "messages, err := b.store.MessagesAfter(ctx, last-1)"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			faults := listenToBell(t, program(t, func() (string, error) { return early.BuildWrong(t.Context(), buildDir, name, test.file, test.mistake) }), bellStreams, clusterRounds)
			if !slices.ContainsFunc(faults, func(f string) bool { return strings.Contains(f, test.finds) }) {
				t.Errorf("it is not found out: %q", faults)
			}
		})
	}
}
