package httpapi

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"

	"skillrouter/internal/errs"
	"skillrouter/internal/strictjson"
	"skillrouter/learning/knowledge"
)

// records reads drafts from a stream, see texts.
type records[Draft any] struct{ *texts }

// texts reads the texts of records from a stream, which is a JSON array or one
// JSON object a line; its first byte tells which. It holds one record at a time.
type texts struct {
	in     *bufio.Reader
	most   int   // bytes of JSON that a record may have
	offset int64 // bytes read so far
	read   func() ([]byte, error)
	array  bool
	inner  bool   // more may follow the array
	buf    []byte // the element that is being read
	count  int    // records begun
}

func newRecords[Draft any](body io.Reader, most int) *records[Draft] {
	return &records[Draft]{newTexts(body, most)}
}

func newTexts(body io.Reader, most int) *texts {
	return &texts{in: bufio.NewReaderSize(body, 64<<10), most: most}
}

// empty tells whether the stream held nothing but white space.
func (r *texts) empty() bool { return r.read == nil }

// next returns the next draft, io.EOF after the last, and a
// *knowledge.BadRecord for one that cannot be used while those after it can.
func (r *records[Draft]) next() (draft Draft, err error) {
	text, err := r.text()
	if err != nil {
		return draft, err
	}
	if err = strictjson.Decode(text, &draft); r.array && strictjson.NotJSON(err) {
		return draft, r.lost()
	}
	if err != nil {
		return draft, &knowledge.BadRecord{Err: err}
	}
	return draft, nil
}

// text returns the text of the next record, which may be no JSON, and is the
// caller's until the next call.
func (r *texts) text() ([]byte, error) {
	if r.read == nil {
		if err := r.begin(); err != nil {
			return nil, err
		}
	}
	text, err := r.read()
	if err == nil {
		if crowd := strictjson.CheckCrowd(text); crowd != nil {
			return nil, &knowledge.BadRecord{Err: crowd}
		}
	}
	return text, err
}

// lost ends the reading of an array one record of which is no JSON: where the
// next would begin is a guess.
func (r *texts) lost() error { return r.malformed("its last record is not") }

// begin finds out which of the two forms the stream has.
func (r *texts) begin() error {
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
	return errs.Errorf(errs.Invalid, "the body is neither a JSON array nor one JSON object a line: it begins with %q", rune(c))
}

// line returns the next line that is not blank.
func (r *texts) line() ([]byte, error) {
	r.count++
	for {
		line, err := r.in.ReadSlice('\n')
		r.offset += int64(len(line))
		if errors.Is(err, bufio.ErrBufferFull) {
			line, err = r.longLine(line)
		}
		if err != nil && !errors.Is(err, io.EOF) {
			if _, bad := errors.AsType[*knowledge.BadRecord](err); bad {
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
func (r *texts) longLine(start []byte) ([]byte, error) {
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

func (r *texts) oversize() error {
	return &knowledge.BadRecord{Err: errs.Errorf(errs.TooLarge, "the record is longer than %d bytes", r.most)}
}

// element returns the text of the array's next element.
func (r *texts) element() ([]byte, error) {
	c, err := r.skipSpace()
	if err != nil {
		return nil, r.fault(err, "the array is not finished")
	}
	switch {
	case c == ']' && r.inner:
		return nil, io.EOF
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
	return r.value("the array is not finished")
}

// value returns the text up to the comma or the bracket that ends it. It minds
// strings and nesting, and leaves it to the decoder whether the text is JSON at all.
func (r *texts) value(unfinished string) ([]byte, error) {
	r.buf = r.buf[:0]
	tooLong, depth, inString, escaped := false, 0, false, false
	for {
		c, err := r.in.ReadByte()
		if err != nil {
			return nil, r.fault(err, unfinished)
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
func (r *texts) end() error {
	r.count = max(r.count, 1)
	if _, err := r.skipSpace(); !errors.Is(err, io.EOF) {
		if err != nil {
			return r.fault(err, "")
		}
		return r.malformed("something follows the array")
	}
	return io.EOF
}

func (r *texts) skipSpace() (byte, error) {
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
func (r *texts) back() {
	_ = r.in.UnreadByte() // cannot fail after a ReadByte
	r.offset--
}

// fault gives an error of the stream its code. The end of the stream is one
// where unfinished says what is not finished.
func (r *texts) fault(err error, unfinished string) error {
	if !errors.Is(err, io.EOF) {
		return errs.Wrap(errs.Invalid, err, "the body broke off after byte %d", r.offset)
	}
	if unfinished == "" {
		return io.EOF
	}
	return r.malformed(unfinished)
}

func (r *texts) malformed(what string) error {
	return errs.Errorf(errs.Invalid, "the array is not valid JSON at byte %d, after %d records: %s", r.offset, r.count, what)
}
