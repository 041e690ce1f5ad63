package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/skillrouter/skillrouter/scripts/bench/sidecar"
)

// hammer calls from every sender as fast as it can until the time is up or
// the calls are used up, and returns how many calls were made, in which time,
// and how long each took.
func hammer(address, path string, limit time.Duration, calls int64, body func(sender, call int) []byte) (int64, time.Duration, []time.Duration, error) {
	var made atomic.Int64
	var mu sync.Mutex
	var took []time.Duration
	var failure error
	var all sync.WaitGroup
	posters := make([]*sidecar.Conn, senders)
	for i := range posters {
		var err error
		if posters[i], err = sidecar.Dial(address); err != nil {
			return 0, 0, nil, err
		}
		defer posters[i].Close()
	}
	begin := time.Now()
	for i, p := range posters {
		all.Go(func() {
			var mine []time.Duration
			for call := 0; limit == 0 || time.Since(begin) < limit; call++ {
				if calls > 0 && made.Load() >= calls {
					break
				}
				at := time.Now()
				if err := p.Post(path, body(i, call)); err != nil {
					mu.Lock()
					failure = err
					mu.Unlock()
					break
				}
				mine = append(mine, time.Since(at))
				made.Add(1)
			}
			mu.Lock()
			took = append(took, mine...)
			mu.Unlock()
		})
	}
	all.Wait()
	return made.Load(), time.Since(begin), took, failure
}

// crowd is many open streams, which count what arrives.
type crowd struct {
	received atomic.Int64
	conns    []net.Conn
	mu       sync.Mutex
	late     []time.Duration // how long stamped messages took
}

// stamp opens a message's context in this program; its time says when it was sent.
const stamp = `"at":`

// gather opens n streams, of agents a0, a1, … and waits until all are open.
func gather(address string, n int, query string) (*crowd, error) {
	c := &crowd{}
	var ready sync.WaitGroup
	for i := range n {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			return nil, err
		}
		c.conns = append(c.conns, conn)
		if _, err := fmt.Fprintf(conn, "GET /messages?agent_id=a%d%s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", i, query); err != nil {
			return nil, err
		}
		ready.Add(1)
		go c.read(conn, ready.Done)
	}
	ready.Wait()
	return c, nil
}

func (c *crowd) read(conn net.Conn, ready func()) {
	answer, err := http.ReadResponse(bufio.NewReaderSize(conn, 4096), nil)
	ready()
	if err != nil || answer.StatusCode != http.StatusOK {
		return
	}
	reader := bufio.NewReaderSize(answer.Body, 4096) // lines may be split between chunks
	var late []time.Duration
	defer func() {
		c.mu.Lock()
		c.late = append(c.late, late...)
		c.mu.Unlock()
	}()
	for {
		text, err := reader.ReadSlice('\n')
		if err != nil && err != bufio.ErrBufferFull {
			return
		}
		if bytes.HasPrefix(text, []byte("data:")) {
			if at := bytes.Index(text, []byte(stamp)); at > 0 {
				digits := text[at+len(stamp):]
				end := bytes.IndexAny(digits, ",}")
				if sent, err := strconv.ParseInt(string(digits[:max(end, 0)]), 10, 64); err == nil {
					late = append(late, time.Duration(time.Now().UnixNano()-sent))
				}
			}
			c.received.Add(1)
		}
	}
}

// wait waits until as many messages have arrived.
func (c *crowd) wait(n int64, limit time.Duration) error {
	for begin := time.Now(); c.received.Load() < n; time.Sleep(200 * time.Microsecond) {
		if time.Since(begin) > limit {
			return fmt.Errorf("only %d of %d messages arrived in %v", c.received.Load(), n, limit)
		}
	}
	return nil
}

func (c *crowd) close() {
	for _, conn := range c.conns {
		_ = conn.Close()
	}
}

// lateness closes the streams and returns how long the stamped messages took.
func (c *crowd) lateness() []time.Duration {
	c.close()
	for {
		c.mu.Lock()
		late := c.late
		c.mu.Unlock()
		if int64(len(late)) >= c.received.Load() {
			return late
		}
		time.Sleep(time.Millisecond)
	}
}
