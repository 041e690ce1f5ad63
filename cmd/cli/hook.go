package cli

import (
	"context"
	"flag"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/skillrouter/skillrouter/cmd/hook"
	"github.com/skillrouter/skillrouter/cmd/hook/offline"
	"github.com/skillrouter/skillrouter/cmd/hook/respond"
	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/cmd/records"
	"github.com/skillrouter/skillrouter/internal/safetext"
	"github.com/skillrouter/skillrouter/router/client"
)

// hookUsage is what people read of it; agents run it.
const hookUsage = `Does what an agent's hook does: reads the agent's message (JSON) on standard
input and answers on standard output in the agent's dialect. EVENT is one of

  session-start           inject what is known: what must never be done, what failed
                          lately, what fits the project and the branch
  user-prompt             inject what fits what the person asked for
  pre-tool-use            ask the guard: block, or warn
  post-tool-use           tell the guard that the tool was used all the same
  post-tool-use-failure   record the failure as an episode
  pre-compact             keep what was decided, forbidden and left open, before the agent
                          sums its conversation up; it is told again after that
  subagent-start          inject the rules, and what belongs to the subagent's task
  turn-end                hand the agent what was sent to it meanwhile; record the failures
                          that an agent (Codex) tells no other hook of
  session-end             read the session's transcript for what is worth remembering, and
                          for what failed and what worked

Each checks the agent in and tells it of new messages, and of a stop that it is asked
for, where the agent's hooks can carry words to the model.

` + "`skillrouter setup`" + ` writes it into the agents' configuration. While the router is away,
a tool is judged by the copy of the guard's rules in the data folder. A message that is not
understood or too long (1 MiB), or anything else that fails, lets the agent go on: nothing is
written and the exit code is 0. --verbose says why on standard error.`

func (s *shell) hookCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "hook EVENT [--for AGENT]", Short: "Answer an agent's hook; run by agents", Long: hookUsage,
		Args: cobra.ExactArgs(1), ValidArgs: safetext.Strings(hook.Events()),
	}
	h := respond.New(s.hookProcess())
	h.Flags().VisitAll(func(f *flag.Flag) { cmd.Flags().AddGoFlag(f) })
	return s.command(cmd, func(ctx context.Context, args []string) error {
		h.Event = hook.Event(args[0])
		if !h.Event.Known() && h.Event != respond.Ping && h.Event != respond.Offline {
			return usagef("there is no event %q", args[0])
		}
		if !h.Dialect.Known() {
			return usagef("--for is one of %s, not %q", names(hook.Dialects()), h.Dialect)
		}
		if code := h.Run(ctx); code != exitDone {
			return exitError(code)
		}
		return nil
	})
}

// hookProcess is this process as a hook's. The shell's server is the hook's once
// the hook starts a router.
func (s *shell) hookProcess() respond.Process {
	return respond.Process{
		In: s.in, Out: s.out, Err: s.err, LookupEnv: s.lookupEnv, Program: os.Executable, Redact: redacted,
		Offline: func(ctx context.Context, server string, asked []byte) ([]byte, error) {
			return offline.Judge(ctx, locate.Place{Server: server, LookupEnv: s.lookupEnv}, asked, time.Now())
		},
		Learn: func(ctx context.Context, call respond.Call, record respond.Record) error {
			return records.Session(ctx, call, record, s.projectOf())
		},
		Connect: func(to locate.Router, dial time.Duration) (respond.Call, error) {
			c, err := s.dial(to, client.Options{UserAgent: respond.UserAgent, Timeout: respond.EndTime, Dial: dial, Trace: s.env("TRACEPARENT")})
			if err != nil {
				return nil, err
			}
			return c.Call, nil
		},
		Start: func(ctx context.Context, server string) error {
			s.server = server
			started, err := s.ensureRunning(ctx)
			if err == nil {
				started.Close()
			}
			return err
		},
	}
}
