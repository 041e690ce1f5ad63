package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/learning/folder"
)

func (s *shell) lessonsPreflight() *cobra.Command {
	type prepared struct {
		folder.Preflight
		Artifact string   `json:"artifact"`
		Notes    []string `json:"notes,omitempty"`
	}
	var task, root, policyName string
	return s.local(command{
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

var printPreflight = page[folder.Preflight](`
{{- if not .Matches}}No lesson fits this task.
{{- else}}{{count (len .Matches) "lesson"}} for this task, from {{if eq .Source "headings"}}the headings of the notes{{else}}{{.IndexPath}}{{end}}
{{- range $i, $match := .Matches}}

{{place $i}}. {{.Title}}  [{{.Level}} {{.ID}}, {{printf "%.1f" .Score}}]
{{- with .Path}}
    {{.}}
{{- end}}
    {{.Reason}}
{{- end}}
{{- end}}`)

// guarded is what the guard of a repository found, and where it is kept.
type guarded struct {
	folder.Guarded
	Artifact string `json:"artifact"`
}

func (s *shell) lessonsGuard() *cobra.Command {
	var task, root, policyName string
	how := folder.GuardOptions{GateTime: folder.DefaultGateTime, Now: s.now}
	return s.local(command{
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
		err = printed(s, guarded{out, artifact}, nil, printGuarded)
		if err == nil && out.Status == folder.VerdictBlock {
			return exitError(exitRefused)
		}
		return err
	})
}

var printGuarded = page[guarded](`{{.Status}} (mode {{.Mode}}): {{.Summary.High}} high, {{.Summary.Medium}} medium
{{- if ne .Semantic.Status "disabled"}}; review {{.Semantic.Status}}
{{- if eq .Semantic.Status "completed"}} with {{count (len .Semantic.Findings) "finding"}}{{end}}
{{- end}}
{{- range .Deterministic}}
{{printf "%-6s" .Severity}}  {{.Code}}: {{.Message}}
{{- end}}
{{- range .Semantic.Findings}}
{{printf "%-6s" .Severity}}  review, {{.Rule}}: {{.Message}}
{{indent .Recommendation}}
{{- end}}
Kept in {{.Artifact}}`)
