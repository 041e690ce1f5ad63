package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"skillrouter/internal/check"
	"skillrouter/learning"
	"skillrouter/learning/decision"
	"skillrouter/learning/knowledge"
	"skillrouter/learning/verdict"
	"skillrouter/router/client"
	"skillrouter/router/search"
)

func (s *shell) searchCommand() *cobra.Command {
	query := search.Query{Shown: true}
	var all bool
	return s.does(command{
		use: "search TEXT... [--explain]", short: "Search every memory", do: search.Service.Search, words: []string{"query"}, in: &query, finds: true, hides: "shown prefer_project",
		flags: options{
			option("all", &all, "every memory, which is searched without it too"),
			choices("kind", &query.Kinds, search.Kinds(), "search this kind of memory"),
			s.minRelevance(&query.MinRelevance, &query.Shown),
		},
		before: func() error {
			query.PreferProject = s.project()
			return nil
		},
		show: printFoundAnywhere,
	})
}

func printFoundAnywhere(w io.Writer, results search.Answer) {
	searched(w, results.Corrected, results.Notice)
	for i, one := range learning.FoldFound(results.Results) {
		hit := results.Results[one.At]
		about := []string{before("category: ", hit.Category), before("project: ", hit.Project), before("by: ", hit.Author)}
		printHit(w, i, shownHit{hit.Kind, hit.ID, hit.Title, hit.Snippet, hit.Relevance, about, hit.SupersededBy}, one.Like())
		for _, also := range hit.Also {
			fmt.Fprintf(w, "    also the %s %s\n", clean(also.Kind), clean(also.Title))
		}
		explained(w, hit.RelevanceScore, hit.Why)
	}
	for _, kind := range results.Kinds {
		printIf(w, "Not searched: %s.\n", kind.LeftOut)
	}
	nothing(w, results.Count, results.Repairs)
}

// shownHit is what was found, of whatever kind, as questions and searches show it.
type shownHit struct {
	kind, id, title, text string
	relevance             float64
	about                 []string
	supersededBy          string
}

func printHit(w io.Writer, place int, hit shownHit, like string) {
	how := ""
	if hit.relevance < 1 { // what was asked for by its state is just that
		how = ", " + ofHundred(hit.relevance)
	}
	hitHead(w, place, hit.title, "%s %s%s", clean(hit.kind), clean(hit.id), how)
	printIf(w, "    superseded by %s\n", hit.supersededBy)
	indented(w, shortened(hit.text))
	indented(w, strings.Join(slices.DeleteFunc(hit.about, func(part string) bool { return part == "" }), ", "))
	printIf(w, "    %s\n", like)
}

// before puts a word before a text that is there.
func before(word, text string) string {
	if text == "" {
		return ""
	}
	return word + text
}

// nothing says in one sentence that nothing was found, and then what finds something.
func nothing(w io.Writer, found int, repairs []learning.Repair) {
	if found > 0 {
		return
	}
	fmt.Fprintln(w, "Nothing matches. Try other words, or fewer.")
	for _, tried := range repairs {
		if tried.Found > 0 {
			noticed(w, fmt.Sprintf("%s: %d found", tried.Detail, tried.Found))
		}
	}
}

// searched tells which words were searched as others, and what should be known of how it was searched.
func searched(w io.Writer, corrected map[string]string, notice string) {
	for _, word := range sorted(corrected) {
		fmt.Fprintf(w, "Nothing matches %q; searched for %q.\n", clean(word), clean(corrected[word]))
	}
	noticed(w, notice)
}

// noticed prints what should be known of how it was searched, as a sentence.
func noticed(w io.Writer, notice string) {
	if notice != "" && notice[0] >= 'a' && notice[0] <= 'z' {
		notice = strings.ToUpper(notice[:1]) + notice[1:]
	}
	printIf(w, "%s.\n", notice)
}

// hitHead begins what is printed of a hit: its place from 0 on, its title, and in brackets what format says.
func hitHead(w io.Writer, place int, title, format string, values ...any) {
	if place > 0 {
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "%d. %s  [%s]\n", place+1, clean(title), fmt.Sprintf(format, values...))
}

func (s *shell) rememberCommand() *cobra.Command {
	draft := knowledge.Draft{Category: knowledge.CategoryPattern}
	return s.does(command{
		use: "remember TITLE [CONTENT] --category NAME\n  skillrouter remember SENTENCE", short: "Store what was learned", do: knowledge.Service.Store, in: &draft,
		long: `Stores an entry of knowledge. Without CONTENT, or with "-", the content is read from
standard input. If that holds nothing, the sentence is the content, and its beginning the
title. Usual categories are error_solution, pattern, best_practice and gotcha; any
other name is allowed.`,
		before: func() error {
			sentence := draft.Content == ""
			if sentence && !isTerminal(s.in) {
				draft.Content = "-"
			}
			if err := s.text(&draft.Content, learning.MaxContent); err != nil || !sentence || strings.TrimSpace(draft.Content) != "" {
				return err
			}
			const long = 72 // bytes of a title, which is the sentence's beginning, up to a word's end
			line := check.OneLine(strings.TrimSpace(draft.Title))
			head := check.Head(line, long)
			if end := strings.LastIndexByte(head, ' '); len(head) < len(line) && end > 0 {
				head = head[:end] + "…"
			}
			draft.Content, draft.Title = draft.Title, head
			return nil
		},
		show: printStored,
	})
}

func (s *shell) undoCommand() *cobra.Command {
	return s.does(command{
		use: "undo [HANDLE]", short: "Take back what a person decided at an agent's prompt", do: decision.Service.Undo,
		long: `Takes back a decision or a constraint of this project that is in force: the one whose
handle you give, or else the latest. If it had replaced another one, that one is in
force again.`,
		show: func(w io.Writer, undone decision.Resolution) {
			fmt.Fprintf(w, "no longer in force: %s\n", clean(undone.Text))
			for _, text := range undone.Instead {
				fmt.Fprintf(w, "in force again: %s\n", clean(text))
			}
		},
	})
}

func printStored(w io.Writer, stored knowledge.Stored) {
	what := "stored"
	switch {
	case stored.Duplicate:
		what = "is there already"
	case stored.Updated:
		what = "updated"
	}
	fmt.Fprintf(w, "%s %s\n", clean(stored.ID), what)
	for _, id := range stored.Supersedes {
		fmt.Fprintf(w, "It supersedes %s; undo: skillrouter knowledge edit %s --superseded-by \"\"\n", clean(id), clean(id))
	}
}

func (s *shell) usedCommand() *cobra.Command {
	var id string
	var use verdict.Draft
	var not, unlearn bool
	return s.calls(command{
		use: "used ID --for QUESTION", short: "Say that a knowledge entry answered a question, so that like questions find it", args: exactly(&id),
		flags: options{
			option("for", &use.Query, "the question"),
			option("not-helpful", &not, "it did not answer it"),
			option("forget", &unlearn, "take back what was learned of the entry"),
			who("agent", &use.AgentID, s.agent, "whose voice it is (SKILLROUTER_AGENT)"),
		},
		before: func() error {
			if unlearn == (use.Query != "") {
				return errors.New("say --for QUESTION or --forget")
			}
			if not {
				use.Helpful = new(bool)
			}
			return nil
		},
	}, func(ctx context.Context, c *client.Client) error {
		var err error
		if id, err = fullID(ctx, c, "knowledge", id); err != nil {
			return err
		}
		if unlearn {
			gone, err := client.Send(ctx, c, verdict.Service.Unlearn, id)
			return printed(s, gone, err, func(w io.Writer, gone verdict.Gone) { fmt.Fprintf(w, "%d forgotten\n", gone.Deleted) })
		}
		learned, err := client.SendTo(ctx, c, verdict.Service.Answered, id, use)
		return printed(s, learned, err, func(w io.Writer, learned verdict.Learned) {
			if !learned.Learned {
				fmt.Fprintln(w, "Counted; the question has no word to learn from.")
				return
			}
			fmt.Fprintf(w, "%s learned; %d kept of it\n", clean(learned.ID), learned.Questions)
		})
	})
}
