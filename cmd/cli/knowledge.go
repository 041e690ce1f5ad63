package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/knowledge"
	"github.com/skillrouter/skillrouter/learning/verdict"
	"github.com/skillrouter/skillrouter/router/search"
)

func (s *shell) searchCommand() *cobra.Command {
	query := search.Query{Shown: true}
	of := s.searching(&query)
	of.short, of.hides = "Search every memory", "shown prefer_project"
	var all bool
	of.flags = append(of.flags, option("all", &all, "every memory, which is searched without it too"),
		choice("kind", &query.Kinds, search.Kinds(), "search this kind of memory"))
	return s.does(of)
}

// searching is the search of every kind of memory, or of those that query names.
func (s *shell) searching(query *search.Query) command {
	return command{
		use: "search TEXT...", short: "Search by words", do: search.Service.Search, words: []string{"query"}, in: query,
		hides: "shown prefer_project kinds", found: "category project author",
		flags: options{s.minRelevance(&query.MinRelevance, &query.Shown)},
		before: func() error {
			query.PreferProject = s.project()
			return nil
		},
	}
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
		says: `{{.ID}} {{if .Duplicate}}is there already{{else if .Updated}}updated{{else}}stored{{end}}
{{- range .Supersedes}}
It supersedes {{.}}; undo: skillrouter knowledge edit {{.}} --superseded-by ""
{{- end}}`,
	})
}

func (s *shell) usedCommand() *cobra.Command {
	var use verdict.Draft
	var not bool
	return s.does(command{
		use: "used ID [--for QUESTION]", short: "Say that a knowledge entry answered a question, so that like questions find it", do: verdict.Service.Answered, in: &use, kind: "knowledge",
		hides: "query helpful", as: s.agent,
		flags: options{option("for", &use.Query, "the question"), option("not-helpful", &not, "it did not answer it")},
		before: func() error {
			if not {
				use.Helpful = new(bool)
			}
			if use.Query == "" {
				return errors.New("say --for QUESTION")
			}
			return nil
		},
		says: "{{if .Learned}}{{.ID}} learned; {{.Questions}} kept of it{{else}}Counted; the question has no word to learn from.{{end}}",
	})
}
