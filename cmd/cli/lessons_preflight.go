package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"skillrouter/learning/folder"
)

func (s *shell) lessonsPreflight() *cobra.Command {
	type prepared struct {
		folder.Preflight
		Artifact string   `json:"artifact"`
		Notes    []string `json:"notes,omitempty"`
	}
	var task, root, policyName string
	cmd := s.remote(s.made(command{
		use: "preflight --task TEXT", short: "Choose the lessons to read before a task",
		long: `Ranks lessons for a task by level, tags, text, confidence, transferability and
recency, prints the shortlist and keeps it in ROOT/logs/agent/preflight. The
lessons come from the index that the policy names; if there is none, from the
router; and if nothing there fits, from the headings of a flat file of lessons.
The policy is ROOT/agent_workflow_policy.json, if it is there.`,
		flags: policyFlags(&task, &root, &policyName),
	}, func(ctx context.Context) error {
		policy, err := s.policy(root, policyName)
		if err != nil {
			return err
		}
		p, artifact, notes, err := folder.Prepare(ctx, root, policy, task, s.asker(), s.now())
		return printed(s, prepared{p, artifact, notes}, err, func(w io.Writer, p prepared) {
			for _, note := range p.Notes {
				fmt.Fprintln(s.err, "skillrouter: "+clean(note))
			}
			preflightText(w, p.Preflight)
			fmt.Fprintf(w, "\nKept in %s\n", p.Artifact)
		})
	}))
	_ = cmd.MarkFlagRequired("task") // the flag is there
	return cmd
}

// policy reads a repository's policy, and names on stderr the keys that say nothing here.
func (s *shell) policy(root, name string) (folder.Policy, error) {
	policy, err := folder.ReadPolicy(root, name)
	if len(policy.Unknown) > 0 {
		fmt.Fprintf(s.err, "skillrouter: the policy has keys that say nothing here: %s\n", clean(strings.Join(policy.Unknown, ", ")))
	}
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

func preflightText(w io.Writer, p folder.Preflight) {
	from := map[string]string{
		folder.SourceIndex: p.IndexPath, folder.SourceRouter: "the router", folder.SourceHeadings: "the headings of the notes",
	}[p.Source]
	if len(p.Matches) == 0 {
		fmt.Fprintln(w, "No lesson fits this task.")
		return
	}
	fmt.Fprintf(w, "%s for this task, from %s\n", plural(len(p.Matches), "lesson"), clean(from))
	for i, m := range p.Matches {
		fmt.Fprintf(w, "\n%d. %s  [%s %s, %.1f]\n", i+1, clean(strings.TrimSpace(m.Title)), m.Level, clean(m.ID), m.Score)
		if m.Path != "" {
			fmt.Fprintf(w, "    %s\n", clean(m.Path))
		}
		fmt.Fprintf(w, "    %s\n", clean(m.Reason))
	}
}
