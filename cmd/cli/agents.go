package cli

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/comms/lease"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router/client"
)

func (s *shell) agentsCommand() *cobra.Command {
	return s.verbs(verbs{
		name: "agents", short: "List agents, the latest seen first", of: "AGENT",
		rows: "agent_id=AGENT state+should_stop status current_task+progress=TASK role project last_seen=SEEN",
		plain: []command{
			{use: "list", short: "List agents, the latest seen first", do: comms.PresenceService.Agents, hides: "skip"},
			{use: "show AGENT", do: comms.PresenceService.Agent, full: true},
		},
	})
}

func (s *shell) statusCommand() *cobra.Command {
	var agent *string
	return s.calls(command{
		use: "status [AGENT]", short: "Show how the router is, or one agent with what waits for it", into: []any{&agent}, starts: never,
	}, func(ctx context.Context, c *client.Client) error {
		if agent != nil {
			status, err := agentStatusOf(ctx, c, *agent)
			return printed(s, status, err, inFull[agentStatus])
		}
		health, err := c.System.Health(ctx)
		return printed(s, health, err, func(w io.Writer, health client.Health) {
			fmt.Fprintf(w, "The router at %s is %s.\n", c.BaseURL(), clean(health.Status))
			fields(w, section{"Version", cell(health.Version)}, section{"Up since", ago(s.now(), s.now().Add(-millis(health.UptimeMS)))})
			for _, name := range sorted(health.Stats) {
				fmt.Fprintf(w, "%-9s  %d\n", cell(name), health.Stats[name])
			}
			for _, problem := range health.Problems {
				fmt.Fprintln(w, clean(problem))
			}
		})
	})
}

// openers show an address in the browser of whoever works on this machine.
var openers = map[string][]string{"darwin": {"open"}, "windows": {"rundll32", "url.dll,FileProtocolHandler"}, "linux": {"xdg-open"}}

func (s *shell) uiCommand() *cobra.Command {
	return s.calls(command{
		use: "ui", short: "Open the dashboard in the browser",
		long: "Opens the dashboard in the browser, and prints its address. Where no browser can be opened, as over SSH, the address is what to open.",
	}, func(ctx context.Context, c *client.Client) error {
		if _, err := c.System.Health(ctx); err != nil {
			return err
		}
		page := struct {
			URL string `json:"url"`
		}{c.BaseURL() + "/"}
		if opener := openers[runtime.GOOS]; opener != nil && !s.json && isTerminal(s.out) {
			if err := exec.CommandContext(ctx, opener[0], append(opener[1:], page.URL)...).Run(); err != nil {
				fmt.Fprintln(s.err, "No browser could be opened here:", harmless(err.Error()))
			}
		}
		return s.print(page, func(w io.Writer) { fmt.Fprintln(w, page.URL) })
	})
}

// agentStatus is an agent with what waits for it.
type agentStatus struct {
	operational.Agent
	Waiting comms.ShutdownAnswer `json:"waiting"`
}

func agentStatusOf(ctx context.Context, c *client.Client, id string) (status agentStatus, err error) {
	if id, err = agentNamed(ctx, c, id); err != nil {
		return status, err
	}
	if status.Agent, err = client.Send(ctx, c, comms.PresenceService.Agent, id); err != nil {
		return status, err
	}
	status.Waiting, err = client.Send(ctx, c, comms.PresenceService.ShutdownCheck, id)
	return status, err
}

func (s *shell) leasesCommand() *cobra.Command {
	return s.group(
		&cobra.Command{
			Use: "leases", Short: "Say which files you work on, and see who works on which",
			Long: `A lease says that an agent works on files. Others are told before they change one: an exclusive lease of an agent
that is there blocks their edits, a shared one warns. It holds while its holder checks in, and ends with its session.`,
		},
		s.leasesTake(), s.leasesGive(), s.leasesCheck(),
		s.does(command{
			use: "list", short: "List who works on which files, the latest first", do: lease.Service.Leases, none: "No lease is held.",
			rows: "lease_id=LEASE agent_id project patterns=FILES shared expires_at=HOLDS why",
		}),
		s.does(command{
			use: "ask LEASE TEXT...", short: "Ask the holder of a lease", do: lease.Service.Ask, words: []string{"lease_id"},
			says: "{{.Target}} is asked (seq {{.Seq}}).",
		}),
	)
}

func (s *shell) leasesTake() *cobra.Command {
	var draft operational.LeaseDraft
	lapses := lease.DefaultTTL
	return s.does(command{
		use: "take PATTERN...", short: "Take a lease of files, or take one again", do: lease.Service.Take, words: []string{"patterns"}, in: &draft, hides: "folder ttl_seconds",
		long: `Takes a lease of the files that the patterns stand for. The signs * and ? stand for characters within a name, ** for
any folders, and {a,b} for either. Brackets are characters of a name, as in src/[id]/page.tsx; with --glob [a-c] stands for
one of these characters. A folder stands for all that lies below it. Patterns are seen from the working folder.`,
		flags: options{
			option("for", &lapses, "it lapses after so long without a word from its holder, 1m to 8h"),
			ofProject(&draft.Project, s.workProject, "project of the files (default: the working folder's)"),
		},
		before: func() error {
			if draft.TTLSeconds = int64(lapses / time.Second); draft.TTLSeconds == 0 {
				return usagef("--for is 1m at least")
			}
			dir := workingFolder()
			if dir == "" {
				return nil
			}
			dir = locate.Real(dir)
			root := cmp.Or(locate.RepositoryOf(dir), dir)
			draft.Folder = filepath.ToSlash(root)
			for i, pattern := range draft.Patterns {
				draft.Patterns[i] = fromRoot(pattern, root, dir)
			}
			return nil
		},
		says: "lease {{.ID}}: {{.AgentID}} holds {{.Patterns}}\nIt holds {{until .ExpiresAt}} if nothing is heard of the agent. Give it back: skillrouter leases give {{.ID}}",
	})
}

// fromRoot is a pattern as it is seen from the root of the repository, of one that was written in dir.
func fromRoot(pattern, root, dir string) string {
	slash := filepath.ToSlash(pattern)
	end := ""
	if strings.HasSuffix(slash, "/") {
		end = "/"
	}
	if filepath.IsAbs(pattern) {
		if rest, err := filepath.Rel(root, pattern); err == nil && filepath.IsLocal(rest) {
			return filepath.ToSlash(rest) + end
		}
		return slash // the router says what is wrong with it
	}
	below, err := filepath.Rel(root, dir)
	if err != nil || below == "." {
		return slash
	}
	return path.Join(globEscaper.Replace(filepath.ToSlash(below)), slash) + end
}

var globEscaper = strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `{`, `\{`, `}`, `\}`, `\`, `\\`)

func (s *shell) leasesGive() *cobra.Command {
	var release operational.LeaseRelease
	var all bool
	return s.does(command{
		use: "give [LEASE...]", aliases: []string{"release"}, short: "Give leases back", do: lease.Service.Release, words: []string{"lease_ids"}, in: &release, hides: "project",
		flags: options{option("all", &all, "all that the agent holds")},
		before: func() error {
			if all == (len(release.IDs) > 0) {
				return usagef("name the leases by their numbers, or give back --all")
			}
			return nil
		},
		show: func(w io.Writer, given []operational.Lease) {
			fmt.Fprintf(w, "%s given back.\n", plural(len(given), "lease"))
		},
	})
}

// stagedTime bounds the check of a commit: a person waits for it.
const stagedTime = 3 * time.Second

func (s *shell) leasesCheck() *cobra.Command {
	var edits lease.Changes
	var files []string
	var staged bool
	return s.remote(s.made(command{
		use: "check [FILE...]", short: "Ask who works on files, before you change or commit them", into: []any{&files},
		long: `Asks who works on files. The exit code is the answer: 0 nobody, or somebody whom one is only warned of; 2 an agent
that is there holds an exclusive lease. With --staged it asks of what is to be committed, and a router that is
away is said and is no obstacle: "setup git" has git do so before each commit.`,
		flags: options{
			option("staged", &staged, "the files that are staged for a commit"),
			who("agent", &edits.AgentID, s.agent, "agent that changes them (SKILLROUTER_AGENT)"),
		},
		before: func() error {
			if staged == (len(files) > 0) {
				return usagef("name files, or ask of those that are --staged")
			}
			return nil
		},
	}, func(ctx context.Context) error {
		dir := workingFolder()
		if staged {
			var err error
			if dir, files, err = stagedFiles(ctx); err != nil {
				return err
			}
		}
		for _, file := range files {
			if !filepath.IsAbs(file) {
				file = filepath.Join(dir, file)
			}
			if !staged { // git commits a link, and not what it leads to
				file = locate.Real(file)
			}
			root, projects := s.place().RepositoryOf(file)
			if root == "" {
				root, projects = locate.Real(dir), []string{s.workProject()}
			}
			below, err := filepath.Rel(root, file)
			if err != nil || !filepath.IsLocal(below) {
				continue
			}
			edits.Files = append(edits.Files, lease.ChangedFile{Folder: filepath.ToSlash(root), Projects: projects, Path: filepath.ToSlash(below)})
		}
		judged, err := s.judged(ctx, edits, staged)
		if err != nil {
			if staged && errs.CodeOf(err) != errs.Invalid {
				fmt.Fprintf(s.err, "skillrouter: the leases of these files were not checked: %s\n", harmless(explain(err)))
				return nil
			}
			return err
		}
		if !staged || len(judged.Claims) > 0 {
			err = printed(s, judged, nil, printJudged)
		}
		if err != nil || !judged.Blocked {
			return err
		}
		if staged {
			fmt.Fprintln(s.err, "This is not committed. `git commit --no-verify` commits it all the same.")
		}
		return exitError(exitRefused)
	}))
}

// judged asks what speaks against changes, so many files at a time.
func (s *shell) judged(ctx context.Context, edits lease.Changes, staged bool) (all lease.Judged, err error) {
	all.Claims = []lease.Claim{}
	var c *client.Client
	if staged {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, stagedTime)
		defer cancel()
		c, err = s.client() // a commit starts no router
	} else {
		c, err = s.connect(ctx)
	}
	if err != nil {
		return all, err
	}
	for part := range slices.Chunk(edits.Files, lease.MaxFiles) {
		judged, err := client.Send(ctx, c, lease.Service.Check, lease.Changes{AgentID: edits.AgentID, Files: part})
		if err != nil {
			return all, err
		}
		all.Blocked = all.Blocked || judged.Blocked
		all.Claims = append(all.Claims, judged.Claims...)
	}
	return all, nil
}

var printJudged = page[lease.Judged](`
{{- range .Claims}}
{{.Path}}: {{.Says}}
{{- with .Why}}
  why: {{.}}
{{- end}}
{{- with .LeaseID}}
  ask: skillrouter leases ask {{.}} 'what you need, and when'
{{- end}}
{{- else}}Nobody works on that.
{{- end}}`)

// stagedFiles are the files of the commit that git is about to make, or would make, and the folder that they are seen from.
func stagedFiles(ctx context.Context) (root string, files []string, err error) {
	if root, err = git(ctx, "rev-parse", "--show-toplevel"); err != nil {
		return "", nil, err
	}
	text, err := git(ctx, "diff", "--cached", "--name-only", "--no-renames", "-z")
	for name := range strings.SplitSeq(text, "\x00") {
		if name != "" {
			files = append(files, name)
		}
	}
	return locate.Real(filepath.FromSlash(strings.TrimRight(root, "\r\n"))), files, err
}

// git runs git and returns what it printed.
func git(ctx context.Context, args ...string) (string, error) {
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(said.String()))
	}
	return string(out), nil
}
