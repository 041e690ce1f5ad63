package skillrouter_test

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"strings"
	"sync"
	"testing"

	"skillrouter"
)

func TestLazily(t *testing.T) {
	t.Parallel()
	expression := skillrouter.Lazily(`(\w+)@(\w+)`)
	var together sync.WaitGroup
	for range 8 {
		together.Go(func() {
			if got := expression.FindStringSubmatch("ann@example"); len(got) != 3 || got[2] != "example" {
				t.Errorf("found %q", got)
			}
		})
	}
	together.Wait()
	if first, again := expression.Compiled(), expression.Compiled(); first != again {
		t.Error("it is compiled more than once")
	}
	if got := expression.ReplaceAllString("ann@example", "$2"); got != "example" {
		t.Errorf("replaced to %q", got)
	}
	if expression.MatchString("nobody") || !expression.MatchString("a@b") {
		t.Error("matches what it should not, or not what it should")
	}
}

func TestLazilyPanicsLate(t *testing.T) {
	t.Parallel()
	wrong := skillrouter.Lazily(`(`)
	defer func() {
		if recover() == nil {
			t.Error("an invalid expression was used")
		}
	}()
	wrong.MatchString("")
}

// TestLazyExpressions compiles what the packages hold and compile only when
// they need it, so that a wrong one is not met first by whoever needs it.
func TestLazyExpressions(t *testing.T) {
	t.Parallel()
	files := token.NewFileSet()
	packages := map[string][]*ast.File{}
	walk(t, func(file string) {
		if strings.HasSuffix(file, "_test.go") {
			return
		}
		parsed, err := parser.ParseFile(files, file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		packages[path.Dir(file)] = append(packages[path.Dir(file)], parsed)
	})
	compiled := 0
	for dir, parsed := range packages {
		calls := []ast.Expr{}
		for _, file := range parsed {
			ast.Inspect(file, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok && len(call.Args) == 1 {
					if name, ok := call.Fun.(*ast.SelectorExpr); ok && name.Sel.Name == "Lazily" {
						calls = append(calls, call.Args[0])
					}
				}
				return true
			})
		}
		if len(calls) == 0 {
			continue
		}
		// Constants are known without what the package imports, so that errors there are none.
		known := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
		config := types.Config{Importer: nothing{}, Error: func(error) {}, IgnoreFuncBodies: true}
		_, _ = config.Check(dir, files, parsed, known)
		for _, expression := range calls {
			value := known.Types[expression].Value
			if value == nil || value.Kind() != constant.String {
				continue // put together at run time
			}
			compiled++
			if _, err := regexp.Compile(constant.StringVal(value)); err != nil {
				t.Errorf("%s: %v", files.Position(expression.Pos()), err)
			}
		}
	}
	if compiled < 60 {
		t.Errorf("only %d expressions were found", compiled)
	}
}

// nothing imports no package.
type nothing struct{}

func (nothing) Import(name string) (*types.Package, error) {
	made := types.NewPackage(name, path.Base(name))
	made.MarkComplete()
	return made, nil
}
