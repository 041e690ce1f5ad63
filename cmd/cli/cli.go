// Package cli is the command line of skillrouter. Most commands are one entry
// each, which names an operation of a service; plain.go makes them, and answer.go
// shows what they answer, for people or as JSON. It owns how things
// are printed, exit codes, how the router is found and started, and the wrapper
// around an agent's process. It must hold no rule of any domain: what may be
// done is the router's to say.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillrouter/skillrouter/cmd/config"
	"github.com/skillrouter/skillrouter/cmd/hook/respond"
	"github.com/skillrouter/skillrouter/internal/errs"
)

// The exit codes. `skillrouter run` passes on its child's instead.
const (
	exitDone    = 0
	exitFailed  = 1
	exitRefused = 2  // the router forbids it, or a guard blocks it
	exitUsage   = 64 // EX_USAGE of sysexits.h
)

// Run runs the command line args, without the program's name, and returns the
// exit code. ctx ends when the program is asked to stop. Nothing but the
// command's own output goes to stdout.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	s := &shell{in: stdin, out: stdout, err: stderr, lookupEnv: os.LookupEnv}
	if h, ok := respond.Parse(s.hookProcess(), args); ok { // the tree of commands costs more than the hook
		return h.Run(ctx)
	}
	return s.run(ctx, args)
}

// run does a command, and returns its exit code.
func (s *shell) run(ctx context.Context, args []string) int {
	s.words = args
	root := s.root()
	if completes(args) {
		s.completions(root)
	}
	root.SetArgs(append([]string{}, args...)) // nil would be what this process was started with
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	cmd, err := root.ExecuteContextC(ctx)
	return s.exit(cmd, err)
}

// Commands is the tree of all commands, for programs that describe it. What
// depends on the machine that describes it is said in words.
func Commands() *cobra.Command {
	s := &shell{in: strings.NewReader(""), out: io.Discard, err: io.Discard, lookupEnv: func(string) (string, bool) { return "", false }}
	root := s.root()
	root.SetOut(io.Discard)
	root.SetErr(io.Discard)
	withExamples(root)
	for _, cmd := range root.Commands() {
		if flag := cmd.Flags().Lookup("data"); flag != nil && flag.DefValue == config.Default().Data {
			flag.DefValue = "the platform's folder for a user's data"
		}
	}
	return root
}

func (s *shell) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "skillrouter",
		Short: "A sidecar for teams of coding agents: memory, routing, signals, presence",
		Long: `Skill Router is one process beside a team of coding agents. It remembers what
they learn, answers questions from the right store, and carries their
heartbeats and signals.

Commands talk to the running router: the one that --server or SKILLROUTER_SERVER
names, else the one that holds your data folder, over its socket there. Where
none runs on that folder, one is started.`,
		Version:       version().Version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return noCommand(cmd, args[0])
			}
			return cmd.Help()
		},
	}
	make := map[string]func() *cobra.Command{
		"serve": s.serveCommand, "run": s.runCommand, "watch": s.watchCommand, "status": s.statusCommand,
		"stop": s.stopCommand, "signal": s.signalCommand, "leases": s.leasesCommand, "query": s.queryCommand,
		"search": s.searchCommand, "remember": s.rememberCommand, "knowledge": s.knowledgeCommand, "rules": s.rulesCommand,
		"used": s.usedCommand, "import": s.importCommand, "episodes": s.episodesCommand, "experience": s.experienceCommand,
		"lessons": s.lessonsCommand, "check": s.checkCommand, "tasks": s.tasksCommand, "recon": s.reconCommand,
		"patterns": s.patternsCommand, "escalations": s.escalationsCommand, "memory": s.memoryCommand, "facts": s.factsCommand,
		"procedures": s.proceduresCommand, "reminders": s.remindersCommand, "sessions": s.sessionsCommand, "proposals": s.proposalsCommand,
		"learn": s.learnCommand, "replay": s.replayCommand, "value": s.valueCommand, "brief": s.briefCommand,
		"context": s.contextCommand, "show": s.showCommand, "events": s.eventsCommand, "gaps": s.gapsCommand, "interlock": s.interlockCommand,
		"setup": s.setupCommand, "hook": s.hookCommand, "demo": s.demoCommand, "export": s.exportCommand,
		"backup": s.backupCommand, "restore": s.restoreCommand, "verify": s.verifyCommand, "redact": s.redactCommand,
		"migrate": s.migrateCommand, "call": s.callCommand, "mcp": s.mcpCommand, "token": s.tokenCommand,
		"doctor": s.doctorCommand, "config": s.configCommand, "version": s.versionCommand,
		"agents": s.agentsCommand, "messages": s.messagesCommand,
		"ui": s.uiCommand, "passphrase": s.passphraseCommand, "share": s.shareCommand, "undo": s.undoCommand, "remind": func() *cobra.Command { return s.remindersAdd("remind") },
	}
	for _, of := range families {
		for _, name := range slices.Concat(of.inSight, of.others) {
			if make[name] == nil {
				continue // cobra makes it
			}
			cmd := &cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}} // the name of one that nobody calls is enough
			if s.needs(name) {
				cmd = make[name]()
			}
			cmd.GroupID = of.id
			cmd.Aliases = append(cmd.Aliases, alsoCalled(name)...)
			root.AddCommand(cmd)
		}
	}
	s.passphraseFlags(root)
	s.grouped(root)
	return root
}

// needs tells whether a command has to be made for this call: one that is named, or all, for who describes them.
func (s *shell) needs(name string) bool {
	return len(s.words) == 0 || slices.ContainsFunc(s.words, func(word string) bool {
		return word == name || slices.Contains(alsoCalled(name), word) || slices.Contains([]string{"help", "--help", "-h", "completion"}, word) || strings.HasPrefix(word, "__complete")
	})
}

// command makes cmd do run, and has exit tell what went wrong before run
// began, which is wrong usage, from what went wrong in it.
func (s *shell) command(cmd *cobra.Command, run func(ctx context.Context, args []string) error) *cobra.Command {
	cmd.DisableFlagsInUseLine = true
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		s.began = true
		return run(cmd.Context(), args)
	}
	return cmd
}

// exitError carries an exit code that has been explained already, or needs no explaining.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// usageError is wrong usage that only run could see.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// exit explains err on stderr and returns its exit code.
func (s *shell) exit(cmd *cobra.Command, err error) int {
	if err == nil {
		return exitDone
	}
	if code, ok := errors.AsType[exitError](err); ok {
		return int(code)
	}
	if wrong, ok := errors.AsType[usageError](err); ok || !s.began {
		if ok {
			err = wrong.error
		}
		fmt.Fprintf(s.err, "skillrouter: %s\nRun \"%s --help\" to see how it is used.\n", harmless(err.Error()), cmd.CommandPath())
		return exitUsage
	}
	if flag := flagOf(cmd, errs.FieldOf(err)); flag != "" && errs.CodeOf(err) == errs.Invalid {
		err = errs.Errorf(errs.Invalid, "--%s %s", flag, errs.MessageOf(err))
	}
	said, code := harmless(explain(err)), errs.CodeOf(err)
	fmt.Fprintf(s.err, "skillrouter: %s\n", said)
	_, coded := errors.AsType[*errs.Error](err)
	if coded && !strings.Contains(said, "skillrouter ") && !strings.Contains(said, "--") { // it names no command or flag that mends it
		printIf(s.err, "%s\n", hint(cmd, code))
	}
	return exitCode(code)
}

// hint is the next step after an error of a code, where its message names none.
func hint(cmd *cobra.Command, code errs.Code) string {
	switch {
	case cmd == nil || cmd.Parent() == nil:
	case cmd.Name() == "serve", code == errs.NotFound && cmd.Flags().NArg() == 0: // whoever started a router reads its last line; nothing was named
		return ""
	case code == errs.Invalid:
		return fmt.Sprintf("Run \"%s --help\" to see what it takes.", cmd.CommandPath())
	case code == errs.NotFound:
		// Approvals, packs and rules are looked for by commands of check, whose list is that of checks.
		if list, _, err := cmd.Parent().Find([]string{"list"}); err == nil && list.Name() == "list" && cmd.Parent().Name() != "check" {
			return fmt.Sprintf("\"%s\" shows what there is.", list.CommandPath())
		}
	}
	return hints[code]
}

// hints are the next steps after errors that are the same for all commands.
var hints = map[errs.Code]string{
	errs.Invalid:          "\"skillrouter help\" lists the commands.",
	errs.NotFound:         "\"skillrouter search WORDS\" looks in every kind of memory.",
	errs.Conflict:         "Look at it as it is now, and decide again.",
	errs.Unauthenticated:  "Give a token with --token or in SKILLROUTER_TOKEN. \"skillrouter token create\" makes one.",
	errs.Forbidden:        "\"skillrouter token list\" says what each token may do.",
	errs.PassphraseNeeded: "Give the command in a terminal of your own. \"skillrouter passphrase set\" makes a passphrase.",
	errs.TooLarge:         "Give less at once, or ask for less with --limit.",
	errs.RateLimited:      "Wait a minute, and give the command again.",
	errs.StorageFull:      "Make room on the disk. Nothing that was stored is lost, and reading goes on.",
	errs.Unavailable:      "\"skillrouter status\" says whether a router answers, and where.",
	errs.OutcomeUnknown:   "It may be done already: look before you give the command again.",
	errs.Internal:         "\"skillrouter doctor\" looks for what is broken.",
}

// flagOf is the flag of a command that fills a field of what is sent, which errors name; empty if none does.
func flagOf(cmd *cobra.Command, field string) string {
	if field == "" || cmd == nil {
		return ""
	}
	parts := strings.Split(field, "_")
	for _, name := range []string{strings.Join(parts, "-"), parts[len(parts)-1], parts[0]} {
		for _, name := range []string{name, strings.TrimSuffix(name, "s")} {
			if cmd.Flags().Lookup(name) != nil {
				return name
			}
		}
	}
	return ""
}

func explain(err error) string { return errs.Explain(err) }

// saying puts before an error what it broke off: exit prints no more than an error's own message. Its code stays.
func saying(err error, format string, args ...any) error {
	return errs.Wrap(errs.CodeOf(err), err, "%s: %s", fmt.Sprintf(format, args...), explain(err))
}

// exitCode is the one table from codes to exit codes.
func exitCode(code errs.Code) int {
	switch code {
	case "":
		return exitDone
	case errs.Unauthenticated, errs.Forbidden, errs.PassphraseNeeded:
		return exitRefused
	}
	return exitFailed
}
