package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"skillrouter/learning"
	"skillrouter/router"
)

// searchAll searches every memory, or the kinds that are asked for.
func (s *shell) searchAll(ctx context.Context, query router.SearchQuery) error {
	c, err := s.client()
	if err != nil {
		return err
	}
	results, err := c.Search.Search(ctx, query)
	if err != nil {
		return err
	}
	return s.print(results, func(w io.Writer) {
		corrections(w, results.Corrected)
		noticed(w, results.Notice)
		if results.Count == 0 {
			fmt.Fprintln(w, "Nothing was found.")
		}
		for i, hit := range results.Results {
			if i > 0 {
				fmt.Fprintln(w)
			}
			fmt.Fprintf(w, "%d. %s  [%s %s, %.0f %%]\n", i+1, clean(hit.Title), clean(hit.Kind), clean(hit.ID), 100*hit.Relevance)
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
	})
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
