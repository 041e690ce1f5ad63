package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"mvdan.cc/sh/v3/syntax"

	"github.com/skillrouter/skillrouter/cmd/hook/respond"
	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/cmd/setup"
	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/safetext"
)

// setupFolder is the folder in the data folder where it is kept what setups did.
const setupFolder = "setup"

// settingUp is one run of setup.
type settingUp struct {
	shell   *shell
	agent   string
	other   string // the second word: with a bare --project, one of the two is the folder
	project string
	user    bool
	dry     bool
	yes     bool
	remove  bool
	check   bool
	all     bool
	content setup.Content
}

func (s *shell) setupCommand() *cobra.Command {
	u := settingUp{shell: s, content: setup.Content{Prompts: true}}
	cmd := s.local(command{
		use: "setup AGENT [--project [DIR] | --user]", short: "Set a coding agent up: MCP server, hooks and rules in one command", into: []any{&u.agent, &u.other}, lacks: 1,
		long: `Writes Skill Router into an agent's configuration: the MCP server, the hooks and a few
lines of rules. The hooks tell context at a session's start and ask the guard before a
tool is used. They record failures, and read the transcript at the end.
AGENT is one of ` + names(setup.Agents()) + `.

It is for you and the project that you stand in. If the agent reads personal files in
a project, as Claude Code does, those are written. --project writes the shared files of
the project, without anything of this machine. --user is for all of your projects.

Shows every change as a diff and asks before it writes. Comments, order and everything
else stay. Doing it twice does nothing the second time. --remove takes out what it put
in. A file that nobody has touched since is then what it was, to the byte. A file that is not understood is named with its
line, and nothing is changed.

Without a terminal, nothing is written unless --yes is given; the exit code is
then 1 if there was something to do.`,
		flags: options{
			option("project", &u.project, "for everybody who clones the project: its shared files; DIR is its folder (default: the repository that this folder is in, or this folder)"),
			option("user", &u.user, "for all of your projects instead of one"),
			option("dry-run", &u.dry, "show what would be done, and do nothing"),
			option("yes,y", &u.yes, "do not ask"),
			option("all", &u.all, "every agent that is found on this machine"),
			option("remove", &u.remove, "take out what was put in"),
			option("check", &u.check, "look whether it works, change nothing, and say what is missing"),
			option("agent", &u.content.Name, "id under which the agent speaks (default: the agent's name)"),
			option("program", &u.content.Program, "path of this program in the configuration (default: its name if it is in PATH, else its path)"),
			option("server", &u.content.Server, "URL of a router that is not your own"),
			option("strict", &u.content.Strict, "refuse tools while the guard cannot be asked, and say why"),
			option("prompts", &u.content.Prompts, "tell what belongs to each prompt too, not only at a session's start"),
		},
		before: u.usage,
	}, u.run)
	cmd.AddCommand(s.setupGit())
	cmd.Flags().Lookup("project").NoOptDefVal = here
	cmd.ValidArgs = safetext.Strings(setup.Agents())
	return cmd
}

func (u *settingUp) run(ctx context.Context) error {
	store, err := u.store()
	if err != nil {
		return err
	}
	if u.content.Program == "" {
		if u.content.Program, err = u.program(); err != nil {
			return err
		}
	}
	u.content.Hook = hookProgram(u.content.Program)
	for _, name := range []string{"SKILLROUTER_CONFIG", "SKILLROUTER_DATA", "SKILLROUTER_TLS_CA"} { // some agents start servers without their environment
		if value := u.shell.env(name); value != "" {
			u.content.Vars = append(u.content.Vars, name+"="+value)
		}
	}
	if u.check {
		return u.checkUp(ctx, store)
	}
	if u.all {
		return u.everyAgent(store)
	}
	if err := u.one(setup.Agent(u.agent), store); err != nil || u.remove || u.dry || u.shell.json {
		return err
	}
	u.namePassphrase(ctx)
	return nil
}

// namePassphrase tells of the passphrase where a router runs that has none.
func (u *settingUp) namePassphrase(ctx context.Context) {
	c, err := u.shell.client()
	if err != nil {
		return // what was asked for is done
	}
	asking, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	if state, err := c.Persons.State(asking); err == nil && !state.Set {
		fmt.Fprintln(u.shell.out, "With a passphrase you alone allow what the guard blocks, and no program that reads your files does: skillrouter passphrase set")
	}
}

// everyAgent sets up, or takes back, the agents that are found here.
func (u *settingUp) everyAgent(store setup.Store) error {
	home, err := os.UserHomeDir()
	if err != nil {
		return err
	}
	agents := setup.Installed(home, exec.LookPath)
	if u.remove { // those that were set up, whether or not they are still there
		if agents, err = u.agents(store); err != nil {
			return err
		}
	}
	if len(agents) == 0 {
		return usagef("no agent is found on this machine: name one of %s", names(setup.Agents()))
	}
	content, failed := u.content, false
	for _, agent := range agents {
		if !u.shell.json {
			fmt.Fprintf(u.shell.out, "== %s\n", agent)
		}
		u.content = content
		err := u.one(agent, store)
		if err == nil {
			continue
		}
		if _, wrong := errors.AsType[usageError](err); wrong { // the others are called in the same way
			return err
		}
		if _, said := errors.AsType[exitError](err); !said {
			fmt.Fprintf(u.shell.err, "skillrouter: %s: %s\n", agent, harmless(explain(err)))
		}
		failed = true
	}
	if failed {
		return exitError(exitFailed)
	}
	return nil
}

// one sets an agent up, or takes that back.
func (u *settingUp) one(agent setup.Agent, store setup.Store) error {
	target, err := u.target(agent)
	if err != nil {
		return err
	}
	if u.remove {
		if known, had, err := store.Content(target); err != nil {
			return err
		} else if had {
			u.content = known
		}
	}
	planned := setup.PlanSetup
	if u.remove {
		planned = setup.PlanRemoval
	}
	plan, err := planned(target, u.content, store)
	if err != nil {
		return err
	}
	return u.apply(plan, target)
}

// here is what a bare --project names.
const here = "."

// words tells the agent from the project's folder, which a bare --project leaves among the words.
func (u *settingUp) words() error {
	if u.other != "" && setup.Agent(u.other).Known() {
		u.agent, u.other = u.other, u.agent
	}
	if u.other == "" && u.agent != "" && u.project == here && !setup.Agent(u.agent).Known() {
		if info, err := os.Stat(u.agent); err == nil && info.IsDir() {
			u.agent, u.other = "", u.agent
		}
	}
	if u.other == "" {
		return nil
	}
	if u.project != here {
		return usagef("%q is a word too many", u.other)
	}
	u.project = u.other
	return nil
}

func (u *settingUp) usage() error {
	if err := u.words(); err != nil {
		return err
	}
	switch {
	case u.agent != "" && u.all:
		return usagef("--all and an agent exclude each other")
	case u.all && u.check:
		return usagef("--check looks at every agent that is set up, without --all")
	case u.agent == "" && !u.check && !u.all:
		return usagef("which agent: %s? Or --all, for every one that is found here", names(setup.Agents()))
	case u.agent != "" && !setup.Agent(u.agent).Known():
		return usagef("%q is no agent that can be set up%s\nThese are: %s. Any other that speaks MCP or reads AGENTS.md: skillrouter setup %s", u.agent, didYouMean(u.agent, safetext.Strings(setup.Agents())), names(setup.Agents()), setup.Generic)
	case u.user && u.project != "":
		return usagef("--user and --project exclude each other")
	case u.check && (u.remove || u.dry || u.yes):
		return usagef("--check changes nothing, and goes with none of --remove, --dry-run and --yes")
	}
	if u.content.Name != "" {
		if err := check.AgentID("--agent", u.content.Name); err != nil {
			return usagef("%s", explain(err))
		}
	}
	return nil
}

// store is where it is kept what setups did.
func (u *settingUp) store() (setup.Store, error) {
	settings, err := u.shell.settings()
	if err != nil {
		return setup.Store{}, err
	}
	return setup.Store{Dir: filepath.Join(settings.Data, setupFolder)}, nil
}

// target is the place that the flags name.
func (u *settingUp) target(agent setup.Agent) (setup.Target, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return setup.Target{}, err
	}
	t := setup.Target{Agent: agent, Home: home, Env: u.shell.env, Shared: u.project != ""}
	if u.user {
		return t, nil
	}
	if t.Dir, err = filepath.Abs(u.project); err != nil {
		return t, err
	}
	if u.project == "" || u.project == here {
		if here, ok := locate.CheckoutOf(t.Dir); ok {
			t.Dir = here.Root
		}
	}
	if t.Dir, err = filepath.EvalSymlinks(t.Dir); err != nil {
		return t, usagef("the project's folder cannot be found: %w", reason(err))
	}
	if info, err := os.Stat(t.Dir); err != nil || !info.IsDir() {
		return t, usagef("%s is no folder", t.Dir)
	}
	if t.Dir == filepath.Clean(home) {
		return t, usagef("%s is your home and no project: say --user, or name another with --project", t.Dir)
	}
	return t, nil
}

// program is how agents start this program: by its name if that is what PATH
// finds, so that a project's files serve the whole team, else by its path.
func (u *settingUp) program() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("this program cannot tell where it lies, say it with --program: %w", err)
	}
	const name = "skillrouter"
	if found, err := exec.LookPath(name); err == nil {
		here, errHere := os.Stat(path)
		there, errThere := os.Stat(found)
		if errHere == nil && errThere == nil && os.SameFile(here, there) {
			return name, nil
		}
	}
	return path, nil
}

// hookProgram is the small program that lies beside the program which agents
// start, named as that is: by its name if PATH finds it so, else by its path. It
// is empty if there is none; then the program answers hooks itself.
func hookProgram(program string) string {
	dir, name := filepath.Split(program)
	if name != respond.FullName(runtime.GOOS) && name != respond.FullName("") {
		return "" // the small one would not find it
	}
	small := dir + respond.SmallName(runtime.GOOS)
	if dir == "" {
		small = respond.SmallName("")
	}
	whole, err := exec.LookPath(program)
	if err != nil {
		return ""
	}
	found, err := exec.LookPath(small)
	if err != nil {
		return ""
	}
	// It looks for the other where it lies itself, behind links.
	whole, errWhole := filepath.EvalSymlinks(whole)
	found, errFound := filepath.EvalSymlinks(found)
	if errWhole != nil || errFound != nil || whole != filepath.Join(filepath.Dir(found), respond.FullName(runtime.GOOS)) {
		return ""
	}
	return small
}

// applied is what a setup says to programs.
type applied struct {
	setup.Plan
	Applied bool `json:"applied"`
}

// apply shows the plan, asks and makes the changes.
func (u *settingUp) apply(plan setup.Plan, target setup.Target) error {
	pending := plan.Pending()
	if len(pending) == 0 {
		// What is there already may still have to be known as this agent's too.
		if !u.dry && plan.Recorded() == u.remove {
			if err := plan.Apply(u.shell.now()); err != nil {
				return err
			}
		}
		return u.shell.print(applied{plan, false}, func(w io.Writer) {
			fmt.Fprintln(w, "Nothing to do.")
			printNotes(w, plan.Notes)
		})
	}
	if !u.shell.json {
		for _, c := range pending {
			fmt.Fprint(u.shell.out, safetext.Visible(c.Diff))
			if !strings.HasSuffix(c.Diff, "\n") {
				fmt.Fprintln(u.shell.out)
			}
		}
		fmt.Fprintln(u.shell.out)
	}
	if u.dry {
		return u.shell.print(applied{plan, false}, func(w io.Writer) {
			fmt.Fprintf(w, "%s would be changed for %s.\n", plural(len(pending), "file"), target.Where())
		})
	}
	if !u.yes {
		ok, err := u.ask(fmt.Sprintf("Change %s for %s?", plural(len(pending), "file"), target.Where()))
		if err != nil {
			return err
		}
		if !ok {
			if u.shell.json {
				if err := u.shell.print(applied{plan, false}, nil); err != nil {
					return err
				}
			}
			fmt.Fprintln(u.shell.err, "Nothing was changed.")
			return exitError(exitFailed)
		}
	}
	if err := plan.Apply(u.shell.now()); err != nil {
		return err
	}
	return u.shell.print(applied{plan, true}, func(w io.Writer) {
		for _, c := range pending {
			fmt.Fprintf(w, "%s  %s\n", map[setup.Action]string{setup.Create: "created ", setup.Modify: "changed ", setup.Delete: "removed "}[c.Action], clean(c.Path))
		}
		printNotes(w, plan.Notes)
		if !u.remove {
			fmt.Fprintf(w, "Look whether it works: skillrouter setup %s --check%s\n", plan.Agent, u.scope(target))
			proposePacks(w, target.Dir)
		}
	})
}

// scope repeats the flags that name the place, for a command that is shown.
func (u *settingUp) scope(target setup.Target) string {
	switch {
	case u.user:
		return " --user"
	case u.project != "":
		return " --project " + shellQuoted(target.Dir)
	case target.Shared && target.Agent == setup.ClaudeCode: // set up so before
		return " --project"
	}
	return ""
}

// ask asks a person at the terminal; without one, the answer is no.
func (u *settingUp) ask(question string) (bool, error) {
	if !isTerminal(u.shell.in) {
		fmt.Fprintln(u.shell.err, "Nobody can be asked here: say --yes to have it done.")
		return false, nil
	}
	said, err := u.shell.askWord(bufio.NewReader(u.shell.in), clean(question)+" [y/N] ")
	return said == "y", err
}

var printNotes = page[[]string]("{{range .}}Note: {{.}}\n{{end}}")

// shellQuoted quotes a word of a command that is shown to people.
func shellQuoted(word string) string {
	quoted, err := syntax.Quote(word, syntax.LangBash)
	if err != nil {
		return word
	}
	return quoted
}

func (s *shell) setupGit() *cobra.Command {
	var remove, yes bool
	var program string
	return s.local(command{
		use: "git", short: "Have git ask before each commit who works on the staged files",
		long: `Writes a pre-commit hook into the repository that you stand in, where core.hooksPath says, if it does. A hook that was
there is kept beside it and called first. A commit of files is stopped if another agent has an exclusive lease on them. If the
router is away, the hook says so and stops nothing. --remove takes it out and puts back what was there.`,
		flags: options{
			option("remove", &remove, "take it out"),
			option("yes", &yes, "ask nothing, as for other programs; it never does"),
			option("program", &program, "path of this program in the hook (default: its name if it is in PATH, else its path)"),
		},
	}, func(ctx context.Context) error {
		folder, err := git(ctx, "rev-parse", "--git-path", "hooks")
		if err != nil {
			return err
		}
		folder, err = filepath.Abs(strings.TrimRight(folder, "\r\n"))
		if err != nil {
			return err
		}
		if program == "" {
			if program, err = (&settingUp{shell: s}).program(); err != nil {
				return err
			}
		}
		said, err := setup.GitHook(folder, program, remove)
		if err != nil {
			return err
		}
		return s.print(map[string]string{"hook": filepath.Join(folder, setup.PreCommit), "done": said}, func(w io.Writer) {
			fmt.Fprintf(w, "%s: %s\n", clean(filepath.Join(folder, setup.PreCommit)), said)
		})
	})
}
