package learning

import (
	"bytes"
	"strings"

	"skillrouter/internal/errs"
	"skillrouter/internal/strictjson"
)

// FirstLine returns a text up to its first line break.
func FirstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// maxFactDepth bounds how deep a value may be nested: what readers in other
// languages can take apart without running out of stack.
const maxFactDepth = 200

// CheckJSON refuses valid JSON that is nested too deep, or holds a NUL.
func CheckJSON(field string, text []byte) error {
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
