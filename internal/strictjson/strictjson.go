// Package strictjson reads JSON as it was meant, and refuses what two readers would read differently.
package strictjson

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/safetext"
)

// What encoding/json lets pass, two readers of the same text can understand
// differently: it takes "AGENT_ID" for agent_id, the last of two members of one
// name, and a half of a surrogate pair for U+FFFD. A checker in front of the
// router may see other values than the router does. So callers' JSON is read here.

// errFollowed is what is wrong with a text that has more than one value.
var errFollowed = errors.New("more than one value")

// NotJSON tells whether DecodeJSON failed because the text is not JSON, and not because of
// its content.
func NotJSON(err error) bool {
	_, syntax := errors.AsType[*json.SyntaxError](err)
	return syntax || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, errFollowed)
}

// Decode reads one JSON value into a pointer. Its errors are Invalid and name the member
// that is wrong. It refuses what CheckJSON refuses, members that the type does not have, and
// bytes that are not UTF-8.
func Decode(text []byte, into any) error { return DecodeBeside(text, into, "") }

// DecodeBeside is Decode of an object that may have one member more, which is not read.
func DecodeBeside(text []byte, into any, beside string) error {
	if !utf8.Valid(text) {
		return errs.Errorf(errs.Invalid, "the record is not valid UTF-8")
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	err := decoder.Decode(into)
	if NotJSON(err) {
		return errs.Wrap(errs.Invalid, err, "the record is not valid JSON")
	}
	if len(bytes.TrimSpace(text[decoder.InputOffset():])) > 0 {
		return errs.Wrap(errs.Invalid, errFollowed, "something follows the record")
	}
	kind := reflect.TypeOf(into).Elem()
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		got, _, _ := strings.Cut(wrong.Value, " ") // "number 1e400": the value is the caller's
		if wrong.Field == "" {
			return errs.Errorf(errs.Invalid, "the record must be an object, and is of the type %s", got)
		}
		return errs.InvalidField(memberOf(wrong.Field), "may not be of the type %s", got)
	}
	if err != nil {
		return errs.Wrap(errs.Invalid, err, "the record could not be read")
	}
	return checkJSON(walker{text: text, known: true, beside: beside}, kind)
}

// memberOf is a field's name as the text has it, without the types that it is embedded from.
func memberOf(field string) string {
	for {
		head, rest, more := strings.Cut(field, ".")
		if !more || head == "" || head[0] < 'A' || head[0] > 'Z' {
			return field
		}
		field = rest
	}
}

// Check returns an Invalid error that names the member if a member that the
// type names is there twice or in letters of another case, or if a text or a
// name holds half of a surrogate pair. What the type does not describe may have
// any members, and what lies in a member "context" or "metadata", or one with the tag opaque:"true", that is no
// text may hold anything: it is handed on as it came. The text must be valid JSON.
func Check(text []byte, t reflect.Type) error {
	if !shapeOf(t).names() && !bytes.Contains(text, []byte(`\u`)) {
		return nil // nothing in it can offend
	}
	return checkJSON(walker{text: text}, t)
}

// CheckKnown is Check that refuses members, too, which the types do not have.
func CheckKnown(text []byte, t reflect.Type) error {
	return checkJSON(walker{text: text, known: true}, t)
}

func checkJSON(w walker, t reflect.Type) error {
	w.decoder = json.NewDecoder(bytes.NewReader(w.text))
	w.decoder.UseNumber()
	if w.value(shapeOf(t)); w.why == "" {
		return nil
	}
	slices.Reverse(w.path)
	var field strings.Builder
	for _, part := range w.path {
		if field.Len() > 0 && part[0] != '[' {
			field.WriteByte('.')
		}
		field.WriteString(part)
	}
	if field.Len() == 0 {
		return errs.Errorf(errs.Invalid, "the body %s", w.why)
	}
	return errs.InvalidField(field.String(), "%s", w.why)
}

// shape is what a type says of its JSON.
type shape struct {
	members map[string]member // by name; nil: nothing is said
	folded  map[string]string // names by what they are without case
	items   *shape            // of an array, or of a map's values
	opaque  bool              // it may hold anything
}

type member struct {
	place int // among the members
	shape *shape
}

func (s *shape) names() bool { return s.members != nil || s.items != nil }

var (
	shapes      sync.Map // *shape by reflect.Type
	unspoken    = &shape{}
	opaque      = &shape{opaque: true}
	unmarshaler = reflect.TypeFor[json.Unmarshaler]()
)

func shapeOf(t reflect.Type) *shape {
	if known, ok := shapes.Load(t); ok {
		return known.(*shape)
	}
	made := makeShape(t, map[reflect.Type]*shape{})
	shapes.Store(t, made)
	return made
}

// makeShape reads a type. begun are those that are being read: some hold their own kind.
func makeShape(t reflect.Type, begun map[reflect.Type]*shape) *shape {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if s := begun[t]; s != nil {
		return s
	}
	if reflect.PointerTo(t).Implements(unmarshaler) {
		return unspoken
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array, reflect.Map:
		s := &shape{}
		begun[t] = s
		if items := makeShape(t.Elem(), begun); items != unspoken {
			s.items = items
		}
		return s
	case reflect.Struct:
	default:
		return unspoken
	}
	s := &shape{members: map[string]member{}, folded: map[string]string{}}
	begun[t] = s
	for _, field := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" || !field.IsExported() || field.Anonymous && name == "" {
			continue
		}
		name = cmp.Or(name, field.Name)
		if _, hidden := s.members[name]; hidden {
			continue
		}
		of := makeShape(field.Type, begun)
		free := name == "context" || name == "metadata" || field.Tag.Get("opaque") == "true"
		if free && field.Type.Kind() != reflect.String && field.Type != reflect.TypeFor[*string]() {
			of = opaque
		}
		s.members[name] = member{len(s.members), of}
		s.folded[folded(name)] = name
	}
	return s
}

// folded is a name without case, as encoding/json compares names.
func folded(name string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			least = min(least, other)
		}
		return least
	}, name)
}

// walker goes over a valid JSON text and stops at the first fault.
type walker struct {
	text    []byte
	decoder *json.Decoder
	known   bool     // members that a type does not name are faults
	beside  string   // but for this one, once, of the outermost object
	why     string   // the fault; "": none so far
	path    []string // to the fault, the innermost first
}

// token passes over the next token, and notes a fault of a text.
func (w *walker) token() json.Token {
	begin := w.decoder.InputOffset()
	token, _ := w.decoder.Token() // the text is valid
	if _, is := token.(string); is && halfPair(w.text[begin:w.decoder.InputOffset()]) {
		w.why = `holds half of a surrogate pair (\ud800 to \udfff): no such character exists`
	}
	return token
}

var escapes = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\\u[0-9a-fA-F]{4}|\\.`) })

// halfPair tells whether a text, as JSON writes it, has half of a surrogate pair.
func halfPair(text []byte) bool {
	if !bytes.Contains(text, []byte(`\u`)) {
		return false
	}
	high, end := rune(0), 0 // the half before, and where it ends
	for _, at := range escapes().FindAllIndex(text, -1) {
		var unit rune
		if at[1]-at[0] == len(`\u0000`) {
			n, _ := strconv.ParseUint(string(text[at[0]+2:at[1]]), 16, 16) // these are its digits
			unit = rune(n)
		}
		switch whole := high != 0 && end == at[0] && utf16.DecodeRune(high, unit) != utf8.RuneError; {
		case whole:
			high = 0
		case high != 0:
			return true
		case utf16.IsSurrogate(unit):
			high = unit
		}
		end = at[1]
	}
	return high != 0
}

// value passes over a value of a shape.
func (w *walker) value(s *shape) {
	if s.opaque {
		_ = w.decoder.Decode(&struct{}{}) // passed over, whatever its type
		return
	}
	switch w.token() {
	case json.Delim('{'):
		w.object(s)
	case json.Delim('['):
		items := unspoken
		if s.items != nil {
			items = s.items
		}
		for i := 0; w.decoder.More(); i++ {
			if w.value(items); w.why != "" {
				w.path = append(w.path, "["+strconv.Itoa(i)+"]")
				return
			}
		}
		w.token()
	}
}

func (w *walker) object(s *shape) {
	beside := w.beside
	w.beside = ""
	var seen []bool
	if s.members != nil {
		seen = make([]bool, len(s.members))
	}
	for w.decoder.More() {
		name, _ := w.token().(string)
		if w.why != "" {
			return // a name that cannot be written is not repeated
		}
		of := unspoken
		if s.items != nil {
			of = s.items
		}
		if seen != nil {
			m, ok := s.members[name]
			switch right, alike := s.folded[folded(name)]; {
			case ok && seen[m.place]:
				w.why = "is there twice"
			case ok:
				seen[m.place], of = true, m.shape
			case alike:
				w.why = "is written " + right + ": case counts"
			case w.known && name == beside:
				beside = ""
			case w.known:
				w.why = "is no field of this request"
			}
		}
		if w.why == "" {
			w.value(of)
		}
		if w.why != "" {
			w.path = append(w.path, shownName(name))
			return
		}
	}
	w.token()
}

// shownName is a member's name as an error may repeat it.
func shownName(name string) string {
	if name == "" || len(name) > check.MaxName {
		return "a member"
	}
	return safetext.Visible(name)
}

// Bounds of what one JSON text may hold: what it is decoded into takes much more memory than the text does, twenty times
// as much for a list of empty objects.
const (
	MaxJSONElements = 24_000  // of all lists together: a transcript may have 20,000 turns
	MaxJSONValues   = 250_000 // with the members of objects
)

// CheckCrowd returns a TooLarge error for a JSON text that holds more than these bounds. It decodes nothing, and the text need not be valid.
func CheckCrowd(text []byte) error {
	if len(text) < MaxJSONElements {
		return nil
	}
	elements, values := 0, 0
	var lists []bool // of what is open: whether it is a list
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '[', '{':
			lists = append(lists, c == '[')
			values++
			if c == '[' {
				elements++
			}
		case ']', '}':
			lists = lists[:max(0, len(lists)-1)]
		case ',':
			values++
			if len(lists) > 0 && lists[len(lists)-1] {
				elements++
			}
		}
		if elements > MaxJSONElements || values > MaxJSONValues {
			return errs.Errorf(errs.TooLarge, "the lists of one request may have %d elements together, and all of it %d values: send it in parts", MaxJSONElements, MaxJSONValues)
		}
	}
	return nil
}

// Plain is v as JSON without the escapes that only HTML needs, which would make a text six times as long.
func Plain(v any) (json.RawMessage, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimRight(out.Bytes(), "\n"), err
}

// JSONDepth is how deep the brackets of a JSON text are nested.
func Depth(text []byte) int {
	depth, most := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			depth++
			most = max(most, depth)
		case '}', ']':
			depth--
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		}
	}
	return most
}

// Line reads the next line, with its end. One that is longer than most bytes is passed over without being held: tooLong
// says so. The last line comes with io.EOF.
func Line(in *bufio.Reader, most int) (line []byte, tooLong bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if tooLong = tooLong || len(line)+len(part) > most; tooLong {
			line = nil
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, tooLong, err
		}
	}
}

// Member is a field of a struct as JSON knows it.
type Member struct {
	reflect.StructField
	Name, Options string // of its tag, such as "id" and "omitempty"
}

// Members are those that a struct has in JSON by their tags, in their order, those of embedded ones too. Anything else has none.
func Members(t reflect.Type) (members []Member) {
	if t.Kind() != reflect.Struct {
		return nil
	}
	for _, field := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if !field.IsExported() || name == "-" || name == "" {
			continue
		}
		same := slices.IndexFunc(members, func(m Member) bool { return m.Name == name })
		switch one := (Member{field, name, options}); {
		case same < 0:
			members = append(members, one)
		case len(field.Index) < len(members[same].Index): // it hides an embedded struct's
			members[same] = one
		}
	}
	return members
}

// MemberOf is the member of a name, if a type has one.
func MemberOf(t reflect.Type, name string) (Member, bool) {
	members := Members(t)
	at := slices.IndexFunc(members, func(m Member) bool { return m.Name == name })
	if at < 0 {
		return Member{}, false
	}
	return members[at], true
}

// QueryName returns the name of a filter's field in a URL's query: its tag query or, without
// one, its tag json. It is empty if the field is not part of a query.
func QueryName(field reflect.StructField) string {
	if name := field.Tag.Get("query"); name != "" {
		return name
	}
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return strings.TrimPrefix(name, "-")
}
