package cli

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
	"github.com/skillrouter/skillrouter/learning/procedure"
	"github.com/skillrouter/skillrouter/router/client"
)

// procedureRun is one going through a procedure at the command line.
type procedureRun struct {
	*shell
	client  *client.Client
	execute bool
	again   bool
	answers *bufio.Scanner
	blocked bool // the guard has blocked a command
}

func (s *shell) proceduresRun() *cobra.Command {
	r := &procedureRun{shell: s}
	var draft procedure.RunDraft
	var name *string
	var params []string
	var resume string
	return s.calls(command{
		use: "run NAME [--param NAME=VALUE]...", short: "Go through a procedure, step by step", into: []any{&name}, lacks: 1,
		long: `Begins a run, and prints each step when its turn comes. You say on standard input how
it went, with one line for each step:

  s [RESULT]   it succeeded; RESULT is JSON, or a text
  f [ERROR]    it failed
  k            it was skipped
  u            nobody knows
  q            leave; the run waits

With --exec a step's command line is executed with sh -c, after the guard was asked. A
command that the guard blocks is not run, and the step fails. The exit code and the end
of the output are the step's result: exit_code, stdout and stderr. Steps without a command line are asked about as before.

Exit codes: 0 the run succeeded, or waits for you; 1 it failed, or --exec could
not end it; 2 the guard blocked a command.`,
		flags: append(s.flags(&draft, "persona", "agent", "project"),
			phrases("param", &params, "a parameter, NAME=VALUE; VALUE is JSON, or a text"),
			option("exec", &r.execute, "execute the steps' command lines, each after asking the guard"),
			option("resume", &resume, "go on with a run"),
			option("again", &r.again, "with --resume: do once more a step that was handed out and not reported"),
		),
		before: func() (err error) {
			if (name != nil) == (resume != "") {
				return usagef("this needs the NAME of a procedure, or --resume RUN_ID")
			}
			draft.Params, err = paramsOf(params)
			return err
		},
	}, func(ctx context.Context, c *client.Client) (err error) {
		r.client, r.answers = c, bufio.NewScanner(s.in)
		r.answers.Buffer(nil, 2*procedure.MaxStepResult)
		var run procedure.Run
		if resume != "" {
			if resume, err = fullID(ctx, c, "runs", resume); err != nil {
				return err
			}
			run, err = r.resume(ctx, resume)
		} else {
			draft.Name = *name
			run, err = client.Send(ctx, c, procedure.Service.Start, draft)
		}
		if err != nil {
			return err
		}
		return r.through(ctx, run)
	})
}

// paramsOf reads NAME=VALUE pairs.
func paramsOf(pairs []string) (map[string]json.RawMessage, error) {
	params := map[string]json.RawMessage{}
	for _, pair := range pairs {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, usagef("--param is NAME=VALUE, not %q", pair)
		}
		params[name] = asJSON(value)
	}
	return params, nil
}

// resume takes a run up again. A step that was handed out and not reported may
// have been done: it is executed again only on purpose.
func (r *procedureRun) resume(ctx context.Context, id string) (procedure.Run, error) {
	run, err := client.Send(ctx, r.client, procedure.Service.Run, id)
	if err != nil || run.Status != procedure.RunRunning {
		return run, err
	}
	next := run.Next
	switch handedOut := next != nil && next.Status == procedure.StepHandedOut; {
	case !handedOut || r.again:
		return client.Send(ctx, r.client, procedure.Service.Next, procedure.StepRequest{RunID: id, Again: handedOut})
	case r.execute && next.Run != "":
		return run, fmt.Errorf("step %d (%s) was begun at %s, and nobody has said how it went: --again runs it once more; without --exec you can say how it went",
			next.Index+1, next.Name, next.HandedOutAt.Local().Format(time.DateTime))
	}
	return run, nil
}

// through goes through the steps of a run until it ends, or waits.
func (r *procedureRun) through(ctx context.Context, run procedure.Run) error {
	for run.Status == procedure.RunRunning && run.Next != nil {
		step := *run.Next
		if !r.json {
			fmt.Fprintln(r.out)
			printStep(r.out, step)
		}
		report, err := r.do(ctx, run, step)
		if err != nil {
			r.waits(run)
			return err
		}
		if report == nil {
			r.waits(run)
			if err := r.print(run, func(io.Writer) {}); err != nil {
				return err
			}
			if r.execute {
				return exitError(exitFailed)
			}
			return nil
		}
		report.RunID, report.Index, report.Attempt = run.ID, step.Index, step.Attempt
		// What was done is reported even if this command is to end now.
		if run, err = client.Send(context.WithoutCancel(ctx), r.client, procedure.Service.Report, *report); err != nil {
			fmt.Fprintf(r.err, "skillrouter: step %d of run %s was done and is not reported\n", step.Index+1, clean(run.ID))
			return err
		}
	}
	if err := r.print(run, func(w io.Writer) { fmt.Fprintln(w); printRun(w, run) }); err != nil {
		return err
	}
	switch {
	case r.blocked:
		return exitError(exitRefused)
	case run.Status != procedure.RunSucceeded:
		return exitError(exitFailed)
	}
	return nil
}

func (r *procedureRun) waits(run procedure.Run) {
	fmt.Fprintf(r.err, "The run waits. Go on with: skillrouter procedures run --resume %s\n", clean(run.ID))
}

// do does a step or asks how it went; nil: the run is to wait.
func (r *procedureRun) do(ctx context.Context, run procedure.Run, step procedure.RunStep) (*procedure.StepReport, error) {
	if !r.execute || step.Run == "" {
		if r.json {
			if err := json.NewEncoder(r.out).Encode(run); err != nil {
				return nil, err
			}
		}
		return r.ask()
	}
	verdict, err := checked(ctx, r.client, rule.Action{Command: step.Run, Agent: run.AgentID, Project: run.Project, Context: "procedure " + run.Procedure, Folder: workingFolder()})
	if err != nil {
		return nil, saying(err, "the guard could not be asked, and step %d (%s) was not run", step.Index+1, step.Name)
	}
	if verdict.Decision == rule.DecisionBlock {
		r.blocked = true
		why := "the guard blocks this command"
		if len(verdict.Warnings) > 0 {
			why += ": " + verdict.Warnings[0]
		}
		fmt.Fprintf(r.err, "skillrouter: %s\n", clean(why))
		return &procedure.StepReport{Status: procedure.StepFailed, Error: bounded(why)}, nil
	}
	for _, warning := range verdict.Warnings {
		fmt.Fprintf(r.err, "skillrouter: %s\n", clean(warning))
	}
	return r.sh(ctx, step)
}

// stepWords are how somebody says that a step went.
var stepWords = map[string]procedure.StepStatus{
	"s": procedure.StepSucceeded, "f": procedure.StepFailed, "k": procedure.StepSkipped, "u": procedure.StepUnknown,
}

// ask reads how a step went.
func (r *procedureRun) ask() (*procedure.StepReport, error) {
	for {
		if !r.json {
			fmt.Fprint(r.out, "   How did it go? s [RESULT], f [ERROR], k(skipped), u(nknown), q(uit): ")
		}
		if !r.answers.Scan() {
			return nil, r.answers.Err()
		}
		word, rest, _ := strings.Cut(strings.TrimSpace(r.answers.Text()), " ")
		rest = strings.TrimSpace(rest)
		switch status := stepWords[strings.ToLower(word)]; {
		case status == procedure.StepSucceeded && rest != "":
			return &procedure.StepReport{Status: status, Result: asJSON(rest)}, nil
		case status == procedure.StepFailed:
			return &procedure.StepReport{Status: status, Error: bounded(rest)}, nil
		case status != "":
			return &procedure.StepReport{Status: status}, nil
		case word == "q":
			return nil, nil
		}
		if r.json {
			return nil, usagef("%q is none of s, f, k, u and q", word)
		}
	}
}

// maxReportedOutput is how much of the end of a command's output is reported, in bytes.
const maxReportedOutput = 8 << 10

// shResult is what is reported of a command.
type shResult struct {
	ExitCode int    `json:"exit_code"`
	Stdout   string `json:"stdout"`
	Stderr   string `json:"stderr"`
	TimedOut bool   `json:"timed_out,omitempty"`
}

// sh executes a step's command line and shows its output as it comes.
func (r *procedureRun) sh(ctx context.Context, step procedure.RunStep) (*procedure.StepReport, error) {
	limit := cmp.Or(time.Duration(step.Timeout)*time.Second, procedure.DefaultStepTimeout*time.Second)
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var stdout, stderr tail
	shown := r.out
	if r.json {
		shown = r.err
	}
	cmd := exec.CommandContext(limited, "sh", "-c", step.Run)
	cmd.Stdout, cmd.Stderr = io.MultiWriter(&stdout, shown), io.MultiWriter(&stderr, r.err)
	cmd.WaitDelay = 5 * time.Second // what it started may hold its output open
	ownGroup(cmd)
	begin := time.Now()
	err := cmd.Run()
	took := time.Since(begin).Seconds()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("step %d (%s) was interrupted, and how it went is unknown", step.Index+1, step.Name)
	}
	result := shResult{Stdout: stdout.said(), Stderr: stderr.said(), TimedOut: errors.Is(limited.Err(), context.DeadlineExceeded)}
	report := &procedure.StepReport{Status: procedure.StepSucceeded, Duration: &took}
	failed, exited := errors.AsType[*exec.ExitError](err)
	switch {
	case result.TimedOut:
		report.Error, result.ExitCode = fmt.Sprintf("it took longer than %s", limit), -1
	case exited:
		result.ExitCode = failed.ExitCode()
		said := strings.TrimSpace(result.Stderr)
		report.Error = strings.TrimSuffix(fmt.Sprintf("exit code %d: %s", result.ExitCode, said[strings.LastIndexByte(said, '\n')+1:]), ": ")
	case errors.Is(err, exec.ErrWaitDelay): // it ended well and left something running
	case err != nil:
		return nil, err
	}
	if report.Error != "" {
		report.Status, report.Error = procedure.StepFailed, bounded(report.Error)
	}
	report.Result, err = json.Marshal(result)
	return report, err
}

// bounded shortens a text to what a report takes.
func bounded(text string) string { return check.Head(printable(text), procedure.MaxText) }

// printable is a text without what no report takes.
func printable(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "?"), "\x00", "?")
}

// tail keeps the end of what is written.
type tail []byte

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	*t = append(*t, p...)
	if over := len(*t) - maxReportedOutput - 1; over > 0 { // one more tells that something was cut
		*t = append((*t)[:0], (*t)[over:]...)
	}
	return len(p), nil
}

// said is the end of what was written, as text.
func (t tail) said() string {
	if len(t) > maxReportedOutput {
		return redacted("…" + printable(string(t[1:])))
	}
	return redacted(printable(string(t)))
}
