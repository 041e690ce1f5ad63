package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/skillrouter/skillrouter/cmd/config"
	"github.com/skillrouter/skillrouter/comms"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/lazyregexp"
	"github.com/skillrouter/skillrouter/operational"
	"github.com/skillrouter/skillrouter/router/client"
)

// demoPace is how long the tour waits after each thing that it shows: long
// enough to read it, so that the whole takes about two minutes.
const demoPace = 4 * time.Second

// demoOptions are how the tour is gone through.
type demoOptions struct {
	pace time.Duration
	// forgetRule takes the rule away before the guard is asked. The tour must
	// then fail: that is how a test knows that the tour shows what happens.
	forgetRule bool
}

func (s *shell) demoCommand() *cobra.Command {
	how := demoOptions{pace: demoPace}
	var fast bool
	var cmd *cobra.Command
	cmd = s.made(command{
		use: "demo [--fast | --pace DURATION]", short: "See what the router does, in two minutes, on data that goes away again",
		long: `Starts a router of its own on a free port, in a temporary folder. It shows four
things with real commands and their real output:

  a failure that several agents report becomes a rule
  the rule stops the next agent that would repeat it
  agents reach each other
  nothing is lost when the router is killed

It touches neither your data nor your router, connects to nothing but itself, and
leaves nothing behind. Each claim is checked: if one fails, the demo says so and exits
with 1. Where the output is no terminal, it waits for nobody.`,
		flags: options{
			option("fast", &fast, "wait for nobody"),
			option("pace", &how.pace, "how long to wait after each thing that is shown"),
			option("forget-rule", &how.forgetRule, "report it as less than critical, so that no rule blocks"),
		},
	}, func(ctx context.Context) error {
		if fast && cmd.Flags().Changed("pace") {
			return usagef("give --fast or --pace, not both")
		}
		if how.pace < 0 {
			return usagef("--pace cannot be negative")
		}
		if fast || !cmd.Flags().Changed("pace") && !isTerminal(s.out) {
			how.pace = 0
		}
		// A terminal that is closed, or a reader that ends (demo | head), must not leave a router behind either. The
		// latter is told by what the tour prints: a request to the router that was killed sends the same signal.
		signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
		ctx, stop := signal.NotifyContext(ctx, syscall.SIGHUP)
		defer stop()
		return s.demo(ctx, how)
	})
	_ = cmd.Flags().MarkHidden("forget-rule") // it is there
	return cmd
}

// demo goes through the tour.
func (s *shell) demo(ctx context.Context, options demoOptions) error {
	t, err := newTour(s.out, options.pace)
	if err != nil {
		return err
	}
	defer t.close()
	following, end := context.WithCancel(ctx)
	defer end()
	t.say("A router of its own, in a folder that goes away with this tour.")
	t.start(ctx)
	t.run(ctx, exitDone, "", "status")
	t.learning(ctx, options.forgetRule)
	t.guarding(ctx)
	t.signalling(following)
	t.resuming(ctx)
	t.say("That was all real. Now with your own agents: skillrouter serve, and skillrouter setup for the agent that you use. The dashboard is at http://" + config.Default().Listen + "/ui/.")
	if t.failed != nil && (ctx.Err() != nil || errors.Is(t.failed, syscall.EPIPE)) {
		return errors.New("the tour was broken off; nothing is left of it")
	}
	return t.failed
}

// The story: the same mistake, by three agents.
const (
	demoRule    = "Never empty a shared Redis"
	demoMistake = "redis-cli -h cache FLUSHALL"
	demoAgain   = "sh -c 'redis-cli -h cache FLUSHALL && echo clean'"
	demoInstead = "redis-cli -h cache --scan --pattern 'session:*' | xargs redis-cli -h cache DEL"
)

// emergingPattern is how the list of patterns shows the one that is to be confirmed, after its number.
var emergingPattern = lazyregexp.New(`(?m)^ *(\d+) .*anti_pattern`)

// learning: three failures become a pattern, and the pattern a rule.
func (t *tour) learning(ctx context.Context, forget bool) {
	t.say("1. Learning")
	t.say("Dana's agent is about to empty a cache. The guard knows nothing against it yet:")
	t.run(ctx, exitDone, "Allowed.", "check", "--agent", "dana", "--", demoMistake)
	t.say("Three others have done so before, and each reports what came of it:")
	report := func(title, context, agent string, more ...string) {
		t.run(ctx, exitDone, "recorded", append([]string{
			"lessons", "report", title, "--type", "failure", "--domain", "redis", "--severity", "critical",
			"--context", context, "--command", "redis-cli FLUSHALL", "--agent", agent,
		}, more...)...)
	}
	report("Emptying the shared Redis lost the job queue", "tests were flaky, so the cache was emptied", "alice", "--instead", demoInstead)
	report("FLUSHALL on the shared Redis lost all queued jobs", "sessions were stale, so the cache was emptied", "bob")
	report("Job queue lost after FLUSHALL of the shared Redis", "a migration wanted an empty cache", "carol")
	t.say("That is no accident any more. The router sees what the three have in common:")
	said := t.run(ctx, exitDone, "the same command: redis-cli FLUSHALL", "patterns", "emerging")
	pattern := emergingPattern.FindStringSubmatch(said)
	if !t.claim(pattern != nil, "there is a pattern of what keeps failing") {
		return
	}
	t.say("Somebody who may decide looks at the evidence and confirms it. From failures alone comes a warning:")
	t.run(ctx, exitDone, "", "patterns", "confirm", pattern[1], "--by", "captain")
	t.run(ctx, exitWarned, "Warned.", "check", "--agent", "dana", "--", demoMistake)
	t.say("That it must not happen again at all, somebody has to say:")
	severity := "critical"
	if forget {
		severity = "high" // which blocks nothing
	}
	t.run(ctx, exitDone, "", "lessons", "report", demoRule, "--type", "anti_pattern", "--domain", "redis", "--severity", severity,
		"--context", "it loses the job queue", "--command", "redis-cli FLUSHALL", "--instead", demoInstead, "--agent", "captain")
}

// guarding: the rule stops the next agent, however the command is written.
func (t *tour) guarding(ctx context.Context) {
	t.say("2. Guarding")
	t.say("Dana's agent asks again, and writes it otherwise. Hooks of coding agents ask in this way before each command:")
	said := t.run(ctx, exitRefused, "BLOCKED", "check", "--agent", "dana", "--", demoAgain)
	t.claim(strings.Contains(said, "instead: "+demoInstead), "the guard says what to do instead")
	t.say("What only looks like it is let through:")
	t.run(ctx, exitDone, "Allowed.", "check", "--agent", "dana", "--", "git commit -m 'explain redis-cli FLUSHALL'")
	t.say("And whoever asks in words is told what the others learned:")
	t.run(ctx, exitDone, "lost all queued jobs", "lessons", "search", "stale entries in the cache, can I empty redis?")
}

const (
	// demoSignals is how many signals are sent over the router's death.
	demoSignals = 200
	// demoPatience bounds the wait for what takes milliseconds on a machine that is not overloaded.
	demoPatience = 30 * time.Second
)

// signalling: one agent follows its messages, another sends one.
func (t *tour) signalling(ctx context.Context) {
	t.say("3. Signalling")
	t.say("Two agents. The reviewer follows its messages over a stream that stays open:")
	t.follow(ctx)
	t.say("The builder tells it something:")
	t.run(ctx, exitDone, "delivered", "signal", "reviewer", "review", "--from", "builder", "--text", "branch cache is ready")
	t.first = t.next(ctx)
	t.say("The reviewer's stream brought:")
	line, err := json.Marshal(t.first)
	t.fail(err)
	t.indented(string(line))
	t.rest(ctx)
}

// resuming: the router is killed while signals are sent. What was acknowledged
// to the sender arrives, once and in order, and what was learned is still there.
func (t *tour) resuming(ctx context.Context) {
	t.say("4. Resuming")
	t.say(fmt.Sprintf("The builder sends %d more signals. In the midst of them the router is killed, as by a power cut:", demoSignals))
	if t.failed != nil {
		return
	}
	acknowledged := []int64{t.first.Seq}
	for n := range demoSignals {
		if n == demoSignals/2 {
			t.indented(fmt.Sprintf("$ kill -9 %d      # after %d signals", t.started.Pid, n))
			t.kill()
			_, err := t.send(ctx, n)
			t.claim(errs.CodeOf(err) == errs.Unavailable, "a router that was killed acknowledges nothing")
			t.indented("$ skillrouter serve &   # on the same folder; the signal that was refused is sent again")
			t.start(ctx)
		}
		seq, err := t.send(ctx, n)
		if t.fail(err) {
			return
		}
		acknowledged = append(acknowledged, seq)
	}
	got := []int64{t.first.Seq}
	for len(got) < len(acknowledged) && t.failed == nil {
		got = append(got, t.next(ctx).Seq)
	}
	if t.claim(slices.Equal(acknowledged, got), "every acknowledged signal arrives once and in order") {
		t.indented(fmt.Sprintf("acknowledged to the builder: %d\nreceived by the reviewer:    %d, each once and in order", len(acknowledged), len(got)))
	}
	t.rest(ctx)
	t.say("What was learned is there too, and the rule holds:")
	t.run(ctx, exitRefused, "BLOCKED", "check", "--agent", "dana", "--", demoMistake)
}

// send sends the reviewer a signal and returns its number.
func (t *tour) send(ctx context.Context, n int) (int64, error) {
	text := json.RawMessage(fmt.Sprintf(`{"n":%d}`, n))
	sent, err := client.Send(ctx, t.client, comms.MailboxService.Send, operational.MessageDraft{From: "builder", To: "reviewer", Signal: "tick", Context: text})
	return sent.Seq, err
}
