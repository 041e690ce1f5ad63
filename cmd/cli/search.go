package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"skillrouter/learning"
	"skillrouter/router"
)

func (s *shell) searchCommand() *cobra.Command {
	var query learning.KnowledgeQuery
	var all bool
	var kinds []string
	cmd := s.remote(s.command(&cobra.Command{
		Use: "search TEXT... [--all] [--explain]", Short: "Search knowledge, or every memory", Args: cobra.MinimumNArgs(1),
	}, func(ctx context.Context, args []string) error {
		if all || len(kinds) > 0 {
			return s.searchAll(ctx, router.SearchQuery{
				Query: strings.Join(args, " "), Kinds: kinds, Category: query.Category, Project: query.Project, Tags: query.Tags, AgentID: query.AgentID,
				TimeRange: query.TimeRange, Limit: query.Limit, Explain: query.Explain,
			})
		}
		c, err := s.client()
		if err != nil {
			return err
		}
		query.Query = strings.Join(args, " ")
		results, err := c.Knowledge.Search(ctx, query)
		if err != nil {
			return err
		}
		return s.print(results, func(w io.Writer) {
			corrections(w, results.Corrected)
			noticed(w, results.Notice)
			if len(results.Results) == 0 {
				fmt.Fprintln(w, "Nothing was found.")
			}
			triedSteps(w, results.Tried)
			for i, hit := range results.Results {
				if i > 0 {
					fmt.Fprintln(w)
				}
				fmt.Fprintf(w, "%d. %s  [%s, %.3f]\n", i+1, clean(hit.Title), clean(hit.ID), hit.RelevanceScore)
				about := clean(hit.Category)
				if len(hit.Tags) > 0 {
					about += "; " + clean(strings.Join(hit.Tags, ", "))
				}
				if hit.Project != "" {
					about += "; project " + clean(hit.Project)
				}
				if hit.Author != "" {
					about += "; by " + clean(hit.Author)
				}
				fmt.Fprintf(w, "    (%s; used %d×)\n", about, hit.UseCount)
				indented(w, shortened(hit.Content))
				explained(w, hit.RelevanceScore, hit.Why)
			}
		})
	}))
	flags := cmd.Flags()
	flags.BoolVar(&all, "all", false, "search every memory: lessons, procedures, facts, tasks, findings, episodes and your messages too")
	flags.StringSliceVar(&kinds, "kind", nil, "search this kind of memory: "+strings.Join(router.SearchKinds(), ", ")+"; may be repeated")
	flags.StringVar(&query.AgentID, "agent", "", "only what this agent wrote")
	flags.StringVar(&query.TimeRange, "time-range", "", "only what was written or changed then, such as 7d, yesterday or 2026-01")
	flags.StringVar(&query.Category, "category", "", "only this category")
	flags.StringVar(&query.Project, "project", "", "only this project")
	flags.StringSliceVar(&query.Tags, "tag", nil, "only entries with this tag; may be repeated")
	flags.IntVar(&query.Limit, "limit", 0, "how many results at most")
	flags.BoolVar(&query.Explain, "explain", false, "show what each score is made of")
	return cmd
}

// corrections tells which words were searched as others.
func corrections(w io.Writer, corrected map[string]string) {
	for _, word := range sorted(corrected) {
		fmt.Fprintf(w, "Nobody wrote %q; searched for %q instead.\n", clean(word), clean(corrected[word]))
	}
}

// noticed prints what should be known of how it was searched.
func noticed(w io.Writer, notice string) {
	if notice != "" {
		fmt.Fprintf(w, "The %s.\n", clean(notice))
	}
}
