package folder

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/lazyregexp"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// ownKey is the key under which a file says what a lesson has beyond the original lessons folder's keys.
const ownKey = "skillrouter"

// seedNames are the original lessons folder's keys, in the order of a file. Its summary is a lesson's context.
var seedNames = []string{"id", "level", "status", "tags", "confidence", "transferability", "source_case_ids", "last_validated_at", "title", "summary"}

// key is a key of a file, and the index of the field of a draft that it sets.
type key struct {
	name  string
	field int
}

// seedKeys and ownKeys are all keys; ours are named and ordered as a draft's fields are. bodyKey stands for the text below them.
var (
	seedKeys = sync.OnceValue(func() []key { return keysWhere(func(name string) bool { return slices.Contains(seedNames, name) }) })
	ownKeys  = sync.OnceValue(func() []key {
		return keysWhere(func(name string) bool {
			return name != "-" && name != "body" && name != "force" && !slices.Contains(seedNames, name)
		})
	})
	bodyKey = sync.OnceValue(func() []key { return keysWhere(func(name string) bool { return name == "body" }) })
)

func keysWhere(is func(name string) bool) (keys []key) {
	draft := reflect.TypeFor[lesson.Draft]()
	for i := range draft.NumField() {
		name, _, _ := strings.Cut(draft.Field(i).Tag.Get("json"), ",")
		if name == "context" {
			name = "summary"
		}
		if is(name) {
			keys = append(keys, key{name, i})
		}
	}
	slices.SortStableFunc(keys, func(a, b key) int { return slices.Index(seedNames, a.name) - slices.Index(seedNames, b.name) })
	return keys
}

// Render writes a draft as a file: the original lessons folder's keys first, each on one line, so
// that readers that know no YAML find them; then ours under "skillrouter", without what is the default; then
// the body as it is. The result is read back before it is returned: a draft
// that a file cannot hold is Invalid or TooLarge.
func Render(d lesson.Draft) ([]byte, error) {
	var file []byte
	for _, blocks := range []bool{true, false} {
		file = render(d, blocks)
		back, err := Parse(file, d.Level, DefaultDomain)
		if err == nil && len(differing(d, back)) == 0 {
			return file, nil
		}
		if !blocks && err != nil {
			return nil, err
		}
	}
	return nil, errs.Errorf(errs.Invalid, "cannot be written to a file and read back unchanged")
}

// render writes a file. blocks writes texts of several lines as YAML's block
// literals where they can be, which people can read; quotes hold any text.
func render(d lesson.Draft, blocks bool) []byte {
	var b, own strings.Builder
	said, usual := reflect.ValueOf(d), reflect.ValueOf(plain(DefaultDomain))
	b.WriteString("---\n")
	for _, k := range seedKeys() {
		value := said.Field(k.field)
		text := written(value)
		if value.Kind() == reflect.Slice {
			items := make([]string, value.Len())
			for i := range items {
				items[i] = word(value.Index(i).String())
			}
			text = "[" + strings.Join(items, ", ") + "]"
		} else if value.Kind() == reflect.String && text != "" {
			text = word(text)
		}
		b.WriteString(strings.TrimRight(k.name+": "+text, " ") + "\n")
	}
	for _, k := range ownKeys() {
		switch value := said.Field(k.field); {
		case written(value) == written(usual.Field(k.field)):
		case value.Kind() == reflect.Slice:
			fmt.Fprintf(&own, "  %s:\n", k.name)
			for i := range value.Len() {
				fmt.Fprintf(&own, "    - %s\n", word(value.Index(i).String()))
			}
		case value.Kind() != reflect.String:
			fmt.Fprintf(&own, "  %s: %s\n", k.name, written(value))
		case blocks && inBlock.MatchString(value.String()) && !strings.ContainsFunc(value.String(), func(r rune) bool { return r != '\n' && unsafe(r) }):
			fmt.Fprintf(&own, "  %s: |-\n%s\n", k.name, indented.ReplaceAllString(value.String(), "    $0"))
		default:
			fmt.Fprintf(&own, "  %s: %s\n", k.name, word(value.String()))
		}
	}
	if own.Len() > 0 {
		b.WriteString(ownKey + ":\n" + own.String())
	}
	b.WriteString("---\n" + d.Body)
	return []byte(b.String())
}

var (
	// inBlock is a text of several lines of which a block literal loses nothing: no line of spaces alone, and none at either end.
	inBlock  = lazyregexp.New(`^\S.*(?:\n|\n.*\S)*\n.*\S$`)
	indented = lazyregexp.New(`(?m)^.+`)
	// bare is a text that YAML reads as that text without quotes.
	bare = lazyregexp.New(`^[A-Za-z](?:[A-Za-z0-9._/-]| [A-Za-z0-9._/-])*$`)
)

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
			b.WriteString(`\` + string(r))
		case r == '\n':
			b.WriteString(`\n`)
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

// unsafe tells of characters that YAML, or an editor, may change or not show.
func unsafe(r rune) bool {
	return unicode.IsControl(r) || r == 0x2028 || r == 0x2029 || r == 0xfeff || unicode.Is(unicode.Bidi_Control, r)
}

// written is a draft's field as a text by which two are compared.
func written(value reflect.Value) string {
	switch v := value.Interface().(type) {
	case []string:
		return strings.Join(append([]string{strconv.Itoa(len(v))}, v...), "\x00")
	case *float64:
		if v == nil {
			return ""
		}
		return strconv.Itoa(Stars(*v))
	case *time.Time:
		if v == nil {
			return ""
		}
		return v.UTC().Format(time.DateOnly)
	}
	return fmt.Sprint(value.Interface())
}

// differing are the keys in which two drafts differ.
func differing(a, b lesson.Draft) (keys []key) {
	for _, k := range slices.Concat(seedKeys(), ownKeys(), bodyKey()) {
		if written(reflect.ValueOf(a).Field(k.field)) != written(reflect.ValueOf(b).Field(k.field)) {
			keys = append(keys, k)
		}
	}
	return keys
}
