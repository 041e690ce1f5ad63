package cli

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/skillrouter/skillrouter/cmd/hook/respond"
	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/cmd/setup"
	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router/client"
)

// Bounds of asking whether an agent runs what is set up.
const (
	// codexTime bounds how long Codex may take to say which hooks it trusts. It
	// takes half a second.
	codexTime = 20 * time.Second
	// maxCodexLine bounds a line of its answer, in bytes: one for each hook, and
	// there may be some of others.
	maxCodexLine = 1 << 20
)

// checkTrust tells whether the agent will run the hooks. The zero item says
// nothing, of agents that run whatever they are given.
func (u *settingUp) checkTrust(ctx context.Context, target setup.Target) checkItem {
	if target.Agent == setup.Codex {
		return u.codexTrust(ctx, target)
	}
	found, asked := target.Trust()
	if !asked {
		return checkItem{}
	}
	return checkItem{Name: "trust", OK: found.Known && found.OK, Unknown: !found.Known, Said: found.Said, Mend: found.Mend}
}

// codexHook is what Codex says of a hook.
type codexHook struct {
	Command string `json:"command"`
	Enabled bool   `json:"enabled"`
	Trust   string `json:"trustStatus"`
}

// codexTrust asks Codex which of its hooks it trusts: it keeps a digest of each
// that a person has looked at, and passes over the others.
func (u *settingUp) codexTrust(ctx context.Context, target setup.Target) checkItem {
	const mend = "start codex here and type /hooks; in CI: codex exec --dangerously-bypass-hook-trust"
	item := checkItem{Name: "trust", Unknown: true}
	program, err := exec.LookPath("codex")
	if err != nil {
		item.Said = "codex is not in PATH, and only it can tell which hooks it trusts"
		return item
	}
	dir := cmp.Or(target.Dir, target.Home)
	hooks, warnings, err := codexHooks(ctx, program, dir)
	if err != nil {
		item.Said = fmt.Sprintf("codex does not say which hooks it trusts: %s", respond.OneLine(err.Error(), respond.MaxVerdictText))
		return item
	}
	item.Unknown = false
	ours, untrusted := 0, 0
	for _, h := range hooks {
		if !setup.IsHook(h.Command) {
			continue
		}
		ours++
		if !h.Enabled || h.Trust != "trusted" && h.Trust != "managed" {
			untrusted++
		}
	}
	switch {
	case ours == 0:
		item.Said, item.Mend = "codex reads none of the hooks: the project is not trusted", "start codex here and trust the folder, then type /hooks"
	case untrusted > 0:
		item.Said, item.Mend = fmt.Sprintf("codex passes over %d of %d hooks, which it does not trust", untrusted, ours), mend
	default:
		item.OK, item.Said = true, fmt.Sprintf("codex trusts all %s", plural(ours, "hook"))
	}
	for _, warning := range warnings {
		item.Said += "; it warns: " + respond.OneLine(warning, respond.MaxVerdictText)
	}
	return item
}

// codexAsked is what it is asked: for a version of ours, and a folder.
const codexAsked = `{"id":1,"method":"initialize","params":{"clientInfo":{"name":"skillrouter","version":%q}}}
{"method":"initialized"}
{"id":2,"method":"hooks/list","params":{"cwds":[%q]}}
`

// codexHooks asks `codex app-server` for the hooks of a folder. It speaks JSON-RPC
// by lines, and says other things in between.
func codexHooks(ctx context.Context, program, dir string) (hooks []codexHook, warnings []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, codexTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "app-server")
	cmd.Dir = dir
	cmd.WaitDelay = time.Second // what it started may keep its output open
	in, unread := cmd.StdinPipe()
	out, unheard := cmd.StdoutPipe()
	if err := cmp.Or(unread, unheard); err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	defer func() { cancel(); _ = cmd.Wait() }() // it has answered, or never will
	if _, err := fmt.Fprintf(in, codexAsked, version().Version, dir); err != nil {
		return nil, nil, err
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, maxCodexLine)
	for lines.Scan() {
		var answer struct {
			ID     int                       `json:"id"`
			Error  *struct{ Message string } `json:"error"`
			Result struct {
				Data []struct {
					Hooks    []codexHook
					Warnings []string
				}
			}
		}
		if json.Unmarshal(lines.Bytes(), &answer) != nil || answer.Error == nil && answer.ID != 2 {
			continue
		}
		if answer.Error != nil {
			return nil, nil, errors.New(answer.Error.Message)
		}
		for _, place := range answer.Result.Data {
			hooks, warnings = append(hooks, place.Hooks...), append(warnings, place.Warnings...)
		}
		return hooks, warnings, nil
	}
	return nil, nil, cmp.Or(lines.Err(), errors.New("it ended without an answer"))
}

// checkHeard tells when the router last heard a hook of the agent: what an agent
// runs is known for sure once it has run.
func (u *settingUp) checkHeard(ctx context.Context, c *client.Client, target setup.Target, store setup.Store) checkItem {
	item := checkItem{Name: "heard", Unknown: true}
	filter := operational.AgentFilter{Limit: operational.MaxLimit}
	if target.Dir != "" {
		filter.Project = filepath.Base(first(locate.RepositoryOf(target.Dir), target.Dir))
	}
	agents, err := client.Send(ctx, c, comms.PresenceService.Agents, filter)
	since, unread := store.Since(target)
	if err = cmp.Or(err, unread); err != nil {
		item.Said = explain(err)
		return item
	}
	var last time.Time
	for _, a := range agents {
		// A hook says which kind of agent it is of, and where that works.
		if a.ConfigName == string(target.Agent) && (target.Dir == "" || sameProject(a.ProjectPath, target.Dir)) && a.LastSeen.After(last) {
			last = a.LastSeen
		}
	}
	switch {
	case last.Before(since), last.IsZero():
		item.Said, item.Mend = "no hook of it was heard here since it was set up", "start "+target.Agent.Program()+" here once"
		if last.IsZero() {
			item.Said = "no hook of it was heard here yet"
		}
	default:
		item.OK, item.Unknown = true, false
		item.Said = "a hook of it was last heard " + last.Local().Format(time.DateTime)
	}
	return item
}

// sameProject tells whether a hook that works at path works in the project at dir.
func sameProject(path, dir string) bool {
	if path == "" {
		return false
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return slices.Contains([]string{dir, locate.RepositoryOf(dir)}, path)
}
