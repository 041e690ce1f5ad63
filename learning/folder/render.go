package folder

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"skillrouter/internal/errs"
	"skillrouter/internal/lazyregexp"
)

// Render writes an entry as a file: the original lessons folder's keys first, each on one line, so
// that readers that know no YAML find them; then ours under "skillrouter"; then
// the body as it is. The result is read back before it is returned: an entry
// that a file cannot hold is Invalid or TooLarge.
func Render(e Entry) ([]byte, error) {
	want := e.Hash()
	for _, layout := range []layout{blocks, quotes} {
		file := layout.render(e)
		back, err := Parse(file, e.Level, DefaultDomain)
		if err == nil && back.Hash() == want {
			return file, nil
		}
		if layout == quotes && err != nil {
			return nil, err
		}
	}
	return nil, errs.Errorf(errs.Invalid, "cannot be written to a file and read back unchanged")
}

// layout says how texts of several lines are written.
type layout int

const (
	blocks layout = iota // as YAML block literals where they can, which people can read
	quotes               // all quoted, which holds any text
)

func (l layout) render(e Entry) []byte {
	var b strings.Builder
	b.WriteString("---\n")
	for _, line := range [][2]string{
		{"id", word(e.ID)},
		{"level", string(e.Level)},
		{"status", string(e.Status)},
		{"tags", flow(e.Tags)},
		{"confidence", strconv.Itoa(e.Confidence)},
		{"transferability", strconv.Itoa(e.Transferability)},
		{"source_case_ids", flow(e.SourceCaseIDs)},
		{"last_validated_at", e.LastValidatedAt},
		{"title", word(e.Title)},
		{"summary", word(e.Summary)},
	} {
		b.WriteString(strings.TrimRight(line[0]+": "+line[1], " ") + "\n")
	}
	var own strings.Builder
	def, x := plain(DefaultDomain), e.Extra
	text := func(key, value, otherwise string) {
		if value == otherwise {
			return
		}
		fmt.Fprintf(&own, "  %s: %s\n", key, l.text(value))
	}
	items := func(key string, values []string) {
		if len(values) == 0 {
			return
		}
		fmt.Fprintf(&own, "  %s:\n", key)
		for _, value := range values {
			fmt.Fprintf(&own, "    - %s\n", word(value))
		}
	}
	text("lesson_type", string(x.Type), string(def.Type))
	text("domain", x.Domain, def.Domain)
	text("category", x.Category, def.Category)
	text("severity", string(x.Severity), string(def.Severity))
	text("action_taken", x.Action, def.Action)
	text("outcome", x.Outcome, def.Outcome)
	text("root_cause", x.RootCause, "")
	text("solution", x.Solution, "")
	items("alternatives", x.Alternatives)
	items("related_files", x.RelatedFiles)
	items("related_commands", x.RelatedCommands)
	items("contexts", x.Contexts)
	text("trigger_pattern", x.TriggerPattern, "")
	if x.BlockAction {
		own.WriteString("  block_action: true\n")
	}
	if x.Proposed {
		own.WriteString("  proposed: true\n")
	}
	text("source_agent", x.SourceAgent, "")
	text("project", x.Project, "")
	if own.Len() > 0 {
		b.WriteString("skillrouter:\n" + own.String())
	}
	b.WriteString("---\n" + e.Body)
	return []byte(b.String())
}

// text is a value below "skillrouter".
func (l layout) text(s string) string {
	if l == quotes || !strings.Contains(s, "\n") || strings.HasPrefix(s, " ") || strings.HasPrefix(s, "\n") ||
		strings.ContainsFunc(s, func(r rune) bool { return r != '\n' && unsafe(r) }) {
		return word(s)
	}
	lines := strings.Split(s, "\n")
	chomp := "|-"
	if lines[len(lines)-1] == "" {
		chomp, lines = "|", lines[:len(lines)-1]
	}
	for i, line := range lines {
		if line != "" && strings.TrimSpace(line) == "" || i == len(lines)-1 && line == "" {
			return word(s) // spaces alone, and blank lines at the end, are lost in a block
		}
		if line != "" {
			lines[i] = "    " + line
		}
	}
	return chomp + "\n" + strings.Join(lines, "\n")
}

// bare is a text that YAML reads as that text without quotes.
var bare = lazyregexp.New(`^[A-Za-z](?:[A-Za-z0-9._/-]| [A-Za-z0-9._/-])*$`)

// reserved are bare words that some YAML readers take for something else.
var reserved = []string{"null", "true", "false", "yes", "no", "on", "off", "y", "n"}

// word is a scalar on one line.
func word(s string) string {
	if bare.MatchString(s) && !slices.Contains(reserved, strings.ToLower(s)) {
		return s
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r > 0xffff && unsafe(r):
			fmt.Fprintf(&b, `\U%08x`, r)
		case unsafe(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func flow(items []string) string {
	words := make([]string, len(items))
	for i, item := range items {
		words[i] = word(item)
	}
	return "[" + strings.Join(words, ", ") + "]"
}

// unsafe tells of characters that YAML, or an editor, may change or not show.
func unsafe(r rune) bool {
	return unicode.IsControl(r) || r == 0x2028 || r == 0x2029 || r == 0xfeff || unicode.Is(unicode.Bidi_Control, r)
}
