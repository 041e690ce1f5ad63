package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"skillrouter/learning/lesson"
	"skillrouter/router/client"
)

func (s *shell) patternsCommand() *cobra.Command {
	return s.verbs(verbs{
		name: "patterns", short: "What recurs: list, show, confirm, delete", of: "PATTERN",
		long: "Shows what recurs in lessons and episodes: nobody adds a pattern. One is named by its number, such as 7, or by its id.",
		list: s.patternsList("list", "List patterns, the latest seen first"), show: s.patternsShow(),
		remove: removePattern, gone: "Deprecate a pattern: it holds no more, and is kept",
		more: []*cobra.Command{
			s.patternsList("emerging", "List patterns that are not confirmed yet, and why they are patterns", lesson.PatternEmerging),
			s.patternsVerb("confirm PATTERN [NOTES]", "Say that a pattern is real and should be enforced", client.Patterns.Confirm),
		},
		former: []*cobra.Command{s.patternsVerb("deprecate PATTERN [NOTES]", "Say that a pattern holds no more; it is kept", client.Patterns.Deprecate)},
	})
}

// patternsList lists patterns; statuses, if there are any, are not for the user to choose.
func (s *shell) patternsList(use, short string, statuses ...lesson.PatternStatus) *cobra.Command {
	filter := lesson.PatternFilter{Statuses: statuses}
	flags := options{
		choice("type", &filter.Type, lesson.PatternTypes(), "only those of this type"),
		option("domain", &filter.Domain, "only those of this domain"),
		limit(&filter.Limit),
		option("offset", &filter.Offset, "how many to pass over"),
	}
	if len(statuses) == 0 {
		flags = append(flags, choices("status", &filter.Statuses, lesson.PatternStatuses(), "only those with this status (default: all but deprecated)"))
	}
	return asks(s, command{use: use, short: short, flags: flags}, sends(client.Patterns.List, &filter), func(w io.Writer, patterns []lesson.Pattern) {
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
	return asks(s, command{use: "show PATTERN", short: "Show one pattern with its reasons and evidence", args: exactly(&ref)}, withID("patterns", client.Patterns.Pattern, &ref), printPattern)
}

// patternsVerb passes a judgement on one pattern.
func (s *shell) patternsVerb(
	use, short string, judge func(patterns client.Patterns, ctx context.Context, ref string, draft lesson.ConfirmationDraft) (lesson.Pattern, error),
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
