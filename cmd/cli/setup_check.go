package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/skillrouter/skillrouter/cmd/hook/respond"
	"github.com/skillrouter/skillrouter/cmd/setup"
	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/router/client"
)

// Bounds of looking whether a setup works.
const (
	// checkRuns is how often the hook is run; the time in the middle counts.
	checkRuns = 5
	// slowHook is when a hook is called slow, which is told and is no fault of the setup: it works. It takes a fraction of it on a machine
	// that has something else to do as well; an agent waits for it at each step.
	slowHook = 250 * time.Millisecond
	// maxFound bounds what is said of one thing that was looked at, in bytes.
	maxFound = 600
	// serverTime bounds how long the MCP server may take to list its tools.
	serverTime = 20 * time.Second
)

// checkItem is one thing that must be there for an agent to work with the router.
type checkItem struct {
	Agent   setup.Agent `json:"agent,omitempty"`
	Name    string      `json:"name"`
	OK      bool        `json:"ok"`
	Unknown bool        `json:"unknown,omitempty"` // nothing tells: neither there nor missing
	Said    string      `json:"said"`
	Mend    string      `json:"mend,omitempty"` // what mends it
}

// checkReport is what `setup --check` finds.
type checkReport struct {
	OK      bool        `json:"ok"`                // all of it is known to be there
	Missing bool        `json:"missing,omitempty"` // some of it is known not to be
	Items   []checkItem `json:"items"`
}

// checkUp looks whether the agents are set up and reach the router. It changes
// nothing: it starts no router, and asks nothing that the router writes down.
func (u *settingUp) checkUp(ctx context.Context, store setup.Store) error {
	report := checkReport{OK: true}
	add := func(item checkItem) {
		report.OK = report.OK && item.OK
		report.Missing = report.Missing || !item.OK && !item.Unknown
		report.Items = append(report.Items, item)
	}
	u.shell.server = u.content.Server
	c, err := u.shell.client()
	router := checkItem{Name: "router"}
	if err != nil {
		router.Said = explain(err)
	} else {
		defer c.Close()
		router = u.checkRouter(ctx, c)
	}
	add(router)
	agents, err := u.agents(store)
	if err != nil {
		return err
	}
	if len(agents) == 0 {
		add(checkItem{Name: "agent", Said: "none is set up here", Mend: "skillrouter setup AGENT" + u.scope(setup.Target{Dir: u.project})})
	}
	for _, agent := range agents {
		target, err := u.target(agent)
		if err != nil {
			return err
		}
		if target, err = store.Chosen(target); err != nil {
			return err
		}
		content, had, err := store.Content(target)
		if err != nil {
			return err
		}
		if !had {
			content = u.content
		}
		if !router.OK {
			c = nil
		}
		for _, item := range u.checkAgent(ctx, c, target, content, store) {
			item.Agent = agent
			add(item)
		}
	}
	return u.shell.printOr(report.Missing, report, func(w io.Writer) { printCheckUp(w, report) })
}

// agents are the one that was named, or those that were set up here.
func (u *settingUp) agents(store setup.Store) ([]setup.Agent, error) {
	if u.agent != "" {
		return []setup.Agent{setup.Agent(u.agent)}, nil
	}
	var found []setup.Agent
	for _, agent := range setup.Agents() {
		target, err := u.target(agent)
		if err != nil {
			return nil, err
		}
		if _, had, err := store.Content(target); err != nil {
			return nil, err
		} else if had {
			found = append(found, agent)
		}
	}
	return found, nil
}

func (u *settingUp) checkRouter(ctx context.Context, c *client.Client) checkItem {
	if err := probe(ctx, c); err != nil {
		return checkItem{Name: "router", Said: explain(err), Mend: "skillrouter serve"}
	}
	item := checkItem{Name: "router", OK: true, Said: "answers at " + c.BaseURL()}
	if to, err := u.shell.place().Router(); err == nil && to.Local() {
		item.Said += ", over its socket"
	}
	return item
}

// checkAgent looks at one agent; without a router, at what needs none.
func (u *settingUp) checkAgent(ctx context.Context, c *client.Client, target setup.Target, content setup.Content, store setup.Store) (items []checkItem) {
	mend := "skillrouter setup " + string(target.Agent) + u.scope(target)
	plan, err := setup.PlanSetup(target, content, store)
	if err != nil {
		return []checkItem{{Name: "files", Said: explain(err)}}
	}
	for _, c := range plan.Changes {
		name := shortPath(c.Path, target)
		item := checkItem{Name: string(c.Kind), OK: c.Action == setup.Keep, Said: "in " + name}
		if !item.OK {
			item.Said, item.Mend = "not in "+name, mend
			if c.Action == setup.Modify {
				item.Said = "not, or not as it should be, in " + name
			}
		}
		items = append(items, item)
	}
	found := map[string]string{}
	for _, name := range []string{content.Program, content.HookProgram()} {
		if found[name], err = exec.LookPath(name); err != nil {
			return append(items, checkItem{Name: "program", Said: name + " cannot be run: " + reason(err).Error(), Mend: mend + " --program PATH"})
		}
	}
	if target.Agent.Hooked() {
		if trust := u.checkTrust(ctx, target); trust.Name != "" {
			items = append(items, trust)
		}
	}
	if c == nil {
		return items // what needs one is not asked: it would start one
	}
	if args := content.ServerArgs(target.Agent); args != nil {
		items = append(items, u.checkServer(ctx, found[content.Program], args, content))
	}
	if target.Agent.Hooked() {
		items = append(items, u.checkHook(ctx, found[content.HookProgram()], target.Agent, content), u.checkHeard(ctx, c, target, store))
	}
	return items
}

// shortPath is a file's path as people name it: from the project's folder, or from home.
func shortPath(path string, target setup.Target) string {
	if rest, ok := strings.CutPrefix(path, target.Dir+string(filepath.Separator)); ok && target.Dir != "" {
		return rest
	}
	if rest, ok := strings.CutPrefix(path, target.Home+string(filepath.Separator)); ok {
		return "~" + string(filepath.Separator) + rest
	}
	return path
}

// checkServer starts the MCP server as the agent would, and has it list its tools.
func (u *settingUp) checkServer(ctx context.Context, program string, args []string, content setup.Content) checkItem {
	ctx, cancel := context.WithTimeout(ctx, serverTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), content.Vars...)
	item := checkItem{Name: "tools"}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "skillrouter-setup", Version: version().Version}, nil).
		Connect(ctx, &mcp.CommandTransport{Command: cmd, TerminateDuration: time.Second}, nil)
	if err != nil {
		item.Said = fmt.Sprintf("%s %s does not speak MCP: %v", program, strings.Join(args, " "), err)
		return item
	}
	defer session.Close()
	listed, err := session.ListTools(ctx, nil)
	if err != nil || len(listed.Tools) == 0 {
		item.Said = fmt.Sprintf("the MCP server lists no tools: %v", err)
		return item
	}
	item.OK, item.Said = true, fmt.Sprintf("the MCP server lists %s", plural(len(listed.Tools), "tool"))
	return item
}

// checkHook runs a hook that asks nothing as the agent would, and takes its time.
func (u *settingUp) checkHook(ctx context.Context, program string, agent setup.Agent, content setup.Content) checkItem {
	args := []string{"hook", string(respond.Ping), "--for", string(agent), "--verbose"}
	if content.Server != "" {
		args = append(args, "--server", content.Server)
	}
	times := make([]time.Duration, 0, checkRuns)
	for range checkRuns {
		begin := time.Now()
		cmd := exec.CommandContext(ctx, program, args...)
		cmd.Env = append(os.Environ(), content.Vars...)
		cmd.Stdin = strings.NewReader("{}")
		if out, err := cmd.CombinedOutput(); err != nil {
			return checkItem{Name: "hook", Said: "a hook fails: " + check.Head(strings.TrimSpace(string(out)), respond.MaxVerdictText)}
		}
		times = append(times, time.Since(begin))
	}
	slices.Sort(times)
	middle := times[checkRuns/2]
	item := checkItem{Name: "hook", OK: true, Said: fmt.Sprintf("answers in %d ms", middle.Milliseconds())}
	if middle > slowHook {
		item.Said += fmt.Sprintf(", which is slow: at most %d", slowHook.Milliseconds())
	}
	return item
}

func printCheckUp(w io.Writer, report checkReport) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "STATE\tAGENT\tWHAT\tFOUND")
	for _, item := range report.Items {
		state := "ok"
		switch {
		case item.Unknown:
			state = "not known"
		case !item.OK:
			state = "MISSING"
		}
		// What was found is not cut as a table's cells are: it says what to do.
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", state, cell(string(item.Agent)), item.Name, respond.OneLine(item.Said, maxFound))
	}
	t.Flush()
	seen := map[string]bool{}
	for _, item := range report.Items {
		if item.Mend != "" && !seen[item.Mend] {
			seen[item.Mend] = true
			fmt.Fprintf(w, "To mend it: %s\n", clean(item.Mend))
		}
	}
}
