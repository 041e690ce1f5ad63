package laws_test

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"strings"
	"testing"
)

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
					if name, ok := call.Fun.(*ast.SelectorExpr); ok && isNamed(name, "lazyregexp", "New") {
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

// isNamed tells whether a selector is a name of a package.
func isNamed(selector *ast.SelectorExpr, pkg, name string) bool {
	of, ok := selector.X.(*ast.Ident)
	return ok && of.Name == pkg && selector.Sel.Name == name
}
