// Package nats carries the bell of a cluster over a NATS server. It owns how that is connected to, and what is asked of it: it may be
// away, come back empty, or be of an old version, and nobody waits for it.
package nats

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/router/cluster"
)

// Bounds of what is asked of a server. Nobody waits meanwhile.
const (
	// connectTime bounds one try to connect, with all that the server says then.
	connectTime = time.Second
	// againAfter is how long it is left alone after one that failed.
	againAfter = 500 * time.Millisecond
	// pingEvery is how often it is asked for a sign of life; silentPings may be without one. A connection whose other end is gone
	// without a word is ended after that.
	pingEvery, silentPings = time.Second, 2
	// answerTime bounds a question about its stream.
	answerTime = 2 * time.Second
)

// Options are what a Bell takes.
type Options struct {
	Address  string         // nats://USER:PASSWORD@HOST:PORT, or nats+tls://…
	Node     string         // whose the connection is, for people who look at the server
	TLS      *tls.Config    // of nats+tls, and of a server that wants TLS
	Secret   cluster.Secret // of the cluster
	Database string         // what tells its database from others
	Now      clock.Clock
	Log      *slog.Logger
}

// Bell is the bell of a cluster on a NATS server.
type Bell struct {
	*cluster.Ringer
	subject, stream, server string
	options                 nats.Options
	log                     *slog.Logger
	now                     clock.Clock
	end                     context.CancelFunc
	ended                   sync.WaitGroup

	mu        sync.Mutex
	connected bool
	remembers bool      // its stream has the last message for a node that comes back
	said      bool      // that there is no stream: it is said once
	since     time.Time // when it was connected, or was no more
	failure   error     // why it is not connected; nil: it was not tried yet
}

var _ cluster.Bell = (*Bell)(nil)

// Open begins to connect the bell of a cluster to a server, and waits for nothing. The Bell must be closed.
func Open(ctx context.Context, o Options) (*Bell, error) {
	address, err := url.Parse(o.Address)
	if err != nil || address.Scheme != "nats" && address.Scheme != "nats+tls" || address.Hostname() == "" {
		return nil, errs.InvalidField("nats", "must be an address such as nats://127.0.0.1:4222")
	}
	ringer := cluster.NewRinger(o.Secret, o.Database, o.Now)
	b := &Bell{
		Ringer: ringer, subject: "sr." + ringer.Name() + ".head", stream: "SR_" + ringer.Name(),
		server: address.Scheme + "://" + address.Host, log: o.Log, now: o.Now, since: o.Now(),
	}
	secure := address.Scheme == "nats+tls"
	address.Scheme = "nats"
	b.options = nats.GetDefaultOptions()
	b.options.Url = address.String()
	b.options.Name = "skillrouter " + o.Node
	b.options.Secure, b.options.TLSConfig = secure, o.TLS
	b.options.Timeout = connectTime
	b.options.FlusherTimeout = connectTime
	b.options.PingInterval, b.options.MaxPingsOut = pingEvery, silentPings
	b.options.RetryOnFailedConnect, b.options.MaxReconnect, b.options.IgnoreAuthErrorAbort = true, -1, true
	b.options.ReconnectWait, b.options.ReconnectJitterTLS = againAfter, againAfter
	b.options.ReconnectBufSize = -1          // what is rung while there is no connection is old when there is one
	b.options.IgnoreDiscoveredServers = true // what is configured is dialled, and nothing else
	b.options.NoEcho = true                  // this node knows what it rang
	b.options.ConnectedCB, b.options.ReconnectedCB = b.begins, b.begins
	b.options.DisconnectedErrCB, b.options.ReconnectErrCB = b.fails, b.fails
	b.options.NoCallbacksAfterClientClose = true
	b.options.AsyncErrorCB = func(_ *nats.Conn, _ *nats.Subscription, err error) {
		b.log.Debug("the bell's server complains", "error", err)
	}
	ctx, b.end = context.WithCancel(context.WithoutCancel(ctx))
	b.ended.Go(func() { b.run(ctx) })
	return b, nil
}

// Close ends the connection.
func (b *Bell) Close() error {
	b.end()
	b.ended.Wait()
	return nil
}

// run has the connection until ctx ends.
func (b *Bell) run(ctx context.Context) {
	conn, err := b.options.Connect()
	if err != nil { // not that nobody answers: that is tried again
		b.fails(nil, err)
		<-ctx.Done()
		return
	}
	defer conn.Close()
	if _, err := conn.Subscribe(b.subject, func(m *nats.Msg) { b.Hear(m.Data) }); err != nil {
		b.fails(conn, err)
	}
	b.Tell(ctx, func(message []byte) error {
		b.mu.Lock()
		connected := b.connected
		b.mu.Unlock()
		if !connected {
			return nats.ErrDisconnected
		}
		return conn.Publish(b.subject, message)
	})
}

// begins notes that there is a connection, and hears what was told last.
func (b *Bell) begins(conn *nats.Conn) {
	b.mu.Lock()
	b.connected, b.since, b.failure = true, b.now(), nil
	b.mu.Unlock()
	b.log.Info("the bell is connected", "server", b.server)
	err := b.remember(conn)
	b.mu.Lock()
	b.remembers = err == nil
	say := err != nil && !b.said && b.connected
	b.said = b.said || say
	b.mu.Unlock()
	if say {
		b.log.Warn("the bell's server has no stream for it (JetStream): a node that comes back hears nothing until the next write, and looks for itself", "server", b.server, "error", err)
	}
	b.Again()
}

// remember makes the stream that has the last message, if there is none, and takes that message in.
func (b *Bell) remember(conn *nats.Conn) error {
	js, err := conn.JetStream(nats.MaxWait(answerTime))
	if err != nil {
		return err
	}
	if _, err := js.AddStream(&nats.StreamConfig{
		Name: b.stream, Subjects: []string{b.subject}, Storage: nats.MemoryStorage,
		MaxMsgsPerSubject: 1, Discard: nats.DiscardOld, NoAck: true,
	}); err != nil && !errors.Is(err, nats.ErrStreamNameAlreadyInUse) { // another version may have made it otherwise
		return err
	}
	last, err := js.GetLastMsg(b.stream, b.subject)
	if errors.Is(err, nats.ErrMsgNotFound) {
		return nil
	}
	if err == nil {
		b.Hear(last.Data)
	}
	return err
}

// fails notes that there is no connection, and says it once.
func (b *Bell) fails(_ *nats.Conn, err error) {
	if err == nil {
		err = nats.ErrDisconnected
	}
	b.mu.Lock()
	say := b.connected || b.failure == nil
	if b.connected {
		b.connected, b.since = false, b.now()
	}
	b.failure = err
	b.mu.Unlock()
	if say {
		b.log.Warn("the bell is not connected: nodes hear nothing of each other's writes, and look for themselves", "server", b.server, "error", err)
	}
}

// Status says whether there is a connection, and since when.
func (b *Bell) Status() (connected bool, detail string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	since := b.since.UTC().Format(time.DateTime)
	switch {
	case !b.connected && b.failure == nil:
		return false, "not connected to " + b.server + " yet"
	case !b.connected:
		return false, fmt.Sprintf("not connected to %s since %s UTC (%v): nodes look for themselves meanwhile", b.server, since, b.failure)
	case !b.remembers:
		return true, fmt.Sprintf("connected to %s since %s UTC, without JetStream", b.server, since)
	}
	return true, fmt.Sprintf("connected to %s since %s UTC", b.server, since)
}
