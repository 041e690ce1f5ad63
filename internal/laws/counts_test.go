package laws_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// What a reader can hold at once. A function with more branches has a second idea in it;
// a package with more names, files or lines is several.
const (
	mostBranches = 40
	mostNames    = 450
	mostFiles    = 60
	mostLines    = 10_000
)

// size is what a package's files, tests apart, come to.
type size struct{ files, lines, names int }

// long are the packages that may have more files and lines: the command line has a file for each command.
var long = []string{"cmd/cli"}

func TestCounts(t *testing.T) {
	packages := map[string]size{}
	functions := 0
	walk(t, func(file string) {
		if strings.HasSuffix(file, "_test.go") {
			return
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		own, branches, err := count(text)
		if err != nil {
			t.Fatal(err)
		}
		functions += len(branches)
		for _, f := range branches {
			if f.branches > mostBranches {
				t.Errorf("%s: %s has %d branches, and may have %d", file, f.name, f.branches, mostBranches)
			}
		}
		sum := packages[path.Dir(file)]
		packages[path.Dir(file)] = size{files: sum.files + own.files, lines: sum.lines + own.lines, names: sum.names + own.names}
	})
	if len(packages) < 8 || functions < 1000 {
		t.Fatalf("only %d packages and %d functions were found: the walk is broken", len(packages), functions)
	}
	for _, dir := range slices.Sorted(maps.Keys(packages)) {
		for _, msg := range excess(dir, packages[dir]) {
			t.Error(msg)
		}
	}
}

// mostProduct is how many lines the product may have. An issue that asks for fewer lowers it to what it reached; nothing raises it.
const mostProduct = 138_852

// TestProductLines counts the product: every Go file that Git tracks, without tests, their support (packages named …test), scripts and test data.
func TestProductLines(t *testing.T) {
	lines := map[string]int{}
	sum := 0
	walk(t, func(file string) {
		if !product(file) {
			return
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		n := strings.Count(string(text), "\n")
		room, _, _ := strings.Cut(file, "/")
		lines[room] += n
		sum += n
	})
	if sum < mostProduct/2 {
		t.Fatalf("only %d lines were found: the walk is broken", sum)
	}
	t.Logf("%d lines: %v", sum, lines)
	if sum > mostProduct {
		t.Errorf("the product has %d lines, and may have %d: %v", sum, mostProduct, lines)
	}
}

// product reports whether a file's lines count as the product's.
func product(file string) bool {
	if strings.HasSuffix(file, "_test.go") {
		return false
	}
	dirs := strings.Split(path.Dir(file), "/")
	return dirs[0] != "scripts" && !slices.ContainsFunc(dirs, func(dir string) bool {
		return strings.HasSuffix(dir, "test") || dir == "testdata"
	})
}

// TestProduct is the negative control: what must count counts, and nothing else.
func TestProduct(t *testing.T) {
	for file, want := range map[string]bool{
		"internal/errs/errs.go": true, "learning/lesson/report.go": true, "cmd/app/app.go": true,
		"internal/errs/errs_test.go": false, "scripts/manual/main.go": false, "learning/learningtest/kit.go": false,
		"router/routertest/fixture/open.go": false, "cmd/app/testdata/x.go": false,
	} {
		if got := product(file); got != want {
			t.Errorf("%s counts: %v, want %v", file, got, want)
		}
	}
}

// TestCountsRefuses is the negative control: each bound can be passed.
func TestCountsRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		want int
	}{
		"straight":   {`x()`, 1},
		"if, else":   {`if a { x() } else { y() }`, 2},
		"loops":      {`for { x() }; for range a { y() }`, 3},
		"conditions": {`z = a && b || !c`, 3},
		"switch":     {`switch a { case 1, 2: x(); case 3: y(); default: z() }`, 3},
		"types":      {`switch a.(type) { case int: x(); default: y() }`, 2},
		"select":     {`select { case <-a: x(); case b <- 1: y(); default: }`, 3},
		"literal":    {`x(func() { if a { y() } })`, 2},
		"nothing":    {`a = b & c | d; goto end; end: return`, 1},
		"too many":   {strings.Repeat("if a { x() }\n", mostBranches), mostBranches + 1},
	} {
		_, got, err := count([]byte("package p\nfunc (r R) f() {\n" + c.body + "\n}\n"))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(got) != 1 || got[0].name != "f" || got[0].branches != c.want {
			t.Errorf("%s: %+v, want %d branches", name, got, c.want)
		}
	}

	own, _, err := count([]byte("package p\n\ntype A int\ntype (\n\tB int\n\tC int\n)\nvar d, e = 1, 2\nconst F = 1\nfunc G() { var none int }\nfunc (A) none() {}\n"))
	if want := (size{files: 1, lines: 11, names: 7}); err != nil || own != want {
		t.Errorf("counted %+v, want %+v; %v", own, want, err)
	}
	most := size{files: mostFiles, lines: mostLines, names: mostNames}
	if said := excess("learning", most); len(said) > 0 {
		t.Errorf("a package may have as much as it may have: %q", said)
	}
	more := size{files: mostFiles + 1, lines: mostLines + 1, names: mostNames + 1}
	if said := excess("learning", more); len(said) != 3 {
		t.Errorf("of names, files and lines only %q are refused", said)
	}
	if said := excess(long[0], more); len(said) != 1 {
		t.Errorf("the command line has too many names, and may have files and lines: %q", said)
	}
}

// excess says in what a package is too large.
func excess(dir string, s size) (said []string) {
	over := func(got, most int, what string) {
		if got > most {
			said = append(said, fmt.Sprintf("%s has %d %s, and may have %d", dir, got, what, most))
		}
	}
	over(s.names, mostNames, "top-level names")
	if !slices.Contains(long, dir) {
		over(s.files, mostFiles, "files")
		over(s.lines, mostLines, "lines")
	}
	return said
}

type function struct {
	name     string
	branches int
}

// count reads one file: its lines, its top-level names, and the branches of each function.
func count(text []byte) (size, []function, error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	if err != nil {
		return size{}, nil, err
	}
	own := size{files: 1, lines: strings.Count(string(text), "\n")}
	var functions []function
	for _, decl := range parsed.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				own.names++
			}
			functions = append(functions, function{d.Name.Name, branches(d)})
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					own.names++
				case *ast.ValueSpec:
					own.names += len(s.Names)
				}
			}
		}
	}
	return own, functions, nil
}

// branches counts as gocyclo does: one, and one for each place where the way parts.
// What is written inside a function belongs to it, function literals too.
func branches(node ast.Node) int {
	n := 1
	ast.Inspect(node, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			if node.List != nil {
				n++
			}
		case *ast.CommClause:
			if node.Comm != nil {
				n++
			}
		case *ast.BinaryExpr:
			if node.Op == token.LAND || node.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}
