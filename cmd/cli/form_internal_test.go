package cli

import (
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"skillrouter/router/client"
)

// TestServiceOf holds the list of services complete: a command names a method, and its service is looked for there.
func TestServiceOf(t *testing.T) {
	c, err := client.New("http://127.0.0.1:1", client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	found := map[reflect.Type]bool{}
	for _, service := range services(c) {
		found[reflect.TypeOf(service)] = true
	}
	for field, value := range reflect.ValueOf(*c).Fields() {
		if field.IsExported() && !found[value.Type()] {
			t.Errorf("services leaves out %s", field.Name)
		}
	}
}

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
