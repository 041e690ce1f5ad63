package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"skillrouter/learning"
)

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
