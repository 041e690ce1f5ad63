package procedure

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/lazyregexp"
	"github.com/skillrouter/skillrouter/learning"
)

// templateName is ${name} in an action or a command line. $${name} stands for
// ${name} itself in an action; a shell's own variable is $NAME in a command line.
var templateName = lazyregexp.New(`\$?\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// checkAction refuses an action that names a parameter which the procedure has not.
func checkAction(field, text string, params []Param) error {
	for _, found := range templateName.FindAllStringSubmatch(text, -1) {
		if !strings.HasPrefix(found[0], "$$") && !hasParam(params, found[1]) {
			return errs.InvalidField(field, "names ${%s}, and the procedure has no such parameter: declare it under params, or write $${%s} to mean the characters", found[1], found[1])
		}
	}
	return nil
}

// fillAction puts the parameters' values into an action.
func fillAction(text string, params map[string]json.RawMessage) string {
	return templateName.Compiled().ReplaceAllStringFunc(text, func(found string) string {
		if strings.HasPrefix(found, "$$") {
			return found[1:]
		}
		return paramText(params[found[2:len(found)-1]])
	})
}

// paramText is a parameter's value as a text: that of a string without its quotation marks.
func paramText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

func hasParam(params []Param, name string) bool {
	return slices.ContainsFunc(params, func(p Param) bool { return p.Name == name })
}

// checkRun refuses a command line that names a parameter which the procedure
// has not, or at a place where its value could not be kept from being read as
// part of the command.
func checkRun(field, line string, params []Param) error {
	for _, found := range templateName.FindAllStringSubmatch(line, -1) {
		if !hasParam(params, found[1]) {
			return errs.InvalidField(field, "names ${%s}, and the procedure has no such parameter: declare it under params, or write $%s for a variable of the shell", found[1], found[1])
		}
	}
	_, err := runPlaces(field, line)
	return err
}

// fillRun puts the parameters' values into a command line, each quoted so that
// the shell takes it for one word, whatever it holds.
func fillRun(field, line string, params map[string]json.RawMessage) (string, error) {
	places, err := runPlaces(field, line)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	from := 0
	for _, place := range places {
		quoted, err := syntax.Quote(paramText(params[place.name]), syntax.LangPOSIX)
		if err != nil {
			return "", errs.InvalidField("params."+place.name, "holds a character that no command line can: %s", learning.FirstLine(err.Error()))
		}
		out.WriteString(line[from:place.from])
		out.WriteString(quoted)
		from = place.to
	}
	out.WriteString(line[from:])
	return out.String(), nil
}

// runPlace is where a parameter stands in a command line.
type runPlace struct {
	from, to int
	name     string
}

// runPlaces finds the parameters of a command line by parsing it: only what is
// a word, or part of one, outside of all quotes can be replaced by a quoted
// value. Inside of "…" the quotes would be characters and $(…) in a value would run.
func runPlaces(field, line string) (places []runPlace, err error) {
	defer func() {
		if p := recover(); p != nil { // the parser meets hostile texts here
			places, err = nil, errs.InvalidField(field, "is no command line")
		}
	}()
	named := templateName.Compiled().FindAllStringIndex(line, -1)
	if len(named) == 0 {
		return nil, nil
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		return nil, errs.InvalidField(field, "is no command line: %s", learning.FirstLine(err.Error()))
	}
	var above []syntax.Node
	inside := 0 // how many of above are places where a quoted word is no word
	heres := map[syntax.Node]bool{}
	syntax.Walk(file, func(node syntax.Node) bool {
		if node == nil {
			last := above[len(above)-1]
			above = above[:len(above)-1]
			if opaque(last) || heres[last] {
				inside--
			}
			return true
		}
		if r, ok := node.(*syntax.Redirect); ok && r.Hdoc != nil {
			heres[r.Hdoc] = true
		}
		if param, ok := node.(*syntax.ParamExp); ok && inside == 0 && !param.Short {
			from, to := int(param.Pos().Offset()), int(param.End().Offset())
			if found := templateName.Compiled().FindStringSubmatchIndex(line[from:to]); found != nil && found[0] == 0 && found[1] == to-from {
				places = append(places, runPlace{from, to, line[from+found[2] : from+found[3]]})
			}
		}
		if opaque(node) || heres[node] {
			inside++
		}
		above = append(above, node)
		return true
	})
	if len(places) != len(named) {
		return nil, errs.InvalidField(field, "has a ${parameter} in quotes, in a here-document or in a calculation: write it outside, as in --name=${name}; it is quoted where it is put in")
	}
	return places, nil
}

// opaque tells whether a quoted word means something else below that node.
func opaque(node syntax.Node) bool {
	switch n := node.(type) {
	case *syntax.DblQuoted, *syntax.SglQuoted, *syntax.ArithmExp, *syntax.ArithmCmd, *syntax.LetClause, *syntax.ParamExp, *syntax.ExtGlob, *syntax.BraceExp:
		return true
	case *syntax.CmdSubst:
		return n.Backquotes
	}
	return false
}

// fillStep puts the parameters' values into a step.
func fillStep(index int, step Step, params map[string]json.RawMessage) (Step, error) {
	step.Action = fillAction(step.Action, params)
	var err error
	step.Run, err = fillRun(fmt.Sprintf("steps[%d].run", index), step.Run, params)
	return step, err
}
