// Package condition reads and evaluates the expressions of reminders, escalation rules and procedures:
// names, comparisons, and, or, not. Reading has limits, evaluating has a time limit, and neither
// changes anything.
package condition

import (
	"context"
	"encoding/json"

	"github.com/expr-lang/expr/ast"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning"
)

// Condition is a compiled condition. It may be evaluated by several at once.
type Condition struct {
	tree ast.Node
}

// Env is what a condition is evaluated over. The zero value knows nothing.
type Env struct {
	// Params are the plain names that a condition may use; params.NAME is the same.
	Params map[string]json.RawMessage
	// Results are what earlier steps gave, in the order of the steps. results.STEP is one of
	// them; the members of those that are objects are plain names too. A later one's hides
	// an earlier one's, and a parameter hides both.
	Results []StepResult
	// Fact returns the value of a fact; ok is false if there is none, or none any more. It is
	// asked only when the evaluation comes to a fact("key"), at most MaxFacts
	// times. nil: there are no facts.
	Fact func(ctx context.Context, key string) (value json.RawMessage, ok bool, err error)
}

// StepResult is what a step gave.
type StepResult struct {
	Step  string
	Value json.RawMessage // empty: nothing
}

// Bounds of a condition.
const (
	// MaxLength bounds a condition, in bytes: one that is longer is several.
	MaxLength = 1000
	// Nodes bounds the parts of a condition.
	Nodes = 200
	// MaxFacts bounds how many facts one evaluation reads.
	MaxFacts = 16
	// MaxWork bounds one evaluation: how many parts are evaluated, and how many
	// bytes of texts and values are read and compared, together. It is a fraction of a second.
	MaxWork = 4 << 20
)

// Compile compiles a condition over parameters, facts and the results
// of earlier steps; see Env. An error is Invalid and says what is wrong.
//
// The language is a part of that of github.com/expr-lang/expr:
//
//	==  !=  <  <=  >  >=  in  contains  startsWith  endsWith     comparisons
//	and  or  not  &&  ||  !  a ? b : c                           logic
//	+  -  *  /  %                                                numbers
//	len  lower  upper  trim  abs  int  float                     functions of one value
//	any(LIST, COND)  all  none  one  count                       # is each of LIST; not in each other
//	fact("key")  recall_fact("key")                              a fact's value; nil if there is none
//	NAME  params.NAME  results.STEP  results["STEP"].member  list[0]
//
// and it may be written as in Python: None, True, False, "is None", "is not None".
//
// Both sides of < must be numbers, or texts; what stands for a truth must be
// true or false. A name that nobody gave a value, and a member that an object
// has not, are errors, but are nil where they are compared with nil by == or !=
// (or by is): root_cause is None holds until a step has found one.
func Compile(text string) (*Condition, error) {
	if err := check.Required("condition", text, MaxLength); err != nil {
		return nil, err
	}
	compiled, err := stepGrammar.Parse(text)
	if err != nil {
		return nil, errs.InvalidField("condition", "%s", learning.FirstLine(err.Error()))
	}
	return compiled, nil
}

// Holds evaluates the condition. An error is Invalid, and says what kept the
// condition from being true or false (a name without a value, a division by
// zero, a text compared with a number), unless it is the error of env.Fact or of ctx.
// It ends: after MaxWork it is an error too.
func (c *Condition) Holds(ctx context.Context, env Env) (bool, error) {
	e := evaluation{ctx: ctx, env: env, facts: map[string]any{}, params: map[string]any{}, results: map[string]any{}}
	return e.run(c.tree)
}

// Fits evaluates a condition over known names; see Grammar.Names. value returns what a name stands
// for: a string, float64, bool, or []any of strings. Nothing else is asked, and so it ends at once.
func (c *Condition) Fits(value func(name string) (any, bool)) (bool, error) {
	e := evaluation{names: value}
	return e.run(c.tree)
}

// stepGrammar is the language of Compile.
var stepGrammar = Grammar{
	Operators: []string{
		"==", "!=", "<", "<=", ">", ">=", "and", "&&", "or", "||", "in", "contains", "startsWith", "endsWith",
		"+", "-", "*", "/", "%",
	},
	Functions: []string{"len", "lower", "upper", "trim", "abs", "int", "float"},
	Loops:     []string{"any", "all", "none", "one", "count"},
	lookups:   []string{"fact", "recall_fact"},
}
