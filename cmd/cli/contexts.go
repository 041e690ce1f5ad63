package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"skillrouter/router"
	"skillrouter/router/client"
)

// defaultContextBudget is the budget of a context that nobody gave one, in
// tokens: a page or two.
const defaultContextBudget = 2000

func (s *shell) contextCommand() *cobra.Command {
	request := router.ContextRequest{Budget: defaultContextBudget}
	var words []string
	var why bool
	return s.calls(command{
		use: "context [TASK...]", short: "What an agent should know for a task, within a budget of tokens", args: listed(cobra.ArbitraryArgs, &words),
		long: `Prints what is known for a task, ready to be put before a model: guard rules,
principles, patterns, lessons, knowledge, facts, procedures, episodes and open
tasks, within a budget of tokens (` + router.Tokenizer + `). Prints nothing if nothing fits.

The task is given by --task, by arguments, or with "-" on standard input.
With --why, what is in it and what was left out is printed to standard error.`,
		flags: options{
			option("task", &request.Task, "what is to be done"),
			option("budget", &request.Budget, "tokens"),
			persona(&request.Persona),
			who("agent", &request.AgentID, s.agent, "agent that is to do it (SKILLROUTER_AGENT)"),
			option("project", &request.Project, "project that is meant"),
			option("include-untrusted", &request.IncludeUntrusted, "also what came from files and other systems, marked so"),
			option("why", &why, "also say what is in it, and what was left out and why"),
		},
		before: func() error {
			switch {
			case request.Task != "" && len(words) > 0:
				return usagef("the task is given twice: by --task and by arguments")
			case len(words) > 0:
				request.Task = strings.Join(words, " ")
				return s.text(&request.Task, router.MaxContextTask)
			case request.Task == "":
				return usagef("a task is needed: skillrouter context --task TEXT")
			}
			return nil
		},
	}, func(ctx context.Context, c *client.Client) error {
		built, err := c.Context.Build(ctx, request)
		err = printed(s, built, err, func(w io.Writer, built router.Context) { fmt.Fprint(w, built.Text) })
		if err == nil && why {
			contextWhy(s.err, built)
		}
		return err
	})
}

// contextWhy tells what is in a context and what is not.
func contextWhy(w io.Writer, built router.Context) {
	fmt.Fprintf(w, "%d of %d tokens (%s)\n", built.Tokens, built.Budget, built.Tokenizer)
	if len(built.Items) > 0 {
		columns[router.ContextItem]{
			heads: []string{"KIND", "ID", "TITLE", "AUTHOR", "TRUST", "SCORE", "TOKENS", ""},
			cells: func(i router.ContextItem) cells {
				cut := ""
				if i.Cut {
					cut = "cut"
				}
				return cells{i.Kind, i.ID, i.Title, i.Author, i.Trust, fmt.Sprintf("%.2f", i.Score), i.Tokens, cut}
			},
		}.list(w, built.Items)
	}
	if len(built.LeftOut) > 0 {
		fmt.Fprintf(w, "left out: %d\n", built.LeftOutCount)
		columns[router.LeftOut]{
			heads: []string{"KIND", "ID", "REASON"},
			cells: func(l router.LeftOut) cells { return cells{l.Kind, l.ID, l.Reason} },
		}.list(w, built.LeftOut)
	}
}
