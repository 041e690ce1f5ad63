//go:build nocluster

package nats

import (
	"context"
	"crypto/tls"
	"log/slog"

	"skillrouter"
	"skillrouter/router/cluster"
)

// A program that was built with the tag nocluster is no node of a cluster: it refuses the server that a node needs, and opens no bell.

// Options are never read.
type Options struct {
	Address, Node, Database string
	TLS                     *tls.Config
	Secret                  cluster.Secret
	Now                     skillrouter.Clock
	Log                     *slog.Logger
}

// Bell is no bell.
type Bell struct{ cluster.NoBell }

// Open opens none.
func Open(context.Context, Options) (*Bell, error) {
	return nil, skillrouter.InvalidField("nats", "names a server, and this program was built without NATS (the tag nocluster)")
}

func (*Bell) Close() error           { return nil }
func (*Bell) Status() (bool, string) { return false, "" }
func (*Bell) Counts() (int64, int64) { return 0, 0 }
