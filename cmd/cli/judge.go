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
	"skillrouter/router/client"
)

// askedHits is how many hits a person is asked about: what one reads.
const askedHits = 10

func (s *shell) judgeCommand() *cobra.Command {
	var draft learning.JudgementDraft
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
			found, err := c.Knowledge.Search(ctx, learning.KnowledgeQuery{Query: draft.Question, Project: draft.Project, Limit: askedHits})
			if err != nil {
				return err
			}
			if err := s.askWhich(&draft, found.Results); err != nil || len(draft.Good)+len(draft.Bad) == 0 {
				return err
			}
		}
		judgement, err := c.Judgements.Judge(ctx, draft)
		return printed(s, judgement, err, func(w io.Writer, judgement learning.Judgement) {
			fmt.Fprintf(w, "%s kept: %d right, %d wrong.\n", clean(judgement.ID), len(judgement.Good), len(judgement.Bad))
		})
	})
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
	judgements := columns[learning.Judgement]{
		heads: []string{"JUDGEMENT", "RIGHT/WRONG", "WHEN", "BY", "PROJECT", "QUESTION"},
		cells: func(j learning.Judgement) cells {
			return cells{j.ID, fmt.Sprintf("%d/%d", len(j.Good), len(j.Bad)), j.UpdatedAt, j.Author, j.Project, j.Question}
		},
	}
	return asks(s, command{use: "list", short: "List judged questions", flags: options{
		option("project,p", &query.Project, "only of this project"),
		cursor(&query.Cursor),
		limit(&query.Limit),
	}}, sends(client.Judgements.Judgements, &query), func(w io.Writer, page learning.JudgementPage) {
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
	}, func(ctx context.Context, c *client.Client) (removed, error) {
		return removed{id}, c.Judgements.Remove(ctx, id)
	}, func(w io.Writer, r removed) { fmt.Fprintf(w, "%s removed.\n", clean(r.Removed)) })
}
