package httpapi

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"skillrouter"
	"skillrouter/learning"
)

// records reads drafts from a stream, which is a JSON array or one JSON object
// a line; its first byte tells which. It holds one record at a time.
type records[Draft any] struct {
	in     *bufio.Reader
	most   int   // bytes of JSON that a record may have
	offset int64 // bytes read so far
	read   func() ([]byte, error)
	array  bool
	buf    []byte // the element that is being read
	count  int    // records begun
}

func newRecords[Draft any](body io.Reader, most int) *records[Draft] {
	return &records[Draft]{in: bufio.NewReaderSize(body, 64<<10), most: most}
}

// empty tells whether the stream held nothing but white space.
func (r *records[Draft]) empty() bool { return r.read == nil }

// next returns the next draft, io.EOF after the last, and a
// *learning.BadRecord for one that cannot be used while those after it can.
func (r *records[Draft]) next() (draft Draft, err error) {
	if r.read == nil {
		if err := r.begin(); err != nil {
			return draft, err
		}
	}
	text, err := r.read()
	if err != nil {
		return draft, err
	}
	draft, err = decodeDraft[Draft](text)
	if r.array && notJSON(err) {
		// Where the next record would begin is a guess by now.
		err = r.malformed("its last record is not")
	}
	return draft, err
}

// begin finds out which of the two forms the stream has.
func (r *records[Draft]) begin() error {
	c, err := r.skipSpace()
	if err != nil {
		return r.fault(err, "")
	}
	switch c {
	case '[':
		r.array, r.read = true, r.element
		return nil
	case '{':
		r.back()
		r.read = r.line
		return nil
	}
	return skillrouter.Errorf(skillrouter.Invalid, "the body is neither a JSON array nor one JSON object a line: it begins with %q", rune(c))
}

// line returns the next line that is not blank.
func (r *records[Draft]) line() ([]byte, error) {
	r.count++
	for {
		line, err := r.in.ReadSlice('\n')
		r.offset += int64(len(line))
		if errors.Is(err, bufio.ErrBufferFull) {
			line, err = r.longLine(line)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			if _, bad := errors.AsType[*learning.BadRecord](err); bad {
				return nil, err
			}
			return nil, r.fault(err, "")
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
		if err != nil {
			return nil, io.EOF
		}
	}
}

// longLine returns the rest of a line that the buffer cannot hold. One that is
// too long is passed over.
func (r *records[Draft]) longLine(start []byte) ([]byte, error) {
	long := slices.Clone(start)
	tooLong := false
	for {
		part, err := r.in.ReadSlice('\n')
		r.offset += int64(len(part))
		if tooLong = tooLong || len(long)+len(part) > r.most; !tooLong {
			long = append(long, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if tooLong && (err == nil || errors.Is(err, io.EOF)) {
			return nil, r.oversize()
		}
		return long, err
	}
}

func (r *records[Draft]) oversize() error {
	return &learning.BadRecord{Err: skillrouter.Errorf(skillrouter.TooLarge, "the record is longer than %d bytes", r.most)}
}

// element returns the text of the array's next element. It minds strings and
// nesting, and leaves it to the decoder whether the element is JSON at all.
func (r *records[Draft]) element() ([]byte, error) {
	c, err := r.skipSpace()
	if err != nil {
		return nil, r.fault(err, "the array is not finished")
	}
	switch {
	case c == ']':
		return nil, r.end()
	case r.count > 0 && c != ',':
		return nil, r.malformed("a comma or the end of the array is missing")
	case r.count > 0:
		if c, err = r.skipSpace(); err != nil {
			return nil, r.fault(err, "the array is not finished")
		}
	}
	if c == ',' || c == ']' || c == '}' {
		return nil, r.malformed("a record is missing")
	}
	r.back()
	r.count++
	r.buf = r.buf[:0]
	tooLong, depth, inString, escaped := false, 0, false, false
	for {
		c, err := r.in.ReadByte()
		if err != nil {
			return nil, r.fault(err, "the array is not finished")
		}
		r.offset++
		switch {
		case escaped:
			escaped = false
		case inString:
			escaped, inString = c == '\\', c != '"'
		case c == '"':
			inString = true
		case c == '{' || c == '[':
			depth++
		case depth == 0 && (c == ',' || c == ']' || c == '}'):
			r.back()
			if tooLong {
				return nil, r.oversize()
			}
			return bytes.TrimSpace(r.buf), nil
		case c == '}' || c == ']':
			depth--
		}
		if tooLong = tooLong || len(r.buf) == r.most; !tooLong {
			r.buf = append(r.buf, c)
		}
	}
}

// end accepts nothing but white space after the array.
func (r *records[Draft]) end() error {
	r.count = max(r.count, 1)
	if _, err := r.skipSpace(); !errors.Is(err, io.EOF) {
		if err != nil {
			return r.fault(err, "")
		}
		return r.malformed("something follows the array")
	}
	return io.EOF
}

func (r *records[Draft]) skipSpace() (byte, error) {
	for {
		c, err := r.in.ReadByte()
		if err != nil {
			return 0, err
		}
		r.offset++
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return c, nil
		}
	}
}

// back takes back the byte that was read last.
func (r *records[Draft]) back() {
	_ = r.in.UnreadByte() // cannot fail after a ReadByte
	r.offset--
}

// fault gives an error of the stream its code. The end of the stream is one
// where unfinished says what is not finished.
func (r *records[Draft]) fault(err error, unfinished string) error {
	if !errors.Is(err, io.EOF) {
		return skillrouter.Wrap(skillrouter.Invalid, err, "the body broke off after byte %d", r.offset)
	}
	if unfinished == "" {
		return io.EOF
	}
	return r.malformed(unfinished)
}

func (r *records[Draft]) malformed(what string) error {
	return skillrouter.Errorf(skillrouter.Invalid, "the array is not valid JSON at byte %d, after %d records: %s", r.offset, r.count, what)
}

// decodeDraft decodes one record. Its errors are BadRecords.
func decodeDraft[Draft any](text []byte) (draft Draft, err error) {
	bad := func(err error) (Draft, error) { return draft, &learning.BadRecord{Err: err} }
	if !utf8.Valid(text) {
		return bad(skillrouter.Errorf(skillrouter.Invalid, "the record is not valid UTF-8"))
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	err = decoder.Decode(&draft)
	if notJSON(err) {
		return bad(skillrouter.Wrap(skillrouter.Invalid, err, "the record is not valid JSON"))
	}
	if decoder.InputOffset() < int64(len(text)) {
		return bad(skillrouter.Wrap(skillrouter.Invalid, errFollowed, "something follows the record"))
	}
	if err == nil {
		return draft, nil
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if wrong.Field == "" {
			return bad(skillrouter.Errorf(skillrouter.Invalid, "the record must be an object, and is of the type %s", wrong.Value))
		}
		return bad(skillrouter.InvalidField(wrong.Field, "may not be of the type %s", wrong.Value))
	}
	return bad(unknownField[Draft](text, err))
}

// errFollowed is what is wrong with a record that has more than one value.
var errFollowed = errors.New("more than one value")

// notJSON tells whether a decoder failed because of the text and not of what it says.
func notJSON(err error) bool {
	_, syntax := errors.AsType[*json.SyntaxError](err)
	return syntax || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, errFollowed)
}

// unknownField finds the member that a record may not have: encoding/json
// tells of it in words alone.
func unknownField[Draft any](text []byte, err error) error {
	var members map[string]json.RawMessage
	_ = json.Unmarshal(text, &members) // it was decoded once already
	var known []string
	for _, field := range reflect.VisibleFields(reflect.TypeFor[Draft]()) {
		member, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		known = append(known, member)
	}
	for name := range members {
		if !slices.ContainsFunc(known, func(member string) bool { return strings.EqualFold(member, name) }) {
			if len(name) > skillrouter.MaxName || !utf8.ValidString(name) {
				name = "a member"
			}
			return skillrouter.InvalidField(name, "is no field of this request")
		}
	}
	return skillrouter.Wrap(skillrouter.Invalid, err, "the record could not be read")
}
