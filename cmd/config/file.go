package config

import (
	_ "embed"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/skillrouter/skillrouter/internal/errs"
)

// decode reads the YAML text over c and returns the names of the settings
// that it sets. Unknown and repeated keys, anchors, aliases, merge keys, tags
// and further documents are refused: a configuration needs none of them.
func decode(name string, text []byte, c *Config) ([]string, error) {
	for _, tok := range lexer.Tokenize(string(text)) {
		switch tok.Type {
		case token.AnchorType, token.AliasType, token.MergeKeyType, token.TagType:
			return nil, refused(name, tok.Position.Line, "anchors, aliases, merge keys and tags are not accepted")
		}
	}
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		return nil, located(name, err)
	}
	if len(file.Docs) > 1 {
		return nil, errs.Errorf(errs.Invalid, "%s: holds more than one document", name)
	}
	keys := []string{}
	for _, doc := range file.Docs {
		switch body := doc.Body.(type) {
		case nil, *ast.NullNode, *ast.CommentGroupNode:
			return keys, nil // an empty file, or comments alone
		case ast.MapNode:
			keys = names(body, "", keys)
		default:
			return nil, refused(name, body.GetToken().Position.Line, "must hold settings as key: value")
		}
	}
	if err := yaml.UnmarshalWithOptions(text, c, yaml.DisallowUnknownField()); err != nil {
		return nil, located(name, err)
	}
	for _, s := range Settings() {
		if list, is := s.of(c).(*[]string); is && *list == nil {
			*list = []string{}
		}
	}
	return keys, nil
}

// names lists the leaves of a mapping as dotted names.
func names(node ast.MapNode, prefix string, list []string) []string {
	for entries := node.MapRange(); entries.Next(); {
		key := prefix + entries.Key().GetToken().Value
		if below, ok := entries.Value().(ast.MapNode); ok {
			list = names(below, key+".", list)
		} else {
			list = append(list, key)
		}
	}
	return list
}

func refused(name string, line int, format string, args ...any) error {
	return errs.Errorf(errs.Invalid, "%s:%d: %s", name, line, fmt.Sprintf(format, args...))
}

// located turns an error of the YAML library into one that names the file and
// the line, without the excerpt that the library draws.
func located(name string, err error) error {
	var at yaml.Error
	if !errors.As(err, &at) {
		return errs.Wrap(errs.Invalid, err, "%s: is not valid YAML", name)
	}
	message, _, _ := strings.Cut(at.GetMessage(), "\n")
	var mistyped *yaml.TypeError
	if errors.As(err, &mistyped) {
		message = "the value is not " + wanted(mistyped.DstType)
	}
	if tok := at.GetToken(); tok != nil {
		if line := strings.TrimSpace(lineOf(tok)); line != "" {
			message += " in " + fmt.Sprintf("%q", line)
		}
		return refused(name, tok.Position.Line, "%s", message)
	}
	return errs.Errorf(errs.Invalid, "%s: %s", name, message)
}

// wanted names a Go type in words for people who write YAML.
func wanted(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[time.Duration]():
		return "a duration such as 15s, 2m or 1h30m"
	case t.Kind() == reflect.Slice:
		return "a list"
	case t.Kind() == reflect.Float64:
		return "a number such as 0.7"
	case t.Kind() == reflect.Int:
		return "a whole number such as 8192"
	case t.Kind() == reflect.Bool:
		return "true or false"
	case t.Kind() == reflect.Struct || t.Kind() == reflect.Map:
		return "a section of settings"
	}
	return "a text"
}

// lineOf rebuilds the text of the line that a token stands on.
func lineOf(tok *token.Token) string {
	first := tok
	for first.Prev != nil && first.Prev.Position.Line == tok.Position.Line {
		first = first.Prev
	}
	var line strings.Builder
	for ; first != nil && first.Position.Line == tok.Position.Line; first = first.Next {
		line.WriteString(strings.Trim(first.Origin, "\n"))
	}
	return line.String()
}

// Example is an annotated configuration file that says every setting and its
// default.
//
//go:embed skillrouter.example.yaml
var Example string
