package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/cmd/app"
	"github.com/skillrouter/skillrouter/cmd/cli"
	"github.com/skillrouter/skillrouter/cmd/config"
)

// serveApp runs a router in this process until the test ends, and returns its URL.
func serveApp(t *testing.T) string {
	t.Helper()
	settings := config.Default()
	settings.Data, settings.Listen = t.TempDir(), "127.0.0.1:0"
	a, err := app.New(t.Context(), settings, slog.New(slog.DiscardHandler), app.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return a.URL()
}

// speak runs `skillrouter mcp` over lines of input and returns its answers by id.
func speak(t *testing.T, args []string, lines ...string) (answers map[float64]string, code int, stderr string) {
	t.Helper()
	in := `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n" + strings.Join(lines, "\n")
	var out, errs bytes.Buffer
	code = cli.Run(t.Context(), append([]string{"mcp"}, args...), strings.NewReader(in), &out, &errs)
	answers = map[float64]string{}
	for line := range strings.Lines(out.String()) {
		var answer struct {
			Version string  `json:"jsonrpc"`
			ID      float64 `json:"id"`
		}
		if err := json.Unmarshal([]byte(line), &answer); err != nil || answer.Version != "2.0" {
			t.Errorf("stdout holds something that is no JSON-RPC: %q", line)
		}
		answers[answer.ID] = line
	}
	return answers, code, errs.String()
}

func TestMCP(t *testing.T) {
	t.Setenv("SKILLROUTER_DATA", t.TempDir())
	t.Setenv("SKILLROUTER_AGENT", "")
	url := serveApp(t)
	const record = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"record_episode","arguments":{"event_type":"action","title":"t","content":"c"}}}`
	const recent = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_recent_episodes","arguments":{"session_id":"*"}}}`
	for _, args := range [][]string{{"--server", url}, {"--server", url, "--agent", "builder-1"}} {
		if answers, code, stderr := speak(t, args, record); code != 0 || !strings.Contains(answers[1], "Recorded as") {
			t.Fatalf("%v: code %d, %v, stderr %s", args, code, answers, stderr)
		}
	}
	t.Setenv("SKILLROUTER_AGENT", "builder-2")
	if _, code, stderr := speak(t, []string{"--server", url}, record); code != 0 {
		t.Fatal(stderr)
	}
	answers, _, _ := speak(t, []string{"--server", url}, recent)
	for _, agent := range []string{"captain", "builder-1", "builder-2"} {
		if !strings.Contains(answers[1], `"agent_id":"`+agent+`"`) {
			t.Errorf("nothing is recorded by %s: %s", agent, answers[1])
		}
	}
}

// TestMCPOffersWhatTheRouterDoes holds the tools on standard input to those
// that the router itself offers: each needs its service in the client.
func TestMCPOffersWhatTheRouterDoes(t *testing.T) {
	t.Setenv("SKILLROUTER_DATA", t.TempDir())
	t.Setenv("SKILLROUTER_AGENT", "builder-1")
	url := serveApp(t)
	answer, err := http.Get(url + "/api/tools")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var offered struct {
		Tools []struct{ Name string }
	}
	if err := json.NewDecoder(answer.Body).Decode(&offered); err != nil || len(offered.Tools) < 30 {
		t.Fatal(err, offered)
	}
	answers, _, stderr := speak(t, []string{"--server", url, "--toolsets", "all"},
		`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"check_before_action","arguments":{"proposed_action":"rm -rf /data"}}}`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"get_agent_memory","arguments":{}}}`)
	for _, tool := range offered.Tools {
		if !strings.Contains(answers[1], `"name":"`+tool.Name+`"`) {
			t.Errorf("%s is not offered on standard input; stderr %s", tool.Name, stderr)
		}
	}
	if !strings.Contains(answers[2], "BLOCKED") || !strings.Contains(answers[3], `"agent":"builder-1"`) {
		t.Errorf("%s\n%s", answers[2], answers[3])
	}
}

// TestMCPToolsets goes over the ways to switch a toolset on, and what is then listed.
func TestMCPToolsets(t *testing.T) {
	t.Setenv("SKILLROUTER_DATA", t.TempDir())
	t.Setenv("SKILLROUTER_AGENT", "")
	url := serveApp(t)
	for name, c := range map[string]struct {
		variable string
		args     []string
		want     string
		code     int
	}{
		"by nothing":         {want: `"store_knowledge"`},
		"by the flag":        {args: []string{"--toolsets", "lessons"}, want: `"get_lesson"`},
		"by the environment": {variable: "all", want: `"remember_fact"`},
		"unknown":            {args: []string{"--toolsets", "leasons"}, want: `--toolsets has "leasons", which is no toolset; there are: core, lessons, facts, procedures, reminders, experience, operations, admin, all`, code: 64},
		"unknown variable":   {variable: "leasons", want: `has "leasons"`, code: 64},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("SKILLROUTER_TOOLSETS", c.variable)
			answers, code, stderr := speak(t, append([]string{"--server", url}, c.args...), `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
			if code != c.code || !strings.Contains(answers[1]+stderr, c.want) {
				t.Errorf("code %d, %v, stderr %s", code, answers, stderr)
			}
		})
	}
}

func TestMCPRefusals(t *testing.T) {
	t.Setenv("SKILLROUTER_DATA", t.TempDir())
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"bad agent":                {[]string{"--agent", "two words"}, 64, "may hold only letters"},
		"argument":                 {[]string{"x"}, 64, "a word too many"},
		"no router that may start": {[]string{"--server", "https://127.0.0.1:1"}, 1, "no router answers"},
	} {
		t.Run(name, func(t *testing.T) {
			answers, code, stderr := speak(t, c.args)
			if code != c.code || len(answers) != 0 || !strings.Contains(stderr, c.want) {
				t.Errorf("code %d, answers %v, stderr %q; want %d and %q", code, answers, stderr, c.code, c.want)
			}
		})
	}
}
