package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestArguments goes over the words that a command may take.
func TestArguments(t *testing.T) {
	var a, b string
	var one *string
	var all []string
	for name, c := range map[string]struct {
		takes arguments
		words string
		want  string // a|b|one|all; empty: refused
	}{
		"exactly":             {exactly(&a, &b), "x y", "x|y||"},
		"exactly, too few":    {exactly(&a, &b), "x", ""},
		"between":             {between(1, &a, &b), "x", "x|as it was||"},
		"between, none":       {between(0, &a), "", "|as it was||"},
		"between, too many":   {between(1, &a, &b), "x y z", ""},
		"joined":              {joined(1, &a, &b), "x y z", "x|y z||"},
		"joined, the first":   {joined(1, &a, &b), "x", "x|as it was||"},
		"joined, too few":     {joined(2, &a, &b), "x", ""},
		"joined, only one":    {joined(1, &a), "x y", "x y|as it was||"},
		"perhaps":             {perhaps(&one), "x", "|as it was|x|"},
		"perhaps not":         {perhaps(&one), "", "|as it was||"},
		"perhaps, too many":   {perhaps(&one), "x y", ""},
		"listed":              {listed(cobra.ArbitraryArgs, &all), "x y", "|as it was||x,y"},
		"listed, and counted": {listed(cobra.MinimumNArgs(1), &all), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			a, b, one, all = "", "as it was", nil, nil
			words := strings.Fields(c.words)
			if err := c.takes.count(&cobra.Command{}, words); err != nil {
				if c.want != "" {
					t.Error(err)
				}
				return
			}
			c.takes.fill(words)
			given := ""
			if one != nil {
				given = *one
			}
			if got := strings.Join([]string{a, b, given, strings.Join(all, ",")}, "|"); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
