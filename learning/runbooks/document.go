// Package runbooks is procedures as YAML files that people edit. It owns the
// form of the files and keeps a folder of them in step with the procedures
// that the service has, both ways. What a procedure may say is the service's
// to decide; it must know no database.
package runbooks

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/parser"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/plainyaml"
	"github.com/skillrouter/skillrouter/learning/procedure"
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
	Name        string            `json:"name"`
	Description string            `json:"description,omitempty"`
	Category    string            `json:"category,omitempty"`
	Persona     string            `json:"persona,omitempty"`
	Params      []procedure.Param `json:"params,omitempty"`
	Steps       []procedure.Step  `json:"steps"`
	LearnedFrom json.RawMessage   `json:"learned_from,omitempty"`
	SuccessRate float64           `json:"success_rate,omitempty"`
	AvgTime     span              `json:"avg_execution_time,omitempty"`
}

// span is a time in seconds, which a file may say as "5min".
type span float64

// What the library cannot read into a field gets a value there that the check of the procedure refuses: it knows the field's name.
var reading = []yaml.DecodeOption{
	yaml.CustomUnmarshaler(func(raw *json.RawMessage, text []byte) error {
		var value any
		err := yaml.Unmarshal(text, &value)
		if err == nil && value != nil {
			if *raw, err = json.Marshal(value); err != nil {
				*raw, err = json.RawMessage("what JSON cannot say"), nil // such as .inf or a key that is no text
			}
		}
		return err
	}),
	yaml.CustomUnmarshaler(func(timeout *int64, text []byte) error {
		seconds, err := seconds(text)
		if *timeout = -1; seconds >= 0 && seconds <= maxSeconds {
			*timeout = int64(math.Ceil(float64(seconds)))
		}
		return err
	}),
	yaml.CustomUnmarshaler(func(time *span, text []byte) (err error) {
		*time, err = seconds(text)
		return err
	}),
}

// writing is how a document is written, with the options for what is in it.
var (
	style   = []yaml.EncodeOption{yaml.UseLiteralStyleIfMultiline(true), yaml.IndentSequence(true), yaml.Indent(2)}
	writing = append([]yaml.EncodeOption{
		yaml.CustomMarshaler(func(raw json.RawMessage) ([]byte, error) {
			var value any
			if err := json.Unmarshal(raw, &value); err != nil {
				return nil, err
			}
			return yaml.MarshalWithOptions(value, style...)
		}),
		yaml.CustomMarshaler(func(took span) ([]byte, error) {
			return []byte(time.Duration(float64(took) * float64(time.Second)).Round(100 * time.Millisecond).String()), nil
		}),
	}, style...)
)

// Problem is what is wrong with a file, and where.
type Problem = plainyaml.Problem

// Parse reads a file, whose path within the folder names the procedure and its
// persona if the file does not: its persona is the first folder of the path.
// The procedure is checked as if it were saved. An error is a *Problem.
func Parse(file string, text []byte) (read procedure.File, err error) {
	var d document
	if err := plainyaml.Decode(text, MaxFile, maxDepth, &d, reading...); err != nil {
		return read, err
	}
	read = procedure.File{Path: file, Draft: d.draft(file), SuccessRate: d.SuccessRate, AvgTime: float64(d.AvgTime)}
	if err = cmp.Or(procedure.Prepare(read.Draft), check.Range("success_rate", d.SuccessRate, 0, 1)); err != nil {
		return read, located(text, err)
	}
	if !(d.AvgTime >= 0 && d.AvgTime <= maxSeconds) { // NaN too
		return read, located(text, errs.InvalidField("avg_execution_time", "must be a span of time, such as 90s, 5min or 2h, or a number of seconds, of at most %d seconds", maxSeconds))
	}
	return read, nil
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

func (d *document) draft(file string) procedure.Draft {
	if first, _, inside := strings.Cut(file, "/"); inside {
		d.Persona = cmp.Or(d.Persona, first)
	}
	return procedure.Draft{
		Persona: d.Persona, Name: cmp.Or(d.Name, strings.TrimSuffix(path.Base(file), path.Ext(file))), Description: d.Description, Category: d.Category,
		Params: d.Params, Steps: d.Steps, LearnedFrom: d.LearnedFrom,
	}
}

// maxSeconds bounds a span of time in a file: ten years.
const maxSeconds = 10 * 365 * 86400

var spans = strings.NewReplacer(" ", "", "minutes", "m", "minute", "m", "mins", "m", "min", "m", "seconds", "s", "second", "s", "secs", "s", "sec", "s", "hours", "h", "hour", "h")

// seconds reads a span of time: a number of seconds, or a text such as 5min. What is neither is no number.
func seconds(text []byte) (span, error) {
	var value any
	if err := yaml.Unmarshal(text, &value); err != nil || value == nil {
		return 0, err
	}
	said := strings.TrimSpace(fmt.Sprint(value))
	if n, err := strconv.ParseFloat(said, 64); err == nil {
		return span(n), nil
	}
	if parsed, err := time.ParseDuration(spans.Replace(said)); err == nil {
		return span(parsed.Seconds()), nil
	}
	return span(math.NaN()), nil
}

// Render writes a procedure as a file that people can edit and Parse reads as the same.
func Render(p procedure.Stored) ([]byte, error) {
	d := document{
		Name: p.Name, Description: p.Body.Description, Category: p.Body.Category, Persona: p.Persona, Params: p.Body.Params, Steps: p.Body.Steps,
		LearnedFrom: p.Body.LearnedFrom, SuccessRate: p.SaidRate, AvgTime: span(p.SaidTime),
	}
	if p.Runs > 0 {
		d.SuccessRate = math.Round(1000*float64(p.Succeeded)/float64(p.Runs)) / 1000
	}
	if p.Succeeded > 0 {
		d.AvgTime = span(p.Took / float64(p.Succeeded))
	}
	text, err := yaml.MarshalWithOptions(d, writing...)
	if err == nil && says(text, p) {
		return text, nil
	}
	// JSON is YAML too, and says every text to the letter.
	text, err = json.MarshalIndent(d, "", "  ")
	if err == nil && !says(text, p) {
		err = errors.New("the procedure cannot be written so that it reads back the same")
	}
	return text, err
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
