package mcpserver_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/router/client"
	"github.com/skillrouter/skillrouter/router/mcpserver"
)

var update = flag.Bool("update", false, "rewrite the transcripts with what the server answers")

// TestTranscripts plays what a client writes, line by line, and compares what
// it reads. In a transcript "→" begins a line to the server and "←" one from it.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for i := range archive.Files {
				got := play(t, string(archive.Files[i].Data))
				if !*update && got != string(archive.Files[i].Data) {
					t.Errorf("%s: got (run with -update if that is right)\n%s", archive.Files[i].Name, got)
				}
				archive.Files[i].Data = []byte(got)
			}
			if *update {
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

var randomMark = regexp.MustCompile(`memory-[0-9a-f]{12}`)

func play(t *testing.T, transcript string) string {
	h := &house{inbox: []comms.InboxMessage{inboxMessage(1, "", "message", `{"text":"hello"}`)}}
	server := mcpserver.New(h.services(), mcpserver.Options{Agent: "captain", Version: "test"})
	serverIn, clientOut := io.Pipe()
	clientIn, serverOut := io.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- piped(t, server).Run(t.Context(), serverIn, serverOut)
		_ = serverOut.Close()
	}()
	answers := bufio.NewReader(clientIn)
	var got strings.Builder
	for line := range strings.Lines(transcript) {
		sent, ok := strings.CutPrefix(line, "→ ")
		if !ok {
			if !strings.HasPrefix(line, "← ") {
				got.WriteString(line) // a remark
			}
			continue
		}
		got.WriteString(line)
		if _, err := io.WriteString(clientOut, sent); err != nil {
			t.Fatal(err)
		}
		var message struct {
			Version string          `json:"jsonrpc"`
			ID      json.RawMessage `json:"id"`
			Method  string          `json:"method"`
		}
		if json.Unmarshal([]byte(sent), &message) == nil && message.Version == "2.0" && message.ID == nil && message.Method != "" {
			continue // a notification has no answer
		}
		answer, err := answers.ReadString('\n')
		if err != nil {
			t.Fatalf("after %s: %v", line, err)
		}
		got.WriteString("← " + randomMark.ReplaceAllString(answer, "memory-…"))
	}
	_ = clientOut.Close()
	rest, err := io.ReadAll(answers)
	if err != nil || len(rest) > 0 {
		t.Errorf("after the end of the input: %q, %v", rest, err)
	}
	if err := <-served; err != nil {
		t.Errorf("the server ended with %v", err)
	}
	return got.String()
}

// TestInputEndsBeforeTheAnswers pipes everything in at once, as a shell would.
func TestInputEndsBeforeTheAnswers(t *testing.T) {
	const calls = 50
	var in, out bytes.Buffer
	in.WriteString(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n")
	for i := range calls {
		fmt.Fprintf(&in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"search_knowledge","arguments":{"query":"x"}}}`+"\n", i+1)
	}
	in.Truncate(in.Len() - 1) // not even the last line break
	if err := piped(t, mcpserver.New(new(house).services(), mcpserver.Options{})).Run(t.Context(), &in, &out); err != nil {
		t.Fatal(err)
	}
	seen := map[float64]bool{}
	for line := range strings.Lines(out.String()) {
		var answer struct {
			ID     float64
			Result json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &answer); err != nil || answer.Result == nil {
			t.Errorf("%v: %s", err, line)
		}
		seen[answer.ID] = true
	}
	if len(seen) != calls+1 {
		t.Errorf("%d answers, want %d", len(seen), calls+1)
	}
}

// TestStuckCallsEnd holds that the end of the input ends the pipe, even if a
// call never comes back by itself.
func TestStuckCallsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dialled, left := make(dials), make(chan struct{})
		serving := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // or nobody sees that the client leaves
			<-r.Context().Done()
			close(left)
		})}
		go func() { _ = serving.Serve(dialled) }()
		in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_knowledge","arguments":{"query":"wait"}}}` + "\n")
		pipe := client.Pipe{Dial: func(context.Context) (*client.Client, error) {
			return client.New("http://router", client.Options{Connect: dialled.dial})
		}}
		if err := pipe.Run(t.Context(), in, io.Discard); err != nil {
			t.Error(err)
		}
		<-left
		if err := serving.Close(); err != nil {
			t.Error(err)
		}
	})
}

// dials is a listener in memory.
type dials chan net.Conn

func (d dials) dial(context.Context) (net.Conn, error) {
	here, there := net.Pipe()
	d <- there
	return here, nil
}

// Accept implements net.Listener.
func (d dials) Accept() (net.Conn, error) {
	conn, ok := <-d
	if !ok {
		return nil, net.ErrClosed
	}
	return conn, nil
}

// Addr implements net.Listener.
func (d dials) Addr() net.Addr { return &net.UnixAddr{} }

// Close implements net.Listener.
func (d dials) Close() error { close(d); return nil }

// TestRouterGoesAway restarts the router behind a pipe: a call while it is away fails with the call's id and says what to do, a call
// after it comes back works in a new session, and the client is told to list its tools again.
func TestRouterGoesAway(t *testing.T) {
	h := &house{}
	var serving atomic.Pointer[string]
	serve := func() (stop func()) {
		server := mcpserver.New(h.services(), mcpserver.Options{Agent: "captain"})
		s := httptest.NewServer(server.Handler())
		serving.Store(&s.URL)
		return func() {
			_ = server.Close()
			s.CloseClientConnections()
			s.Close()
		}
	}
	stop := serve()
	serverIn, in := io.Pipe()
	clientIn, serverOut := io.Pipe()
	pipe := client.Pipe{Dial: func(context.Context) (*client.Client, error) { return client.New(*serving.Load(), client.Options{}) }}
	served := make(chan error, 1)
	go func() { served <- pipe.Run(t.Context(), serverIn, serverOut) }()
	answers := make(chan string, 100) // so that the pipe never waits for this test
	go func() {
		defer close(answers)
		for lines := bufio.NewScanner(clientIn); lines.Scan(); {
			answers <- lines.Text()
		}
	}()
	say := func(line string) { _, _ = io.WriteString(in, line+"\n") }
	told := 0 // that the tools are others
	hear := func(want string) {
		t.Helper()
		for line := range answers {
			if strings.Contains(line, want) {
				return
			}
			if told++; !strings.Contains(line, "notifications/tools/list_changed") {
				t.Fatalf("%q; want %q", line, want)
			}
		}
	}
	const ask = `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"search_knowledge","arguments":{"query":"x"}}}`
	say(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	hear(`"id":0`)
	say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	say(fmt.Sprintf(ask, 1))
	hear(`"id":1,"result"`)
	stop()
	say(fmt.Sprintf(ask, 2))
	hear(`"id":2,"error":{"code":-32000,"message":"`)
	say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`) // needs no answer, and gets none
	stop = serve()
	defer stop()
	say(fmt.Sprintf(ask, 3))
	hear(`"id":3,"result"`)
	say(fmt.Sprintf(ask, 4))
	hear(`"id":4,"result"`)
	if told != 1 {
		t.Errorf("the client was told %d times that its tools are others", told)
	}
	_ = in.Close()
	if err := <-served; err != nil {
		t.Error(err)
	}
	_ = serverOut.Close()
}

func TestStdioEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, client := io.Pipe()
	defer client.Close()
	served := make(chan error, 1)
	go func() {
		served <- piped(t, mcpserver.New(new(house).services(), mcpserver.Options{})).Run(ctx, in, io.Discard)
	}()
	cancel()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

func TestHugeLineIsRefusedAndTheNextIsRead(t *testing.T) {
	var out bytes.Buffer
	in := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("x", mcpserver.MaxMessage) + `"}}` + "\r\n" +
		`{"jsonrpc":"2.0","id":2,"method":"ping"}` + "\r\n")
	if err := piped(t, mcpserver.New(new(house).services(), mcpserver.Options{})).Run(t.Context(), in, &out); err != nil {
		t.Fatal(err)
	}
	first, second, _ := strings.Cut(out.String(), "\n")
	if !strings.Contains(first, "longer than 8 MiB") || !strings.Contains(first, `"id":null`) || !strings.Contains(second, `"id":2`) {
		t.Errorf("%.300s", out.String())
	}
}

// FuzzStdio feeds a session anything at all: it must neither panic nor hang,
// and what it writes must be JSON-RPC, one message a line.
func FuzzStdio(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	f.Add([]byte("[]\n[1]\n[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"},{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]\n"))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"route_query","arguments":[]}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":"a","result":{}}` + "\n" + `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		server := mcpserver.New(new(house).services(), mcpserver.Options{})
		if bytes.Contains(in, []byte("wait")) {
			t.Skip("the fake would wait")
		}
		var out bytes.Buffer
		if err := piped(t, server).Run(t.Context(), bytes.NewReader(in), &out); err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(out.Bytes()) {
			if !json.Valid(line) {
				t.Fatalf("not JSON: %q", line)
			}
		}
	})
}
