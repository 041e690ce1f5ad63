package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"skillrouter/router"
	"skillrouter/router/client"
)

func (s *shell) queryCommand() *cobra.Command {
	var query router.Query
	return asks(s, command{
		use: "query TEXT...", short: "Ask a question; the router decides which store answers it", args: joined(1, &query.Query),
		flags: options{
			option("type", (*string)(&query.Type), "ask this store, whatever the words say: knowledge, episode, operational, recon"),
			who("agent", &query.AgentID, s.agent, "agent that asks (SKILLROUTER_AGENT)"),
			option("project", &query.Project, "project that is meant"),
			option("limit", &query.Limit, "how many items at most"),
		},
	}, sends(client.Router.Ask, &query), printAnswer)
}

// printAnswer prints an answer; of several questions in one query, each with its own.
func printAnswer(w io.Writer, a router.Answer) {
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
