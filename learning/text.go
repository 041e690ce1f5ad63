package learning

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

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

// Fingerprint is the same for entries of the same content. It is half of a SHA-256 over the
// project and the normalised title and content. With 128 bits two different entries do not
// get the same one by chance.
type Fingerprint [16]byte

// FingerprintOf normalises title and content and hashes them. The project is a
// name and is compared exactly.
func FingerprintOf(project, title, content string) Fingerprint {
	// NUL separates the parts: no text may hold it.
	buf := make([]byte, 0, len(project)+len(title)+len(content)+2)
	buf = append(append(buf, project...), 0)
	buf = append(AppendNormal(buf, title), 0)
	buf = AppendNormal(buf, content)
	sum := sha256.Sum256(buf)
	return Fingerprint(sum[:16])
}

// AppendNormal appends text as it is compared: Unicode NFC, case folded, each
// run of white space one space, none at either end.
func AppendNormal(buf []byte, text string) []byte {
	// Folding can undo the composition (U+0390 folds to three runes), and so it is
	// composed again; https://www.unicode.org/reports/tr15/#Detecting_Normalization_Forms
	text = norm.NFC.String(cases.Fold().String(norm.NFC.String(text)))
	return append(buf, strings.Join(strings.Fields(text), " ")...)
}

// Line is an entry of any kind as an index of a project's memory shows it.
type Line struct {
	Kind    string // knowledge, episode, fact or procedure
	Number  int64
	ID      string
	Title   string
	Text    string // its first LineText characters
	Length  int64  // of all of it, in characters
	Subject string // its category
	Author  string
	Trust   Trust
	Uses    int64
	At      time.Time
	Project string
	Place
	Worth float64 // of an import below 0, else from 0 to about 3
}

// LineText is how many characters of an entry's text a Line has.
const LineText = 600

// LinesQuery asks for the entries of some projects, and of a persona, that are worth the most: by use, freshness and
// trust, those of the place first and imported ones last.
type LinesQuery struct {
	Projects []string // "": of none
	Persona  string   // empty: facts and procedures, which belong to a persona, are not asked for
	Place    Place
	At       time.Time
	Limit    int
}

// Lines answers a LinesQuery.
type Lines struct {
	Lines    []Line           // what is worth the most first
	Subjects map[string]int64 // how many entries there are of each subject, over all of them
}

// Named is a row of a kind by the id that its kind reads it by.
type Named struct{ Kind, ID string }
