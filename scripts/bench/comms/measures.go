package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/skillrouter/skillrouter/scripts/bench/sidecar"
)

// beat is a heartbeat as a wrapper sends it.
func beat(sender, _ int) []byte {
	return fmt.Appendf(nil, `{"agent_id":"a%d","config_name":"default","project_path":"/srv/work/project","status":"working","current_task":"review the change","pid":%d,"model":"m-1","role":"builder"}`, sender, 4000+sender)
}

// heartbeats are called from 64 connections, each its own agent.
func heartbeats(rounds int) error {
	ours, err := start("")
	if err != nil {
		return err
	}
	theirs, err := floor(binder())
	if err != nil {
		return err
	}
	var slowest []float64
	rate := func(s *side, note bool) func() (float64, error) {
		return func() (float64, error) {
			n, took, each, err := hammer(s.address, "/heartbeat", time.Second, 0, beat)
			if note && err == nil {
				slowest = append(slowest, sidecar.Quantile(milliseconds(each), 0.99))
			}
			return float64(n) / took.Seconds(), err
		}
	}
	us, them, ratio, err := versus(rounds, rate(ours, true), rate(theirs, false))
	line("heartbeats/s, 64 connections", us, them, ratio, "≥ 0.80")
	if err == nil {
		figure("  p99", sidecar.Quantile(slowest, 0.5), "ms", "≤ 10")
	}
	return errors.Join(err, ours.end(), theirs.stop())
}

func signalTo(agent string) []byte {
	return fmt.Appendf(nil, `{"from_agent_id":"captain","to_agent_id":"%s","signal":"message","context":{%s%d,"text":"look at the build"}}`, agent, stamp, time.Now().UnixNano())
}

// both starts the router and a floor, with a crowd on each.
func both(under http.Handler, crowdOf int) (ours, theirs *side, here, there *crowd, err error) {
	if ours, err = start(""); err != nil {
		return
	}
	if theirs, err = floor(under); err != nil {
		return
	}
	if here, err = gather(ours.address, crowdOf, ""); err != nil {
		return
	}
	there, err = gather(theirs.address, crowdOf, "")
	return
}

// memory is the hub that stores nothing.
func memory() http.Handler { return &hub{all: map[string]chan []byte{}} }

// signals go to one of 1,000 agents each, from 64 senders; the time counts
// until all have arrived. They are measured beside the hub, and beside the plain program.
func signals(rounds int) error {
	dir, err := os.MkdirTemp("", "skillrouter-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	stored, err := plain(dir)
	if err != nil {
		return err
	}
	for _, under := range []struct {
		name, target string
		handler      http.Handler
	}{{"signals/s; gin, gorm, r3labs/sse", "≥ 0.90", stored}, {"signals/s; a hub in memory", "", memory()}} {
		ours, theirs, here, there, err := both(under.handler, subscribers)
		if err != nil {
			return err
		}
		if err := deliveries(rounds, under.name, under.target, ours, theirs, here, there, 15000, 1, 30*time.Second, func(sender, call int) []byte {
			return signalTo(fmt.Sprint("a", (sender*7919+call*104729)%subscribers))
		}); err != nil {
			return err
		}
	}
	return nil
}

// deliveries measures both sides in turns until all that was sent has arrived in their crowds: calls of what body makes, of
// which each reaches so many streams. It waits that long for the last, and ends both sides.
func deliveries(rounds int, name, target string, ours, theirs *side, here, there *crowd, calls, each int64, patience time.Duration, body func(sender, call int) []byte) error {
	rate := func(s *side, c *crowd) func() (float64, error) {
		return func() (float64, error) {
			before, begin := c.received.Load(), time.Now()
			n, _, _, err := hammer(s.address, "/signal", 0, calls, body)
			if err != nil {
				return 0, err
			}
			err = c.wait(before+n*each, patience)
			return float64(n*each) / time.Since(begin).Seconds(), err
		}
	}
	us, them, ratio, err := versus(rounds, rate(ours, here), rate(theirs, there))
	line(name, us, them, ratio, target)
	here.close()
	there.close()
	return errors.Join(err, ours.end(), theirs.stop())
}

// steadily sends signals at the pace from a few senders for a while, to the first agents of the crowd.
func steadily(address string, agents int, during time.Duration) error {
	const few = 8
	var mu sync.Mutex
	var failure error
	var all sync.WaitGroup
	for sender := range few {
		p, err := sidecar.Dial(address)
		if err != nil {
			return err
		}
		all.Go(func() {
			defer p.Close()
			tick := time.NewTicker(time.Second * few / pace)
			defer tick.Stop()
			for call := range int(during.Seconds() * pace / few) {
				<-tick.C
				if err := p.Post("/signal", signalTo(fmt.Sprint("a", (sender*7919+call*104729)%agents))); err != nil {
					mu.Lock()
					failure = err
					mu.Unlock()
					return
				}
			}
		})
	}
	all.Wait()
	return failure
}

// syncs writes a page and waits for the disk, at the pace of the signals: what
// no router that stores before it acknowledges can be faster than.
func syncs(dir string) ([]time.Duration, error) {
	file, err := os.CreateTemp(dir, "sync-")
	if err != nil {
		return nil, err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	page := make([]byte, 8192)
	var took []time.Duration
	for i := range pace * 5 {
		time.Sleep(time.Second / pace)
		begin := time.Now()
		if _, err := file.WriteAt(page, int64(i%100)*int64(len(page))); err != nil {
			return nil, err
		}
		if err := file.Sync(); err != nil {
			return nil, err
		}
		took = append(took, time.Since(begin))
	}
	return took, nil
}

// paced is how long a signal takes from its sender to its subscriber at 200 a
// second, beside the hub in memory, and how long the bare disk takes meanwhile.
func paced(int) error {
	ours, theirs, here, there, err := both(memory(), subscribers)
	if err != nil {
		return err
	}
	var tails [2][]float64
	for i, s := range []*side{ours, theirs} {
		if err := steadily(s.address, subscribers, 5*time.Second); err != nil {
			return err
		}
		c := []*crowd{here, there}[i]
		if err := c.wait(int64(pace*5*95/100), 10*time.Second); err != nil {
			return err
		}
		tails[i] = milliseconds(c.lateness())
	}
	fmt.Printf("%-34s %12.2f %12.2f %8s %8s\n", "p99 in ms at 200 signals/s", sidecar.Quantile(tails[0], 0.99), sidecar.Quantile(tails[1], 0.99), "", "≤ 5")
	fmt.Printf("%-34s %12.2f %12.2f\n", "  p50", sidecar.Quantile(tails[0], 0.5), sidecar.Quantile(tails[1], 0.5))
	disk, err := syncs(ours.dir)
	if err != nil {
		return err
	}
	figure("  the bare disk's p99", sidecar.Quantile(milliseconds(disk), 0.99), "ms", "")
	figure("  the bare disk's p50", sidecar.Quantile(milliseconds(disk), 0.5), "ms", "")
	return errors.Join(ours.end(), theirs.stop())
}

// broadcasts go to 1,000 streams each.
func broadcasts(rounds int) error {
	ours, theirs, here, there, err := both(memory(), subscribers)
	if err != nil {
		return err
	}
	return deliveries(rounds, "broadcast deliveries/s, 1,000 streams", "≥ 0.90", ours, theirs, here, there, 300, subscribers, 60*time.Second,
		func(int, int) []byte { return signalTo("") })
}

// replay reads 6,000 stored messages after a restart.
func replay(rounds int) error {
	ours, err := start("")
	if err != nil {
		return err
	}
	if _, _, _, err := hammer(ours.address, "/signal", 0, replayed, func(int, int) []byte { return signalTo("a0") }); err != nil {
		return err
	}
	if err := ours.stop(); err != nil {
		return err
	}
	if ours, err = start(ours.dir); err != nil {
		return err
	}
	var rates []float64
	for range rounds {
		begin := time.Now()
		c, err := gather(ours.address, 1, "&last_event_id=0")
		if err != nil {
			return err
		}
		if err := c.wait(replayed, 30*time.Second); err != nil {
			return err
		}
		rates = append(rates, replayed/time.Since(begin).Seconds())
		c.close()
	}
	figure("replay of 6,000 after a restart", sidecar.Quantile(rates, 0.5), "messages/s", "≥ 100000")
	return ours.end()
}

// slowReader compares the others' p99 without and with a client that never
// reads, while that client is sent more than it can hold.
func slowReader(rounds int) error {
	const others = 100
	var without, with []float64
	for range max(1, rounds/2) {
		for _, slow := range []bool{false, true} {
			ours, err := start("")
			if err != nil {
				return err
			}
			c, err := gather(ours.address, others, "")
			if err != nil {
				return err
			}
			var flood sync.WaitGroup
			stop := make(chan struct{})
			conn, err := net.Dial("tcp", ours.address)
			if err != nil {
				return err
			}
			if slow {
				_ = conn.(*net.TCPConn).SetReadBuffer(4096)
				fmt.Fprintf(conn, "GET /messages?agent_id=stuck HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
			}
			p, err := sidecar.Dial(ours.address)
			if err != nil {
				return err
			}
			flood.Go(func() { // the same load either way: only its reader differs
				pad := fmt.Appendf(nil, `{"from_agent_id":"captain","to_agent_id":"stuck","signal":"flood","context":{"pad":"%01000d"}}`, 0)
				for {
					select {
					case <-stop:
						return
					case <-time.After(2 * time.Millisecond):
						_ = p.Post("/signal", pad)
					}
				}
			})
			if err := steadily(ours.address, others, 8*time.Second); err != nil {
				return err
			}
			close(stop)
			flood.Wait()
			tail := sidecar.Quantile(milliseconds(c.lateness()), 0.99)
			if slow {
				with = append(with, tail)
			} else {
				without = append(without, tail)
			}
			_ = conn.Close()
			_ = p.Close()
			if err := ours.end(); err != nil {
				return err
			}
		}
	}
	a, b := sidecar.Quantile(with, 0.5), sidecar.Quantile(without, 0.5)
	fmt.Printf("%-34s %12.2f %12.2f %8.2f %8s\n", "others' p99 beside a stuck client", a, b, a/b, "≤ 1.20")
	return nil
}
