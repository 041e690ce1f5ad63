package cli

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"skillrouter"
	"skillrouter/learning/feedback"
	"skillrouter/learning/knowledge"
	"skillrouter/router"
	"skillrouter/router/client"
	"skillrouter/tfidf"
)

// askedHits is how many hits a person is asked about: what one reads.
const askedHits = 10

func (s *shell) judgeCommand() *cobra.Command {
	var draft feedback.JudgementDraft
	cmd := s.calls(command{
		use: "judge QUESTION... [--good ID,ID] [--bad ID,ID]", short: "Say which entries are right for a question, to measure the search by",
		long: `Keeps a question with the knowledge entries that are right for it, and those
that are wrong. "skillrouter selftest --own" asks all of them and says what got worse.

On a terminal, without --good and --bad, it searches, lists what was found and
asks which were right.`,
		args: joined(1, &draft.Question),
		flags: options{
			option("good", &draft.Good, "ids of entries that are right; may be repeated"),
			option("bad", &draft.Bad, "ids of entries that are wrong; may be repeated"),
			option("project,p", &draft.Project, "ask in this project only"),
		},
	}, func(ctx context.Context, c *client.Client) error {
		if len(draft.Good)+len(draft.Bad) == 0 {
			if !s.terminal() {
				return usagef("say which entries are right or wrong: --good ID, --bad ID")
			}
			found, err := c.Knowledge.Search(ctx, knowledge.Query{Query: draft.Question, Project: draft.Project, Limit: askedHits})
			if err != nil {
				return err
			}
			if err := s.askWhich(&draft, found.Results); err != nil || len(draft.Good)+len(draft.Bad) == 0 {
				return err
			}
		}
		for _, ids := range [][]string{draft.Good, draft.Bad} {
			if err := fullIDs(ctx, c, "knowledge", ids); err != nil {
				return err
			}
		}
		judgement, err := c.Judgements.Judge(ctx, draft)
		return printed(s, judgement, err, func(w io.Writer, judgement feedback.Judgement) {
			fmt.Fprintf(w, "%s kept: %d right, %d wrong.\n", clean(judgement.ID), len(judgement.Good), len(judgement.Bad))
		})
	})
	cmd.AddCommand(s.judgeList(), s.judgeRemove())
	return cmd
}

// terminal tells whether a person can be asked.
func (s *shell) terminal() bool { return !s.json && isTerminal(s.in) }

// askWhich lists hits and takes which were right and which wrong.
func (s *shell) askWhich(draft *feedback.JudgementDraft, hits []knowledge.Hit) error {
	if len(hits) == 0 {
		fmt.Fprintln(s.out, "Nothing was found. If you know what is right: --good ID.")
		return nil
	}
	for i, hit := range hits {
		fmt.Fprintf(s.out, "%2d. %s  [%s]\n    %s\n", i+1, clean(hit.Title), clean(hit.ID), cell(hit.Content))
	}
	in := bufio.NewReader(io.LimitReader(s.in, 1<<16))
	var err error
	if draft.Good, err = s.askNumbers(in, "Which are right? Numbers, or nothing: ", hits); err != nil {
		return err
	}
	draft.Bad, err = s.askNumbers(in, "Which are wrong? Numbers, or nothing: ", hits)
	if err == nil && len(draft.Good)+len(draft.Bad) == 0 {
		fmt.Fprintln(s.out, "Nothing was kept.")
	}
	return err
}

// askNumbers asks until it is answered by numbers of hits or by nothing.
func (s *shell) askNumbers(in *bufio.Reader, question string, hits []knowledge.Hit) ([]string, error) {
	for {
		fmt.Fprint(s.out, question)
		line, err := in.ReadString('\n')
		if err != nil && (line == "" || !errors.Is(err, io.EOF)) {
			return nil, errors.New("there was no answer")
		}
		ids, wrong := numbered(line, hits)
		if wrong == "" {
			return ids, nil
		}
		fmt.Fprintf(s.out, "%s is none of 1 to %d.\n", clean(wrong), len(hits))
	}
}

// numbered reads numbers of hits; wrong is the first word that is none.
func numbered(line string, hits []knowledge.Hit) (ids []string, wrong string) {
	for _, word := range strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' || r == '\r' }) {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > len(hits) {
			return nil, word
		}
		if id := hits[n-1].ID; !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, ""
}

func (s *shell) judgeList() *cobra.Command {
	var query feedback.JudgementQuery
	judgements := columns[feedback.Judgement]{
		heads: []string{"JUDGEMENT", "RIGHT/WRONG", "WHEN", "BY", "PROJECT", "QUESTION"},
		cells: func(j feedback.Judgement) cells {
			return cells{shortID(j.ID), fmt.Sprintf("%d/%d", len(j.Good), len(j.Bad)), j.UpdatedAt, j.Author, j.Project, j.Question}
		},
	}
	return asks(s, command{use: "list", short: "List judged questions", flags: options{
		option("project,p", &query.Project, "only of this project"),
		cursor(&query.Cursor),
		limit(&query.Limit),
	}}, sends(client.Judgements.Judgements, &query), func(w io.Writer, page feedback.JudgementPage) {
		if page.Total == 0 {
			fmt.Fprintln(w, "Nothing was judged yet.")
			return
		}
		judgements.list(w, page.Judgements)
		moreOf(w, page.Count, page.Total, page.Next)
	})
}

func (s *shell) judgeRemove() *cobra.Command {
	type removed struct {
		Removed string `json:"removed"`
	}
	var id string
	return asks(s, command{
		use: "remove JUDGEMENT", short: "Remove a judged question", args: exactly(&id),
	}, full("judgements", &id, func(ctx context.Context, c *client.Client) (removed, error) {
		return removed{id}, c.Judgements.Remove(ctx, id)
	}), func(w io.Writer, r removed) { fmt.Fprintf(w, "%s removed.\n", clean(r.Removed)) })
}

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
		return s.printOr(!result.OK, result, func(w io.Writer) { printSelftest(w, &result) })
	}))
}

func printSelftest(w io.Writer, r *router.SelfTest) {
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
	c, err := s.connect(ctx)
	if err != nil {
		return err
	}
	report, err := c.Judgements.Measure(ctx)
	if err != nil {
		return err
	}
	return s.printOr(report.Worse > 0, report, func(w io.Writer) { s.printMeasured(w, &report) })
}

func (s *shell) printMeasured(w io.Writer, r *feedback.JudgementReport) {
	if len(r.Questions) == 0 {
		fmt.Fprintln(w, `Nothing was judged yet: skillrouter judge "a question" --good ID`)
		return
	}
	noticed(w, r.Notice)
	skillrouter.SortStable(r.Questions, func(a, b feedback.JudgedQuestion) int { return cmp.Compare(len(b.Worse), len(a.Worse)) })
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
