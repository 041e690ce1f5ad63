package learning

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/redact"
	"github.com/skillrouter/skillrouter/internal/strictjson"
)

// FirstLine returns a text up to its first line break.
func FirstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// maxFactDepth bounds how deep a value may be nested: what readers in other
// languages can take apart without running out of stack.
const maxFactDepth = 200

// CleanJSON checks a value of JSON, takes its white space out, and cuts secrets out of its strings. Numbers, the order of members and
// everything else stay as they were written. An empty value stays empty. most bounds it, in bytes without its white space.
func CleanJSON(redaction *redact.Redaction, field string, raw json.RawMessage, most int) (json.RawMessage, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, nil
	}
	if !utf8.Valid(raw) {
		return nil, errs.InvalidField(field, "is not valid UTF-8")
	}
	var compact bytes.Buffer
	if json.Compact(&compact, raw) != nil {
		return nil, errs.InvalidField(field, "is not valid JSON")
	}
	if compact.Len() > most {
		return nil, &errs.Error{Code: errs.TooLarge, Field: field, Message: fmt.Sprintf("is %d bytes of JSON, at most %d are stored", compact.Len(), most)}
	}
	if err := checkJSON(field, compact.Bytes()); err != nil {
		return nil, err
	}
	return redaction.JSON(compact.Bytes()), nil
}

// checkJSON refuses valid JSON that is nested too deep, or holds a NUL.
func checkJSON(field string, text []byte) error {
	if strictjson.Depth(text) > maxFactDepth {
		return errs.InvalidField(field, "is nested deeper than %d", maxFactDepth)
	}
	for i := bytes.IndexByte(text, '\\'); i >= 0 && i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		if bytes.HasPrefix(text[i:], []byte(`\u0000`)) {
			return errs.InvalidField(field, "may not hold the character NUL")
		}
		i++
	}
	return nil
}

// Sentence is what a caller may read of a record's error, with its field.
func Sentence(err error) string {
	if field := errs.FieldOf(err); field != "" {
		return field + " " + errs.MessageOf(err)
	}
	return errs.MessageOf(err)
}

// FoldDomain returns a domain as domains are compared.
func FoldDomain(domain string) string { return Fold(strings.TrimSpace(domain)) }

// DefaultFactCategory is the persona memory's.
const DefaultFactCategory = "general"

// CheckFactCategory returns the category of a fact or a procedure, the default one if none is said.
func CheckFactCategory(category string) (string, error) {
	if category == "" {
		return DefaultFactCategory, nil
	}
	return strings.TrimSpace(category), CheckCategory(category)
}
