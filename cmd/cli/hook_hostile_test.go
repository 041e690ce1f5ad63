package cli_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"skillrouter/cmd/cli"
	"skillrouter/cmd/hook/respond"
)

// hooks run a hook as the two programs do: the whole one, and the small one with
// its own way to the router.
var hooks = map[string]func(ctx context.Context, args []string, in io.Reader, out, err io.Writer) int{
	"skillrouter": cli.Run,
	"skillrouter-hook": func(ctx context.Context, args []string, in io.Reader, out, err io.Writer) int {
		h, ok := respond.Parse(respond.Process{In: in, Out: out, Err: err, LookupEnv: os.LookupEnv, Connect: respond.ConnectPlain}, args)
		if !ok {
			return -1
		}
		return h.Run(ctx)
	},
}

// TestHookOfASilentRouter holds that a router that accepts and never answers
// costs an agent the hook's time and no more, and that the hook says so if asked.
func TestHookOfASilentRouter(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()         // the kernel accepts; nobody reads
	const limit = 10 * time.Second // five times the hook's own, for a busy machine
	for program, run := range hooks {
		var out, said bytes.Buffer
		begin := time.Now()
		code := run(t.Context(), []string{"hook", "pre-tool-use", "--for", "claude-code", "--verbose", "--server", "http://" + listener.Addr().String()},
			strings.NewReader(`{"session_id":"s","tool_name":"Bash","tool_input":{"command":"ls"}}`), &out, &said)
		if took := time.Since(begin); took > limit {
			t.Errorf("%s: the hook took %s", program, took)
		}
		if code != 0 || out.Len() > 0 || !strings.Contains(said.String(), "did not answer in time") {
			t.Errorf("%s: code %d, out %q, said %q", program, code, &out, &said)
		}
	}
}

// TestHookOfHostileMessages holds that nothing that an agent, or whoever steers
// it, writes into a message makes a hook block, fail or speak, many at once and
// without a folder to write to, before a router that answers rubbish.
func TestHookOfHostileMessages(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("HOME", "")
	router := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"decision":"nonsense","has_messages":true,"messages":null,"should_stop":false}`))
	}))
	defer router.Close()
	var running sync.WaitGroup
	for name, input := range map[string]string{
		"NUL in a command":         `{"tool_name":"Bash","tool_input":{"command":"ls \u0000; rm"}}`,
		"NUL in the tool's name":   `{"tool_name":"Ba\u0000sh","tool_input":{}}`,
		"invalid UTF-8":            "{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"\xff\xfe\"}}",
		"a string of nearly 1 MiB": `{"tool_name":"Write","tool_input":{"content":"` + strings.Repeat("a", 1<<20-100) + `"}}`,
		"a string beyond 1 MiB":    `{"tool_name":"Write","tool_input":{"content":"` + strings.Repeat("a", 1<<20) + `"}}`,
		"deep JSON":                `{"tool_name":"Bash","tool_input":` + strings.Repeat(`{"a":`, 9000) + `1` + strings.Repeat(`}`, 9000) + `}`,
		"deeper JSON":              `{"tool_name":"Bash","tool_input":` + strings.Repeat(`[`, 200_000) + `}`,
		"other types":              `{"tool_name":7,"tool_input":"x","model":{"id":1},"cwd":[]}`,
		"a model that is no word":  `{"tool_name":"Bash","model":{"id":"m"},"tool_input":{"command":"ls"}}`,
		"a folder of line breaks":  `{"tool_name":"Bash","cwd":"/a\n/../../b","session_id":"../../x","tool_use_id":"\u202e","tool_input":{}}`,
		"null":                     `null`,
		"nothing":                  ``,
		"half":                     `{"tool_name":"Bash",`,
	} {
		for _, event := range []string{"session-start", "user-prompt", "pre-tool-use", "post-tool-use", "post-tool-use-failure"} {
			for program, run := range hooks {
				running.Go(func() {
					var out, said bytes.Buffer
					code := run(t.Context(), []string{"hook", event, "--for", "claude-code", "--server", router.URL}, strings.NewReader(input), &out, &said)
					if code != 0 || out.Len() > 0 || said.Len() > 0 {
						t.Errorf("%s: %s at %s: code %d, out %q, said %q", program, name, event, code, &out, &said)
					}
				})
			}
		}
	}
	running.Wait()
}
