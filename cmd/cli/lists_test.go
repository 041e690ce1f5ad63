package cli_test

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/spf13/cobra"

	"github.com/skillrouter/skillrouter/cmd/cli"
)

// TestListsAreWalked: every command that bounds how many rows it shows stands in the script of lists, where it says that there are more.
// Searches show the best hits and are no lists; a review has two.
func TestListsAreWalked(t *testing.T) {
	script, err := os.ReadFile("testdata/script/lists.txtar")
	if err != nil {
		t.Fatal(err)
	}
	walked := 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, below := range c.Commands() {
			walk(below)
		}
		if c.Hidden || c.Flags().Lookup("limit") == nil || slices.Contains([]string{"search", "show", "review"}, c.Name()) || c.CommandPath() == "skillrouter query" {
			return
		}
		walked++
		said := regexp.MustCompile(`(?m)^exec ` + c.CommandPath() + ` .*--limit 1$\n(stdout '.*(There are more|ore with --cursor))`)
		if !said.Match(script) {
			t.Errorf("%s --limit 1 stands in no line of lists.txtar", c.CommandPath())
		}
	}
	walk(cli.Commands())
	if walked < 25 {
		t.Errorf("only %d lists were found", walked)
	}
}
