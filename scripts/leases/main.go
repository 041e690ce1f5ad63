// Command leases breaks a router again and again while agents take leases and edit files, and counts what got past: an edit of
// a file that another agent surely held and that a running router did not stop, two leases that overlap, and a lease that ended
// in silence. An edit whose check found no router counts as away: no lease stops it, and telling anybody of it later is wrong
// too. It runs the real hook and the real program. With -blind the edits are not shown to the guard: then it must find something.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/skillrouter/skillrouter/cmd/hook/offline"
	"github.com/skillrouter/skillrouter/cmd/hook/respond"
	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/comms/lease"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router/client"
)

// options say how much is done.
type options struct {
	binary string
	agents int
	edits  int64
	kills  int
	blind  bool
	lapse  bool // wait at the end until leases have lapsed
	seed   uint64
}

// tally is what was seen.
type tally struct {
	Edits, Away, Stopped, Takes, Refused, Kills          int64
	Undetected, Overlaps, ToldLate, Silent, Lapsed, Left int64
	Took                                                 time.Duration
}

// wrong is how much got past.
func (t *tally) wrong() int64 { return t.Undetected + t.Overlaps + t.ToldLate + t.Silent }

func main() {
	o := options{}
	flag.StringVar(&o.binary, "binary", "bin/skillrouter", "program to break")
	flag.IntVar(&o.agents, "agents", 8, "agents at once")
	flag.Int64Var(&o.edits, "edits", 10_000, "edits in all")
	flag.IntVar(&o.kills, "kills", 200, "kills (-9) of the router")
	flag.BoolVar(&o.blind, "blind", false, "the negative control: the guard does not see the edits")
	flag.BoolVar(&o.lapse, "lapse", true, "wait at the end for a lease that lapses")
	flag.Uint64Var(&o.seed, "seed", uint64(time.Now().UnixNano()), "of what is random")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	t, err := run(ctx, o)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	text, _ := json.MarshalIndent(t, "", "  ")
	fmt.Printf("%s\n", text)
	if (t.wrong() > 0) != o.blind {
		os.Exit(1)
	}
}

// claim is a lease as the harness knows it. All its times are by one counter.
type claim struct {
	operational.Lease
	glob     lease.Glob
	taken    int64 // when its taking was answered
	given    int64 // when its giving back began; 0: it did not
	departed bool
}

type harness struct {
	options
	dir, data, url string
	client         *client.Client
	ticks          atomic.Int64
	left           atomic.Int64 // edits that are still to be made

	mu     sync.Mutex
	claims []*claim
	tally  tally
}

func run(ctx context.Context, o options) (*tally, error) {
	begun := time.Now()
	dir, err := os.MkdirTemp("", "leases")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	for name, value := range map[string]string{"HOME": dir, "XDG_CACHE_HOME": filepath.Join(dir, "cache"), "XDG_CONFIG_HOME": filepath.Join(dir, "config"), "SKILLROUTER_TOKEN": "", "SKILLROUTER_AGENT": "", "SKILLROUTER_PROJECT": "shop"} {
		if err := os.Setenv(name, value); err != nil {
			return nil, err
		}
	}
	h := &harness{options: o, dir: filepath.Join(dir, "shop"), data: filepath.Join(dir, "data")}
	for d := range folders {
		if err := os.MkdirAll(filepath.Join(h.dir, fmt.Sprint("d", d)), 0o700); err != nil {
			return nil, err
		}
	}
	if err := os.Mkdir(filepath.Join(h.dir, ".git"), 0o700); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := listener.Addr().String()
	listener.Close()
	h.url = "http://" + address
	if h.client, err = client.New(h.url, client.Options{Timeout: 10 * time.Second}); err != nil {
		return nil, err
	}
	h.left.Store(o.edits)
	router, err := h.start(ctx)
	if err != nil {
		return nil, err
	}
	var agents sync.WaitGroup
	for i := range o.agents {
		agents.Go(func() { h.work(ctx, fmt.Sprintf("fe:a%d", i), rand.New(rand.NewPCG(o.seed, uint64(i)))) })
	}
	random := rand.New(rand.NewPCG(o.seed, 1<<32))
	for range o.kills {
		// The kills are spread over the edits.
		for until := o.edits - (h.tally.Kills+1)*o.edits/int64(o.kills+1); h.left.Load() > until && ctx.Err() == nil; {
			time.Sleep(5 * time.Millisecond)
		}
		_ = router.Process.Kill()
		_ = router.Wait()
		h.tally.Kills++
		time.Sleep(time.Duration(random.IntN(150)) * time.Millisecond)
		if router, err = h.start(ctx); err != nil {
			return nil, err
		}
	}
	agents.Wait()
	defer func() { _ = router.Process.Kill(); _ = router.Wait() }()
	if err := h.settle(ctx); err != nil {
		return nil, err
	}
	h.tally.Took = time.Since(begun)
	return &h.tally, ctx.Err()
}

// start starts the router and waits until it answers.
func (h *harness) start(ctx context.Context) (*exec.Cmd, error) {
	cmd := exec.CommandContext(ctx, h.binary, "serve", "--listen", strings.TrimPrefix(h.url, "http://"), "--data", h.data)
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	for range 3000 {
		if _, err := h.client.System.Health(ctx); err == nil {
			return cmd, nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return nil, fmt.Errorf("the router does not start: %s", said.String())
}

// awayPause is what an agent takes for a step while the router is away: else it would spend all its edits then.
const awayPause = 200 * time.Millisecond

// contacts is how often each agent meets the router at the end: 500 checks may wait, and each contact hands over 100.
const contacts = 3

// The files that there are.
const (
	folders = 8
	files   = 6
)

func (h *harness) work(ctx context.Context, agent string, random *rand.Rand) {
	var mine []*claim
	for ctx.Err() == nil && h.left.Load() > 0 {
		switch dice := random.IntN(100); {
		case dice < 12 && len(mine) < 3:
			if c := h.take(ctx, agent, random); c != nil && !slices.ContainsFunc(mine, func(m *claim) bool { return m.ID == c.ID }) {
				mine = append(mine, c)
			}
		case dice < 20 && len(mine) > 0:
			i := random.IntN(len(mine))
			c := mine[i]
			mine = slices.Delete(mine, i, i+1)
			h.mu.Lock()
			c.given = h.ticks.Add(1)
			h.mu.Unlock()
			_, _ = client.Send(ctx, h.client, lease.Service.Release, operational.LeaseRelease{IDs: []int64{c.ID}, AgentID: agent})
		case dice < 21 && len(mine) > 0: // the session ends, and another begins
			h.mu.Lock()
			for _, c := range mine {
				c.given, c.departed = h.ticks.Add(1), true
			}
			h.mu.Unlock()
			mine = nil
			_, _ = client.Send(ctx, h.client, comms.PresenceService.Heartbeat, comms.Heartbeat{AgentID: agent, Status: "exited"})
		default:
			h.left.Add(-1)
			h.edit(ctx, agent, fmt.Sprintf("d%d/f%d.go", random.IntN(folders), random.IntN(files)))
		}
	}
}

// patternOf is a random pattern; no other agent than those of the harness takes leases.
func patternOf(random *rand.Rand) string {
	d, f := random.IntN(folders), random.IntN(files)
	return []string{fmt.Sprintf("d%d", d), fmt.Sprintf("d%d/f%d.go", d, f), fmt.Sprintf("d%d/*.go", d), fmt.Sprintf("*/f%d.go", f), fmt.Sprintf("**/f[%d].*", f), fmt.Sprintf("{d%d,d%d}/f%d*", d, (d+1)%folders, f)}[random.IntN(6)]
}

// sharesFile tells by the files that there are whether two leases overlap.
func sharesFile(a, b lease.Glob) bool {
	for d := range folders {
		for f := range files {
			if p, _ := lease.Path(fmt.Sprintf("d%d/f%d.go", d, f), false); a.Overlaps(p) && b.Overlaps(p) {
				return true
			}
		}
	}
	return false
}

func (h *harness) take(ctx context.Context, agent string, random *rand.Rand) *claim {
	pattern := patternOf(random)
	glob, err := lease.Compile(pattern, false)
	if err != nil {
		panic(err)
	}
	begin := h.ticks.Add(1)
	taken, err := client.Send(ctx, h.client, lease.Service.Take, operational.LeaseDraft{AgentID: agent, Project: "shop", Patterns: []string{pattern}, Folder: h.dir, Why: "the harness"})
	if errs.CodeOf(err) == errs.Unavailable {
		time.Sleep(awayPause)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if err != nil {
		if errs.CodeOf(err) == errs.Conflict {
			h.tally.Refused++
		}
		return nil
	}
	end := h.ticks.Add(1)
	h.tally.Takes++
	c := &claim{Lease: taken, glob: glob, taken: end}
	for _, other := range h.claims {
		if other.ID == c.ID {
			return other // taken again, or the answer of the first was lost
		}
		if other.AgentID != agent && other.taken < begin && (other.given == 0 || other.given > end) && sharesFile(other.glob, glob) {
			h.tally.Overlaps++
			fmt.Fprintf(os.Stderr, "%s took %s, which %s holds by %s\n", agent, pattern, other.AgentID, other.Patterns)
		}
	}
	h.claims = append(h.claims, c)
	return c
}

// edit makes the hook judge an edit, as Claude Code would, and looks whether the verdict is right.
func (h *harness) edit(ctx context.Context, agent, path string) {
	tool := "Write"
	if h.blind {
		tool = "Read"
	}
	begin := h.ticks.Add(1)
	out, offline := h.hook(ctx, agent, tool, path)
	end := h.ticks.Add(1)
	if offline {
		time.Sleep(awayPause)
	}
	file, _ := lease.Path(path, false)
	h.mu.Lock()
	defer h.mu.Unlock()
	var holders []*claim
	for _, c := range h.claims {
		if c.AgentID != agent && c.taken < begin && (c.given == 0 || c.given > end) && c.glob.Overlaps(file) {
			holders = append(holders, c)
		}
	}
	denied := strings.Contains(out, `"deny"`)
	h.tally.Edits++
	switch {
	case denied:
		h.tally.Stopped++
	case offline:
		h.tally.Away++
	case len(holders) > 0:
		h.tally.Undetected++
		fmt.Fprintf(os.Stderr, "%s edits %s, which %s holds by lease %d: %q\n", agent, path, holders[0].AgentID, holders[0].ID, out)
	}
}

// hook runs the hook, and tells whether it judged without the router.
func (h *harness) hook(ctx context.Context, agent, tool, path string) (out string, alone bool) {
	text, _ := json.Marshal(map[string]any{"session_id": agent, "cwd": h.dir, "tool_name": tool, "tool_input": map[string]any{"file_path": path, "content": "x"}})
	var said, wrong bytes.Buffer
	hook, ok := respond.Parse(respond.Process{
		In: bytes.NewReader(text), Out: &said, Err: &wrong, LookupEnv: os.LookupEnv, Connect: respond.ConnectPlain,
		Offline: func(ctx context.Context, server string, asked []byte) ([]byte, error) {
			alone = true
			return offline.Judge(ctx, locate.Place{Server: server, LookupEnv: os.LookupEnv}, asked, time.Now())
		},
	}, []string{"hook", "pre-tool-use", "--for", "claude-code", "--agent", agent, "--server", h.url, "--verbose"})
	if !ok {
		panic("the hook does not take its own flags")
	}
	hook.Run(ctx)
	return said.String(), alone
}

// settle has each agent meet the router once more, waits for what must end, and reads what everybody was told.
func (h *harness) settle(ctx context.Context) error {
	for range contacts { // each hands over a part of what waits
		for i := range h.agents {
			h.hook(ctx, fmt.Sprintf("fe:a%d", i), "Read", "README.md")
		}
	}
	var sleeper operational.Lease
	if h.lapse {
		var err error
		if sleeper, err = client.Send(ctx, h.client, lease.Service.Take, operational.LeaseDraft{AgentID: "be:sleeper", Project: "shop", Patterns: []string{"sleepy"}, TTLSeconds: 60}); err != nil {
			return err
		}
		time.Sleep(63 * time.Second)
	}
	time.Sleep(3 * time.Second)
	held, err := client.Send(ctx, h.client, lease.Service.Leases, operational.LeaseFilter{Limit: 1000})
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	ended := map[int64]bool{} // leases whose holders were told of their end
	for i := range h.agents + 1 {
		agent := fmt.Sprintf("fe:a%d", i)
		if i == h.agents {
			agent = "be:sleeper"
		}
		for since := int64(0); ; {
			page, err := client.Send(ctx, h.client, comms.MailboxService.Inbox, comms.InboxQuery{AgentID: agent, Since: since, Limit: 1000})
			if err != nil {
				return err
			}
			for _, m := range page.Messages {
				var said struct {
					LeaseID int64  `json:"lease_id"`
					Ended   string `json:"ended"`
				}
				if m.Signal != lease.SignalLease || json.Unmarshal(m.Context, &said) != nil {
					continue
				}
				if said.Ended != "" {
					ended[said.LeaseID] = true
				} else { // the router sends no other message about leases
					h.tally.ToldLate++
					fmt.Fprintf(os.Stderr, "%s was told later: %s\n", agent, m.Context)
				}
			}
			if since = page.LastSeq; !page.More {
				break
			}
		}
	}
	for _, c := range h.claims {
		is := slices.ContainsFunc(held, func(l operational.Lease) bool { return l.ID == c.ID })
		switch {
		case c.departed && ended[c.ID]:
			h.tally.Left++
		case c.given == 0 && !is && !ended[c.ID]:
			h.tally.Silent++
			fmt.Fprintf(os.Stderr, "lease %d of %s ended, and nobody said so\n", c.ID, c.AgentID)
		}
	}
	if h.lapse {
		if ended[sleeper.ID] {
			h.tally.Lapsed++
		} else {
			h.tally.Silent++
			fmt.Fprintln(os.Stderr, "the sleeper's lease lapsed, and nobody said so")
		}
	}
	return nil
}
