package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tmaxmax/go-sse"
)

const (
	// streamBytes is the most that an idle stream may cost, in bytes: twice what was measured.
	streamBytes = 140 << 10
	// lateness is how late a message may come to a reader that reads. One that
	// waited for a stalled reader would be five seconds late; the machine may be busy.
	lateness = 2 * time.Second
	// cutWithin is how soon readers that take nothing are cut: after a write
	// deadline of 5 s, when the machine has filled the buffers of all of them.
	cutWithin = time.Minute
	// stalledMessages of stalledBytes are more than any socket's buffers take.
	stalledMessages, stalledBytes = 160, 60 << 10
	// stalledAnAgent is how many of them one agent has: the router opens no more than sixteen for it.
	stalledAnAgent = 15
	// timedMessages are sent one after the other, and timed.
	timedMessages = 200
	timedEvery    = 5 * time.Millisecond
	broadcasts    = 5
)

// crowd opens idle and stalled streams on one router, and times what one good reader is sent meanwhile.
type crowd struct {
	idle, stalled int
	within        time.Duration // in which stalled ones must be cut; 0: cutWithin
	// readerLags and stalledRead are faults of the harness's own readers, for its negative control.
	readerLags  time.Duration
	stalledRead bool
}

func streams(ctx context.Context, program string, c crowd, out *result) error {
	data, err := os.MkdirTemp("", "soak-streams")
	if err != nil {
		return err
	}
	defer os.RemoveAll(data)
	r, err := start(ctx, program, data)
	if err != nil {
		return err
	}
	defer r.kill()
	r.client.Transport.(*http.Transport).MaxConnsPerHost = 0
	before := resident(r.cmd.Process.Pid)
	reading, stop := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer func() {
		stop()
		all.Wait()
	}()
	var heard atomic.Int64 // broadcasts, by all idle streams
	opened := make(chan error, c.idle)
	for i := range c.idle {
		all.Go(func() { c.listen(reading, r, fmt.Sprint("idle-", i), opened, func([]byte) { heard.Add(1) }) })
	}
	for range c.idle {
		if err := <-opened; err != nil {
			return err
		}
	}
	each := (resident(r.cmd.Process.Pid) - before) / int64(max(1, c.idle))
	out.count("idle streams", c.idle)
	out.count("bytes of memory each", int(each))
	if each > streamBytes {
		out.fault("an idle stream costs %d bytes", each)
	}
	times := make(chan time.Time, timedMessages)
	all.Go(func() {
		c.listen(reading, r, "good", opened, func([]byte) {
			<-time.After(c.readerLags)
			times <- time.Now()
		})
	})
	if err := <-opened; err != nil {
		return err
	}
	if err := c.timed(ctx, r, times, "delivery beside idle streams", out); err != nil {
		return err
	}
	for n := range broadcasts {
		began := time.Now()
		if err := say(ctx, r, "", "x"); err != nil {
			return err
		}
		<-times // the good reader's
		look := time.NewTicker(time.Millisecond)
		for heard.Load() < int64((n+1)*c.idle) && time.Since(began) < lastWithin {
			<-look.C
		}
		look.Stop()
		out.time("a broadcast to all", time.Since(began))
		if got := heard.Load(); got != int64((n+1)*c.idle) {
			out.fault("a broadcast came to %d of %d", got-int64(n*c.idle), c.idle)
			return nil
		}
	}
	return c.stall(ctx, r, times, out)
}

// stall opens streams that take nothing, and looks whether they are cut and nobody else waits for them.
func (c crowd) stall(ctx context.Context, r *router, times <-chan time.Time, out *result) error {
	text := strings.Repeat("x", stalledBytes)
	var conns []net.Conn
	defer func() {
		for _, conn := range conns {
			conn.Close()
		}
	}()
	for i := range c.stalled {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", strings.TrimPrefix(r.url, "http://"))
		if err != nil {
			return err
		}
		conns = append(conns, conn)
		if c.stalledRead {
			go func() { _, _ = io.Copy(io.Discard, conn) }()
		}
		if _, err := fmt.Fprintf(conn, "GET /messages?agent_id=stalled-%d HTTP/1.1\r\nHost: %s\r\n\r\n", i/stalledAnAgent, strings.TrimPrefix(r.url, "http://")); err != nil {
			return err
		}
	}
	began := time.Now()
	for i := range stalledMessages * ((c.stalled + stalledAnAgent - 1) / stalledAnAgent) {
		if err := say(ctx, r, fmt.Sprint("stalled-", i/stalledMessages), text); err != nil {
			return err
		}
	}
	if err := c.timed(ctx, r, times, "delivery beside stalled streams", out); err != nil {
		return err
	}
	out.count("stalled streams", len(conns))
	out.count("MB of memory beside stalled streams", int(resident(r.cmd.Process.Pid)>>20))
	// A cut is seen from outside in the count of open connections.
	pid := r.cmd.Process.Pid
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	within := cmp.Or(c.within, cutWithin)
	for time.Since(began) < within {
		if left, err := openTo(pid, conns); err == nil && left == 0 {
			out.time("stalled streams cut after", time.Since(began))
			return nil
		}
		<-look.C
	}
	left, err := openTo(pid, conns)
	if err == nil {
		out.fault("%d of %d stalled streams are not cut after %v", left, len(conns), within)
	}
	return err
}

// timed sends messages to the good reader, and notes how long each took from its sending to its coming.
func (c crowd) timed(ctx context.Context, r *router, times <-chan time.Time, what string, out *result) error {
	pace := time.NewTicker(timedEvery)
	defer pace.Stop()
	for range timedMessages {
		<-pace.C
		sent := time.Now()
		if err := say(ctx, r, "good", "x"); err != nil {
			return err
		}
		select {
		case came := <-times:
			out.time(what, came.Sub(sent))
			if late := came.Sub(sent); late > lateness {
				out.fault("%s: a message comes after %v", what, late)
				return nil
			}
		case <-time.After(lastWithin):
			out.fault("%s: a message does not come", what)
			return nil
		}
	}
	return nil
}

func say(ctx context.Context, r *router, to, text string) error {
	status, raw, err := r.call(ctx, http.MethodPost, "/signal", map[string]any{"from_agent_id": "captain", "to_agent_id": to, "signal": "message", "context": map[string]any{"text": text}})
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("/signal answers %d %s", status, raw)
	}
	return err
}

// listen reads an agent's stream until ctx ends. It says when the stream is open.
func (c crowd) listen(ctx context.Context, r *router, agent string, opened chan<- error, event func(data []byte)) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.url+"/messages?agent_id="+agent, nil)
	if err != nil {
		opened <- err
		return
	}
	answer, err := (&http.Client{Transport: r.client.Transport}).Do(request)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = errors.New(answer.Status)
	}
	opened <- err
	if err != nil {
		return
	}
	defer answer.Body.Close()
	for got, err := range sse.Read(answer.Body, &sse.ReadConfig{MaxEventSize: 1 << 20}) {
		if err != nil {
			return
		}
		if got.Data != "" {
			event([]byte(got.Data))
		}
	}
}

// resident is the memory of a process, in bytes.
func resident(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	pages, _ := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64)
	return pages * int64(os.Getpagesize())
}

// openTo counts the connections whose other end the process still holds open.
func openTo(pid int, conns []net.Conn) (open int, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/tcp", pid))
	if err != nil {
		return 0, err
	}
	established := map[string]bool{} // remote ports of the router's connections
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 3 && f[3] == "01" {
			_, port, _ := strings.Cut(f[2], ":")
			established[port] = true
		}
	}
	for _, conn := range conns {
		if established[fmt.Sprintf("%04X", conn.LocalAddr().(*net.TCPAddr).Port)] {
			open++
		}
	}
	return open, nil
}
