// Package runbooks is procedures as YAML files that people edit. It owns the
// form of the files and keeps a folder of them in step with the procedures
// that the service has, both ways. What a procedure may say is the service's
// to decide; it must know no database.
package runbooks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path"
	"reflect"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"skillrouter/internal/errs"
	"skillrouter/learning/procedure"
)

// Bounds of a file.
const (
	// MaxFile bounds a file, in bytes: the largest procedure fits with its comments.
	MaxFile = 512 << 10
	// maxDepth bounds how deep brackets may be nested; a procedure needs four levels.
	maxDepth = 64
)

// document is a file as it is written. Its keys are the persona memory's, and params, run, timeout and on_failure.
type document struct {
	Name        string  `yaml:"name"`
	Description string  `yaml:"description,omitempty"`
	Category    string  `yaml:"category,omitempty"`
	Persona     string  `yaml:"persona,omitempty"`
	Params      []param `yaml:"params,omitempty"`
	Steps       []step  `yaml:"steps"`
	LearnedFrom any     `yaml:"learned_from,omitempty"`
	SuccessRate float64 `yaml:"success_rate,omitempty"`
	AvgTime     any     `yaml:"avg_execution_time,omitempty"` // "5min", or a number of seconds
}

type param struct {
	Name        string `yaml:"name"`
	Description string `yaml:"description,omitempty"`
	Default     any    `yaml:"default,omitempty"`
}

type step struct {
	Name        string `yaml:"name,omitempty"`
	Description string `yaml:"description,omitempty"`
	Condition   string `yaml:"condition,omitempty"`
	Action      string `yaml:"action,omitempty"`
	Run         string `yaml:"run,omitempty"`
	Timeout     any    `yaml:"timeout,omitempty"` // "5min", or a number of seconds
	OnFailure   string `yaml:"on_failure,omitempty"`
}

// Problem is what is wrong with a file, and where.
type Problem struct {
	Line, Column int // from 1; 0: the file as a whole
	Text         string
}

// Error implements error.
func (p *Problem) Error() string {
	if p.Line == 0 {
		return p.Text
	}
	return fmt.Sprintf("%d:%d: %s", p.Line, p.Column, p.Text)
}

// Parse reads a file, whose path within the folder names the procedure and its
// persona if the file does not: its persona is the first folder of the path.
// The procedure is checked as if it were saved. An error is a *Problem.
func Parse(file string, text []byte) (read procedure.File, err error) {
	defer func() {
		if p := recover(); p != nil { // YAML libraries have panicked on hostile texts before
			err = &Problem{Text: "is not valid YAML"}
		}
	}()
	if err := bounded(text); err != nil {
		return read, err
	}
	var d document
	if err := yaml.UnmarshalWithOptions(text, &d, yaml.DisallowUnknownField()); err != nil {
		return read, problemOf(err)
	}
	read.Path = file
	if read.Draft, err = d.draft(file); err == nil {
		err = procedure.Prepare(read.Draft)
	}
	if err == nil && (d.SuccessRate < 0 || d.SuccessRate > 1 || math.IsNaN(d.SuccessRate)) {
		err = errs.InvalidField("success_rate", "must lie between 0 and 1")
	}
	if err == nil {
		read.SuccessRate = d.SuccessRate
		read.AvgTime, err = seconds("avg_execution_time", d.AvgTime)
	}
	if err != nil {
		return read, located(text, err)
	}
	return read, nil
}

// bounded refuses what a parser should not be given.
func bounded(text []byte) error {
	switch {
	case len(text) > MaxFile:
		return &Problem{Text: fmt.Sprintf("is larger than %d bytes", MaxFile)}
	case !utf8.Valid(text):
		return &Problem{Text: "is not valid UTF-8"}
	case bytes.IndexByte(text, 0) >= 0:
		return &Problem{Text: "holds the character NUL"}
	}
	depth := 0
	for _, tok := range lexer.Tokenize(string(text)) {
		switch tok.Type {
		case token.AnchorType, token.AliasType, token.MergeKeyType, token.TagType:
			return &Problem{tok.Position.Line, tok.Position.Column, "anchors, aliases, merge keys and tags are not accepted"}
		case token.MappingStartType, token.SequenceStartType:
			if depth++; depth > maxDepth {
				return &Problem{tok.Position.Line, tok.Position.Column, fmt.Sprintf("is nested deeper than %d", maxDepth)}
			}
		case token.MappingEndType, token.SequenceEndType:
			depth--
		}
	}
	return nil
}

// problemOf is an error of the YAML library without the excerpt that it draws.
func problemOf(err error) *Problem {
	p := &Problem{Text: "is not valid YAML"}
	var at yaml.Error
	if errors.As(err, &at) {
		p.Text, _, _ = strings.Cut(at.GetMessage(), "\n")
		if tok := at.GetToken(); tok != nil {
			p.Line, p.Column = tok.Position.Line, tok.Position.Column
		}
	}
	return p
}

// located finds the place of the field that a refusal names.
func located(text []byte, err error) *Problem {
	field := errs.FieldOf(err)
	p := &Problem{Text: strings.TrimSpace(field + " " + errs.MessageOf(err))}
	parsed, parseErr := parser.ParseBytes(text, 0)
	for ; parseErr == nil && field != ""; field = shorter(field) {
		where, err := yaml.PathString("$." + field)
		if err != nil {
			continue
		}
		node, err := where.FilterFile(parsed)
		if err != nil || node == nil || node.GetToken() == nil {
			continue
		}
		p.Line, p.Column = node.GetToken().Position.Line, node.GetToken().Position.Column
		break
	}
	return p
}

// shorter is the path of what holds a field.
func shorter(field string) string {
	return field[:max(strings.LastIndexAny(field, ".["), 0)]
}

func (d *document) draft(file string) (procedure.Draft, error) {
	draft := procedure.Draft{Persona: d.Persona, Name: d.Name, Description: d.Description, Category: d.Category}
	if draft.Persona == "" {
		if first, _, inside := strings.Cut(file, "/"); inside {
			draft.Persona = first
		}
	}
	if draft.Name == "" {
		draft.Name = strings.TrimSuffix(path.Base(file), path.Ext(file))
	}
	var err error
	if d.LearnedFrom != nil {
		if draft.LearnedFrom, err = asJSON("learned_from", d.LearnedFrom); err != nil {
			return draft, err
		}
	}
	for i, p := range d.Params {
		param := procedure.Param{Name: p.Name, Description: p.Description}
		if p.Default != nil {
			if param.Default, err = asJSON(fmt.Sprintf("params[%d].default", i), p.Default); err != nil {
				return draft, err
			}
		}
		draft.Params = append(draft.Params, param)
	}
	for i, s := range d.Steps {
		timeout, err := seconds(fmt.Sprintf("steps[%d].timeout", i), s.Timeout)
		if err != nil {
			return draft, err
		}
		draft.Steps = append(draft.Steps, procedure.Step{
			Name: s.Name, Description: s.Description, Condition: s.Condition, Action: s.Action, Run: s.Run,
			Timeout: int64(math.Ceil(timeout)), OnFailure: s.OnFailure,
		})
	}
	return draft, nil
}

func asJSON(field string, value any) (json.RawMessage, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, errs.InvalidField(field, "holds what JSON cannot say, such as .inf or a key that is no text")
	}
	return text, nil
}

// maxSeconds bounds a span of time in a file: ten years.
const maxSeconds = 10 * 365 * 86400

var spans = strings.NewReplacer(" ", "", "minutes", "m", "minute", "m", "mins", "m", "min", "m", "seconds", "s", "second", "s", "secs", "s", "sec", "s", "hours", "h", "hour", "h")

// seconds reads a span of time: a number of seconds, or a text such as 5min.
func seconds(field string, value any) (float64, error) {
	var n float64
	switch value := value.(type) {
	case nil:
		return 0, nil
	case uint64:
		n = float64(value)
	case int64:
		n = float64(value)
	case float64:
		n = value
	case string:
		if parsed, err := strconv.ParseFloat(strings.TrimSpace(value), 64); err == nil {
			n = parsed
			break
		}
		span, err := time.ParseDuration(spans.Replace(value))
		if err != nil {
			return 0, errs.InvalidField(field, "must be a span of time, such as 90s, 5min or 2h, or a number of seconds")
		}
		n = span.Seconds()
	default:
		return 0, errs.InvalidField(field, "must be a span of time, such as 90s, 5min or 2h, or a number of seconds")
	}
	if !(n >= 0 && n <= maxSeconds) { // NaN too
		return 0, errs.InvalidField(field, "must lie between 0 and %d seconds", maxSeconds)
	}
	return n, nil
}

// Render writes a procedure as a file that people can edit and Parse reads as the same.
func Render(p procedure.Stored) ([]byte, error) {
	d := document{Name: p.Name, Description: p.Body.Description, Category: p.Body.Category, Persona: p.Persona, SuccessRate: p.SaidRate}
	took := p.SaidTime
	if p.Runs > 0 {
		d.SuccessRate = math.Round(1000*float64(p.Succeeded)/float64(p.Runs)) / 1000
	}
	if p.Succeeded > 0 {
		took = p.Took / float64(p.Succeeded)
	}
	if took > 0 {
		d.AvgTime = time.Duration(took * float64(time.Second)).Round(100 * time.Millisecond).String()
	}
	if err := decode(p.Body.LearnedFrom, &d.LearnedFrom); err != nil {
		return nil, err
	}
	for _, from := range p.Body.Params {
		to := param{Name: from.Name, Description: from.Description}
		if err := decode(from.Default, &to.Default); err != nil {
			return nil, err
		}
		d.Params = append(d.Params, to)
	}
	for _, from := range p.Body.Steps {
		to := step{Name: from.Name, Description: from.Description, Condition: from.Condition, Action: from.Action, Run: from.Run, OnFailure: from.OnFailure}
		if from.Timeout > 0 {
			to.Timeout = from.Timeout
		}
		d.Steps = append(d.Steps, to)
	}
	text, err := yaml.MarshalWithOptions(d, yaml.UseLiteralStyleIfMultiline(true), yaml.IndentSequence(true), yaml.Indent(2))
	if err == nil && says(text, p) {
		return text, nil
	}
	// JSON is YAML too, and says every text to the letter.
	text, err = json.MarshalIndent(jsonDocument(d, p), "", "  ")
	if err == nil && !says(text, p) {
		err = errors.New("the procedure cannot be written so that it reads back the same")
	}
	return text, err
}

func decode(raw json.RawMessage, into *any) error {
	if len(raw) == 0 {
		return nil
	}
	return json.Unmarshal(raw, into)
}

// says tells whether a text reads back as the procedure.
func says(text []byte, p procedure.Stored) bool {
	read, err := Parse("default/"+p.Name+".yaml", text)
	if err != nil {
		return false
	}
	got := procedure.Body{
		Description: read.Draft.Description, Category: read.Draft.Category, Params: read.Draft.Params, Steps: read.Draft.Steps, LearnedFrom: read.Draft.LearnedFrom,
	}
	for i := range got.Steps { // a literal block ends in a line break, which saving cuts off
		s := &got.Steps[i]
		for _, text := range []*string{&s.Description, &s.Condition, &s.Action, &s.Run} {
			*text = strings.TrimRight(*text, " \t\n")
		}
	}
	got.Description = strings.TrimRight(got.Description, " \t\n")
	return read.Draft.Persona == p.Persona && read.Draft.Name == p.Name && sameJSON(got, p.Body)
}

func sameJSON(a, b any) bool {
	var values [2]any
	for i, v := range []any{a, b} {
		text, err := json.Marshal(v)
		if err != nil || json.Unmarshal(text, &values[i]) != nil {
			return false
		}
	}
	return reflect.DeepEqual(values[0], values[1])
}

// jsonDocument is the document with the members that JSON would name otherwise.
func jsonDocument(d document, p procedure.Stored) map[string]any {
	out := map[string]any{"name": d.Name, "persona": d.Persona, "category": d.Category, "steps": p.Body.Steps}
	if d.Description != "" {
		out["description"] = d.Description
	}
	if len(p.Body.Params) > 0 {
		out["params"] = p.Body.Params
	}
	if d.LearnedFrom != nil {
		out["learned_from"] = d.LearnedFrom
	}
	return out
}
