package learning

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"
)

// escalationEnv is what a condition sees of a lesson. It holds only what is
// short, so that no condition can be made to run long by what a lesson says.
type escalationEnv struct {
	Type            string   `expr:"lesson_type"`
	Severity        string   `expr:"severity"`
	Level           string   `expr:"level"`
	Status          string   `expr:"status"`
	Domain          string   `expr:"domain"`
	Category        string   `expr:"category"`
	Title           string   `expr:"title"`
	SourceAgent     string   `expr:"source_agent"`
	Project         string   `expr:"project"`
	Trust           string   `expr:"trust"`
	Tags            []string `expr:"tags"`
	Confidence      float64  `expr:"confidence"`
	Occurrences     int      `expr:"occurrence_count"`
	Transferability int      `expr:"transferability"`
	TimesApplied    int      `expr:"times_applied"`
	TimesSucceeded  int      `expr:"times_succeeded"`
	Validated       bool     `expr:"validated"`
	BlockAction     bool     `expr:"block_action"`
}

func conditionEnv(l Lesson) escalationEnv {
	return escalationEnv{
		Type: string(l.Type), Severity: string(l.Severity), Level: string(l.Level), Status: string(l.Status),
		Domain: foldDomain(l.Domain), Category: foldDomain(l.Category), Title: l.Title, SourceAgent: l.SourceAgent,
		Project: l.Project, Trust: string(l.Trust), Tags: foldTags(l.Tags), Confidence: l.Confidence, Occurrences: int(l.Occurrences),
		Transferability: l.Transferability, TimesApplied: int(l.TimesApplied), TimesSucceeded: int(l.TimesSucceeded),
		Validated: l.Validated, BlockAction: l.BlockAction,
	}
}

// sampleLessons are what every condition is tried on when it is loaded: one
// that says nothing, and one of every severity and type that says much.
func sampleLessons() []Lesson {
	samples := []Lesson{{}}
	tags := make([]string, MaxTags)
	for i := range tags {
		tags[i] = fmt.Sprint("tag", i)
	}
	for i, kind := range LessonTypes() {
		severities := Severities()
		samples = append(samples, Lesson{
			ID: "sample", Number: 1, Type: kind, Severity: severities[i%len(severities)], Level: LevelPrinciple, Status: StatusCanonical,
			Domain: "project", Category: "deployment", Title: strings.Repeat("a long title ", MaxTitle/16), SourceAgent: "CLAUDE_CODE",
			Tags: tags, Confidence: 1, Belief: Belief{InitialConfidence: 1, ConfidenceAt: time.UnixMilli(0)},
			Occurrences: 1 << 40, Transferability: 5, TimesApplied: 1 << 40, TimesSucceeded: 1 << 40, Validated: true, BlockAction: true,
			Project: "p", Trust: TrustAgent,
		})
	}
	return samples
}

// compileCondition compiles a condition over a lesson. The expression library
// can neither be cancelled nor have its functions switched off, so a condition
// is read first, and must hold nothing whose cost could grow: no regular
// expression, no list that is made while it runs, no loop in a loop.
func compileCondition(condition string) (program *vm.Program, err error) {
	defer func() {
		if p := recover(); p != nil { // the library has panicked on texts that are no expression
			program, err = nil, fmt.Errorf("is no expression: %v", p)
		}
	}()
	if len(condition) > MaxCondition {
		return nil, fmt.Errorf("is longer than %d bytes", MaxCondition)
	}
	config := conf.CreateNew()
	config.MaxNodes = conditionNodes
	tree, err := parser.ParseWithConfig(condition, config)
	if err != nil {
		return nil, err
	}
	if err := allowed(tree.Node, false); err != nil {
		return nil, err
	}
	return expr.Compile(condition, expr.Env(escalationEnv{}), expr.AsBool(), expr.MaxNodes(conditionNodes))
}

var (
	conditionOperators = []string{"==", "!=", "<", "<=", ">", ">=", "and", "&&", "or", "||", "in", "contains", "startsWith", "endsWith"}
	conditionLoops     = []string{"any", "all", "none", "one", "count"}
	conditionFunctions = []string{"lower", "upper", "len"}
	// foldedFields are compared in lower case.
	foldedFields = []string{"domain", "category", "tags"}
)

// allowed returns an error unless node and all below it may stand in a
// condition; looping tells whether it is evaluated for each tag.
func allowed(node ast.Node, looping bool) error {
	switch n := node.(type) {
	case *ast.IdentifierNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.StringNode:
		return nil
	case *ast.PointerNode:
		if !looping || n.Name != "" {
			return fmt.Errorf("# stands for a tag, inside any, all, none, one or count")
		}
		return nil
	case *ast.UnaryNode:
		return allowed(n.Node, looping)
	case *ast.BinaryNode:
		if !slices.Contains(conditionOperators, n.Operator) {
			return fmt.Errorf("the operator %s is not accepted here", n.Operator)
		}
		if err := mustFold(n.Left, n.Right); err != nil {
			return err
		}
		return allAllowed(looping, n.Left, n.Right)
	case *ast.ConditionalNode:
		return allAllowed(looping, n.Cond, n.Exp1, n.Exp2)
	case *ast.ArrayNode:
		return allAllowed(looping, n.Nodes...)
	case *ast.BuiltinNode:
		switch {
		case slices.Contains(conditionFunctions, n.Name):
			return allAllowed(looping, n.Arguments...)
		case slices.Contains(conditionLoops, n.Name) && !looping && len(n.Arguments) == 2:
			over, named := n.Arguments[0].(*ast.IdentifierNode)
			each, predicate := n.Arguments[1].(*ast.PredicateNode)
			if named && predicate && over.Value == "tags" {
				return allowed(each.Node, true)
			}
			return fmt.Errorf("%s takes tags and a condition on each", n.Name)
		}
		return fmt.Errorf("the function %s is not accepted here", n.Name)
	}
	return fmt.Errorf("%s is not accepted here", node.String())
}

func allAllowed(looping bool, nodes ...ast.Node) error {
	for _, node := range nodes {
		if err := allowed(node, looping); err != nil {
			return err
		}
	}
	return nil
}

// mustFold refuses to compare a field that is in lower case with a text that
// is not: such a condition could never hold.
func mustFold(left, right ast.Node) error {
	for _, pair := range [][2]ast.Node{{left, right}, {right, left}} {
		field, ok := pair[0].(*ast.IdentifierNode)
		if !ok || !slices.Contains(foldedFields, field.Value) {
			continue
		}
		texts := []ast.Node{pair[1]}
		if list, ok := pair[1].(*ast.ArrayNode); ok {
			texts = list.Nodes
		}
		for _, node := range texts {
			if text, ok := node.(*ast.StringNode); ok && fold(text.Value) != text.Value {
				return fmt.Errorf("%s is compared in lower case: write %q", field.Value, fold(text.Value))
			}
		}
	}
	return nil
}
