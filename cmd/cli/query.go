package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"skillrouter/router"
	"skillrouter/router/classify"
)

func (s *shell) queryCommand() *cobra.Command {
	var query router.Query
	var class string
	cmd := s.remote(s.command(&cobra.Command{
		Use: "query TEXT...", Short: "Ask a question; the router decides which store answers it", Args: cobra.MinimumNArgs(1),
	}, func(ctx context.Context, args []string) error {
		c, err := s.client()
		if err != nil {
			return err
		}
		query.Query, query.Type = strings.Join(args, " "), classify.Class(class)
		query.AgentID = s.agent(query.AgentID)
		answer, err := c.Router.Ask(ctx, query)
		if err != nil {
			return err
		}
		return s.print(answer, func(w io.Writer) { answerText(w, answer) })
	}))
	flags := cmd.Flags()
	flags.StringVar(&class, "type", "", "ask this store, whatever the words say: knowledge, episode, operational, recon")
	flags.StringVar(&query.AgentID, "agent", "", "agent that asks (SKILLROUTER_AGENT)")
	flags.StringVar(&query.Project, "project", "", "project that is meant")
	flags.IntVar(&query.Limit, "limit", 0, "how many items at most")
	return cmd
}

// answerText prints an answer; of several questions in one query, each with its own.
func answerText(w io.Writer, a router.Answer) {
	if len(a.Sections) == 0 {
		oneAnswerText(w, a)
		return
	}
	for i, section := range a.Sections {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "# %s\n", cell(section.Query))
		oneAnswerText(w, router.Answer{
			QueryType: section.QueryType, Confidence: section.Confidence, Reasons: section.Reasons, Summary: section.Summary,
			Items: section.Items, Source: section.Source, Miss: section.Miss,
		})
	}
}

func oneAnswerText(w io.Writer, a router.Answer) {
	fmt.Fprintf(w, "%s (confidence %.2f), from %s\n", a.QueryType, a.Confidence, clean(a.Source))
	if len(a.Reasons) > 0 {
		fmt.Fprintf(w, "because %s\n", clean(strings.Join(a.Reasons, "; ")))
	}
	if a.Miss != nil {
		fmt.Fprintf(w, "but %s\n", clean(a.Miss.Reason))
	}
	if a.Summary != "" {
		fmt.Fprintf(w, "\n%s\n", clean(a.Summary))
	}
	if len(a.Items) == 0 {
		fmt.Fprintln(w, "\nNothing was found.")
	}
	for i, item := range a.Items {
		fmt.Fprintf(w, "\n%d. %s  [%s %s, %.2f]\n", i+1, cell(item.Title), clean(item.Kind), clean(item.ID), item.Score)
		indented(w, shortened(item.Content))
		if len(item.Fields) > 0 {
			parts := []string{}
			for _, name := range sorted(item.Fields) {
				if text := fmt.Sprint(item.Fields[name]); text != "" && text != "[]" && text != "0" {
					parts = append(parts, name+": "+text)
				}
			}
			indented(w, strings.Join(parts, ", "))
		}
	}
}

// contentLines bounds what is shown of one text; the rest is a --json away.
const contentLines = 6

func shortened(text string) string {
	lines := strings.SplitAfterN(strings.TrimSpace(text), "\n", contentLines+1)
	if len(lines) > contentLines {
		return strings.Join(lines[:contentLines], "") + "…"
	}
	return text
}
