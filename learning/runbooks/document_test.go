package runbooks_test

import (
	"errors"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skillrouter/skillrouter/learning/procedure"
	"github.com/skillrouter/skillrouter/learning/runbooks"
)

var update = flag.Bool("update", false, "write the golden file instead of comparing it")

// seedFile is the persona memory's example, to the letter.
func seedFile(t testing.TB) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/analyze-mrr-drop.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestSeedFile(t *testing.T) {
	read, err := runbooks.Parse("data-analyst/procedural/analyze-mrr-drop.yaml", seedFile(t))
	if err != nil {
		t.Fatal(err)
	}
	d := read.Draft
	if d.Name != "analyze-mrr-drop" || d.Persona != "data-analyst" || d.Category != "investigation" || len(d.Steps) != 3 ||
		d.Steps[1].Condition != "drop_pct > 20" || !strings.Contains(d.Steps[0].Action, "recall_fact(\"metrics.mrr.baseline\")\n") ||
		string(d.LearnedFrom) != `[{"episode":"2024-10-15-mrr-drop"},{"episode":"2024-09-20-mrr-drop"}]` {
		t.Errorf("draft = %+v", d)
	}
	if read.SuccessRate != 0.85 || read.AvgTime != 300 {
		t.Errorf("success rate %v, time %v s", read.SuccessRate, read.AvgTime)
	}
}

func TestPathNamesProcedure(t *testing.T) {
	const text = "steps:\n  - action: x\n"
	for file, want := range map[string][2]string{
		"deploy.yaml":                   {"", "deploy"},
		"coder/deploy.yaml":             {"coder", "deploy"},
		"coder/procedural/a/deploy.yml": {"coder", "deploy"},
	} {
		read, err := runbooks.Parse(file, []byte(text))
		if err != nil || read.Draft.Persona != want[0] || read.Draft.Name != want[1] {
			t.Errorf("%s is %q of %q, error %v", file, read.Draft.Name, read.Draft.Persona, err)
		}
	}
}

func TestProblemsHaveLines(t *testing.T) {
	for _, c := range []struct {
		name, text, says string
		line             int
	}{
		{"no YAML", "steps:\n  - name: [a\n", "", 2},
		{"unknown key", "name: a\nstep:\n  - action: x\n", "unknown field", 2},
		{"wrong type", "steps: 5\n", "", 1},
		{"no steps", "name: a\n", "steps are required", 0},
		{"empty step", "steps:\n  - name: a\n  - name: b\n    action: x\n", "steps[0]", 2},
		{"bad condition", "steps:\n  - name: a\n    action: x\n  - name: b\n    condition: 1 in 1..9\n    action: x\n", "steps[1].condition", 5},
		{"twice", "steps:\n  - name: a\n    action: x\n  - name: a\n    action: x\n", "is there twice", 4},
		{"unknown parameter", "steps:\n  - action: go ${x}\n", "no such parameter", 2},
		{"bad name", "name: ../a\nsteps:\n  - action: x\n", "name must be", 1},
		{"bad persona", "persona: ../a\nsteps:\n  - action: x\n", "persona must be", 1},
		{"bad time", "avg_execution_time: soon\nsteps:\n  - action: x\n", "span of time", 1},
		{"bad timeout", "steps:\n  - action: x\n    timeout: -1\n", "steps[0].timeout", 3},
		{"no timeout", "steps:\n  - action: x\n    timeout: [1]\n", "steps[0].timeout", 3},
		{"no span", "avg_execution_time: {a: 1}\nsteps:\n  - action: x\n", "span of time", 1},
		{"what JSON cannot say", "learned_from: [.inf]\nsteps:\n  - action: x\n", "learned_from is not valid JSON", 1},
		{"no default", "params:\n  - name: x\n    default: .nan\nsteps:\n  - action: x\n", "params[0].default", 3},
		{"bad rate", "success_rate: .nan\nsteps:\n  - action: x\n", "success_rate", 1},
		{"alias bomb", "a: &a [x,x]\nb: &b [*a,*a]\nsteps: [*b,*b]\n", "aliases", 1},
		{"merge key", "steps:\n  - <<: {}\n", "merge keys", 2},
		{"tag", "steps: !!binary x\n", "tags", 1},
		{"deep", "learned_from: " + strings.Repeat("[", 100000), "nested deeper", 1},
		{"large", "# " + strings.Repeat("x", runbooks.MaxFile), "larger than", 0},
		{"not UTF-8", "name: \xff", "UTF-8", 0},
		{"NUL", "name: \x00", "NUL", 0},
		{"a list", "- a\n", "", 1},
		{"empty", "", "steps are required", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := runbooks.Parse("p.yaml", []byte(c.text))
			problem, ok := errors.AsType[*runbooks.Problem](err)
			if !ok || !strings.Contains(problem.Text, c.says) || problem.Line != c.line || strings.Contains(problem.Text, "\n") {
				t.Errorf("problem %v does not say %q at line %d", err, c.says, c.line)
			}
		})
	}
}

// TestRenderReadsBack writes procedures whose texts YAML could take for something else.
func TestRenderReadsBack(t *testing.T) {
	for _, text := range []string{
		"plain", "two\nlines", "  indented\n  lines", "a: b # c", "- x", "yes", "null", "1e3", "'", "\"", "{}", "\ttab", "trailing \\", "ü\u2028x", "%x", "@x", "!x", "*x", "&x", "| x", "> x", "x: |\n  y\n\n\nz",
		"#", "~", "true", "0x1f", "2026-01-01", "=", "<<", "? x", ", x", "line\r\nend", "\n\nbegins with breaks", "a\n \n b",
	} {
		p := procedure.Stored{Persona: "coder", Name: "p", Body: procedure.Body{
			Category: "general", Description: text, LearnedFrom: []byte(`[{"episode":"e","n":1.5}]`),
			Params: []procedure.Param{{Name: "x", Default: []byte(`{"a":[1,null,"` + "b" + `"]}`)}},
			Steps:  []procedure.Step{{Name: "s", Action: text, Run: "echo a", Condition: "x is None", Timeout: 90, OnFailure: "continue"}},
		}}
		rendered, err := runbooks.Render(p)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		read, err := runbooks.Parse("x/y.yaml", rendered)
		if err != nil {
			t.Errorf("%q: %v in\n%s", text, err, rendered)
			continue
		}
		want := strings.TrimRight(text, " \t\n")
		if got := strings.TrimRight(read.Draft.Steps[0].Action, " \t\n"); got != want || read.Draft.Persona != "coder" || read.Draft.Name != "p" {
			t.Errorf("%q reads back as %q from\n%s", text, got, rendered)
		}
	}
}

func TestRenderIsForPeople(t *testing.T) {
	read, err := runbooks.Parse("x.yaml", seedFile(t))
	if err != nil {
		t.Fatal(err)
	}
	d := read.Draft
	rendered, err := runbooks.Render(procedure.Stored{
		Persona: d.Persona, Name: d.Name, SaidRate: read.SuccessRate, SaidTime: read.AvgTime,
		Body: procedure.Body{Description: d.Description, Category: d.Category, Steps: trimmed(d.Steps), LearnedFrom: d.LearnedFrom},
	})
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("testdata/rendered.yaml", rendered, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/rendered.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(rendered)); diff != "" {
		t.Error(diff)
	}
}

func trimmed(steps []procedure.Step) []procedure.Step {
	for i := range steps {
		steps[i].Action = strings.TrimRight(steps[i].Action, "\n")
	}
	return steps
}

func FuzzParse(f *testing.F) {
	f.Add(seedFile(f))
	for _, text := range []string{"steps:\n  - action: x\n", "{}", "a: &b [*b]", "steps: [{run: 'echo ${x}'}]\nparams: [{name: x}]", "? a\n: b", "%YAML 1.2\n---\na", "steps:\n- |\n x"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		read, err := runbooks.Parse("default/p.yaml", text)
		if err != nil {
			if _, ok := errors.AsType[*runbooks.Problem](err); !ok {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if len(read.Draft.Steps) == 0 {
			t.Fatalf("%q is a procedure without steps", text)
		}
	})
}
