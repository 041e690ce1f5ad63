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
	Address, Node string
	TLS           *tls.Config
	Log           *slog.Logger
}

// Bell is no bell.
type Bell struct{ *cluster.Ringer }

// Open opens none.
func Open(context.Context, *cluster.Ringer, skillrouter.Clock, Options) (*Bell, error) {
	return nil, skillrouter.InvalidField("nats", "names a server, and this program was built without NATS (the tag nocluster)")
}

func (*Bell) Close() error           { return nil }
func (*Bell) Status() (bool, string) { return false, "" }
