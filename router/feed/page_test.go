package feed_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/router/feed"
)

// eventType is how the types of events are spelt.
var eventType = regexp.MustCompile(`^[a-z]+\.[a-z_]+$`)

// sources lists the Go files below a folder that are no tests.
func sources(t *testing.T, dir string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, "_test.go") {
			files = append(files, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// emitted lists the types of events that the domains' sources name: the
// constants called Event… and the literals that are given as an event's Type.
func emitted(t *testing.T, dirs ...string) []string {
	t.Helper()
	var types []string
	note := func(e ast.Expr) {
		if literal, ok := e.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			if text, err := strconv.Unquote(literal.Value); err == nil && eventType.MatchString(text) {
				types = append(types, text)
			}
		}
	}
	for _, dir := range dirs {
		for _, file := range sources(t, filepath.Join("../..", dir)) {
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(parsed, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.ValueSpec:
					for i, name := range n.Names {
						if strings.HasPrefix(name.Name, "Event") && i < len(n.Values) {
							note(n.Values[i])
						}
					}
				case *ast.KeyValueExpr:
					if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Type" {
						note(n.Value)
					}
				}
				return true
			})
		}
	}
	return types
}

// TestTypesAreAll holds the feed's table to what the code can emit.
func TestTypesAreAll(t *testing.T) {
	var known []string
	for _, kind := range feed.Types() {
		if len(kind.Kinds) == 0 {
			known = append(known, kind.Type)
		}
		known = append(known, kind.Kinds...)
	}
	if repeated := len(known) - len(slices.Compact(slices.Sorted(slices.Values(known)))); repeated > 0 {
		t.Errorf("%d types are in the table twice", repeated)
	}
	found := emitted(t, "learning", "operational", "comms", "router")
	for _, kind := range found {
		if !slices.Contains(known, kind) {
			t.Errorf("the code can emit %q, which router/feed_types.go does not have", kind)
		}
	}
	for _, kind := range known {
		if !slices.Contains(found, kind) {
			t.Errorf("the table has %q, which no code emits", kind)
		}
	}
	if len(found) < 40 {
		t.Errorf("only %d types were found: the search is broken", len(found))
	}
}
