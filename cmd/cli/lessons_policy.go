package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"skillrouter/internal/check"
	"skillrouter/learning/folder"
)

func (s *shell) lessonsPreflight() *cobra.Command {
	type prepared struct {
		folder.Preflight
		Artifact string   `json:"artifact"`
		Notes    []string `json:"notes,omitempty"`
	}
	var task, root, policyName string
	cmd := s.local(command{
		use: "preflight --task TEXT", short: "Choose the lessons to read before a task",
		long: `Ranks lessons for a task by level, tags, text, confidence, transferability and
recency, prints the shortlist and keeps it in ROOT/logs/agent/preflight. The
lessons come from the index that the policy names, and if nothing there fits,
from the headings of a flat file of lessons. It needs no router.
The policy is ROOT/agent_workflow_policy.json, if it is there.`,
		flags: policyFlags(&task, &root, &policyName),
	}, func(context.Context) error {
		policy, err := s.policy(root, policyName)
		if err != nil {
			return err
		}
		p, artifact, notes, err := folder.Prepare(root, policy, task, s.now())
		return printed(s, prepared{p, artifact, notes}, err, func(w io.Writer, p prepared) {
			for _, note := range p.Notes {
				fmt.Fprintln(s.err, "skillrouter: "+clean(note))
			}
			printPreflight(w, p.Preflight)
			fmt.Fprintf(w, "\nKept in %s\n", p.Artifact)
		})
	})
	_ = cmd.MarkFlagRequired("task") // the flag is there
	return cmd
}

// policy reads a repository's policy, and names on stderr the keys that say nothing here.
func (s *shell) policy(root, name string) (folder.Policy, error) {
	policy, err := folder.ReadPolicy(root, name)
	printIf(s.err, "skillrouter: the policy has keys that say nothing here: %s\n", strings.Join(policy.Unknown, ", "))
	return policy, err
}

// policyFlags are what preflight and guard are told.
func policyFlags(task, root, policy *string) options {
	*root = "."
	return options{
		option("task", task, "the task, in a sentence or more"),
		option("root", root, "the repository's folder"),
		option("policy", policy, "policy file, relative to the root (default "+folder.PolicyName+")"),
	}
}

func printPreflight(w io.Writer, p folder.Preflight) {
	from := p.IndexPath
	if p.Source == folder.SourceHeadings {
		from = "the headings of the notes"
	}
	if len(p.Matches) == 0 {
		fmt.Fprintln(w, "No lesson fits this task.")
		return
	}
	fmt.Fprintf(w, "%s for this task, from %s\n", plural(len(p.Matches), "lesson"), clean(from))
	for i, m := range p.Matches {
		fmt.Fprintf(w, "\n%d. %s  [%s %s, %.1f]\n", i+1, clean(strings.TrimSpace(m.Title)), m.Level, clean(m.ID), m.Score)
		printIf(w, "    %s\n", m.Path)
		fmt.Fprintf(w, "    %s\n", clean(m.Reason))
	}
}

func (s *shell) lessonsGuard() *cobra.Command {
	type checked struct {
		folder.Guarded
		Artifact string `json:"artifact"`
	}
	var task, root, policyName string
	how := folder.GuardOptions{GateTime: folder.DefaultGateTime, Now: s.now}
	cmd := s.local(command{
		use: "guard --task TEXT [--mode warn|block]", short: "Check a repository against its workflow policy",
		long: `Checks what ROOT/agent_workflow_policy.json asks for: documents, specifications, an
index of lessons, a fresh preflight, and commands that must succeed. If the policy
has a reviewer, it runs too. The findings are printed and kept in
ROOT/logs/agent/guard. It needs no router.

The exit code is 0 for PASS and WARN, and 2 for BLOCK. Only in mode block, and
only by a high finding or by one of the reviewer's whose severity the policy
elevates, does the guard block. A reviewer that fails is a finding of its own.

The guard runs the commands of the policy as you: run it where you would run the
repository's Makefile.`,
		flags: append(policyFlags(&task, &root, &policyName),
			choice("mode", &how.Mode, folder.Modes(), "whether findings may block (default: the policy's)"),
			option("gate-time", &how.GateTime, "how long each of the policy's commands may take")),
		before: func() error {
			if how.Mode != "" {
				if err := check.OneOf("--mode", how.Mode, folder.Modes()); err != nil {
					return usagef("%s", explain(err))
				}
			}
			if how.GateTime <= 0 {
				return usagef("--gate-time must be more than nothing")
			}
			return nil
		},
	}, func(ctx context.Context) error {
		policy, err := s.policy(root, policyName)
		if err != nil {
			return err
		}
		out, artifact, err := folder.Guard(ctx, root, policy, task, how)
		if err != nil {
			return err
		}
		err = s.print(checked{out, artifact}, func(w io.Writer) { printGuarded(w, out, artifact) })
		if err == nil && out.Status == folder.VerdictBlock {
			return exitError(exitRefused)
		}
		return err
	})
	_ = cmd.MarkFlagRequired("task") // the flag is there
	return cmd
}

func printGuarded(w io.Writer, out folder.Guarded, artifact string) {
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
