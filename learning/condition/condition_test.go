package condition_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning/condition"
)

func conditionEnv() condition.Env {
	facts := map[string]string{
		"metrics.mrr.baseline": `{"value":75000,"range":[60000,90000]}`, "hosts": `["a","b"]`, "zero": "0",
		"long": `["` + strings.Repeat("x", 1<<20) + `"]`,
	}
	return condition.Env{
		Params: map[string]json.RawMessage{"region": json.RawMessage(`"eu"`), "limit": json.RawMessage("20"), "dry_run": json.RawMessage("false")},
		Results: []condition.StepResult{
			{Step: "check_baseline", Value: json.RawMessage(`{"drop_pct":31.5,"root_cause":null,"limit":99}`)},
			{Step: "run-tests", Value: json.RawMessage(`{"exit_code":1,"stdout":" 42\n","drop":{"pct":5}}`)},
			{Step: "said", Value: json.RawMessage(`"all operational"`)},
			{Step: "silent"},
		},
		Fact: func(_ context.Context, key string) (json.RawMessage, bool, error) {
			if key == "broken" {
				return nil, false, errors.New("the disk is gone")
			}
			value, ok := facts[key]
			return json.RawMessage(value), ok, nil
		},
	}
}

func TestConditionHolds(t *testing.T) {
	for text, want := range map[string]bool{
		"drop_pct > 20":                                      true, // the persona's memory
		"root_cause is None":                                 true, // the persona's memory, of a step that said null
		"found_by is None":                                   true, // of a name that nobody gave a value
		"None is found_by":                                   true,
		"root_cause is not None":                             false,
		"drop_pct is not None and drop_pct > 40":             false,
		"not dry_run and True != False":                      true,
		"limit == 20":                                        true, // a parameter hides a result
		"params.limit == 20 && params['region'] == 'eu'":     true,
		"results.check_baseline.limit == 99":                 true,
		"results['run-tests'].exit_code != 0":                true,
		"results['run-tests'].drop.pct * 2 >= 10":            true,
		"results.nobody is None":                             true,
		"results.nobody.deep.down is None":                   true,
		"results.silent is None":                             true,
		"results.said contains 'operational'":                true,
		"'operational' not in results.said":                  false,
		"'eu' in [region, 'us']":                             true,
		"'value' in fact('metrics.mrr.baseline')":            true,
		"fact('metrics.mrr.baseline').range[0] == 60000":     true,
		"recall_fact('metrics.mrr.baseline').value > 7e4":    true,
		"fact('nothing') is None":                            true,
		"fact('hosts')[-1] == 'b' and len(fact('hosts'))<3":  true,
		"any(fact('hosts'), # == 'a')":                       true,
		"count(fact('hosts'), # != 'a') == 1":                true,
		"int(results['run-tests'].stdout) == 42":             true,
		"float('1.5') + 7 % 4 == 4.5":                        true,
		"lower(region) startsWith 'e' ? limit > 1 : False":   true,
		"exit_code != 0 or 1/0 > 1":                          true, // what comes after is not evaluated
		"'None' == \"None\"":                                 true,
		"fact('hosts') == ['a', 'b']":                        true,
		"1 < limit < 21":                                     true,
		"1 < limit < 20":                                     false,
		"any(fact('hosts'), {# == 'b'})":                     true,
		"count([results['run-tests']], .drop.pct == 5) == 1": true,
		"0x1F + .5 + 1_000 == 1031.5":                        true,
		`region == "\x65\u0075" and 'it\'s' == ` + "`it's`":  true,
		"2 + 3 * 2 == 8 and (2 + 3) * 2 == 10 and -2 < 1":    true,
		"True or False and False":                            true,
		"!dry_run && not (limit in [1, 2,])":                 true,
	} {
		t.Run(text, func(t *testing.T) {
			held, err := compiled(t, text).Holds(t.Context(), conditionEnv())
			if err != nil || held != want {
				t.Errorf("held = %v, error %v", held, err)
			}
		})
	}
}

func compiled(t *testing.T, text string) *condition.Condition {
	t.Helper()
	condition, err := condition.Compile(text)
	if err != nil {
		t.Fatal(err)
	}
	return condition
}

func TestConditionErrors(t *testing.T) {
	for text, says := range map[string]string{
		"limit / fact('zero') > 1":            "divides by zero",
		"limit % 0 == 1":                      "divides by zero",
		"1e308 * 10 > 1":                      "too large a number",
		"drop_pcs > 20":                       "drop_pcs, which is neither a parameter nor",
		"results.nobody > 1":                  "no step of this name",
		"results.check_baseline.drop_pcs > 1": "no drop_pcs in it",
		"params.nobody == 1":                  "no such parameter",
		"region > 5":                          "cannot compare a text with a number",
		"root_cause > 5":                      "cannot compare nothing with a number",
		"fact('nothing').value > 1":           "nothing that could have it",
		"drop_pct":                            "must be true or false",
		"not drop_pct":                        "must be true or false",
		"region + 'x' == 'eux'":               "calculate with numbers",
		"fact('hosts')[7] == 1":               "the list has 2",
		"int(region) > 1":                     "a text that is one",
		"params == results":                   "compares params as a whole",
		"all(fact('long')[0] startsWith 'x' ? [1] : [], # > 'a')":         "cannot compare a number with a text",
		strings.Repeat("fact('long') == fact('long') and ", 20) + "False": "takes too long",
	} {
		t.Run(text[:min(len(text), 60)], func(t *testing.T) {
			_, err := compiled(t, text).Holds(t.Context(), conditionEnv())
			if errs.CodeOf(err) != errs.Invalid || !strings.Contains(errs.MessageOf(err), says) {
				t.Errorf("error %v does not say %q", err, says)
			}
		})
	}
}

func TestConditionRefuses(t *testing.T) {
	for text, says := range map[string]string{
		"":                                       "is required",
		"x ==":                                   "unexpected end, at column 4",
		"x is None None":                         "is no expression",
		"title matches '(a+)+$'":                 "operator matches",
		"1 in 1..100000000":                      "operator ..",
		"any(fact('a'), any(fact('b'), # == 1))": "function any is not accepted",
		"map(fact('a'), # + 1) == []":            "function map is not accepted",
		"repeat('x', 1000000) == ''":             "function repeat",
		"let x = 1; x == 1":                      "is not accepted here",
		"{'a': 1} == x":                          "is not accepted here",
		"(x ?? 1) == 1":                          "operator ??",
		"x?.y == 1":                              "is not accepted here",
		"2 ** 99999 > 1":                         "operator **",
		"fact(region) == 1":                      "one text in quotation marks",
		"fact('a', 'b') == 1":                    "one text in quotation marks",
		"__import__('os') == 1":                  "function __import__",
		"x.y() == 1":                             "is not accepted",
		"now() > x":                              "function now",
		"# == 1":                                 "is no expression",
		"x == 'a":                                "not terminated",
		"x == '\\q'":                             "invalid char escape",
		"x == 1e":                                "invalid float literal",
		"x == 1e999":                             "out of range",
		"x == [1 2]":                             `unexpected token Number("2"), at column 9`,
		"x $ 1":                                  `unexpected token Identifier("$"), at column 3`,
		"len(x, y) == 1":                         "takes one value",
		"None.x == 1":                            `unexpected token Operator(".")`,
		"x == '" + strings.Repeat("y", condition.MaxLength) + "'": "longer than",
		"x == 1" + strings.Repeat(" or x == 1", 90):               "maximum allowed nodes",
		strings.Repeat("(", 900):                                  "is no expression",
		"x == '\xff'\x00":                                         "",
		"\xff == 1":                                               "UTF-8",
	} {
		t.Run(text[:min(len(text), 60)], func(t *testing.T) {
			_, err := condition.Compile(text)
			if code := errs.CodeOf(err); code != errs.Invalid && code != errs.TooLarge || errs.FieldOf(err) != "condition" ||
				!strings.Contains(errs.MessageOf(err), says) || strings.Contains(errs.MessageOf(err), "\n") {
				t.Errorf("error %v does not say %q", err, says)
			}
		})
	}
}

func TestConditionFacts(t *testing.T) {
	env := conditionEnv()
	asked := 0
	read := env.Fact
	env.Fact = func(ctx context.Context, key string) (json.RawMessage, bool, error) {
		asked++
		return read(ctx, key)
	}
	c := compiled(t, "limit == 0 and fact('hosts') is None or fact('zero') == 0 and fact('zero') < 1")
	if held, err := c.Holds(t.Context(), env); !held || err != nil {
		t.Errorf("held = %v, error %v", held, err)
	}
	if asked != 1 {
		t.Errorf("%d facts were asked for: one is needed, once", asked)
	}
	if _, err := compiled(t, "fact('broken') == 1").Holds(t.Context(), env); err == nil || errs.CodeOf(err) != errs.Internal {
		t.Errorf("a failing look-up gives %v", err)
	}
	if _, err := compiled(t, "fact('hosts') is None").Holds(t.Context(), condition.Env{}); !strings.Contains(errs.MessageOf(err), "may not ask for facts") {
		t.Errorf("without facts: %v", err)
	}
	many := "False"
	for i := range condition.MaxFacts + 1 {
		many += fmt.Sprintf(" or fact('%d') is not None", i)
	}
	if _, err := compiled(t, many).Holds(t.Context(), env); !strings.Contains(errs.MessageOf(err), "more than 16 facts") {
		t.Errorf("many facts: %v", err)
	}
}

func TestConditionEnds(t *testing.T) {
	env := conditionEnv()
	env.Params["numbers"] = json.RawMessage("[" + strings.Repeat("1,", 1<<19) + "1]")
	slow := "all(numbers, " + strings.Repeat("# == 1 and ", 40) + "True)"
	if _, err := compiled(t, slow).Holds(t.Context(), env); !strings.Contains(errs.MessageOf(err), "takes too long") {
		t.Errorf("a condition that hardly ends: %v", err)
	}
	given, stop := context.WithCancel(t.Context())
	stop()
	if _, err := compiled(t, slow).Holds(given, env); errs.CodeOf(err) != errs.Unavailable {
		t.Errorf("a condition that was given up: %v", err)
	}
}

// TestCorpus evaluates the conditions of testdata/corpus.txt: those of documents, tests and seeds, and some made by chance. What each
// gives was written by the reader that this one took the place of, so that stored conditions go on meaning what they meant.
func TestCorpus(t *testing.T) {
	corpus, err := os.ReadFile("testdata/corpus.txt")
	if err != nil {
		t.Fatal(err)
	}
	facts := map[string]string{"hosts": `["a","b"]`, "zero": "0"}
	env := condition.Env{
		Params: map[string]json.RawMessage{
			"x": json.RawMessage("3"), "limit": json.RawMessage("20"), "region": json.RawMessage(`"eu"`), "y": json.RawMessage(`{"x":1,"y":{"z":[1]}}`),
			"type": json.RawMessage("true"), "date": json.RawMessage(`["x"]`), "count": json.RawMessage("1"), "else": json.RawMessage("2"),
		},
		Results: []condition.StepResult{{Step: "s1", Value: json.RawMessage(`{"code":1,"list":[1,2,3],"root_cause":null}`)}},
		Fact: func(_ context.Context, key string) (json.RawMessage, bool, error) {
			value, ok := facts[key]
			return json.RawMessage(value), ok, nil
		},
	}
	told := map[string]int{}
	for line := range strings.Lines(string(corpus)) {
		want, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		got := "refused"
		if c, err := condition.Compile(text); err == nil {
			held, err := c.Holds(t.Context(), env)
			if got = fmt.Sprint(held); err != nil {
				got = "error"
			}
		}
		if told[got]++; got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
	for _, outcome := range []string{"true", "false", "error", "refused"} {
		if told[outcome] < 50 {
			t.Errorf("only %d are %s: the corpus is cut", told[outcome], outcome)
		}
	}
}

func FuzzCompileCondition(f *testing.F) {
	for _, text := range []string{
		"drop_pct > 20", "root_cause is None", "a is not None and not b", "fact('hosts')[0] in ['a', \"b\"]", "x ? y : z", "any(fact('hosts'), #.x == 1)",
		"results['run-tests'].exit_code % 2 == 1 or True", "1 < 2 < 3", "b'x' == a", "`raw` == x", "a|lower() == 'x'", "#", "..", "if a {b} else {c}", "fact('a').b.c is None",
	} {
		f.Add(text)
	}
	env := conditionEnv()
	f.Fuzz(func(t *testing.T, text string) {
		condition, err := condition.Compile(text)
		if err != nil {
			if code := errs.CodeOf(err); code != errs.Invalid && code != errs.TooLarge {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if _, err := condition.Holds(t.Context(), env); err != nil && errs.CodeOf(err) != errs.Invalid && !strings.Contains(text, "broken") {
			t.Fatalf("%q: %v", text, err)
		}
	})
}
