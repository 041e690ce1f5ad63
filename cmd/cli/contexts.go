package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"skillrouter/router"
)

// defaultContextBudget is the budget of a context that nobody gave one, in
// tokens: a page or two.
const defaultContextBudget = 2000

func (s *shell) contextCommand() *cobra.Command {
	var request router.ContextRequest
	var why bool
	cmd := s.remote(s.command(&cobra.Command{
		Use: "context [TASK...]", Short: "What an agent should know for a task, within a budget of tokens",
		Long: `Prints what is known for a task, ready to be put before a model: guard rules,
principles, patterns, lessons, knowledge, facts, procedures, episodes and open
tasks, within a budget of tokens (` + router.Tokenizer + `). Prints nothing if nothing fits.

The task is given by --task, by arguments, or with "-" on standard input.
With --why, what is in it and what was left out is printed to standard error.`,
	}, func(ctx context.Context, args []string) error {
		switch {
		case request.Task != "" && len(args) > 0:
			return usagef("the task is given twice: by --task and by arguments")
		case len(args) == 1 && args[0] == "-":
			text, err := io.ReadAll(io.LimitReader(s.in, router.MaxContextTask+1))
			if err != nil {
				return err
			}
			request.Task = string(text)
		case len(args) > 0:
			request.Task = strings.Join(args, " ")
		case request.Task == "":
			return usagef("a task is needed: skillrouter context --task TEXT")
		}
		request.AgentID = s.agent(request.AgentID)
		c, err := s.client()
		if err != nil {
			return err
		}
		built, err := c.Context.Build(ctx, request)
		if err != nil {
			return err
		}
		if err := s.print(built, func(w io.Writer) { fmt.Fprint(w, built.Text) }); err != nil || !why {
			return err
		}
		contextWhy(s.err, built)
		return nil
	}))
	flags := cmd.Flags()
	flags.StringVar(&request.Task, "task", "", "what is to be done")
	flags.IntVar(&request.Budget, "budget", defaultContextBudget, "tokens")
	flags.StringVar(&request.Persona, "persona", "", "whose memory (default \"default\")")
	flags.StringVar(&request.AgentID, "agent", "", "agent that is to do it (SKILLROUTER_AGENT)")
	flags.StringVar(&request.Project, "project", "", "project that is meant")
	flags.BoolVar(&request.IncludeUntrusted, "include-untrusted", false, "also what came from files and other systems, marked so")
	flags.BoolVar(&why, "why", false, "also say what is in it, and what was left out and why")
	return cmd
}

// contextWhy tells what is in a context and what is not.
func contextWhy(w io.Writer, built router.Context) {
	fmt.Fprintf(w, "%d of %d tokens (%s)\n", built.Tokens, built.Budget, built.Tokenizer)
	rows := [][]string{}
	for _, item := range built.Items {
		cut := ""
		if item.Cut {
			cut = "cut"
		}
		rows = append(rows, []string{item.Kind, item.ID, item.Title, item.Author, item.Trust, fmt.Sprintf("%.2f", item.Score), fmt.Sprint(item.Tokens), cut})
	}
	if len(rows) > 0 {
		table(w, []string{"KIND", "ID", "TITLE", "AUTHOR", "TRUST", "SCORE", "TOKENS", ""}, rows)
	}
	if len(built.LeftOut) == 0 {
		return
	}
	fmt.Fprintf(w, "left out: %d\n", built.LeftOutCount)
	rows = rows[:0]
	for _, l := range built.LeftOut {
		rows = append(rows, []string{l.Kind, l.ID, l.Reason})
	}
	table(w, []string{"KIND", "ID", "REASON"}, rows)
}
