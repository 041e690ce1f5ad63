package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"skillrouter/learning"
	"skillrouter/router"
	"skillrouter/router/client"
)

func (s *shell) searchCommand() *cobra.Command {
	var query learning.KnowledgeQuery
	var all bool
	var kinds []string
	return s.calls(command{
		use: "search TEXT... [--all] [--explain]", short: "Search knowledge, or every memory", args: joined(1, &query.Query),
		flags: options{
			option("all", &all, "search every memory: lessons, procedures, facts, tasks, findings, episodes and your messages too"),
			option("kind", &kinds, "search this kind of memory: "+names(router.SearchKinds())+"; may be repeated"),
			option("agent", &query.AgentID, "only what this agent wrote"),
			option("time-range", &query.TimeRange, "only what was written or changed then, such as 7d, yesterday or 2026-01"),
			option("category", &query.Category, "only this category"),
			option("project", &query.Project, "only this project"),
			option("tag", &query.Tags, "only entries with this tag; may be repeated"),
			option("limit", &query.Limit, "how many results at most"),
			scores(&query.Explain),
		},
	}, func(ctx context.Context, c *client.Client) error {
		if all || len(kinds) > 0 {
			results, err := c.Search.Search(ctx, router.SearchQuery{
				Query: query.Query, Kinds: kinds, Category: query.Category, Project: query.Project, Tags: query.Tags, AgentID: query.AgentID,
				TimeRange: query.TimeRange, Limit: query.Limit, Explain: query.Explain,
			})
			return printed(s, results, err, printFoundAnywhere)
		}
		results, err := c.Knowledge.Search(ctx, query)
		return printed(s, results, err, printFoundKnowledge)
	})
}

func printFoundKnowledge(w io.Writer, results learning.KnowledgeResults) {
	searched(w, results.Corrected, results.Notice, len(results.Results), "Nothing was found.")
	triedSteps(w, results.Tried)
	for i, hit := range results.Results {
		hitHead(w, i, hit.Title, "%s, %.3f", clean(hit.ID), hit.RelevanceScore)
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
}

func printFoundAnywhere(w io.Writer, results router.SearchResults) {
	searched(w, results.Corrected, results.Notice, results.Count, "Nothing was found.")
	for i, hit := range results.Results {
		hitHead(w, i, hit.Title, "%s %s, %.0f %%", clean(hit.Kind), clean(hit.ID), 100*hit.Relevance)
		var about []string
		for _, part := range []struct{ before, text string }{{"", hit.Category}, {"project ", hit.Project}, {"by ", hit.Author}} {
			if part.text != "" {
				about = append(about, part.before+clean(part.text))
			}
		}
		if len(about) > 0 {
			fmt.Fprintf(w, "    (%s)\n", strings.Join(about, "; "))
		}
		indented(w, shortened(hit.Snippet))
		for _, also := range hit.Also {
			fmt.Fprintf(w, "    also the %s %s\n", clean(also.Kind), clean(also.Title))
		}
		explained(w, hit.RelevanceScore, hit.Why)
	}
	for _, kind := range results.Kinds {
		if kind.LeftOut != "" {
			fmt.Fprintf(w, "Not searched: %s.\n", clean(kind.LeftOut))
		}
	}
	triedSteps(w, results.Tried)
}

// searched tells which words were searched as others, what should be known of
// how it was searched, and if nothing was found, none.
func searched(w io.Writer, corrected map[string]string, notice string, found int, none string) {
	for _, word := range sorted(corrected) {
		fmt.Fprintf(w, "Nobody wrote %q; searched for %q instead.\n", clean(word), clean(corrected[word]))
	}
	noticed(w, notice)
	if found == 0 {
		fmt.Fprintln(w, none)
	}
}

// noticed prints what should be known of how it was searched.
func noticed(w io.Writer, notice string) {
	if notice != "" {
		fmt.Fprintf(w, "The %s.\n", clean(notice))
	}
}

// hitHead begins what is printed of a hit: its place from 0 on, its title, and in brackets what format says.
func hitHead(w io.Writer, place int, title, format string, values ...any) {
	if place > 0 {
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "%d. %s  [%s]\n", place+1, clean(title), fmt.Sprintf(format, values...))
}

// triedSteps tells what was tried where nothing was found as it was asked for.
func triedSteps(w io.Writer, tried []learning.Tried) {
	for _, t := range tried {
		if t.Step == learning.TriedWords {
			fmt.Fprintf(w, "Tried: %s.\n", clean(t.Detail))
			continue
		}
		fmt.Fprintf(w, "Tried: %s: %d found.\n", clean(t.Detail), t.Found)
	}
}
