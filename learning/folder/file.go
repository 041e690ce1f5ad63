package folder

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/markdown"
	"github.com/skillrouter/skillrouter/internal/plainyaml"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// maxNesting bounds how deep front matter nests: a list below a key below
// "skillrouter" is three. A library that reads nested brackets recursively takes
// a minute for 64 KB of them.
const maxNesting = 8

// What a lesson needs, and a file that the original lessons folder's own tools wrote does not say.
const (
	DefaultDomain   = "general"
	DefaultCategory = "lesson"
)

// plain is a draft with every default.
func plain(domain string) lesson.Draft {
	return lesson.Draft{
		Type: learning.LessonDiscovery, Domain: domain, Category: DefaultCategory, Severity: learning.SeverityMedium, Status: lesson.StatusCandidate,
		Transferability: lesson.DefaultTransferability, Confidence: believed(Stars(lesson.DefaultConfidence)),
	}
}

// Stars is a confidence from 0 to 1 on the original lessons folder's scale: round(5c), from 1 to 5.
func Stars(confidence float64) int {
	if math.IsNaN(confidence) {
		return 1
	}
	return int(min(max(math.Round(5*confidence), 1), 5))
}

// Share is the confidence that stands for n of the original lessons folder's scale: n/5.
func Share(stars int) float64 { return float64(stars) / 5 }

func believed(stars int) *float64 { return new(Share(stars)) }

// Of is a lesson as a file holds it. Its confidence is the undecayed one, so that a file changes when evidence moves the
// confidence and not as time passes. What the lesson leaves empty reads as what a file leaves out.
func Of(l lesson.Lesson) lesson.Draft {
	d, def := l.Draft(), plain(DefaultDomain)
	d.Confidence, d.LastValidatedAt, d.SourceAgent = believed(Stars(l.InitialConfidence)), l.LastValidatedAt, l.SourceAgent
	d.Type, d.Domain = cmp.Or(d.Type, def.Type), cmp.Or(d.Domain, def.Domain)
	d.Category, d.Severity = cmp.Or(d.Category, def.Category), cmp.Or(d.Severity, def.Severity)
	return d
}

// Parse reads a lesson's file. What it does not say has a default: the level of
// the place that the file stands in, and the given domain. Errors are Invalid
// or TooLarge and name the line or the key.
func Parse(file []byte, place lesson.Level, domain string) (lesson.Draft, error) {
	d := plain(cmp.Or(domain, DefaultDomain))
	matter, body, err := split(file)
	if err != nil {
		return d, err
	}
	d.Level, d.Body = place, body
	top, err := mapping(matter)
	if err != nil {
		return d, err
	}
	if err := read(&d, top, true); err != nil {
		return d, err
	}
	if d.Title == "" {
		d.Title = cmp.Or(heading(body), d.ID)
	}
	return d, checkFile(d)
}

// checkFile holds a draft to what a file may say. What a lesson may say beyond
// that is the service's to judge.
func checkFile(d lesson.Draft) error {
	if err := cmp.Or(
		learning.CheckID("id", d.ID),
		check.OneOf("level", d.Level, lesson.Levels()),
		check.OneOf("status", d.Status, lesson.Statuses()),
		check.OneOf("lesson_type", d.Type, learning.LessonTypes()),
		check.OneOf("severity", d.Severity, learning.Severities()),
		check.Required("title", d.Title, learning.MaxTitle),
	); err != nil {
		return err
	}
	if _, err := strconv.ParseInt(d.ID, 10, 64); err == nil {
		return errs.InvalidField("id", "is a number, which names a lesson by its order: give it a prefix, such as case-%s", d.ID)
	}
	if slices.Contains(d.SourceCaseIDs, d.ID) {
		return errs.InvalidField("source_case_ids", "names the lesson itself")
	}
	return nil
}

// split takes a file apart into its front matter and the text below it.
func split(file []byte) (matter, body string, err error) {
	if len(file) > MaxFile {
		return "", "", errs.Errorf(errs.TooLarge, "is larger than %d bytes", MaxFile)
	}
	if !utf8.Valid(file) {
		return "", "", errs.Errorf(errs.Invalid, "is not valid UTF-8")
	}
	if bytes.IndexByte(file, 0) >= 0 {
		return "", "", errs.Errorf(errs.Invalid, "holds the character NUL")
	}
	rest := strings.TrimPrefix(string(file), "\ufeff")
	line, rest, _ := strings.Cut(rest, "\n")
	if strings.TrimRight(line, " \t\r") != "---" {
		return "", "", errs.Errorf(errs.Invalid, "has no front matter: the first line must be ---")
	}
	for at := 0; at < len(rest); {
		line, _, more := strings.Cut(rest[at:], "\n")
		next := at + len(line)
		if more {
			next++
		}
		if strings.TrimRight(line, " \t\r") == "---" {
			if at > MaxFrontMatter {
				return "", "", errs.Errorf(errs.TooLarge, "has front matter of more than %d bytes", MaxFrontMatter)
			}
			return strings.ReplaceAll(rest[:at], "\r\n", "\n"), rest[next:], nil
		}
		at = next
	}
	return "", "", errs.Errorf(errs.Invalid, "has front matter that does not end: a line --- is missing")
}

// mapping reads front matter; nil if it says nothing.
func mapping(matter string) (ast.Node, error) {
	if err := plainyaml.Check([]byte(matter), MaxFrontMatter, maxNesting); err != nil {
		return nil, located(err)
	}
	file, err := parser.ParseBytes([]byte(matter), 0)
	if err != nil {
		return nil, located(plainyaml.ProblemOf(err))
	}
	if len(file.Docs) == 0 {
		return nil, nil
	}
	return file.Docs[0].Body, nil
}

// located says what is wrong with front matter, with the file's line.
func located(err error) error {
	if problem, ok := errors.AsType[*plainyaml.Problem](err); ok && problem.Line > 0 {
		return at(problem.Line, "%s", problem.Text)
	}
	return errs.Errorf(errs.Invalid, "has front matter that cannot be read: it %s", err)
}

// at is a mistake in a line of the front matter; the line before it is the file's first.
func at(line int, format string, args ...any) error {
	return errs.Errorf(errs.Invalid, "line %d: %s", line+1, fmt.Sprintf(format, args...))
}

// read puts what a mapping says into a draft: the original lessons folder's keys if it is the top one, and ours if it stands under ownKey.
// Unknown keys are refused, so that nothing that somebody wrote is dropped when the file is written again.
func read(d *lesson.Draft, node ast.Node, top bool) error {
	if node == nil || node.Type() == ast.NullType {
		return nil
	}
	members, ok := node.(ast.MapNode)
	if !ok {
		return at(node.GetToken().Position.Line, "is no mapping of keys to values")
	}
	known := ownKeys()
	if top {
		known = seedKeys()
	}
	for member := members.MapRange(); member.Next(); {
		name, value := member.Key().GetToken().Value, member.Value()
		line := member.Key().GetToken().Position.Line
		k := slices.IndexFunc(known, func(k key) bool { return k.name == name })
		var err error
		switch {
		case top && name == ownKey:
			err = read(d, value, false)
		case k < 0:
			err = at(line, "unknown field %q", name)
		default:
			err = set(reflect.ValueOf(d).Elem().Field(known[k].field), name, value)
			if err != nil && errs.FieldOf(err) == "" {
				err = at(line, "%s %s", name, errs.MessageOf(err))
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// set puts a value of the front matter into a draft's field; one that is empty leaves the default.
func set(field reflect.Value, name string, node ast.Node) error {
	if field.Kind() == reflect.Slice {
		items, err := list(node)
		field.Set(reflect.ValueOf(items))
		return err
	}
	s, err := scalar(node)
	if err != nil || s == "" {
		return err
	}
	switch {
	case name == "last_validated_at":
		date := s
		if day, rest, is := strings.Cut(s, "T"); is && strings.Contains(rest, ":") { // some YAML writers make a date a time
			date = day
		}
		day, err := time.Parse(time.DateOnly, date)
		if err != nil {
			return errs.InvalidField(name, "is no date such as 2026-11-21")
		}
		field.Set(reflect.ValueOf(&day))
	case name == "confidence" || name == "transferability":
		// A library that decoded it into an int would take 3.9 for 3.
		n, err := strconv.ParseFloat(s, 64)
		if err != nil || n != math.Trunc(n) || n < 1 || n > 5 {
			return errs.InvalidField(name, "must be a whole number from 1 to 5")
		}
		if name == "confidence" {
			field.Set(reflect.ValueOf(believed(int(n))))
		} else {
			field.SetInt(int64(n))
		}
	case field.Kind() == reflect.Bool:
		yes, err := strconv.ParseBool(s)
		if err != nil {
			return errs.InvalidField(name, "must be true or false")
		}
		field.SetBool(yes)
	default:
		field.SetString(s)
	}
	return nil
}

// scalar is a scalar as it was written: 007, 1e3 and yes are names too.
func scalar(node ast.Node) (string, error) {
	switch node := node.(type) {
	case *ast.NullNode:
		return "", nil
	case *ast.StringNode:
		return node.Value, nil
	case *ast.LiteralNode:
		return node.Value.Value, nil
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return node.GetToken().Value, nil
	}
	return "", errs.Errorf(errs.Invalid, "is not one text")
}

// list is a list of scalars; one text with commas is one too, as hand-written front matter has it.
func list(node ast.Node) (items []string, err error) {
	sequence, ok := node.(*ast.SequenceNode)
	if !ok {
		s, err := scalar(node)
		if err != nil {
			return nil, errs.Errorf(errs.Invalid, "is not a list")
		}
		for item := range strings.SplitSeq(s, ",") {
			if item = strings.TrimSpace(item); item != "" {
				items = append(items, item)
			}
		}
		return items, nil
	}
	for _, value := range sequence.Values {
		s, err := scalar(value)
		if err != nil {
			return nil, errs.Errorf(errs.Invalid, "is not a list of texts")
		}
		items = append(items, s)
	}
	return items, nil
}

// heading is the heading that a Markdown text begins with.
func heading(body string) string {
	for _, section := range markdown.Read([]byte(body)).Sections {
		if section.Level > 0 || len(section.Blocks) > 0 {
			return section.Heading
		}
	}
	return ""
}
