package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillrouter/skillrouter/cmd/locate"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/client"
	"github.com/skillrouter/skillrouter/router/contexts"
)

func (s *shell) queryCommand() *cobra.Command {
	var query router.Query
	least, shown := 0.0, true
	return s.calls(command{
		use: "query TEXT...", short: "Ask a question of every memory, and how agents and tasks stand", into: []any{&query.Query},
		flags: append(s.flags(&query, "type", "agent", "project", "limit"),
			s.minRelevance(&least, &shown),
		),
	}, func(ctx context.Context, c *client.Client) error {
		query.PreferProject = s.project()
		answer, err := client.Send(ctx, c, router.Service.Ask, query)
		if err != nil {
			return err
		}
		answer = relevantOf(answer, least, shown)
		// That no agent is stale is an answer too.
		return s.printOr(len(answer.Items)+len(answer.Summary) == 0, answer, func(w io.Writer) { printAnswer(w, answer) })
	})
}

// relevantOf leaves out of an answer what is less relevant than a person wants to see. What was not found by its words
// has no relevance, and stays.
func relevantOf(a router.Answer, least float64, shown bool) router.Answer {
	a.Items = learning.Relevant(a.Items, least, shown, func(i router.Item) float64 { return cmp.Or(i.Relevance, 1) })
	a.Count = len(a.Items)
	return a
}

// printAnswer prints an answer.
func printAnswer(w io.Writer, a router.Answer) {
	fmt.Fprintf(w, "Asked: %s", a.QueryType)
	printIf(w, "; %s", clean(strings.Join(a.Reasons, "; ")))
	fmt.Fprintln(w)
	if a.Miss != nil {
		fmt.Fprintf(w, "but %s\n", clean(a.Miss.Reason))
	}
	printIf(w, "\n%s\n", a.Summary)
	fmt.Fprintln(w)
	if len(a.Items) == 0 && a.Summary == "" {
		fmt.Fprintln(w, nothingMatches)
	}
	printHits(w, "", "", reflect.ValueOf(a.Items))
}

// defaultContextBudget is the budget of a context that nobody gave one, in
// tokens: a page or two.
const defaultContextBudget = 2000

func (s *shell) contextCommand() *cobra.Command {
	request := contexts.Request{Budget: defaultContextBudget}
	var words []string
	var why bool
	return s.calls(command{
		use: "context [TASK...] [--start]", short: "Print what an agent should know for a task, within a budget of tokens", into: []any{&words},
		long: `Prints what is known for a task, ready to be put before a model, within a budget of
tokens (` + contexts.Tokenizer + `). It asks guard rules, principles, patterns, lessons, knowledge, facts,
procedures, episodes and open tasks, and prints nothing if nothing fits.

The task is given by --task, by arguments, or with "-" on standard input. With --start
it prints what an agent's session begins with in this folder, without any task. That is what
must never be done, how the last session ended, and what is known of the project.
With --why, what is in it and what was left out is printed to standard error.`,
		flags: append(s.flags(&request, "task", "start", "budget", "persona", "agent", "project", "include-untrusted"),
			option("why", &why, "also say what is in it, and what was left out and why"),
		),
		before: func() error {
			switch {
			case request.Start && (request.Task != "" || len(words) > 0):
				return usagef("--start takes no task")
			case request.Start:
				request.Project = first(request.Project, s.workProject())
			case request.Task != "" && len(words) > 0:
				return usagef("the task is given twice: by --task and by arguments")
			case len(words) > 0:
				request.Task = strings.Join(words, " ")
				return s.text(&request.Task, contexts.MaxTask)
			case request.Task == "":
				return usagef("a task is needed: skillrouter context --task TEXT")
			}
			return nil
		},
	}, func(ctx context.Context, c *client.Client) error {
		request.Folder = workTree()
		request.Subfolder, request.Branch = locate.Within(workingFolder())
		built, err := client.Send(ctx, c, contexts.Service.Build, request)
		err = printed(s, built, err, func(w io.Writer, built contexts.Context) { fmt.Fprint(w, built.Text) })
		if err == nil && why {
			contextWhy(s.err, built)
		}
		return err
	})
}

func (s *shell) showCommand() *cobra.Command {
	return s.does(command{
		use: "show HANDLE...", short: "Show whole texts by their handles", do: contexts.Service.Show, words: []string{"handles"},
		long: `Shows the whole texts of entries, by the handles that an index of the memory has, such as k7f3. An id, or its
beginning, works too. It fails if nothing is found.`,
		show: func(w io.Writer, found contexts.Context) { fmt.Fprint(w, found.Text) },
	})
}

// contextWhy tells what is in a context and what is not.
func contextWhy(w io.Writer, built contexts.Context) {
	fmt.Fprintf(w, "%d of %d tokens (%s)\n", built.Tokens, built.Budget, built.Tokenizer)
	if len(built.Items) > 0 {
		tableOf(w, "kind id title author trust score tokens cut+gone=", "", built.Items)
	}
	if len(built.LeftOut) > 0 {
		fmt.Fprintf(w, "left out: %d\n", built.LeftOutCount)
		tableOf(w, "kind id reason", "", built.LeftOut)
	}
}
