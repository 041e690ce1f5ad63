package cli

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/internal/operation"
	"github.com/skillrouter/skillrouter/operational"
)

// answer has a member of each form that answers have.
type answer struct {
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Status   string          `json:"status"`
	Missed   bool            `json:"missed,omitempty"`
	Progress int             `json:"progress"`
	Share    float64         `json:"share"`
	Tags     []string        `json:"tags,omitempty"`
	Expires  *time.Time      `json:"expires_at,omitempty"`
	At       time.Time       `json:"created_at"`
	Content  string          `json:"content,omitempty"`
	Value    json.RawMessage `json:"value,omitempty"`
	Steps    []struct {
		Name string `json:"name"`
		Run  string `json:"run,omitempty"`
	} `json:"steps,omitempty"`
	Hidden string `json:"-"`
}

var shownAnswer = answer{
	ID: "01a224d9-47b1-7aa1-b4f8-641f070ae59c", Name: "deploy", Status: "pending", Missed: true, Progress: 40, Share: 0.5, Tags: []string{"a", "b"},
	Content: "one\ntwo", Value: json.RawMessage(`{"a":1}`), Hidden: "never shown",
	Steps: []struct {
		Name string `json:"name"`
		Run  string `json:"run,omitempty"`
	}{{"test", "make test"}},
}

// TestShown shows one answer in each way: as a row, whole, and as sentences.
func TestShown(t *testing.T) {
	hostile := shownAnswer
	hostile.Name, hostile.Content = "x\x1b[31m\ny", "z\x1b[31m"
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
	ends := shownAnswer
	ends.Expires = &at
	for name, c := range map[string]struct {
		of   command
		what any
		want []string
		not  string
	}{
		"a row":           {command{use: "add", rows: "short=ID name status+missed+progress name|status=FIRST tags share expires_at=TRUE"}, shownAnswer, []string{"ID  ", "070ae59c  deploy  pending, missed, 40%  deploy  a, b  0.50   for ever"}, "47b1"},
		"a list":          {command{use: "list", rows: "name expires_at=TRUE_UNTIL"}, []answer{ends}, []string{"TRUE UNTIL", "deploy  until 2026-01-02 03:04:05"}, ""},
		"nothing":         {command{use: "list", kind: "answers"}, []answer{}, []string{"No answers."}, "NAME"},
		"other columns":   {command{use: "list", rows: "title"}, []answer{shownAnswer}, []string{"NAME", "PROGRESS"}, "TITLE"},
		"whole":           {command{use: "show ID", rows: "status=STATE"}, shownAnswer, []string{"Name      deploy", "State     pending", "\nContent\n    one\n    two\n", "\nSteps\n    test  run: make test\n"}, "never shown"},
		"sentences":       {command{use: "add", says: "{{.Name}} stored, {{until .Expires}}{{if not .Missed}}\ncut{{end}}\nother: none"}, shownAnswer, []string{"deploy stored, for ever\nother: none\n"}, "cut"},
		"hostile, row":    {command{use: "add", rows: "name content"}, hostile, []string{"⟨U+001B⟩[31m y"}, "\x1b"},
		"hostile, whole":  {command{use: "show ID"}, hostile, []string{"x⟨U+001B⟩[31m\n    y"}, "\x1b"},
		"hostile, saying": {command{use: "add", says: "{{.Name}}"}, hostile, []string{"x⟨U+001B⟩[31m y\n"}, "\x1b"},
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			value := reflect.New(reflect.TypeOf(c.what)).Elem()
			value.Set(reflect.ValueOf(c.what))
			c.of.shown(&b, value)
			for _, want := range c.want {
				if !strings.Contains(b.String(), want) {
					t.Errorf("%q is not in\n%s", want, b.String())
				}
			}
			if c.not != "" && strings.Contains(b.String(), c.not) {
				t.Errorf("%q is in\n%s", c.not, b.String())
			}
		})
	}
}

// TestPut puts words in places of each type, and refuses what is none of it.
func TestPut(t *testing.T) {
	var in struct {
		Text   string
		Maybe  *float64
		Number int64
		Many   []int64
		On     bool
	}
	value := reflect.ValueOf(&in).Elem()
	for i, c := range []struct {
		field string
		words []string
		wrong string
	}{
		{"Text", []string{"a", "b"}, ""}, {"Maybe", []string{"40%"}, "NaN"}, {"Number", []string{"#7"}, "x"}, {"Many", []string{"1", "#2"}, "x"}, {"On", []string{"on"}, "yes"},
	} {
		at := operation.Field{Value: value.FieldByName(c.field)}
		if err := put(at, c.words...); err != nil {
			t.Errorf("%d: %v", i, err)
		}
		if c.wrong != "" && put(operation.Field{Value: reflect.New(at.Value.Type()).Elem()}, c.wrong) == nil {
			t.Errorf("%s took %q", c.field, c.wrong)
		}
	}
	if in.Text != "a b" || *in.Maybe != 40 || in.Number != 7 || len(in.Many) != 2 || !in.On {
		t.Errorf("%+v", in)
	}
}

// TestDoesNamesMembers refuses an entry whose word or hidden member the operation has not.
func TestDoesNamesMembers(t *testing.T) {
	for _, of := range []command{
		{use: "block TASK NONSENSE", do: operational.TaskService.Block},
		{use: "block TASK REASON", do: operational.TaskService.Block, hides: "nonsense"},
		{use: "block TASK REASON", do: strings.ToUpper},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%q, hiding %q, is a command", of.use, of.hides)
				}
			}()
			(&shell{}).does(of)
		}()
	}
}

// TestNeeds makes each command by its name alone, and holds it to what it is among all.
func TestNeeds(t *testing.T) {
	none := func(string) (string, bool) { return "", false }
	for _, want := range Commands().Commands() {
		root := (&shell{lookupEnv: none, words: []string{want.Name(), "x"}}).root()
		got, _, err := root.Find([]string{want.Name()})
		if err != nil || got.Short != want.Short || len(got.Commands()) != len(want.Commands()) {
			t.Errorf("%s is made otherwise when it is named: %v", want.Name(), err)
		}
		for _, other := range root.Commands() {
			if asked := want.Name(); asked != "help" && asked != "completion" && other.Name() != asked && len(other.Commands()) > 0 && other.Name() != "completion" {
				t.Errorf("%s is made for %s", other.Name(), want.Name())
			}
		}
	}
}
