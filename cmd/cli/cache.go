package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"skillrouter"
	"skillrouter/learning/fact"
	"skillrouter/router/client"
)

// Times of `skillrouter cache`.
const (
	// cacheLease is how long the others wait for one that died with its command; one
	// that lives renews.
	cacheLease = 15 * time.Second
	// cacheGrace is how long a command may take to end once it was asked to.
	cacheGrace = 10 * time.Second
)

// caching is one call of `skillrouter cache`.
type caching struct {
	key, persona, category string
	ttl                    time.Duration
	seconds                int64 // of ttl
	staleOK, failures      bool
}

// commandOutput is how a command's output is kept.
type commandOutput struct {
	Kind     string  `json:"kind"` // commandKind
	ExitCode int     `json:"exit_code"`
	Stdout   *string `json:"stdout,omitempty"`
	Binary   []byte  `json:"stdout_base64,omitempty"` // in place of Stdout, if that is no UTF-8
}

const commandKind = "command output"

func (s *shell) cacheCommand() *cobra.Command {
	c := caching{ttl: time.Hour, category: "commands"}
	var words []string
	cmd := s.remote(s.made(command{
		use: "cache --key KEY [--ttl 1h] -- COMMAND [ARG...]", short: "Run a command once, and answer with its output until it expires", args: listed(cobra.MinimumNArgs(1), &words),
		long: `Prints what COMMAND printed when it was last run under KEY, and exits as it
did. If nothing is kept, or it has expired, the command is run: its output is
passed on while it comes, and kept. Of several that ask for one key at once, one
runs the command and the others wait for its output.

Only standard output is kept; standard error passes by. What failed is not
kept, unless --cache-failures says so, and neither is output that holds a secret
or is larger than a fact may be. The key alone decides: put into it whatever the
output depends on. Without a router, the command is simply run.`,
		flags: options{
			option("key", &c.key, "what the output is kept under"),
			lifetime("ttl", &c.ttl, "how long it is kept; 0: for ever"),
			option("persona", &c.persona, "whose memory it is kept in (default \"default\")"),
			option("category", &c.category, "category of the fact that it becomes"),
			option("stale-ok", &c.staleOK, "rather print expired output than wait while another runs the command"),
			option("cache-failures", &c.failures, "keep the output of a command that fails, and its exit code"),
		},
		before: func() (err error) {
			if c.key == "" {
				return usagef("--key is required")
			}
			c.seconds, err = seconds(c.ttl)
			return err
		},
	}, func(ctx context.Context) error {
		code, err := s.cached(ctx, &c, words)
		if err == nil && code != 0 {
			err = exitError(code)
		}
		return err
	}))
	cmd.Flags().SetInterspersed(false) // what follows the command is the command's
	return cmd
}

// cached answers from what is kept or runs the command, and returns the exit code.
func (s *shell) cached(ctx context.Context, c *caching, args []string) (int, error) {
	router, err := s.client()
	if err != nil {
		return 0, usageError{errors.New(explain(err))}
	}
	for {
		answer, err := router.Facts.Lease(ctx, fact.CacheRequest{
			Persona: c.persona, Key: c.key, AgentID: s.agent(""), StaleOK: c.staleOK,
			LeaseMS: cacheLease.Milliseconds(), WaitMS: fact.MaxCacheWait.Milliseconds(),
		})
		switch {
		case ctx.Err() != nil:
			return 0, ctx.Err()
		case skillrouter.CodeOf(err) == skillrouter.Invalid: // the key or the persona
			return 0, err
		case err != nil:
			s.warnNotStored(explain(err))
			code, _, err := s.passOn(ctx, args, nil)
			return code, err
		case answer.Fact != nil:
			var kept commandOutput
			if json.Unmarshal(answer.Fact.Value, &kept) != nil || kept.Kind != commandKind {
				s.warnNotStored("the key holds something else than a command's output")
				code, _, err := s.passOn(ctx, args, nil)
				return code, err
			}
			output := kept.Binary
			if kept.Stdout != nil {
				output = []byte(*kept.Stdout)
			}
			_, err := s.out.Write(output)
			return kept.ExitCode, err
		case answer.Status == fact.CacheLeased:
			return s.runLeased(ctx, c, router, answer.Lease, args)
		}
	}
}

// runLeased runs the command under a lease and keeps its output.
func (s *shell) runLeased(ctx context.Context, c *caching, router *client.Client, lease string, args []string) (int, error) {
	stop := router.KeepLease(ctx, lease, cacheLease)
	output := &boundedBuffer{most: fact.MaxValue}
	code, whole, err := s.passOn(ctx, args, output)
	stop()
	// Whoever asked this to end does not keep the others from the key.
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTime)
	defer cancel()
	why := ""
	switch {
	case err != nil || ctx.Err() != nil || !whole:
		why = "the command did not run to its end"
	case code != 0 && !c.failures:
		why = fmt.Sprintf("the command failed with exit code %d", code)
	case output.over:
		why = fmt.Sprintf("the output is larger than %d bytes", output.most)
	default:
		why = s.keep(late, c, router, lease, code, output.Bytes())
	}
	if why != "" {
		s.warnNotStored(why)
		_ = router.Facts.Release(late, fact.LeaseRef{Lease: lease}) // it ends by itself, if it has not already
	}
	return code, err
}

// keep stores an output, or says why it cannot.
func (s *shell) keep(ctx context.Context, c *caching, router *client.Client, lease string, code int, output []byte) (why string) {
	kept := commandOutput{Kind: commandKind, ExitCode: code}
	if text := string(output); utf8.ValidString(text) {
		kept.Stdout = &text
	} else {
		kept.Binary = output
		if _, secrets := skillrouter.Redact(string(output)); len(secrets) > 0 {
			return fmt.Sprintf("the output holds a secret (%v)", secrets)
		}
	}
	var value bytes.Buffer
	encoder := json.NewEncoder(&value)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(kept); err != nil {
		return err.Error()
	}
	if value.Len() > fact.MaxValue {
		return fmt.Sprintf("the output is larger than %d bytes as JSON", fact.MaxValue)
	}
	stored, err := router.Facts.Complete(ctx, fact.CacheResult{Lease: lease, Value: value.Bytes(), Category: c.category, TTL: &c.seconds})
	switch {
	case err != nil:
		return explain(err)
	case !stored.Stored:
		return fmt.Sprintf("the output holds a secret (%v)", stored.Redacted)
	}
	return ""
}

func (s *shell) warnNotStored(why string) {
	fmt.Fprintf(s.err, "skillrouter cache: not cached: %s\n", clean(why))
}

// passOn runs a command with this process's input and output, and copies its
// output. whole tells that all of it was passed on and that the command ended
// by itself.
func (s *shell) passOn(ctx context.Context, args []string, output io.Writer) (code int, whole bool, err error) {
	program, code, err := find(args[0])
	if err != nil {
		fmt.Fprintf(s.err, "skillrouter: %s\n", harmless(err.Error()))
		return code, false, nil
	}
	cmd := exec.CommandContext(ctx, program)
	cmd.Args = args
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.in, s.out, s.err
	if output != nil {
		cmd.Stdout = io.MultiWriter(s.out, output)
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = cacheGrace
	err = cmd.Run()
	ended, exited := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return 0, true, nil
	case exited && ended.Exited():
		return ended.ExitCode(), true, nil
	case exited:
		if status, ok := ended.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			return 128 + int(status.Signal()), false, nil
		}
		return exitFailed, false, nil
	case cmd.Process == nil:
		fmt.Fprintf(s.err, "skillrouter: %s: %v\n", clean(program), reason(err))
		return exitNotExecutable, false, nil
	}
	return exitFailed, false, nil // nobody takes the output
}

// boundedBuffer keeps what is written to it, unless that is too much.
type boundedBuffer struct {
	bytes.Buffer
	most int
	over bool
}

// Write implements io.Writer. It always takes everything.
func (b *boundedBuffer) Write(p []byte) (int, error) {
	if b.over = b.over || b.Len()+len(p) > b.most; b.over {
		b.Reset()
		return len(p), nil
	}
	return b.Buffer.Write(p)
}
