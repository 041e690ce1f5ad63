package cli

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

// TestArguments goes over the words that a command may take.
func TestArguments(t *testing.T) {
	var a, b string
	var one *string
	var all []string
	var number int64
	for name, c := range map[string]struct {
		use   string
		into  []any
		lacks int
		words string
		want  string // a|b|one|all; empty: refused
	}{
		"each":                {"x A B", []any{&a, &b}, 0, "x y", "x|y||"},
		"too few":             {"x A B", []any{&a, &b}, 0, "x", ""},
		"may lack":            {"x A B [--flag C]", []any{&a, &b}, 1, "x", "x|as it was||"},
		"optional":            {"x A [B]", []any{&a, &b}, 0, "x", "x|as it was||"},
		"none":                {"x [B]", []any{&b}, 0, "", "|as it was||"},
		"too many":            {"x A [B]", []any{&a, &b}, 0, "x y z", ""},
		"joined":              {"x A B...", []any{&a, &b}, 0, "x y z", "x|y z||"},
		"joined, too few":     {"x A B...", []any{&a, &b}, 0, "x", ""},
		"joined, only one":    {"x A...", []any{&a}, 0, "x y", "x y|as it was||"},
		"perhaps":             {"x [ONE]", []any{&one}, 0, "x", "|as it was|x|"},
		"perhaps not":         {"x [ONE]", []any{&one}, 0, "", "|as it was||"},
		"perhaps, too many":   {"x [ONE]", []any{&one}, 0, "x y", ""},
		"listed":              {"x [WORD...]", []any{&all}, 0, "x y", "|as it was||x,y"},
		"listed, and counted": {"x WORD...", []any{&all}, 0, "", ""},
		"a list takes all":    {"x A [B]", []any{&all}, 0, "x y", "|as it was||x,y"},
		"one more than said":  {"x A", []any{&a, &b}, 0, "x y", "x|y||"},
		"behind dashes":       {"x [flags] -- A", []any{&a}, 0, "x", "x|as it was||"},
		"no number":           {"x NUMBER", []any{&number}, 0, "x", ""},
		"no words":            {"x [--flag A]", nil, 0, "x", ""},
	} {
		t.Run(name, func(t *testing.T) {
			a, b, one, all = "", "as it was", nil, nil
			words := strings.Fields(c.words)
			of := command{places: filling(c.use, c.into), lacks: c.lacks}
			err := of.counted(&cobra.Command{Use: c.use}, words)
			if err == nil {
				err = fill(of.places, words)
			}
			if err != nil {
				if c.want != "" {
					t.Error(err)
				}
				return
			}
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

// TestFlags gives a flag for each type what it takes, and what it refuses.
func TestFlags(t *testing.T) {
	type size string
	var in struct {
		Text  string
		Size  size
		Sizes []size
		Tags  []string
		Maybe *[]string
		On    *bool
		Count int
		Share float64
		Took  time.Duration
		TTL   *int64
		Data  json.RawMessage
	}
	in.Tags, in.Took = []string{"usual"}, time.Minute
	whole := phrases("command", &in.Maybe, "")
	ttl := option("ttl", &in.TTL, "")
	ttl.field.Seconds = true
	list := options{
		option("text,t", &in.Text, ""), choice("size", &in.Size, []size{"small", "very_large"}, "how large"), choice("sizes", &in.Sizes, []size{"small", "very_large"}, ""),
		option("tag", &in.Tags, "").once("label"), whole, option("on", &in.On, ""), option("count", &in.Count, ""), option("share", &in.Share, ""),
		option("took", &in.Took, ""), ttl, option("data", &in.Data, ""),
	}
	cmd := &cobra.Command{}
	list.add(cmd)
	for name, want := range map[string]string{"tag": "usual", "took": "1m", "ttl": "", "on": "", "count": "0", "command": ""} {
		if got := cmd.Flags().Lookup(name).DefValue; got != want {
			t.Errorf("--%s is %q at first, want %q", name, got, want)
		}
	}
	if err := cmd.ParseFlags(strings.Fields("-t a --size Very-Large --sizes small,very_large --sizes small --tag a,b --label c --command a,b --command c --on --count 3 --share 40% --took 2d --ttl 1w --data {}")); err != nil {
		t.Fatal(err)
	}
	said, _ := json.Marshal(in)
	if want := `{"Text":"a","Size":"very_large","Sizes":["small","very_large","small"],"Tags":["a","b","c"],"Maybe":["a,b","c"],"On":true,"Count":3,"Share":40,"Took":172800000000000,"TTL":604800,"Data":{}}`; string(said) != want {
		t.Errorf("%s, want %s", said, want)
	}
	if in.Maybe = nil; cmd.ParseFlags([]string{"--tag", ""}) != nil || cmd.Flags().Lookup("tag").Changed != true {
		t.Error("an empty list was refused")
	}
	for flag, says := range map[string]string{
		"--on=x": "on or off", "--count=x": "a whole number", "--share=NaN": "a number", "--took=soon": "a length of time", "--ttl=1500ms": "whole seconds", "--ttl=-1h": "whole seconds", "--data={": "JSON",
	} {
		if err := cmd.ParseFlags([]string{flag}); err == nil || !strings.Contains(wrongFlag(cmd, err).Error(), "takes "+says) {
			t.Errorf("%s: %v", flag, err)
		}
	}
}

// TestLengths reads lengths of time.
func TestLengths(t *testing.T) {
	for text, want := range map[string]int64{"90": 90, "12h": 43200, "7d": 604800, "2w": 1209600, "0": 0, "1500ms": -1, "-1h": -1, "soon": -1, "99999999w": -1} {
		got, err := lengthOf(text, time.Second)
		if want < 0 && err == nil || want >= 0 && (err != nil || got != want) {
			t.Errorf("%s: %v %v", text, got, err)
		}
	}
}
