package mcpserver_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/rogpeppe/go-internal/txtar"

	"skillrouter/comms"
	"skillrouter/router/mcpserver"
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
		served <- server.ServeStdio(t.Context(), serverIn, serverOut)
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
	if err := mcpserver.New(new(house).services(), mcpserver.Options{}).ServeStdio(t.Context(), &in, &out); err != nil {
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

// TestStuckCallsEnd holds that the end of the input ends the server, even if a
// call never comes back by itself.
func TestStuckCallsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &house{waiting: make(chan struct{}, 2)}
		in := strings.NewReader(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n" +
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_knowledge","arguments":{"query":"wait"}}}` + "\n")
		if err := mcpserver.New(h.services(), mcpserver.Options{}).ServeStdio(t.Context(), in, io.Discard); err != nil {
			t.Error(err)
		}
	})
}

func TestStdioEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, client := io.Pipe()
	defer client.Close()
	served := make(chan error, 1)
	go func() {
		served <- mcpserver.New(new(house).services(), mcpserver.Options{}).ServeStdio(ctx, in, io.Discard)
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
	if err := mcpserver.New(new(house).services(), mcpserver.Options{}).ServeStdio(t.Context(), in, &out); err != nil {
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
	server := mcpserver.New(new(house).services(), mcpserver.Options{})
	f.Fuzz(func(t *testing.T, in []byte) {
		if bytes.Contains(in, []byte("wait")) {
			t.Skip("the fake would wait")
		}
		var out bytes.Buffer
		if err := server.ServeStdio(t.Context(), bytes.NewReader(in), &out); err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(out.Bytes()) {
			if !json.Valid(line) {
				t.Fatalf("not JSON: %q", line)
			}
		}
	})
}
