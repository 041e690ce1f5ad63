package folder

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"

	"skillrouter/internal/errs"
	"skillrouter/learning/lesson"
)

// maxNesting bounds how deep front matter nests: a list below a key below
// "skillrouter" is three. A library that reads nested brackets recursively takes
// a minute for 64 KB of them.
const maxNesting = 8

// front is the front matter. Unknown keys are refused, so that nothing that
// somebody wrote is dropped when the file is written again.
type front struct {
	ID              text   `yaml:"id"`
	Level           text   `yaml:"level"`
	Status          text   `yaml:"status"`
	Tags            list   `yaml:"tags"`
	Confidence      text   `yaml:"confidence"`
	Transferability text   `yaml:"transferability"`
	SourceCaseIDs   list   `yaml:"source_case_ids"`
	LastValidatedAt text   `yaml:"last_validated_at"`
	Title           text   `yaml:"title"`
	Summary         text   `yaml:"summary"`
	Own             *extra `yaml:"skillrouter"`
}

type extra struct {
	Type            text `yaml:"lesson_type"`
	Domain          text `yaml:"domain"`
	Category        text `yaml:"category"`
	Severity        text `yaml:"severity"`
	Action          text `yaml:"action_taken"`
	Outcome         text `yaml:"outcome"`
	RootCause       text `yaml:"root_cause"`
	Solution        text `yaml:"solution"`
	Alternatives    list `yaml:"alternatives"`
	RelatedFiles    list `yaml:"related_files"`
	RelatedCommands list `yaml:"related_commands"`
	Contexts        list `yaml:"contexts"`
	TriggerPattern  text `yaml:"trigger_pattern"`
	BlockAction     bool `yaml:"block_action"`
	Proposed        bool `yaml:"proposed"`
	SourceAgent     text `yaml:"source_agent"`
	Project         text `yaml:"project"`
}

// text is a scalar as it was written: 007, 1e3 and yes are names too.
type text string

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (t *text) UnmarshalYAML(node ast.Node) error {
	s, err := scalar(node)
	*t = text(s)
	return err
}

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
	return "", errors.New("is not one text")
}

// list is a list of scalars; one text with commas is one too, as hand-written front matter has it.
type list []string

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (l *list) UnmarshalYAML(node ast.Node) error {
	*l = nil
	sequence, ok := node.(*ast.SequenceNode)
	if !ok {
		s, err := scalar(node)
		if err != nil {
			return errors.New("is not a list")
		}
		for item := range strings.SplitSeq(s, ",") {
			if item = strings.TrimSpace(item); item != "" {
				*l = append(*l, item)
			}
		}
		return nil
	}
	for _, value := range sequence.Values {
		s, err := scalar(value)
		if err != nil {
			return errors.New("is not a list of texts")
		}
		*l = append(*l, s)
	}
	return nil
}

// Parse reads a lesson's file. What it does not say has a default: the level of
// the place that the file stands in, and the given domain. Errors are Invalid
// or TooLarge and name the line or the key.
func Parse(file []byte, place lesson.Level, domain string) (Entry, error) {
	matter, body, err := split(file)
	if err != nil {
		return Entry{}, err
	}
	var f front
	if err := decode(matter, &f); err != nil {
		return Entry{}, err
	}
	domain = cmp.Or(domain, DefaultDomain)
	e := Entry{
		ID: string(f.ID), Level: lesson.Level(cmp.Or(string(f.Level), string(place))),
		Status: lesson.Status(cmp.Or(string(f.Status), string(lesson.StatusCandidate))),
		Tags:   f.Tags, SourceCaseIDs: f.SourceCaseIDs, Title: string(f.Title), Summary: string(f.Summary),
		Extra: plain(domain), Body: body,
	}
	// Some YAML writers make a date a time.
	e.LastValidatedAt = string(f.LastValidatedAt)
	if date, rest, ok := strings.Cut(e.LastValidatedAt, "T"); ok && strings.Contains(rest, ":") {
		e.LastValidatedAt = date
	}
	if e.Confidence, err = wholeNumber("confidence", f.Confidence, Stars(lesson.DefaultConfidence)); err != nil {
		return Entry{}, err
	}
	if e.Transferability, err = wholeNumber("transferability", f.Transferability, lesson.DefaultTransferability); err != nil {
		return Entry{}, err
	}
	if e.Title == "" {
		e.Title = cmp.Or(heading(body), e.ID)
	}
	f.Own.over(&e.Extra)
	return e, e.check()
}

// over puts what the front matter says over the defaults.
func (x *extra) over(e *Extra) {
	if x == nil {
		return
	}
	for _, part := range []struct {
		to   *string
		from text
	}{
		{(*string)(&e.Type), x.Type},
		{&e.Domain, x.Domain},
		{&e.Category, x.Category},
		{(*string)(&e.Severity), x.Severity},
		{&e.Action, x.Action},
		{&e.Outcome, x.Outcome},
		{&e.RootCause, x.RootCause},
		{&e.Solution, x.Solution},
		{&e.TriggerPattern, x.TriggerPattern},
		{&e.SourceAgent, x.SourceAgent},
		{&e.Project, x.Project},
	} {
		if part.from != "" {
			*part.to = string(part.from)
		}
	}
	e.Alternatives, e.RelatedFiles, e.RelatedCommands, e.Contexts = x.Alternatives, x.RelatedFiles, x.RelatedCommands, x.Contexts
	e.BlockAction, e.Proposed = x.BlockAction, x.Proposed
}

// whole reads a number of the original lessons folder's scales. A library that decoded it into an
// int would take 3.9 for 3.
func wholeNumber(field string, value text, otherwise int) (int, error) {
	if value == "" {
		return otherwise, nil
	}
	n, err := strconv.ParseFloat(string(value), 64)
	if err != nil || n != math.Trunc(n) || n < 1 || n > 5 {
		return 0, errs.InvalidField(field, "must be a whole number from 1 to 5")
	}
	return int(n), nil
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
		end := strings.IndexByte(rest[at:], '\n')
		next := at + end + 1
		if end < 0 {
			end, next = len(rest)-at, len(rest)
		}
		if strings.TrimRight(rest[at:at+end], " \t\r") == "---" {
			if at > MaxFrontMatter {
				return "", "", errs.Errorf(errs.TooLarge, "has front matter of more than %d bytes", MaxFrontMatter)
			}
			return strings.ReplaceAll(rest[:at], "\r\n", "\n"), rest[next:], nil
		}
		at = next
	}
	return "", "", errs.Errorf(errs.Invalid, "has front matter that does not end: a line --- is missing")
}

// decode reads front matter. Repeated keys are refused by the library; anchors,
// aliases, merge keys, tags, directives and deep nesting here, before anything
// follows them.
func decode(matter string, f *front) error {
	depth, entries, line := 0, 0, 0
	for _, tok := range lexer.Tokenize(matter) {
		switch tok.Type {
		case token.AnchorType, token.AliasType, token.MergeKeyType, token.TagType, token.DirectiveType, token.MappingKeyType:
			return at(tok.Position.Line, "anchors, aliases, merge keys, tags, directives and explicit keys are not accepted")
		case token.DocumentHeaderType, token.DocumentEndType:
			return at(tok.Position.Line, "holds more than one document")
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth--
		case token.SequenceEntryType:
			if tok.Position.Line != line {
				entries, line = 0, tok.Position.Line
			}
			entries++
		case token.MappingValueType:
			// A block mapping nests by its indentation alone.
			if depth == 0 && tok.Prev != nil && tok.Prev.Position.Line == tok.Position.Line && tok.Prev.Position.Column > 4*maxNesting {
				return at(tok.Position.Line, "is nested too deep")
			}
		}
		if depth > maxNesting || entries > maxNesting {
			return at(tok.Position.Line, "is nested too deep")
		}
	}
	if err := yaml.UnmarshalWithOptions([]byte(matter), f, yaml.DisallowUnknownField()); err != nil {
		return located(err)
	}
	return nil
}

// located says what the YAML library has against front matter, with the file's line.
func located(err error) error {
	detail, ok := errors.AsType[yaml.Error](err)
	if !ok {
		message, _, _ := strings.Cut(err.Error(), "\n")
		return errs.Wrap(errs.Invalid, err, "has front matter that cannot be read: %s", message)
	}
	message, _, _ := strings.Cut(detail.GetMessage(), "\n")
	if tok := detail.GetToken(); tok != nil {
		return at(tok.Position.Line, "%s", message)
	}
	return errs.Errorf(errs.Invalid, "has front matter that cannot be read: %s", message)
}

// at is a mistake in a line of the front matter; the line before it is the file's first.
func at(line int, format string, args ...any) error {
	return errs.Errorf(errs.Invalid, "line %d: %s", line+1, fmt.Sprintf(format, args...))
}

// heading is the first heading of a Markdown text.
func heading(body string) string {
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") {
			title := strings.TrimSpace(strings.TrimLeft(line, "#"))
			if bare := strings.TrimRight(title, "#"); bare == "" || strings.TrimSpace(bare) != bare { // C# is no closing sign
				title = strings.TrimSpace(bare)
			}
			return title
		}
		if line != "" {
			return ""
		}
	}
	return ""
}
