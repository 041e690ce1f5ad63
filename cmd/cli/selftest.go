package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"skillrouter/learning"
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

// measureOwn measures the running router by the questions that its people judged.
func (s *shell) measureOwn(ctx context.Context) error {
	c, err := s.client()
	if err != nil {
		return err
	}
	report, err := c.Judgements.Measure(ctx)
	if err != nil {
		return err
	}
	return s.printOr(report.Worse > 0, report, func(w io.Writer) { s.ownText(w, &report) })
}

func (s *shell) ownText(w io.Writer, r *learning.JudgementReport) {
	if len(r.Questions) == 0 {
		fmt.Fprintln(w, `Nothing was judged yet: skillrouter judge "a question" --good ID`)
		return
	}
	noticed(w, r.Notice)
	slices.SortStableFunc(r.Questions, func(a, b learning.JudgedQuestion) int { return cmp.Compare(len(b.Worse), len(a.Worse)) })
	for _, q := range r.Questions {
		found := "not found"
		switch {
		case q.Best > 0:
			found = fmt.Sprintf("rank %d", q.Best)
		case len(q.Ranks) == 0:
			found = "gone"
		}
		in := ""
		if q.Project != "" {
			in = "  (" + clean(q.Project) + ")"
		}
		fmt.Fprintf(w, "%-9s  %s%s\n", found, cell(q.Question), in)
		for _, said := range []struct {
			what string
			list []string
		}{{"worse: ", q.Worse}, {"better: ", q.Better}, {"deleted since: ", q.Gone}} {
			if len(said.list) > 0 {
				fmt.Fprintf(w, "           %s%s\n", said.what, clean(strings.Join(said.list, ", ")))
			}
		}
	}
	fmt.Fprintf(w, "\n%d of %s with a right entry among the first ten: nDCG@10 %.3f, MRR %.3f.\n", r.Found, plural(r.Measured, "question"), r.NDCG, r.MRR)
	switch {
	case r.Since == nil:
		fmt.Fprintln(w, "This is the first measuring; the next one compares with it.")
	case r.Worse == 0:
		fmt.Fprintf(w, "Nothing got worse since the last measuring (%s).\n", ago(s.now(), *r.Since))
	default:
		fmt.Fprintf(w, "%s got worse since the last measuring (%s).\n", plural(r.Worse, "question"), ago(s.now(), *r.Since))
	}
}
