package cli

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/skillrouter/skillrouter/tfidf"
)

// family is a group of commands. `skillrouter help` shows those in sight, `skillrouter help all` the others too.
type family struct {
	id      string
	inSight []string
	others  []string
}

// families name each command once, in the order of help.
var families = []family{
	{"start", []string{"serve", "setup", "demo", "status", "doctor", "ui"}, []string{"version"}},
	{"memory", []string{"remember", "search", "query", "lessons"}, []string{"knowledge", "show", "context", "undo", "facts", "remind", "episodes", "procedures", "reminders", "experience", "memory"}},
	{"guard", []string{"check", "passphrase"}, []string{"rules", "escalations"}},
	{"team", []string{"agents", "tasks", "messages", "stop", "run"}, []string{"share", "signal", "watch", "leases", "sessions", "recon"}},
	{"learning", []string{"learn"}, []string{"brief", "replay", "value", "proposals", "patterns", "used", "gaps"}},
	{"data", []string{"import"}, []string{"backup", "export", "restore", "verify", "redact", "migrate"}},
	{"admin", []string{"mcp"}, []string{"config", "token", "events", "call", "hook", "interlock", "completion", "help"}},
}

// grouped makes the groups of help, and replaces what cobra says by itself of all commands.
func (s *shell) grouped(root *cobra.Command) {
	for _, f := range families {
		root.AddGroup(&cobra.Group{ID: f.id, Title: strings.ToUpper(f.id[:1]) + f.id[1:]})
	}
	admin := families[len(families)-1].id
	root.SetHelpCommand(helpCommand(root))
	root.SetHelpCommandGroupID(admin)
	root.SetCompletionCommandGroupID(admin)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd("completion") // with an argument: what a shell asks for makes others
	root.SetFlagErrorFunc(wrongFlag)
	usual := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if cmd == root {
			printHelp(cmd.OutOrStdout(), root, false)
			return
		}
		withExamples(root)
		cmd.Aliases = nil // names of before go on working, and are shown nowhere
		usual(cmd, args)
	})
}

func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND... | all]", Short: "Show how a command is used, or all commands",
		ValidArgsFunction: func(_ *cobra.Command, args []string, begun string) (names []cobra.Completion, _ cobra.ShellCompDirective) {
			of, _, err := root.Find(args)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			for _, below := range of.Commands() {
				if below.IsAvailableCommand() && strings.HasPrefix(below.Name(), begun) {
					names = append(names, cobra.CompletionWithDesc(below.Name(), below.Short))
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && args[0] == "all" {
				printHelp(cmd.OutOrStdout(), root, true)
				return nil
			}
			of, rest, _ := root.Find(args)
			if len(rest) > 0 {
				return noCommand(of, rest[0])
			}
			return of.Help()
		},
	}
}

// InGroup are the commands of a group of help: those that `skillrouter help` shows, and the others.
func InGroup(root *cobra.Command, id string) (inSight, others []*cobra.Command) {
	of := families[slices.IndexFunc(families, func(f family) bool { return f.id == id })]
	named := func(names []string) (list []*cobra.Command) {
		for _, name := range names {
			if cmd, _, err := root.Find([]string{name}); err == nil && !cmd.Hidden {
				list = append(list, cmd)
			}
		}
		return list
	}
	return named(of.inSight), named(of.others)
}

// printHelp prints the program's commands by their groups.
func printHelp(w io.Writer, root *cobra.Command, all bool) {
	fmt.Fprintf(w, "%s\n\nUsage:\n  skillrouter COMMAND [WORDS] [--FLAGS]\n", root.Long)
	for _, group := range root.Groups() {
		fmt.Fprintf(w, "\n%s\n", group.Title)
		t := tabwriter.NewWriter(w, 14, 0, 1, ' ', 0)
		shown, others := InGroup(root, group.ID)
		if all {
			shown = append(shown, others...)
		}
		for _, cmd := range shown {
			fmt.Fprintf(t, "  %s\t%s\n", cmd.Name(), cmd.Short)
		}
		t.Flush()
	}
	if !all {
		fmt.Fprint(w, "\n\"skillrouter help all\" shows every command.")
	}
	fmt.Fprintln(w, "\n\"skillrouter help COMMAND\" shows how one is used, with examples; --version says which version this is.")
}

// exampleLines are calls of the program, one a line; a line that ends in a backslash goes on.
//
//go:embed examples.txt
var exampleLines string

// withExamples gives commands the examples that are of them, and one that only holds others the first of each.
func withExamples(root *cobra.Command) {
	examples := map[*cobra.Command][]string{}
	for line := range strings.Lines(strings.ReplaceAll(exampleLines, "\\\n", "\v")) {
		if of := exampleOf(root, line); of != nil {
			examples[of] = append(examples[of], "  "+strings.ReplaceAll(strings.TrimSpace(line), "\v", "\\\n"))
		}
	}
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		own := examples[cmd]
		for _, below := range cmd.Commands() {
			visit(below)
			if all := examples[below]; len(all) > 0 && len(own) == 0 && cmd.HasParent() {
				examples[cmd] = append(examples[cmd], all[0])
			}
		}
		cmd.Example = strings.Join(examples[cmd], "\n")
	}
	visit(root)
}

// exampleOf is the command that a line is an example of; nil if it is of none.
func exampleOf(root *cobra.Command, line string) *cobra.Command {
	_, call, ok := strings.Cut(line, "skillrouter ")
	if !ok {
		return nil
	}
	of := root
	for _, word := range strings.Fields(call) {
		at := slices.IndexFunc(of.Commands(), func(below *cobra.Command) bool { return below.Name() == word })
		if at < 0 {
			break
		}
		of = of.Commands()[at]
	}
	return of
}

// didYouMean is a question for what a word was probably meant to be, or empty.
func didYouMean(word string, names []string) string {
	if close := nearest(word, names); len(close) > 0 {
		return "; did you mean " + strings.Join(close, " or ") + "?"
	}
	return ""
}

// The bounds of what is suggested in the place of a word.
const (
	// mostSuggested is how many names are offered: more is no suggestion.
	mostSuggested = 3
	// lettersPerSlip is how many letters a word must have for each letter that may be wrong.
	lettersPerSlip = 3
	// fewestBegun is how many letters the beginning or end of a name must have.
	fewestBegun = 3
)

// nearest returns the names that a word was probably meant to be, the likeliest first: those that it
// begins or ends, and those from which few letters part it.
func nearest(word string, names []string) []string {
	type candidate struct {
		name  string
		slips int
	}
	var found []candidate
	word = strings.ToLower(word)
	for _, name := range names {
		if name == "" {
			continue
		}
		lower := strings.ToLower(name)
		slips := tfidf.EditDistance([]rune(word), []rune(lower), len(word))
		if begins := strings.HasPrefix(lower, word) || strings.HasSuffix(lower, word) || strings.HasPrefix(word, lower); begins && len(word) >= fewestBegun {
			slips = min(slips, 1)
		}
		if slips > 0 && slips <= min(len(word), len(name))/lettersPerSlip {
			found = append(found, candidate{name, slips})
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return a.slips - b.slips })
	var close []string
	for _, c := range found[:min(len(found), mostSuggested)] {
		close = append(close, c.name)
	}
	return close
}
