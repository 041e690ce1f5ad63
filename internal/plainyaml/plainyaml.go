// Package plainyaml reads YAML as people write it by hand: texts, numbers, lists and mappings, and nothing that a reader would have
// to follow. It says where a text is wrong.
package plainyaml

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// Problem is what is wrong with a text, and where.
type Problem struct {
	Line, Column int // from 1; 0: the text as a whole
	Text         string
}

// Error implements error.
func (p *Problem) Error() string {
	if p.Line == 0 {
		return p.Text
	}
	return fmt.Sprintf("%d:%d: %s", p.Line, p.Column, p.Text)
}

const (
	followed = "anchors, aliases, merge keys and tags are not accepted"
	further  = "holds more than one document"
)

// foreign is why a token is refused.
var foreign = map[token.Type]string{
	token.AnchorType: followed, token.AliasType: followed, token.MergeKeyType: followed, token.TagType: followed,
	token.DirectiveType: "directives are not accepted", token.MappingKeyType: "explicit keys are not accepted", token.DocumentEndType: further,
}

// Check refuses what a parser should not be given, with a *Problem: more than most bytes, what is no text, what must be followed, and
// what is nested deeper than depth. A library that reads nested brackets recursively takes a minute for 64 KB of them.
func Check(text []byte, most, depth int) error {
	switch {
	case len(text) > most:
		return &Problem{Text: fmt.Sprintf("is larger than %d bytes", most)}
	case !utf8.Valid(text):
		return &Problem{Text: "is not valid UTF-8"}
	case bytes.IndexByte(text, 0) >= 0:
		return &Problem{Text: "holds the character NUL"}
	}
	nested, entries, line := 0, 0, 0
	for _, tok := range lexer.Tokenize(string(text)) {
		why := foreign[tok.Type]
		switch tok.Type {
		case token.DocumentHeaderType:
			if tok.Prev != nil {
				why = further
			}
		case token.SequenceStartType, token.MappingStartType:
			nested++
		case token.SequenceEndType, token.MappingEndType:
			nested--
		case token.SequenceEntryType: // "- - - -" nests on one line
			if tok.Position.Line != line {
				entries, line = 0, tok.Position.Line
			}
			entries++
		}
		if nested > depth || entries > depth {
			why = fmt.Sprintf("is nested deeper than %d", depth)
		}
		if why != "" {
			return &Problem{tok.Position.Line, tok.Position.Column, why}
		}
	}
	return nil
}

// Decode reads a text that passes Check into v. Unknown and repeated keys are refused; an error is a *Problem.
func Decode(text []byte, most, depth int, v any, options ...yaml.DecodeOption) (err error) {
	defer func() {
		if p := recover(); p != nil { // YAML libraries have panicked on hostile texts before
			err = &Problem{Text: "is not valid YAML"}
		}
	}()
	if err := Check(text, most, depth); err != nil {
		return err
	}
	decode := func(text []byte) error {
		return yaml.UnmarshalWithOptions(text, v, append(options, yaml.DisallowUnknownField())...)
	}
	if err = decode(text); err == nil {
		return nil
	}
	// Of several unknown keys the library names any. The first is the one before which there is none.
	for unknown := err; errors.As(unknown, new(*yaml.UnknownFieldError)); {
		err = unknown
		line := ProblemOf(err).Line
		unknown = decode(bytes.Join(bytes.SplitAfterN(text, []byte("\n"), line)[:line-1], nil))
	}
	return ProblemOf(err)
}

// ProblemOf is an error of the YAML library without the excerpt that it draws.
func ProblemOf(err error) *Problem {
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
