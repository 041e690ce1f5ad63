package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"skillrouter/router"
	"skillrouter/tfidf"
)

// shownMoves is how many moved questions are printed: who wants all takes --json.
const shownMoves = 20

func (s *shell) selftestCommand() *cobra.Command {
	var own bool
	return s.remote(s.made(command{
		use: "selftest [--own]", short: "Measure this program's search and routing on its own judged questions",
		long: `Asks the judged questions that are part of the program of the search engine and
the classifier that are part of it, without a router, and compares what is found
with what was found when the ranking was last agreed to. The exit code is 1 if
anything moved.

With --own it asks the questions that people judged ("skillrouter judge") of the
running router's memory instead, says where the right entries are found, and
keeps that. The exit code is 1 if anything is worse than the last time.`,
		flags: options{option("own", &own, "measure the running router by your own judged questions")},
	}, func(ctx context.Context) error {
		if own {
			return s.measureOwn(ctx)
		}
		result, err := router.Check(tfidf.Options{})
		if err != nil {
			return err
		}
		return s.printOr(!result.OK, result, func(w io.Writer) { selftestText(w, &result) })
	}))
}

func selftestText(w io.Writer, r *router.SelfTest) {
	fmt.Fprintf(w, "search   %d questions on %d entries: nDCG@10 %.3f, R@10 %.3f, MRR %.3f\n", r.All.Questions, r.Documents, r.All.NDCG, r.All.Recall, r.All.MRR)
	styles := sorted(r.Styles)
	slices.SortStableFunc(styles, func(a, b string) int { return r.Styles[b].Questions - r.Styles[a].Questions })
	for _, style := range styles {
		m := r.Styles[style]
		fmt.Fprintf(w, "         %-10s %3d  nDCG@10 %.3f, R@10 %.3f, MRR %.3f\n", style, m.Questions, m.NDCG, m.Recall, m.MRR)
	}
	fmt.Fprintf(w, "routing  %d of %d questions right\n", r.Right, r.Routed)
	if r.OK {
		fmt.Fprintf(w, "\nNothing moved. Took %.0f ms.\n", r.TookMS)
		return
	}
	fmt.Fprintln(w)
	for _, m := range r.Moves[:min(len(r.Moves), shownMoves)] {
		fmt.Fprintf(w, "%+.3f  %s\n        %s\n", m.Is-m.Was, cell(m.Query), strings.Join(m.Changes, ", "))
	}
	if more := len(r.Moves) - shownMoves; more > 0 {
		fmt.Fprintf(w, "        and %d more; --json lists all\n", more)
	}
	fmt.Fprintf(w, "\n%s moved; nDCG@10 was %.3f when the ranking was last agreed to. Took %.0f ms.\n", plural(len(r.Moves), "question"), r.Golden.NDCG, r.TookMS)
}
