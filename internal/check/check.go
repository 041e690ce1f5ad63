// Package check says what callers may send as names, ids and texts.
package check

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/redact"
)

// Bounds on what callers may send as names and ids. They keep rows, indexes
// and log lines small; none of the earlier programs comes near them.
const (
	MaxAgentID = 64  // DESIGN.md, decision 4
	MaxName    = 128 // project, category, signal, status, role and the like, in bytes
	MaxPlace   = 400 // a folder below a repository's root, and a branch, in bytes
)

// NewID returns an id that grows with time (UUID version 7).
func NewID() string { return uuid.Must(uuid.NewV7()).String() }

// AgentID returns an Invalid error, naming field, unless id is 1–64 of
// the characters A–Z a–z 0–9 . _ : -. It may not begin with a - or be dots alone: such
// a name is an option to a program, or a folder.
func AgentID(field, id string) error {
	if id == "" {
		return errs.InvalidField(field, "is required")
	}
	if len(id) > MaxAgentID {
		return errs.InvalidField(field, "is longer than %d characters", MaxAgentID)
	}
	if !Only(id, "._:-") {
		return errs.InvalidField(field, "may hold only letters A–Z and a–z, digits, and . _ : -")
	}
	if id[0] == '-' || strings.Trim(id, ".") == "" {
		return errs.InvalidField(field, "may not begin with - or be dots alone")
	}
	return NoSecret(field, id)
}

// Only tells whether a text has only ASCII letters, digits and some other characters.
func Only(s, others string) bool {
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"+others) == ""
}

// OwnSessionID returns the id that a session gets if the id that its client chose belongs to
// another agent. It contains a "~", which a client may not use, so no client can choose such
// an id.
func OwnSessionID(id, agentID string) string { return id + "~" + agentID }

// Name returns an Invalid error, naming field, unless s is at most
// MaxName bytes of printable UTF-8 on one line, and no secret. Empty is allowed.
func Name(field, s string) error {
	if err := Line(field, s); err != nil {
		return err
	}
	return NoSecret(field, s)
}

// Line is CheckName for a text whose secrets are cut out elsewhere.
func Line(field, s string) error {
	if len(s) > MaxName {
		return errs.InvalidField(field, "is longer than %d bytes", MaxName)
	}
	if err := Text(field, s, MaxName); err != nil {
		return err
	}
	if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r == 0x2028 || r == 0x2029 }) {
		return errs.InvalidField(field, "may not hold control characters or line breaks")
	}
	return nil
}

// OneLine makes a text one line. It replaces line breaks and other control characters by
// spaces, and removes white space at both ends.
func OneLine(s string) string {
	if strings.ContainsFunc(s, BreaksLine) {
		s = strings.Map(func(r rune) rune {
			if BreaksLine(r) {
				return ' '
			}
			return r
		}, s)
	}
	return strings.TrimSpace(s)
}

// BreaksLine tells whether a character is a control character or a line break.
func BreaksLine(r rune) bool { return unicode.IsControl(r) || r == 0x2028 || r == 0x2029 }

// Text returns an error, naming field, unless s is valid UTF-8 without
// NUL (Invalid) and at most max bytes (TooLarge). Empty is allowed.
func Text(field, s string, max int) error {
	if len(s) > max {
		return &errs.Error{Code: errs.TooLarge, Field: field, Message: fmt.Sprintf("is longer than %d bytes", max)}
	}
	if !utf8.ValidString(s) {
		return errs.InvalidField(field, "is not valid UTF-8")
	}
	if strings.IndexByte(s, 0) >= 0 {
		return errs.InvalidField(field, "may not hold the character NUL")
	}
	return nil
}

// Required is CheckText for a text that must hold more than white space.
func Required(field, s string, max int) error {
	if strings.TrimSpace(s) == "" {
		return errs.InvalidField(field, "is required")
	}
	return Text(field, s, max)
}

// Range returns an Invalid error, naming field, unless lo ≤ x ≤ hi; NaN is out of every range.
func Range(field string, x, lo, hi float64) error {
	if math.IsNaN(x) || x < lo || x > hi {
		return errs.InvalidField(field, "must lie between %g and %g", lo, hi)
	}
	return nil
}

// OneOf returns an Invalid error, naming field and what is allowed, unless s is allowed.
func OneOf[T ~string](field string, s T, allowed []T) error {
	switch {
	case slices.Contains(allowed, s):
		return nil
	case s == "":
		return errs.InvalidField(field, "is required: one of %v", allowed)
	}
	return errs.InvalidField(field, "is not one of %v", allowed)
}

// Optional is CheckOneOf for a choice that may be empty.
func Optional[T ~string](field string, s T, allowed []T) error {
	if s == "" {
		return nil
	}
	return OneOf(field, s, allowed)
}

// Each is CheckOneOf for each of a list.
func Each[T ~string](field string, list, allowed []T) error {
	for _, s := range list {
		if err := OneOf(field, s, allowed); err != nil {
			return err
		}
	}
	return nil
}

// OptionalAgent is CheckAgentID for an id that may be empty.
func OptionalAgent(field, id string) error {
	if id == "" {
		return nil
	}
	return AgentID(field, id)
}

// OptionalRange is CheckRange for a number that may be left out.
func OptionalRange(field string, n *float64, lo, hi float64) error {
	if n == nil {
		return nil
	}
	return Range(field, *n, lo, hi)
}

// Texts is CheckText for several fields. The pairs are as those of CheckNames.
func Texts(max int, pairs ...string) error {
	for i := 0; i+1 < len(pairs); i += 2 {
		if err := Text(pairs[i], pairs[i+1], max); err != nil {
			return err
		}
	}
	return nil
}

// Names is CheckName for several fields. The arguments are pairs of a field's name and
// its value.
func Names(pairs ...string) error {
	for i := 0; i+1 < len(pairs); i += 2 {
		if err := Name(pairs[i], pairs[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// Limit returns how many items to answer: def if asked is zero, and an
// Invalid error if asked is negative or over max.
func Limit(asked, def, max int) (int, error) {
	switch {
	case asked == 0:
		return def, nil
	case asked < 0 || asked > max:
		return 0, errs.InvalidField("limit", "must lie between 1 and %d", max)
	}
	return asked, nil
}

// SetLimit is Limit of a filter's own.
func SetLimit(limit *int, def, max int) (err error) {
	*limit, err = Limit(*limit, def, max)
	return err
}

// DefaultPersona is whose memory is meant if nobody says (of the persona's memory).
const DefaultPersona = "default"

// SharedPersona is, beside DefaultPersona, the persona whose facts and procedures
// every agent may write over and delete.
const SharedPersona = "shared"

// MaxPersona bounds a persona's name, in bytes; it may become a folder's.
const MaxPersona = 64

// Persona returns the name of a persona, or DefaultPersona for an empty name. It
// returns an Invalid error unless the name has only letters, digits and . _ - and begins with
// a letter or a digit. Such a name is safe as the name of a folder.
func Persona(name string) (string, error) {
	if name == "" {
		return DefaultPersona, nil
	}
	if len(name) > MaxPersona {
		return "", errs.InvalidField("persona", "is longer than %d bytes", MaxPersona)
	}
	if !Only(name[:1], "") || !Only(name, "._-") {
		return "", errs.InvalidField("persona", "must be letters A–Z and a–z, digits, and after the first also . _ -")
	}
	return name, NoSecret("persona", name)
}

// Head returns the beginning of a text, at most that many bytes of whole characters.
func Head(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// Clip shortens a text to at most so many bytes, at a word where it can, and marks that something is missing.
func Clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	const mark = "…"
	text = Head(text, most-len(mark))
	if space := strings.LastIndexByte(text, ' '); space > len(text)/2 {
		text = text[:space]
	}
	return strings.TrimSpace(text) + mark
}

// Traceparent tells whether a text is a header of https://www.w3.org/TR/trace-context/ in its version 00. Ids of zeros alone are none.
func Traceparent(text string) bool {
	parts := strings.Split(text, "-")
	if len(parts) != 4 || parts[0] != "00" || strings.Trim(parts[1], "0") == "" || strings.Trim(parts[2], "0") == "" {
		return false
	}
	for i, size := range []int{2, 32, 16, 2} {
		if len(parts[i]) != size || strings.Trim(parts[i], "0123456789abcdef") != "" {
			return false
		}
	}
	return true
}

// NoSecret returns an error that names the field if the text contains a secret. It is for
// names, keys and ids, from which a secret cannot be removed without naming something else.
func NoSecret(field, text string) error {
	if kind := redact.InName(text); kind != "" {
		return errs.InvalidField(field, "holds a secret (%s), which is never stored", kind)
	}
	return nil
}
