package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"skillrouter"
	"skillrouter/learning/folder"
)

func (s *shell) lessonsGuard() *cobra.Command {
	var task, root, policyName, mode string
	var gateTime time.Duration
	cmd := s.command(&cobra.Command{
		Use: "guard --task TEXT [--mode warn|block]", Short: "Check a repository against its workflow policy", Args: cobra.NoArgs,
		Long: `Checks what ROOT/agent_workflow_policy.json asks for: documents, specifications, an
index of lessons, a fresh preflight, and commands that must succeed; then, if
the policy has a reviewer, what that finds. The findings are printed and kept in
ROOT/logs/agent/guard. It needs no router.

The exit code is 0 for PASS and WARN, and 2 for BLOCK. Only in mode block, and
only by a high finding or by one of the reviewer's whose severity the policy
elevates, does the guard block. A reviewer that fails is a finding of its own.

The guard runs the commands of the policy as you: run it where you would run the
repository's Makefile.`,
	}, func(ctx context.Context, _ []string) error {
		if mode != "" {
			if err := skillrouter.CheckOneOf("--mode", folder.Mode(mode), folder.Modes()); err != nil {
				return usagef("%s", explain(err))
			}
		}
		if gateTime <= 0 {
			return usagef("--gate-time must be more than nothing")
		}
		policy, err := s.policy(root, policyName)
		if err != nil {
			return err
		}
		out, artifact, err := folder.Guard(ctx, root, policy, task, folder.GuardOptions{Mode: folder.Mode(mode), GateTime: gateTime, Now: s.now})
		if err != nil {
			return err
		}
		type checked struct {
			folder.Guarded
			Artifact string `json:"artifact"`
		}
		if err := s.print(checked{out, artifact}, func(w io.Writer) { guardText(w, out, artifact) }); err != nil {
			return err
		}
		if out.Status == folder.VerdictBlock {
			return exitError(exitRefused)
		}
		return nil
	})
	policyFlags(cmd, &task, &root, &policyName)
	flags := cmd.Flags()
	flags.StringVar(&mode, "mode", "", "whether findings may block: "+names(folder.Modes())+" (default: the policy's)")
	flags.DurationVar(&gateTime, "gate-time", folder.DefaultGateTime, "how long each of the policy's commands may take")
	flags.BoolVar(&s.json, "json", false, "print JSON, for programs")
	return cmd
}

func guardText(w io.Writer, out folder.Guarded, artifact string) {
	fmt.Fprintf(w, "%s (mode %s): %d high, %d medium", out.Status, out.Mode, out.Summary.High, out.Summary.Medium)
	if out.Semantic.Status != folder.SemanticDisabled {
		fmt.Fprintf(w, "; review %s", out.Semantic.Status)
		if out.Semantic.Status == folder.SemanticCompleted {
			fmt.Fprintf(w, " with %s", plural(len(out.Semantic.Findings), "finding"))
		}
	}
	fmt.Fprintln(w)
	for _, f := range out.Deterministic {
		fmt.Fprintf(w, "%-6s  %s: %s\n", f.Severity, f.Code, clean(f.Message))
	}
	for _, f := range out.Semantic.Findings {
		fmt.Fprintf(w, "%-6s  review, %s: %s\n", f.Severity, clean(f.Rule), clean(f.Message))
		indented(w, f.Recommendation)
	}
	fmt.Fprintf(w, "Kept in %s\n", artifact)
}
