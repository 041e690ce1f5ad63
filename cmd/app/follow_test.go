package app_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	mathrand "math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/skillrouter/skillrouter/cmd/app"
	"github.com/skillrouter/skillrouter/cmd/config"
	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/internal/database/databasetest"
	"github.com/skillrouter/skillrouter/router/cluster"
)

// crew is a cluster of routers in this process: the first writes.
type crew struct {
	t     *testing.T
	nodes []*app.App
	stops []func()
	wires []*wire // of each node to its database
	ways  []*wire // by which the others reach each node
	token string
}

// startCrew starts n nodes, and waits until one writes and the others follow it.
func startCrew(t *testing.T, n int) *crew {
	t.Helper()
	databasetest.ServerOnly(t)
	c := &crew{t: t}
	secret, home := secretOf(t), t.TempDir()
	for i := range n {
		cfg := config.Default()
		cfg.Listen, cfg.Data, cfg.Node, cfg.ClusterSecretFile = "127.0.0.1:0", t.TempDir(), fmt.Sprint("n", i), secret
		w, address := wireTo(t, databasetest.Address(t, home))
		cfg.Database = address
		way := newWire(t, "tcp", "")
		cfg.NodeURL = "http://" + way.listener.Addr().String()
		a, stop := runningAs(t, cfg, app.Options{})
		way.lead("tcp", strings.TrimPrefix(a.URL(), "http://"))
		c.nodes, c.stops, c.wires, c.ways = append(c.nodes, a), append(c.stops, stop), append(c.wires, w), append(c.ways, way)
		until(t, "a node is ready", func() bool { return i == 0 && a.Handler() != nil || a.Follows() })
		var err error
		if c.token, err = locate.ReadOwnerToken(cfg.Data); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { // before the nodes stop: over a wire that is cut they wait for what they write until it is given up
		for _, w := range slices.Concat(c.wires, c.ways) {
			w.set(false)
		}
	})
	return c
}

// until waits for something that happens soon.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(startTime); !is(); <-time.After(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it did not come: %s", what)
		}
	}
}

// call asks node i, and returns the status, the header and the text of its answer.
func (c *crew) call(i int, method, path string, body any, header ...string) (int, http.Header, []byte) {
	c.t.Helper()
	status, head, text, err := c.try(i, c.token, method, path, body, header...)
	if err != nil {
		c.t.Fatal(err)
	}
	return status, head, text
}

func (c *crew) try(i int, token, method, path string, body any, header ...string) (int, http.Header, []byte, error) {
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return 0, nil, nil, err
		}
		sent = strings.NewReader(string(text))
	}
	r, err := http.NewRequestWithContext(c.t.Context(), method, c.nodes[i].URL()+path, sent)
	if err != nil {
		return 0, nil, nil, err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for k := 0; k+1 < len(header); k += 2 {
		r.Header.Set(header[k], header[k+1])
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil, nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return answer.StatusCode, answer.Header, text, err
}

// answered is how many calls node i has answered by what it knows.
func (c *crew) answered(i int) int {
	_, _, text := c.call(i, http.MethodGet, "/metrics", nil)
	for line := range strings.Lines(string(text)) {
		if n, ok := strings.CutPrefix(line, "skillrouter_node_answered_total "); ok {
			count, _ := strconv.Atoi(strings.TrimSpace(n))
			return count
		}
	}
	c.t.Fatalf("there is no such figure in %s", text)
	return 0
}

var memoryWords = strings.Fields("cache token build deploy retry queue index schema socket proxy window thread buffer vector cursor branch merge rebase tunnel gateway kernel module plugin widget canvas layout render shader tensor matrix ledger invoice payroll tariff harbour anchor rudder mast sail compass")

func someWords(random *mathrand.Rand, n int) string {
	words := make([]string, n)
	for i := range words {
		words[i] = memoryWords[random.IntN(len(memoryWords))]
	}
	return strings.Join(words, " ")
}

// lessonOf is a lesson; one that names commands blocks them.
func lessonOf(kind, title, text string, commands ...string) map[string]any {
	l := map[string]any{"lesson_type": kind, "domain": "ops", "category": "tools", "title": title, "context": text, "action_taken": "it was run", "outcome": "failure"}
	if len(commands) > 0 {
		l["related_commands"], l["severity"] = commands, "critical"
	}
	return l
}

// fill writes n things of many kinds through any node, some of them again in another form, and deletes some.
func (c *crew) fill(random *mathrand.Rand, n int) {
	c.t.Helper()
	var entries []string
	for k := range n {
		i, text := random.IntN(len(c.nodes)), someWords(random, 8)
		title := fmt.Sprintf("%s %d", someWords(random, 3), k)
		method, path, body := http.MethodPost, "", map[string]any{}
		switch random.IntN(8) {
		case 0, 1:
			path, body = "/api/knowledge", map[string]any{"category": "tools", "title": title, "content": text, "project": fmt.Sprint("p", random.IntN(3))}
		case 2:
			path, body = "/lessons/report", lessonOf("discovery", title, text)
		case 3:
			path, body = "/lessons/report", lessonOf("anti_pattern", "Never run "+title, text, fmt.Sprintf("tool%d wipe --all", k))
		case 4:
			path, body = "/api/episodes", map[string]any{"agent_id": "writer", "event_type": "outcome", "title": title, "content": text}
		case 5:
			method, path, body = http.MethodPut, fmt.Sprintf("/api/facts/default/key-%d", random.IntN(40)), map[string]any{"value": text, "ttl": 0, "category": someWords(random, 1)}
		case 6:
			path, body = "/api/tasks", map[string]any{"title": title, "description": text}
		case 7:
			if len(entries) == 0 {
				continue
			}
			at := random.IntN(len(entries))
			if path = "/api/knowledge/" + entries[at]; random.IntN(2) == 0 {
				method, body = http.MethodDelete, nil
				entries = slices.Delete(entries, at, at+1)
			} else {
				method, body = http.MethodPut, map[string]any{"content": text}
			}
		}
		status, _, answer := c.call(i, method, path, body)
		if status/100 != 2 {
			c.t.Fatalf("%s %s %v: %d %s", method, path, body, status, answer)
		}
		var stored struct {
			ID string `json:"knowledge_id"`
		}
		if path == "/api/knowledge" && json.Unmarshal(answer, &stored) == nil {
			entries = append(entries, stored.ID)
		}
	}
}

// settled waits until nothing is written any more, as what is stored has consequences, and returns how far the databases are.
func (c *crew) settled() (after string) {
	for last := time.Now(); time.Since(last) < 1500*time.Millisecond; <-time.After(50 * time.Millisecond) {
		_, head, _ := c.call(0, http.MethodGet, "/api/whoami", nil)
		if now := head.Get(cluster.SeqHeader); now != after {
			after, last = now, time.Now()
		}
	}
	if _, ok := cluster.ParseHeads(after); !ok {
		c.t.Fatalf("the writer says no place: %q", after)
	}
	return after
}

// alike compares what the nodes answer to the same questions at the same state, and returns what differs.
func (c *crew) alike(random *mathrand.Rand, questions int) (differs []string) {
	c.t.Helper()
	after := c.settled()
	for range questions {
		method, path, body := http.MethodPost, "", map[string]any(nil)
		switch random.IntN(7) {
		case 0, 1:
			method, path = http.MethodGet, "/api/search?q="+url.QueryEscape(someWords(random, 2))
		case 2:
			path, body = "/api/knowledge/search", map[string]any{"query": someWords(random, 2), "project": []string{"", "p1"}[random.IntN(2)]}
		case 3:
			path, body = "/query/relevant", map[string]any{"situation": someWords(random, 3)}
		case 4:
			path, body = "/api/episodes/search", map[string]any{"query": someWords(random, 2)}
		case 5:
			path, body = "/check/anti-pattern", map[string]any{"proposed_action": fmt.Sprintf("tool%d wipe --all", random.IntN(400)), "agent": "asker"}
		case 6:
			path, body = "/check/anti-pattern", map[string]any{"proposed_action": "ls " + someWords(random, 1), "agent": "asker"}
		}
		want, wanted := []byte(nil), 0
		for i := range c.nodes {
			status, _, got := c.call(i, method, path, body, cluster.AfterHeader, after)
			if i == 0 {
				want, wanted = got, status
			} else if status != wanted || !alikeAnswers(want, got) {
				at := 0
				for at < min(len(got), len(want)) && got[at] == want[at] {
					at++
				}
				at = max(at-100, 0)
				differs = append(differs, fmt.Sprintf("%s %s %v: the writer answers\n%.300s\nn%d\n%.300s", method, path, body, want[min(at, len(want)):], i, got[min(at, len(got)):]))
			}
		}
	}
	return differs
}

// alikeAnswers tells whether two answers say the same, without what is another's each time, and with what fades from one moment to the next.
func alikeAnswers(one, other []byte) bool {
	var a, b any
	if json.Unmarshal(one, &a) != nil || json.Unmarshal(other, &b) != nil {
		return string(one) == string(other)
	}
	var same func(a, b any) bool
	same = func(a, b any) bool {
		switch a := a.(type) {
		case map[string]any:
			b, ok := b.(map[string]any)
			for _, m := range []map[string]any{a, b} {
				for _, name := range []string{"check_id", "approval_id", "use_count", "last_used", "took_ms", "warnings"} {
					delete(m, name)
				}
			}
			for name := range a {
				ok = ok && same(a[name], b[name])
			}
			return ok && len(a) == len(b)
		case []any:
			b, ok := b.([]any)
			for i := range a {
				ok = ok && i < len(b) && same(a[i], b[i])
			}
			return ok && len(a) == len(b)
		case float64:
			b, ok := b.(float64)
			return ok && math.Abs(a-b) < 1e-4
		}
		return a == b
	}
	return same(a, b)
}

// TestFollowers: nodes that do not write answer searches and checks as the one does that writes, at the same state, and by themselves.
func TestFollowers(t *testing.T) {
	c := startCrew(t, 3)
	seed := mathrand.Uint64()
	t.Logf("seed %d", seed)
	random := mathrand.New(mathrand.NewPCG(seed, 1))
	rounds := roundsOr(1)
	for range rounds {
		c.fill(random, 200)
		for i, difference := range c.alike(random, 150) {
			if i < 5 {
				t.Error(difference)
			}
		}
	}
	for i := 1; i < len(c.nodes); i++ {
		if n := c.answered(i); n < rounds*60 {
			t.Errorf("n%d answered %d calls by itself", i, n)
		}
	}
	// What they answered is in the ledger of the one that writes, and what was found counts as used.
	until(t, "the checks are in the ledger", func() bool {
		_, _, text := c.call(0, http.MethodGet, "/check/ledger?agent=asker&decision=allow&limit=200", nil)
		return strings.Count(string(text), `"check_id"`) >= 20
	})
}

// TestFollowersNoticeDeafness is the negative control: a node that takes in nothing is found out.
func TestFollowersNoticeDeafness(t *testing.T) {
	defer app.BeDeaf()()
	c := startCrew(t, 2)
	random := mathrand.New(mathrand.NewPCG(1, 1))
	c.fill(random, 100)
	if len(c.alike(random, 60)) == 0 {
		t.Error("nothing differs")
	}
}

// TestFollowersReadWrites: what a caller wrote through one node it finds at another, if it says how far that answer was; and through the same node without a word.
func TestFollowersReadWrites(t *testing.T) {
	c := startCrew(t, 3)
	pairs := 60 * roundsOr(1)
	var work errgroup.Group
	var missed atomic.Int64
	for worker := range 4 {
		work.Go(func() error {
			for k := worker; k < pairs; k += 4 {
				word := fmt.Sprintf("zebra%dx%d", k, mathrand.IntN(1_000_000))
				from, to, header := k%3, (k+1)%3, []string{}
				if k%2 == 0 {
					to = from
				}
				status, head, text, err := c.try(from, c.token, http.MethodPost, "/api/knowledge", map[string]any{"category": "tools", "title": "About " + word, "content": "It is " + word})
				if err != nil || status != http.StatusCreated {
					return fmt.Errorf("%d %s %w", status, text, err)
				}
				if from != to {
					header = []string{cluster.AfterHeader, head.Get(cluster.SeqHeader)}
				}
				status, _, text, err = c.try(to, c.token, http.MethodGet, "/api/search?q="+word, nil, header...)
				if err != nil || status != http.StatusOK || !strings.Contains(string(text), "About "+word) {
					missed.Add(1)
				}
			}
			return nil
		})
	}
	if err := work.Wait(); err != nil {
		t.Fatal(err)
	}
	if n := missed.Load(); n > 0 {
		t.Errorf("%d of %d were not found", n, pairs)
	}
}

// TestFollowersHear: a rule that is reported at one node blocks at another, and a token that is revoked at one is refused at another, soon.
func TestFollowersHear(t *testing.T) {
	c := startCrew(t, 3)
	var blocked, refused []time.Duration
	for k := range 10 * roundsOr(1) {
		command := fmt.Sprintf("tool%d wipe --all", k)
		status, _, text := c.call(1, http.MethodPost, "/lessons/report", lessonOf("anti_pattern", "Never run "+command, "it lost data", command))
		if status/100 != 2 {
			t.Fatalf("%d %s", status, text)
		}
		begun := time.Now()
		until(t, command+" blocks", func() bool {
			_, _, text, err := c.try(2, c.token, http.MethodPost, "/check/anti-pattern", map[string]any{"proposed_action": command, "agent": "asker"})
			return err == nil && strings.Contains(string(text), `"blocked":true`)
		})
		blocked = append(blocked, time.Since(begun))

		_, _, text = c.call(1, http.MethodPost, "/api/tokens", map[string]any{"agent_id": "asker", "scopes": []string{"agent"}})
		var issued struct{ ID, Token string }
		if err := json.Unmarshal(text, &issued); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		valid := func() bool {
			status, _, _, err := c.try(2, issued.Token, http.MethodGet, "/api/search?q=anything", nil)
			return err == nil && status == http.StatusOK
		}
		if !valid() {
			t.Error("a new token is refused at another node")
		}
		until(t, "the node knows the token itself", func() bool {
			before := c.answered(2)
			return valid() && c.answered(2) > before
		})
		if status, _, text := c.call(1, http.MethodDelete, "/api/tokens/"+issued.ID, nil); status/100 != 2 {
			t.Fatalf("%d %s", status, text)
		}
		begun = time.Now()
		until(t, "the token is refused", func() bool { return !valid() })
		refused = append(refused, time.Since(begun))
	}
	for name, all := range map[string][]time.Duration{"a rule blocks elsewhere": blocked, "a revoked token is refused elsewhere": refused} {
		slices.Sort(all)
		t.Logf("%s after %v (median), %v (longest of %d)", name, all[len(all)/2], all[len(all)-1], len(all))
		if all[len(all)-1] > 5*time.Second {
			t.Errorf("%s after %v", name, all[len(all)-1])
		}
	}
}

// TestFollowersHearWithoutEvents: what leaves no event is known at another node soon, too: which entry answered a question, and what fails in a project.
func TestFollowersHearWithoutEvents(t *testing.T) {
	c := startCrew(t, 2)
	store := func(method, path string, body any) (stored struct {
		ID string `json:"knowledge_id"`
	},
	) {
		status, _, text := c.call(0, method, path, body)
		if status/100 != 2 {
			t.Fatalf("%s: %d %s", path, status, text)
		}
		_ = json.Unmarshal(text, &stored) // others have no id
		return stored
	}
	entry := store(http.MethodPost, "/api/knowledge", map[string]any{"category": "tools", "title": "Rotate certificates", "content": "certbot renew"})
	for range 2 {
		store(http.MethodPost, "/api/knowledge/"+entry.ID+"/used", map[string]any{"query": "red padlock", "agent_id": "asker"})
	}
	answered := c.answered(1)
	until(t, "the entry is found by the question that it answered", func() bool {
		_, _, text := c.call(1, http.MethodGet, "/api/search?q=red+padlock", nil)
		return strings.Contains(string(text), entry.ID)
	})
	if c.answered(1) == answered {
		t.Error("the other node answered no search itself")
	}
	const command = "npx tool build src --watch"
	for session := range 3 {
		store(http.MethodPost, "/api/incidents/learn", map[string]any{"project": "shop", "session_id": fmt.Sprint("s", session), "begin": true, "steps": []map[string]any{
			{"id": fmt.Sprint(session, "-0"), "command": command, "outcome": "failed", "exit": 1, "output": "error: unknown option '--watch'"},
			{"id": fmt.Sprint(session, "-1"), "command": "npx tool build src -w", "outcome": "worked", "digest": "ok"},
		}})
	}
	store(http.MethodPost, "/api/tokens", map[string]any{"agent_id": "somebody", "scopes": []string{"read"}}) // from then on the owner's token is a person's
	store(http.MethodPost, "/api/incidents/accept", map[string]any{"project": "shop", "seen": 1})
	until(t, "it warns of what fails", func() bool {
		_, _, text := c.call(1, http.MethodPost, "/check/anti-pattern", map[string]any{"proposed_action": command, "agent": "asker", "project": "shop"})
		return strings.Contains(string(text), "failed in")
	})
}

// TestFollowersApart: a node that is cut from the database hands on what it cannot be sure of; where nobody answers it judges actions by what it knows, and says so.
func TestFollowersApart(t *testing.T) {
	c := startCrew(t, 2)
	status, head, text := c.call(0, http.MethodPost, "/lessons/report", lessonOf("anti_pattern", "Never run tool wipe", "it lost data", "tool wipe --all"))
	if status/100 != 2 {
		t.Fatalf("%d %s", status, text)
	}
	c.call(1, http.MethodGet, "/api/search?q=wipe", nil, cluster.AfterHeader, head.Get(cluster.SeqHeader)) // from then on n1 knows it
	check := func(command string) (status int, answer struct{ Blocked, Stale bool }) {
		status, _, text, _ := c.try(1, c.token, http.MethodPost, "/check/anti-pattern", map[string]any{"proposed_action": command, "agent": "asker"})
		_ = json.Unmarshal(text, &answer) // a refusal has none of them
		return status, answer
	}
	c.call(0, http.MethodPost, "/heartbeat", map[string]any{"agent_id": "asker"})
	stream := make(chan error, 1)
	go func() {
		_, _, _, err := c.try(1, c.token, http.MethodGet, "/messages?agent_id=asker", nil)
		stream <- err
	}()
	until(t, "the stream is open", func() bool { return c.nodes[1].Streams() == 1 })
	c.wires[1].set(true)
	<-time.After(cluster.FreshFor + 500*time.Millisecond)
	if status, a := check("tool wipe --all"); status != http.StatusOK || !a.Blocked || a.Stale {
		t.Errorf("the writer is there: %d %+v", status, a)
	}
	if status, _, text := c.call(1, http.MethodGet, "/api/search?q=wipe", nil); status != http.StatusOK {
		t.Errorf("the writer is there: %d %s", status, text)
	}
	select {
	case <-stream: // it finds another
	case <-time.After(startTime):
		t.Error("the stream of a node that does not know what is new goes on")
	}
	c.wires[0].set(true)
	until(t, "the node that wrote knows that it does not", func() bool {
		status, a := check("tool wipe --all")
		return status == http.StatusOK && a.Blocked && a.Stale
	})
	c.wires[0].set(false)
	until(t, "it writes again", func() bool { _, a := check("tool wipe --all"); return !a.Stale })
	c.stops[0]()
	if status, a := check("tool wipe --all"); status != http.StatusOK || !a.Blocked || !a.Stale {
		t.Errorf("nobody is there: %d %+v", status, a)
	}
	if status, a := check("ls"); status != http.StatusOK || a.Blocked || !a.Stale {
		t.Errorf("nobody is there: %d %+v", status, a)
	}
	if status, _, _ := c.call(1, http.MethodGet, "/api/search?q=wipe", nil); status != http.StatusServiceUnavailable {
		t.Errorf("a search answers %d", status)
	}
	if status, _, _, _ := c.try(1, "skr_of_nobody", http.MethodPost, "/check/anti-pattern", map[string]any{"proposed_action": "ls", "agent": "asker"}); status != http.StatusUnauthorized {
		t.Errorf("a wrong token's check answers %d", status)
	}
	c.wires[1].set(false)
	until(t, "the node takes over", func() bool { return c.nodes[1].Handler() != nil })
	if status, a := check("tool wipe --all"); status != http.StatusOK || !a.Blocked || a.Stale {
		t.Errorf("it writes itself: %d %+v", status, a)
	}
	judged := func(action string) int {
		_, _, text := c.call(1, http.MethodGet, "/check/ledger?agent=asker&limit=200", nil)
		return strings.Count(string(text), `"proposed_action":"`+action+`"`)
	}
	until(t, "what was judged meanwhile is in the ledger", func() bool { return judged("tool wipe --all") >= 5 && judged("ls") == 1 })
}

// TestFollowerCutOff: a node that follows and is cut off from the database and from the other node answers searches within two seconds, from the first on, that
// it cannot; it says which node it does not reach, and goes on once it is joined.
func TestFollowerCutOff(t *testing.T) {
	c := startCrew(t, 2)
	_, head, _ := c.call(0, http.MethodPost, "/api/knowledge", map[string]any{"title": "wipe is gone", "content": "use clear instead of wipe", "category": "gotcha"})
	search := func() (status int, text []byte) {
		status, _, text = c.call(1, http.MethodGet, "/api/search?q=wipe", nil, cluster.AfterHeader, head.Get(cluster.SeqHeader))
		return status, text
	}
	until(t, "it finds it", func() bool {
		status, text := search()
		return status == http.StatusOK && strings.Contains(string(text), "wipe is gone")
	})
	c.wires[1].set(true)
	c.ways[0].set(true)
	for n := range 4 {
		begun := time.Now()
		status, text := search()
		if took := time.Since(begun); status != http.StatusServiceUnavailable || took > cluster.FreshFor+500*time.Millisecond {
			t.Errorf("search %d: %d after %v: %s", n, status, took, text)
		}
		if n == 3 && !strings.Contains(string(text), "n1 does not reach it") {
			t.Errorf("%s", text)
		}
	}
	c.wires[1].set(false)
	c.ways[0].set(false)
	until(t, "it finds it again", func() bool { status, _ := search(); return status == http.StatusOK })
}

// TestFollowersStreams: messages to one, to a group and to all, sent through any node, reach those who listen at any, each once and in order, and count as delivered.
func TestFollowersStreams(t *testing.T) {
	c := startCrew(t, 3)
	const agents = 6
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var mu sync.Mutex
	got := map[string][]int64{}
	var reading errgroup.Group
	for k := range agents {
		agent := fmt.Sprintf("codex-%d", k)
		if status, _, text := c.call(k%3, http.MethodPost, "/heartbeat", map[string]any{"agent_id": agent, "role": "testers"}); status != http.StatusOK {
			t.Fatalf("%d %s", status, text)
		}
		reading.Go(func() error {
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.nodes[k%3].URL()+"/messages?agent_id="+agent, nil)
			if err != nil {
				return err
			}
			r.Header.Set("Authorization", "Bearer "+c.token)
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				return err
			}
			defer answer.Body.Close()
			for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
				if id, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
					seq, _ := strconv.ParseInt(id, 10, 64)
					mu.Lock()
					got[agent] = append(got[agent], seq)
					mu.Unlock()
				}
			}
			return nil
		})
	}
	until(t, "all listen", func() bool {
		n := 0
		for i := range c.nodes {
			_, _, text := c.call(i, http.MethodGet, "/metrics", nil)
			_ = text
			n += c.nodes[i].Streams()
		}
		return n == agents
	})
	if c.nodes[1].Streams() != agents/3 || c.nodes[2].Streams() != agents/3 {
		t.Errorf("the nodes that follow have %d and %d streams", c.nodes[1].Streams(), c.nodes[2].Streams())
	}
	const each, all, group = 30, 20, 10
	for n := range each + all + group {
		body := map[string]any{"from_agent_id": "captain", "signal": "note"}
		switch {
		case n < each:
			for k := range agents {
				body["to_agent_id"] = fmt.Sprintf("codex-%d", k)
				if status, _, text := c.call(n%3, http.MethodPost, "/signal", body); status != http.StatusOK || !strings.Contains(string(text), `"delivered":true`) {
					t.Fatalf("%d %s", status, text)
				}
			}
			continue
		case n < each+group:
			body["to_agent_id"], body["each"] = "testers", true
		}
		if status, _, text := c.call(n%3, http.MethodPost, "/signal", body); status != http.StatusOK {
			t.Fatalf("%d %s", status, text)
		}
	}
	until(t, "all have all", func() bool {
		mu.Lock()
		defer mu.Unlock()
		for k := range agents {
			if len(got[fmt.Sprintf("codex-%d", k)]) < each+all+group {
				return false
			}
		}
		return true
	})
	until(t, "it counts as delivered", func() bool {
		_, _, text := c.call(0, http.MethodGet, "/messages/inbox?agent_id=codex-1&limit=200", nil)
		return strings.Count(string(text), `"delivered":true`) >= each+all
	})
	cancel()
	_ = reading.Wait()
	for agent, seqs := range got {
		if !slices.IsSorted(seqs) || len(slices.Compact(slices.Clone(seqs))) != len(seqs) || len(seqs) != each+all+group {
			t.Errorf("%s got %d: %v", agent, len(seqs), seqs)
		}
	}
}
