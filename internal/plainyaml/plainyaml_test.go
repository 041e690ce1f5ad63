package plainyaml_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/internal/plainyaml"
)

func TestDecode(t *testing.T) {
	for _, c := range []struct {
		name, text, says string // "": it is read
		line             int
	}{
		{"plain", "---\na: 1\nb: [x, {c: d}]\n", "", 0},
		{"nothing", "", "", 0},
		{"large", strings.Repeat("#", 2000), "larger than 1000 bytes", 0},
		{"not UTF-8", "a: \xff", "UTF-8", 0},
		{"NUL", "a: \x00", "NUL", 0},
		{"alias", "a: &x 1\nb: *x\n", "aliases", 1},
		{"merge key", "a: 1\nb:\n  <<: {}\n", "merge keys", 3},
		{"tag", "a: !!binary x\n", "tags", 1},
		{"directive", "%YAML 1.2\n---\na: 1\n", "directives", 1},
		{"explicit key", "? a\n: 1\n", "explicit keys", 1},
		{"second document", "a: 1\n---\nb: 1\n", "more than one document", 2},
		{"deep in brackets", "a: 1\nb: " + strings.Repeat("[", 500), "nested deeper than 8", 2},
		{"deep in entries", "b:\n" + strings.Repeat("- ", 100) + "x\n", "nested deeper than 8", 2},
		{"unknown key", "a: 1\nc: 1\n", "unknown field", 2},
		{"unknown keys", "a: 1\nc: 1\nd: 1\ne: 1\nf: 1\ng: 1\nh: 1\n", `unknown field "c"`, 2},
		{"repeated key", "a: 1\na: 2\n", "already defined", 2},
		{"no YAML", "a: 'x\n", "", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var v struct {
				A int   `yaml:"a"`
				B []any `yaml:"b"`
			}
			err := plainyaml.Decode([]byte(c.text), 1000, 8, &v)
			problem, refused := errors.AsType[*plainyaml.Problem](err)
			switch {
			case err != nil && (!refused || problem.Line != c.line || !strings.Contains(problem.Text, c.says) || strings.Contains(problem.Text, "\n")):
				t.Errorf("%v, want %q at line %d", err, c.says, c.line)
			case (err == nil) != (c.line == 0 && c.says == ""):
				t.Errorf("error %v, want %q", err, c.says)
			}
		})
	}
}
