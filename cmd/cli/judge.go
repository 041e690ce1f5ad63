package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"skillrouter/learning"
)

// askedHits is how many hits a person is asked about: what one reads.
const askedHits = 10

func (s *shell) judgeCommand() *cobra.Command {
	var draft learning.JudgementDraft
	cmd := s.remote(s.command(&cobra.Command{
		Use: "judge QUESTION... [--good ID,ID] [--bad ID,ID]", Short: "Say which entries are right for a question, to measure the search by", Args: cobra.MinimumNArgs(1),
		Long: `Keeps a question with the knowledge entries that are right for it, and those
that are wrong. "skillrouter selftest --own" asks all of them and says what got worse.

On a terminal, without --good and --bad, it searches, lists what was found and
asks which were right.`,
	}, func(ctx context.Context, args []string) error {
		c, err := s.client()
		if err != nil {
			return err
		}
		draft.Question = strings.Join(args, " ")
		if len(draft.Good)+len(draft.Bad) == 0 {
			if !s.terminal() {
				return usagef("say which entries are right or wrong: --good ID, --bad ID")
			}
			found, err := c.Knowledge.Search(ctx, learning.KnowledgeQuery{Query: draft.Question, Project: draft.Project, Limit: askedHits})
			if err != nil {
				return err
			}
			if err := s.askWhich(&draft, found.Results); err != nil || len(draft.Good)+len(draft.Bad) == 0 {
				return err
			}
		}
		judgement, err := c.Judgements.Judge(ctx, draft)
		if err != nil {
			return err
		}
		return s.print(judgement, func(w io.Writer) {
			fmt.Fprintf(w, "%s kept: %d right, %d wrong.\n", clean(judgement.ID), len(judgement.Good), len(judgement.Bad))
		})
	}))
	flags := cmd.Flags()
	flags.StringSliceVar(&draft.Good, "good", nil, "ids of entries that are right; may be repeated")
	flags.StringSliceVar(&draft.Bad, "bad", nil, "ids of entries that are wrong; may be repeated")
	flags.StringVarP(&draft.Project, "project", "p", "", "ask in this project only")
	cmd.AddCommand(s.judgeList(), s.judgeRemove())
	return cmd
}

// terminal tells whether a person can be asked.
func (s *shell) terminal() bool {
	in, ok := s.in.(*os.File)
	return ok && !s.json && term.IsTerminal(int(in.Fd()))
}

// askWhich lists hits and takes which were right and which wrong.
func (s *shell) askWhich(draft *learning.JudgementDraft, hits []learning.KnowledgeHit) error {
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
func (s *shell) askNumbers(in *bufio.Reader, question string, hits []learning.KnowledgeHit) ([]string, error) {
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
func numbered(line string, hits []learning.KnowledgeHit) (ids []string, wrong string) {
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
	var query learning.JudgementQuery
	cmd := s.remote(s.command(&cobra.Command{
		Use: "list", Short: "List judged questions", Args: cobra.NoArgs,
	}, func(ctx context.Context, _ []string) error {
		c, err := s.client()
		if err != nil {
			return err
		}
		page, err := c.Judgements.Judgements(ctx, query)
		if err != nil {
			return err
		}
		return s.print(page, func(w io.Writer) {
			if page.Total == 0 {
				fmt.Fprintln(w, "Nothing was judged yet.")
				return
			}
			now, rows := s.now(), make([][]string, len(page.Judgements))
			for i, j := range page.Judgements {
				rows[i] = []string{j.ID, fmt.Sprintf("%d/%d", len(j.Good), len(j.Bad)), ago(now, j.UpdatedAt), j.Author, j.Project, j.Question}
			}
			table(w, []string{"JUDGEMENT", "RIGHT/WRONG", "WHEN", "BY", "PROJECT", "QUESTION"}, rows)
			if page.Next != "" {
				fmt.Fprintf(w, "%d of %d; more with --cursor %s\n", page.Count, page.Total, clean(page.Next))
			}
		})
	}))
	flags := cmd.Flags()
	flags.StringVarP(&query.Project, "project", "p", "", "only of this project")
	flags.StringVar(&query.Cursor, "cursor", "", "go on where a page ended")
	flags.IntVar(&query.Limit, "limit", 0, "how many at most")
	return cmd
}

func (s *shell) judgeRemove() *cobra.Command {
	return s.remote(s.command(&cobra.Command{
		Use: "remove JUDGEMENT", Short: "Remove a judged question", Args: cobra.ExactArgs(1),
	}, func(ctx context.Context, args []string) error {
		c, err := s.client()
		if err != nil {
			return err
		}
		if err := c.Judgements.Remove(ctx, args[0]); err != nil {
			return err
		}
		return s.print(struct {
			Removed string `json:"removed"`
		}{args[0]}, func(w io.Writer) { fmt.Fprintf(w, "%s removed.\n", clean(args[0])) })
	}))
}
