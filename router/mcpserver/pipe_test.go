package mcpserver_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/skillrouter/skillrouter/router/client"
	"github.com/skillrouter/skillrouter/router/mcpserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pipes serves one client over pipes, as `skillrouter mcp` does, until the
// test ends, and then checks that the pipe has ended too.
func pipes(t *testing.T, server *mcpserver.Server) mcp.Transport {
	t.Helper()
	serverIn, clientOut := io.Pipe()
	clientIn, serverOut := io.Pipe()
	served := make(chan error, 1)
	pipe := piped(t, server)
	go func() {
		served <- pipe.Run(t.Context(), serverIn, serverOut)
		_ = serverOut.Close()
	}()
	t.Cleanup(func() {
		_ = clientOut.Close()
		_ = clientIn.Close()
		if err := <-served; err != nil && t.Context().Err() == nil {
			t.Errorf("the pipe ended with %v", err)
		}
	})
	return &mcp.IOTransport{Reader: clientIn, Writer: clientOut}
}

// piped is a pipe to a server.
func piped(t *testing.T, server *mcpserver.Server) *client.Pipe {
	t.Helper()
	url := framed(t, server)
	return &client.Pipe{Dial: func(context.Context) (*client.Client, error) { return client.New(url, client.Options{}) }}
}

func withCancel(t *testing.T) (context.Context, context.CancelFunc) {
	return context.WithCancel(t.Context())
}

// logged keeps what is logged.
type logged struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func (l *logged) Reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buf.Reset()
}

func (l *logged) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }
