package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
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

// TestAsOf reads times: one without a zone is this machine's, as times are printed.
func TestAsOf(t *testing.T) {
	here := time.Local
	t.Cleanup(func() { time.Local = here })
	time.Local = time.FixedZone("here", 2*60*60)
	for text, want := range map[string]string{
		"2026-11-20":                "2026-11-19T22:00:00Z",
		" 2026-11-20T15:04 ":        "2026-11-20T13:04:00Z",
		"2026-11-20T15:04:05Z":      "2026-11-20T15:04:05Z",
		"2026-11-20T15:04:05-05:00": "2026-11-20T20:04:05Z",
		"yesterday":                 "",
	} {
		var at time.Time
		flags := pflag.NewFlagSet("x", pflag.ContinueOnError)
		asOf(&at).add(flags)
		if err := flags.Set("as-of", text); (err != nil) != (want == "") {
			t.Errorf("%q: %v", text, err)
		} else if got := at.UTC().Format(time.RFC3339); err == nil && got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}
