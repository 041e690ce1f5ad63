package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/scripts/bench/sidecar"
)

// inspectTime bounds one call of the Inspector, which takes about a second.
const inspectTime = time.Minute

// inspections are what the Inspector is asked for: after how it reaches the server, and
// what its answer must hold. {entry} and {lesson} are the ids that were given before.
var inspections = []struct {
	arguments []string
	holds     string
	keep      string // field of the structured answer to remember
}{
	{[]string{"--method", "tools/list"}, `"find_tools"`, ""},
	{[]string{"--method", "tools/call", "--tool-name", "store_knowledge", "--tool-arg", "category=gotcha", "title=Port in use", "content=End the old server first"}, `"knowledge_id"`, "knowledge_id"},
	{[]string{"--method", "tools/call", "--tool-name", "search_knowledge", "--tool-arg", "query=port in use"}, "End the old server first", ""},
	{[]string{"--method", "tools/call", "--tool-name", "report_lesson", "--tool-arg", "title=Wait for the lock", "lesson_type=failure", "severity=high", "domain=builds", "context=Two builds at once", "action_taken=Started both", "outcome=One failed", "root_cause=They share a folder", "solution=Take the lock first"}, `"lesson_id"`, "lesson_id"},
	{[]string{"--method", "tools/call", "--tool-name", "call_tool", "--tool-arg", "name=memory_stats"}, `"structuredContent"`, ""},
	{[]string{"--method", "resources/list"}, `"agents://"`, ""},
	{[]string{"--method", "resources/templates/list"}, `"memory://knowledge/{id}"`, ""},
	{[]string{"--method", "resources/read", "--uri", "memory://knowledge/{knowledge_id}"}, "End the old server first", ""},
	{[]string{"--method", "resources/read", "--uri", "memory://lessons/{lesson_id}"}, "Take the lock first", ""},
	{[]string{"--method", "resources/read", "--uri", "memory://lessons/1"}, "Take the lock first", ""},
	{[]string{"--method", "resources/read", "--uri", "agents://"}, `"application/json"`, ""},
	{[]string{"--method", "prompts/list"}, `"session_start"`, ""},
	{[]string{"--method", "prompts/get", "--prompt-name", "before_risky_action", "--prompt-args", "action=rm -rf /"}, "BLOCKED", ""},
	{[]string{"--method", "logging/setLevel", "--log-level", "info"}, "{", ""},
}

// inspect calls the Inspector's command line over both transports and says
// what it did, in Markdown.
func (t toolbox) inspect(ctx context.Context, out io.Writer, program string, side *sidecar.Sidecar, data, work string) (string, error) {
	config := filepath.Join(work, "mcp.json")
	raw, err := json.Marshal(map[string]any{"mcpServers": map[string]any{
		"http": map[string]any{"type": "http", "url": side.Base + "/mcp?agent_id=inspector"},
		"stdio": map[string]any{
			"type": "stdio", "command": program, "args": []string{"mcp", "--agent", "inspector", "--server", side.Base},
			"env": map[string]string{"SKILLROUTER_DATA": data},
		},
	}})
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(config, raw, 0o600); err != nil {
		return "", err
	}
	for _, transport := range []string{"http", "stdio"} {
		kept := []string{}
		for _, step := range inspections {
			arguments := append([]string{"--cli", "--config", config, "--server", transport}, step.arguments...)
			for i := range arguments {
				arguments[i] = strings.NewReplacer(kept...).Replace(arguments[i])
			}
			said, err := t.inspector(ctx, work, arguments)
			if err != nil || !strings.Contains(said, step.holds) {
				return "", fmt.Errorf("the Inspector over %s, %s: %w; an answer with %s was expected, and it said:\n%s", transport, strings.Join(step.arguments, " "), err, step.holds, said)
			}
			if step.keep != "" {
				var answer struct {
					Fields map[string]any `json:"structuredContent"`
				}
				if err := json.Unmarshal([]byte(said), &answer); err != nil {
					return "", fmt.Errorf("the Inspector over %s: %w in:\n%s", transport, err, said)
				}
				kept = append(kept, "{"+step.keep+"}", fmt.Sprint(answer.Fields[step.keep]))
			}
		}
		// The negative control: what there is not is not read.
		if said, err := t.inspector(ctx, work, []string{"--cli", "--config", config, "--server", transport, "--method", "resources/read", "--uri", "memory://knowledge/none"}); err == nil {
			return "", fmt.Errorf("the Inspector over %s read a resource that there is not:\n%s", transport, said)
		}
	}
	said := fmt.Sprintf("The Inspector's command line made these %d calls over streamable HTTP and over `skillrouter mcp`, and each was answered:\n\n", len(inspections)+1)
	for _, step := range inspections {
		said += "- `" + strings.Join(step.arguments, " ") + "`\n"
	}
	said += "- `--method resources/read --uri memory://knowledge/none`, which is refused\n"
	fmt.Fprintf(out, "\nInspector: %d calls over http and %[1]d over stdio were answered\n", len(inspections)+1)
	return said, nil
}

// inspector runs the Inspector and returns what it prints.
func (t toolbox) inspector(ctx context.Context, work string, arguments []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, inspectTime)
	defer cancel()
	launcher := filepath.Join(t.modules, "@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js")
	command := exec.CommandContext(ctx, t.node, append([]string{launcher}, arguments...)...)
	var complaints strings.Builder
	command.Stderr = &complaints
	// It keeps settings in its user's home, and secrets in their keychain.
	command.Env = append(os.Environ(), "HOME="+work, "MCP_INSPECTOR_SECRET_STORE=memory", "PATH="+filepath.Dir(t.node)+string(os.PathListSeparator)+os.Getenv("PATH"))
	said, err := command.Output()
	if err != nil {
		return string(said) + complaints.String(), err
	}
	return string(said), nil
}
