package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router/stream"
)

const (
	// published is how many events a round of the feed has.
	published = 300
	// waiting is how many frames the bare hub holds for each client.
	waiting = 1024
	// watchers is how many follow the feed while its cost to the signals is measured.
	watchers = 10
)

// bareHub is the feed in memory: a signal is a frame for every client, and
// nothing is stored. The frames are those of the router. A publisher waits for
// a client whose buffer is full.
type bareHub struct {
	seq  atomic.Int64
	raw  bool // writes all that waits for a client at once, past the library
	mu   sync.RWMutex
	open []chan []byte
}

func (h *bareHub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		h.publish(w, r)
		return
	}
	out := &taken{ResponseWriter: w}
	conn, err := websocket.Accept(out, r, &websocket.AcceptOptions{InsecureSkipVerify: true, CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return
	}
	defer func() { _ = conn.CloseNow() }()
	ctx := conn.CloseRead(r.Context())
	frames := make(chan []byte, waiting)
	h.mu.Lock()
	h.open = append(h.open, frames)
	h.mu.Unlock()
	var gathered net.Buffers
	for {
		select {
		case <-ctx.Done():
			return
		case frame := <-frames:
			if !h.raw {
				if conn.Write(ctx, websocket.MessageText, frame[frameHeader:]) != nil {
					return
				}
				continue
			}
			gathered = append(gathered[:0], frame)
			for more := true; more && len(gathered) < 128; {
				select {
				case frame = <-frames:
					gathered = append(gathered, frame)
				default:
					more = false
				}
			}
			rest := gathered
			if _, err := rest.WriteTo(out.conn); err != nil {
				return
			}
		}
	}
}

// frameHeader is the length of the header of a frame of 126 to 65,535 bytes.
const frameHeader = 4

// publish sends what a signal is in the feed to every client.
func (h *bareHub) publish(w http.ResponseWriter, r *http.Request) {
	var d operational.MessageDraft
	if err := json.NewDecoder(r.Body).Decode(&d); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	seq, now := h.seq.Add(1), time.Now()
	id := fmt.Sprintf("%036d", seq)
	data, err := json.Marshal(operational.MessageEvent{ID: id, Seq: seq, From: d.From, To: d.To, Signal: d.Signal})
	if err != nil {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	text, err := json.Marshal(stream.Frame{
		Type: operational.EventMessageSent, Data: data, Timestamp: now.UnixMilli(), Seq: seq, Source: string(operational.FeedMessages), Subject: id, Agent: d.From,
	})
	if err != nil || len(text) < 126 {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	frame := append([]byte{0x81, 126, byte(len(text) >> 8), byte(len(text))}, text...)
	h.mu.RLock()
	for _, one := range h.open {
		one <- frame
	}
	h.mu.RUnlock()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(comms.Sent{Delivered: true, Target: d.To, Signal: d.Signal, MessageID: id, Seq: seq})
}

// taken keeps the connection that the library takes over.
type taken struct {
	http.ResponseWriter
	conn net.Conn
}

// Hijack implements http.Hijacker.
func (t *taken) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(t.ResponseWriter).Hijack()
	t.conn = conn
	return conn, buffered, err
}

// watch opens n WebSockets and waits until all are open. They count frames,
// look at none, and answer pings.
func watch(address string, n int) (*crowd, error) {
	c := &crowd{}
	for range n {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			return c, err
		}
		c.conns = append(c.conns, conn)
		if _, err := fmt.Fprintf(conn, "GET /ws?type=message.sent HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
			"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"); err != nil {
			return c, err
		}
		reader := bufio.NewReaderSize(conn, 16<<10)
		answer, err := http.ReadResponse(reader, nil)
		if err != nil {
			return c, err
		}
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusSwitchingProtocols {
			return c, fmt.Errorf("a WebSocket is answered %s", answer.Status)
		}
		go c.readFrames(conn, reader)
	}
	return c, nil
}

func (c *crowd) readFrames(conn net.Conn, reader *bufio.Reader) {
	for {
		header, err := reader.Peek(2)
		if err != nil {
			return
		}
		kind, length, skip := header[0], int(header[1]), 2
		if length == 126 {
			if header, err = reader.Peek(frameHeader); err != nil {
				return
			}
			length, skip = int(header[2])<<8|int(header[3]), frameHeader
		}
		if _, err := reader.Discard(skip + length); err != nil {
			return
		}
		switch kind {
		case 0x81:
			c.received.Add(1)
		case 0x89: // a pong with a mask of zeros
			_, _ = conn.Write([]byte{0x8a, 0x80, 0, 0, 0, 0})
		default:
			return
		}
	}
}

// feeds publishes signals, each of which is an event, to 1,000 WebSockets; the
// time counts until all frames have arrived. The floor is a hub that writes
// each frame with the library; the second one gathers as the router does.
func feeds(rounds int) error {
	for _, one := range []struct {
		name, target string
		raw          bool
	}{
		{"feed frames/s, 1,000 WebSockets", "≥ 0.50", false},
		{"  against a hub that gathers", "", true},
	} {
		ours, err := start("")
		if err != nil {
			return err
		}
		theirs, err := floor(&bareHub{raw: one.raw})
		if err != nil {
			return err
		}
		here, err := watch(ours.address, subscribers)
		if err != nil {
			return err
		}
		there, err := watch(theirs.address, subscribers)
		if err != nil {
			return err
		}
		if err := deliveries(rounds, one.name, one.target, ours, theirs, here, there, published, subscribers, 120*time.Second, signalFrom); err != nil {
			return err
		}
	}
	return feedCost(rounds)
}

// signalFrom is a sender's signal, to an agent of its own that nobody listens for.
func signalFrom(sender, _ int) []byte { return signalTo("b" + strconv.Itoa(sender)) }

// feedCost compares the signals that are taken while a few follow the feed
// with those that are taken while nobody does.
func feedCost(rounds int) error {
	s, err := start("")
	if err != nil {
		return err
	}
	rate := func(followers int) func() (float64, error) {
		return func() (float64, error) {
			c, err := watch(s.address, followers)
			if err != nil {
				return 0, err
			}
			defer c.close()
			n, took, _, err := hammer(s.address, "/signal", 0, 15000, signalFrom)
			if err != nil {
				return 0, err
			}
			return float64(n) / took.Seconds(), c.wait(n*int64(followers), 30*time.Second)
		}
	}
	us, them, ratio, err := versus(rounds, rate(watchers), rate(0))
	line("signals/s, 10 or none follow", us, them, ratio, "")
	return errors.Join(err, s.end())
}
