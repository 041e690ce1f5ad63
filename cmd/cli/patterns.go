package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"skillrouter/learning"
	"skillrouter/learning/lesson"
)

func (s *shell) patternsCommand() *cobra.Command {
	return s.verbs(verbs{
		name: "patterns", short: "What recurs: add, list, show, edit, confirm, delete", of: "PATTERN",
		long: "Shows what recurs in lessons and episodes, by itself or because somebody says so. One is named by its number, such as 7, or by its id.",
		add:  s.patternsAdd(), list: s.patternsList("list", "List patterns, the latest seen first"), show: s.patternsShow(), edit: s.patternsEdit(),
		remove: removePattern, gone: "Deprecate a pattern: it holds no more, and is kept",
		more: []*cobra.Command{
			s.patternsList("emerging", "List patterns that are not confirmed yet, and why they are patterns", lesson.PatternEmerging),
			s.patternsVerb("confirm PATTERN [NOTES]", "Say that a pattern is real and should be enforced", lesson.PatternService.Confirm),
		},
		former: []*cobra.Command{s.patternsVerb("deprecate PATTERN [NOTES]", "Say that a pattern holds no more; it is kept", lesson.PatternService.Deprecate)},
	})
}

// patternsList lists patterns; statuses, if there are any, are not for the user to choose.
func (s *shell) patternsList(use, short string, statuses ...lesson.PatternStatus) *cobra.Command {
	filter := lesson.PatternFilter{Statuses: statuses}
	flags := append(s.flags(&filter, "domain", "limit", "offset"),
		choice("type", &filter.Type, lesson.PatternTypes(), "only those of this type"),
	)
	if len(statuses) == 0 {
		flags = append(flags, choices("status", &filter.Statuses, lesson.PatternStatuses(), "only those with this status (default: all but deprecated)"))
	}
	return lists(s, command{use: use, short: short, flags: flags}, learning.DefaultListing, learning.MaxLimit, &filter.Limit, sends(lesson.PatternService.List, &filter), func(w io.Writer, patterns []lesson.Pattern) {
		patternTable.list(w, patterns)
		if len(statuses) == 0 {
			return
		}
		for _, p := range patterns {
			fmt.Fprintf(w, "\n%d  %s\n", p.Number, p.Name)
			indented(w, strings.Join(p.Why, "\n"))
		}
	})
}

func (s *shell) patternsShow() *cobra.Command {
	var ref string
	return asks(s, command{use: "show PATTERN", short: "Show one pattern with its reasons and evidence", args: exactly(&ref)}, withID("patterns", lesson.PatternService.Pattern, &ref), printPattern)
}

func (s *shell) patternsAdd() *cobra.Command {
	draft := lesson.PatternDraft{Type: lesson.PatternBestPractice}
	return asks(s, command{
		use: "add NAME DESCRIPTION --domain DOMAIN", short: "Add a pattern that you saw; it is emerging until it is confirmed", args: exactly(&draft.Name, &draft.Description),
		flags: append(s.flags(&draft, "domain", "agent"),
			choice("type", &draft.Type, lesson.PatternTypes(), "what recurs"),
			option("action", &draft.Action, "what to do about it"),
			phrases("prevention", &draft.Prevention, "how to prevent it; may be repeated"),
		),
	}, sends(lesson.PatternService.Add, &draft), printPattern)
}

func (s *shell) patternsEdit() *cobra.Command {
	var ref string
	var patch lesson.PatternPatch
	var prevention []string
	return asks(s, command{
		use: "edit PATTERN --FIELD TEXT...", short: "Change what a pattern says; for the captain", args: exactly(&ref),
		flags: append(s.flags(&patch, "description", "domain"),
			optional("name", &patch.Name, "", "its line"),
			optional("action", &patch.Action, "", "what to do about it"),
			given("prevention", &patch.Prevention, &prevention, phrases("prevention", &prevention, "how to prevent it, in place of all there is; may be repeated")),
		),
		before: func() error {
			if patch == (lesson.PatternPatch{}) {
				return usagef("say what to change")
			}
			patch.By = s.person("")
			return nil
		},
	}, withIDTo("patterns", lesson.PatternService.Edit, &ref, &patch), printPattern)
}

// patternsVerb passes a judgement on one pattern.
func (s *shell) patternsVerb(
	use, short string, judge func(patterns lesson.PatternService, ctx context.Context, ref string, draft lesson.ConfirmationDraft) (lesson.Pattern, error),
) *cobra.Command {
	var ref string
	var draft lesson.ConfirmationDraft
	return asks(s, command{
		use: use, short: short, args: joined(1, &ref, &draft.Notes),
		flags: options{who("agent", &draft.By, s.person, "who judges (SKILLROUTER_AGENT, else you)").once("by")},
	}, withIDTo("patterns", judge, &ref, &draft), printPattern)
}

// printPattern prints all that is known of a pattern.
func printPattern(w io.Writer, p lesson.Pattern) {
	patternTable.one(w, p)
	sections(w, section{"Description", p.Description}, section{"Recommended", p.Action}, section{"Prevention", strings.Join(p.Prevention, "\n")},
		section{"Why", strings.Join(p.Why, "\n")}, section{"Confirmed by", p.ConfirmedBy}, section{"Lessons", strings.Join(p.LessonIDs, "\n")})
}

var patternTable = columns[lesson.Pattern]{
	"No patterns.",
	[]string{"NO", "NAME", "TYPE", "STATUS", "SEEN", "CONF", "DOMAIN", "LAST"},
	func(p lesson.Pattern) cells {
		return cells{p.Number, p.Name, p.Type, p.Status, p.Frequency, fmt.Sprintf("%.2f", p.Confidence), p.Domain, p.LastSeen}
	},
}
