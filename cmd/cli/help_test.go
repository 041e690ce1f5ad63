package cli_test

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"mvdan.cc/sh/v3/syntax"

	"github.com/skillrouter/skillrouter/cmd/cli"
)

// mostInSight is how many commands `skillrouter help` may show: what one looks through at once.
const mostInSight = 20

// TestHelpInSight counts the commands of the first page of help, and finds every other one on the second.
func TestHelpInSight(t *testing.T) {
	page := func(args ...string) (names []string) {
		var out strings.Builder
		if code := cli.Run(t.Context(), args, strings.NewReader(""), &out, io.Discard); code != 0 {
			t.Fatalf("%q exits with %d", args, code)
		}
		for line := range strings.Lines(out.String()) {
			if rest, ok := strings.CutPrefix(line, "  "); ok && !strings.HasPrefix(rest, "skillrouter ") {
				names = append(names, strings.Fields(rest)[0])
			}
		}
		return names
	}
	short, all := page("help"), page("help", "all")
	if len(short) < 10 || len(short) > mostInSight {
		t.Errorf("help shows %d commands, not 10 to %d: %q", len(short), mostInSight, short)
	}
	seen := map[string]int{}
	for _, name := range all {
		seen[name]++
	}
	for _, cmd := range cli.Commands().Commands() {
		if cmd.IsAvailableCommand() && seen[cmd.Name()] != 1 {
			t.Errorf("help all shows %s %d times", cmd.Name(), seen[cmd.Name()])
		}
		if cmd.GroupID == "" {
			t.Errorf("%s stands in no group", cmd.Name())
		}
	}
	if strings.Join(page(), " ") != strings.Join(short, " ") {
		t.Error("without a command the program shows another page")
	}
}

// TestExamples gives every command an example, and reads each as the program would.
func TestExamples(t *testing.T) {
	count := 0
	visible(cli.Commands(), func(cmd *cobra.Command) {
		if cmd.HasSubCommands() && !cmd.Flags().HasAvailableFlags() {
			return
		}
		examples := calls(t, cmd.Example)
		if len(examples) == 0 {
			t.Errorf("%s has no example", cmd.CommandPath())
		}
		for _, words := range examples {
			count++
			if err := usable(words); err != nil {
				t.Errorf("%q: %v", words, err)
			}
		}
	})
	if count < 100 {
		t.Errorf("only %d examples were read", count)
	}
	for _, wrong := range []string{"skillrouter nonsense", "skillrouter facts set", "skillrouter facts set a b c", "skillrouter agents --nonsense"} {
		if usable(calls(t, wrong)[0]) == nil {
			t.Errorf("%s passes", wrong)
		}
	}
}

// usable tells why a call would be refused as wrong usage before anything is done.
func usable(words []string) error {
	cmd, rest, err := cli.Commands().Find(words[1:])
	if err != nil {
		return err
	}
	if cmd.HasSubCommands() && !cmd.Flags().HasAvailableFlags() {
		return cmd.RunE(cmd, rest)
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return err
	}
	return cmd.ValidateArgs(cmd.Flags().Args())
}

// calls are the program's calls in some lines of a shell, as words.
func calls(t *testing.T, lines string) (all [][]string) {
	t.Helper()
	parsed, err := syntax.NewParser().Parse(strings.NewReader(lines), "")
	if err != nil {
		t.Fatalf("%s: %v", lines, err)
	}
	syntax.Walk(parsed, func(node syntax.Node) bool {
		call, ok := node.(*syntax.CallExpr)
		if !ok || len(call.Args) == 0 || call.Args[0].Lit() != "skillrouter" {
			return true
		}
		var words []string
		for _, arg := range call.Args {
			var text strings.Builder
			for _, part := range arg.Parts {
				switch p := part.(type) {
				case *syntax.Lit:
					text.WriteString(p.Value)
				case *syntax.SglQuoted:
					text.WriteString(p.Value)
				default:
					text.WriteString("x")
				}
			}
			words = append(words, text.String())
		}
		all = append(all, words)
		return true
	})
	return all
}

// TestColours shows none where nobody sees them.
func TestColours(t *testing.T) {
	t.Setenv("TERM", "xterm")
	file, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if code := cli.Run(context.WithoutCancel(t.Context()), []string{"config", "show"}, strings.NewReader(""), file, io.Discard); code != 0 {
		t.Fatal(code)
	}
	text, err := os.ReadFile(file.Name())
	if err != nil || !strings.HasPrefix(string(text), "SETTING") || strings.Contains(string(text), "\x1b") {
		t.Errorf("a file gets %.40q, %v", text, err)
	}
}
