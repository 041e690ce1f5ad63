package laws_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// privateWords are words that this project once used for things that have a
// common name, with that name. They may not be part of a declared name.
var privateWords = map[string]string{
	"border": "crossing", "desk": "crossing", "herald": "notifier", "chronicle": "log", "spreader": "propagation", "courier": "sender",
	"hearsay": "untrusted", "sighting": "candidate or report", "sightings": "candidates or reports", "boarding": "join result",
	"vain": "no match", "tried": "repairs", "kept": "index", "prints": "fingerprints", "whole": "unfiltered, complete or full",
}

// plainUses are the names in which such a word means what everybody takes it to mean.
var plainUses = map[string]string{
	"facts_kept": "an index of the database; another name would need a migration and change nothing",
}

func TestNames(t *testing.T) {
	names, used := 0, map[string]bool{}
	check := func(where, name string) {
		names++
		word := privateWord(name)
		if word == "" {
			return
		}
		if _, plain := plainUses[name]; plain {
			used[name] = true
			return
		}
		t.Errorf("%s: %s has the word %q: say %s", where, name, word, privateWords[word])
	}
	walk(t, func(file string) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range declared(t, file, text) {
			check(file, name)
		}
		check(file, strings.TrimSuffix(filepath.Base(file), ".go"))
	})
	columns := 0
	err := filepath.WalkDir("migrations", func(file string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(file, ".sql") {
			return err
		}
		text, err := os.ReadFile(file)
		for _, name := range inSQL(string(text)) {
			columns++
			check(file, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if names < 10_000 || columns < 1_000 {
		t.Errorf("only %d names, %d of them in SQL, were found: the walk is broken", names, columns)
	}
	for name := range plainUses {
		if !used[name] {
			t.Errorf("%s is listed as a plain use, and nothing is called so", name)
		}
	}
}

// TestNamesRefuses is the negative control: each form of a name is seen, and words that only look alike are not.
func TestNamesRefuses(t *testing.T) {
	const source = `package p
type keptRule struct{ Tried, plain int }
type Hearsay interface{ Sight() (sightings int); InVain() }
func boarding(local int) { whole := local; _ = whole }
func (k keptRule) courierOf() {}
const deskCount = 1
var printed, borderline, wholesale int
`
	var refused []string
	for _, name := range declared(t, "p.go", []byte(source)) {
		if privateWord(name) != "" {
			refused = append(refused, name)
		}
	}
	slices.Sort(refused)
	want := []string{"Hearsay", "InVain", "Tried", "boarding", "courierOf", "deskCount", "keptRule"}
	if !slices.Equal(refused, want) {
		t.Errorf("refused %q, want %q", refused, want)
	}
	for name, word := range map[string]string{"last_kept_at": "kept", "HTTPBorder": "border", "wholeRows": "whole", "skeptic": "", "kepts": ""} {
		if got := privateWord(name); got != word {
			t.Errorf("%s has the word %q, want %q", name, got, word)
		}
	}
	if got := inSQL("CREATE TABLE kept (a TEXT, -- tried\n whole INTEGER DEFAULT 'vain');"); !slices.Contains(got, "kept") || !slices.Contains(got, "whole") || slices.Contains(got, "tried") || slices.Contains(got, "vain") {
		t.Errorf("the names in SQL are %q", got)
	}
}

// privateWord returns a private word that is part of a name, or "".
func privateWord(name string) string {
	for _, part := range nameParts(name) {
		if _, private := privateWords[part]; private {
			return part
		}
	}
	return ""
}

// nameParts cuts a name at underscores and where capitals begin a word.
func nameParts(name string) (parts []string) {
	letters := []rune(name)
	begin := 0
	for i := 1; i <= len(letters); i++ {
		if i == len(letters) || letters[i] == '_' || unicode.IsUpper(letters[i]) && (!unicode.IsUpper(letters[i-1]) || i+1 < len(letters) && unicode.IsLower(letters[i+1])) {
			parts = append(parts, strings.ToLower(strings.Trim(string(letters[begin:i]), "_")))
			begin = i
		}
	}
	return parts
}

// declared returns what a file declares for others to see: types, functions,
// methods, fields, and the constants and variables of the package.
func declared(t *testing.T, file string, text []byte) (names []string) {
	parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	fields := func(list *ast.FieldList) {
		for _, field := range list.List {
			for _, name := range field.Names {
				names = append(names, name.Name)
			}
		}
	}
	for _, decl := range parsed.Decls {
		if f, is := decl.(*ast.FuncDecl); is {
			names = append(names, f.Name.Name)
			continue
		}
		for _, spec := range decl.(*ast.GenDecl).Specs {
			switch spec := spec.(type) {
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					names = append(names, name.Name)
				}
			case *ast.TypeSpec:
				names = append(names, spec.Name.Name)
				ast.Inspect(spec.Type, func(n ast.Node) bool {
					switch n := n.(type) {
					case *ast.StructType:
						fields(n.Fields)
					case *ast.InterfaceType:
						fields(n.Methods)
					}
					return true
				})
			}
		}
	}
	return names
}

// notNames are the comments and texts of SQL.
var notNames = regexp.MustCompile(`--[^\n]*|'[^']*'`)

var sqlName = regexp.MustCompile(`[A-Za-z_][A-Za-z_0-9]*`)

// inSQL returns the words of a schema that are no comment and no text.
func inSQL(text string) []string {
	return sqlName.FindAllString(notNames.ReplaceAllString(text, " "), -1)
}
