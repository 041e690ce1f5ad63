package cli_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/skillrouter/skillrouter/cmd/cli"
)

var update = flag.Bool("update", false, "write the generated page instead of comparing it")

// TestCommandLinePage holds docs/cli.md to the commands that there are.
func TestCommandLinePage(t *testing.T) {
	root := cli.Commands()
	var page strings.Builder
	page.WriteString(`# Command line

This page has the text that ` + "`skillrouter COMMAND --help`" + ` prints. The man pages of a [package](install.md) have it too. It is generated: ` + "`go test ./cmd/cli -run CommandLinePage -update`" + ` writes it.

` + "`skillrouter help`" + ` shows the commands that most people need, ` + "`skillrouter help all`" + ` shows all of them, and ` + "`skillrouter help COMMAND`" + ` shows one with examples:

`)
	page.WriteString("| group | in sight | the others |\n|---|---|---|\n")
	for _, group := range root.Groups() {
		inSight, others := cli.InGroup(root, group.ID)
		fmt.Fprintf(&page, "| %s | %s | %s |\n", group.Title, strings.Join(links(inSight), ", "), strings.Join(links(others), ", "))
	}
	page.WriteString(`
` + "`skillrouter serve`" + ` is the router. Every other command calls a running router. Where none runs, the command starts one and says so on standard error; ` + "`stop`, `status` and `doctor`" + ` start none, and nor does a command that names its router by ` + "`--server`" + ` or ` + "`SKILLROUTER_SERVER`" + `.

What is shown in a terminal is coloured, unless ` + "`NO_COLOR`" + ` is set. Each command has these flags, besides its own:

| flag | what it is |
|---|---|
`)
	common := map[string]*pflag.Flag{}
	agents, _, err := root.Find([]string{"agents"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"server", "token", "json"} {
		common[name] = agents.Flags().Lookup(name)
		page.WriteString(flagLine(common[name]))
	}
	page.WriteString(`
The exit code is 0 if the command did its work, 1 if it failed or looked for something and found nothing (` + "`search`, `query`, `show`, `get`" + `), 2 if it was refused or blocked, and 64 if it was used wrongly. ` + "`check`" + ` has its own exit codes, and ` + "`run`" + ` ends with the exit code of its command.

`)
	count := 0
	visible(root, func(cmd *cobra.Command) {
		if cmd.HasParent() && !cmd.HasAvailableSubCommands() || cmd.Runnable() && cmd.HasParent() && cmd.Flags().HasAvailableFlags() {
			fmt.Fprintf(&page, "- [`%s`](#%s): %s\n", path(cmd), anchor(cmd), cmd.Short)
			count++
		}
	})
	if count < 50 {
		t.Fatalf("only %d commands were found: the walk is broken", count)
	}
	visible(root, func(cmd *cobra.Command) {
		if cmd.HasParent() {
			describe(&page, cmd, common)
		}
	})
	compare(t, "../../docs/cli.md", page.String())
	if home, err := os.UserHomeDir(); err == nil && len(home) > 1 && strings.Contains(page.String(), home) {
		t.Errorf("the page holds this machine's %s", home)
	}
}

// links are commands' names, each with a link to its place on the page.
func links(commands []*cobra.Command) (list []string) {
	for _, cmd := range commands {
		to := cmd
		if cmd.HasAvailableSubCommands() && !cmd.Flags().HasAvailableFlags() {
			to = cmd.Commands()[0]
		}
		if cmd.Name() == "help" {
			list = append(list, "`help`")
			continue
		}
		list = append(list, fmt.Sprintf("[`%s`](#%s)", cmd.Name(), anchor(to)))
	}
	return list
}

// visible goes over the commands that help shows, each before those below it.
func visible(cmd *cobra.Command, visit func(cmd *cobra.Command)) {
	visit(cmd)
	for _, below := range cmd.Commands() {
		if below.IsAvailableCommand() && below.Name() != "help" {
			visible(below, visit)
		}
	}
}

func path(cmd *cobra.Command) string { return strings.TrimPrefix(cmd.CommandPath(), "skillrouter ") }

// anchor is the address of a command's heading, as GitHub makes it.
func anchor(cmd *cobra.Command) string { return strings.ReplaceAll(path(cmd), " ", "-") }

func describe(page *strings.Builder, cmd *cobra.Command, common map[string]*pflag.Flag) {
	heading := "##"
	if cmd.Parent().HasParent() {
		heading = "###"
	}
	fmt.Fprintf(page, "\n%s %s\n\n", heading, path(cmd))
	if cmd.Long != "" {
		fmt.Fprintf(page, "```text\n%s\n```\n", strings.TrimSpace(cmd.Long))
	} else {
		fmt.Fprintf(page, "%s.\n", cmd.Short)
	}
	if cmd.HasAvailableSubCommands() && !cmd.Flags().HasAvailableFlags() {
		return
	}
	fmt.Fprintf(page, "\n```sh\n%s\n```\n", strings.TrimSpace(strings.ReplaceAll(cmd.UseLine(), "\n  ", "\n")))
	if cmd.Example != "" {
		fmt.Fprintf(page, "\nExamples:\n\n```sh\n%s\n```\n", unindent(cmd.Example))
	}
	var lines string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if same := common[f.Name]; f.Hidden || f.Name == "help" || same != nil && same.Usage == f.Usage {
			return
		}
		lines += flagLine(f)
	})
	if lines != "" {
		fmt.Fprintf(page, "\n| flag | what it is |\n|---|---|\n%s", lines)
	}
}

func flagLine(f *pflag.Flag) string {
	name := "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	kind, usage := pflag.UnquoteUsage(f)
	if kind != "" {
		name += " " + kind
	}
	switch f.DefValue {
	case "", "0", "false", "[]", "0s", "map[]":
	default:
		usage += "; default: " + f.DefValue
	}
	return fmt.Sprintf("| `%s` | %s |\n", name, strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace(usage))
}

func unindent(text string) string {
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, "  ")
	}
	return strings.Join(lines, "\n")
}

func compare(t *testing.T, path, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is out of date: go test ./cmd/cli -run CommandLinePage -update", path)
	}
}
