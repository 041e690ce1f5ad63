package httpapi

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/strictjson"
	"github.com/skillrouter/skillrouter/learning/knowledge"
)

// records reads drafts from a stream, see texts.
type records[Draft any] struct{ *texts }

// texts reads the texts of records from a stream, which is a JSON array or one
// JSON object a line; its first byte tells which. It holds one record at a time.
type texts struct {
	in    *bufio.Reader
	most  int           // bytes of JSON that a record may have
	array *json.Decoder // of the array; nil: each record is a line, or nothing was read yet
	left  int           // bytes that are still read for the array's next record
	begun bool          // there was more than white space
	json  bool          // it is said to be one value of JSON
	count int           // records read
}

// readAhead is how many times the bytes that a record may have are read of an array before it is given up: a
// record that is too long, and not much too long, is passed over.
const readAhead = 8

func newRecords[Draft any](body io.Reader, most int, json bool) *records[Draft] {
	return &records[Draft]{&texts{in: bufio.NewReaderSize(body, 64<<10), most: most, json: json}}
}

// next returns the next draft, io.EOF after the last, and a
// *knowledge.BadRecord for one that cannot be used while those after it can.
func (r *records[Draft]) next() (draft Draft, err error) {
	text, err := r.text()
	if err != nil {
		return draft, err
	}
	if err = strictjson.Decode(text, &draft); err != nil {
		return draft, &knowledge.BadRecord{Err: err}
	}
	return draft, nil
}

// text returns the text of the next record, which may be no JSON, and is the
// caller's until the next call.
func (r *texts) text() (text []byte, err error) {
	if !r.begun {
		if err := r.begin(); err != nil {
			return nil, err
		}
	}
	if r.array != nil {
		text, err = r.element()
	} else {
		text, err = r.line()
	}
	if err == nil {
		err = r.check(text)
	}
	return text, err
}

// check returns an error for a record that is too long, or holds too much.
func (r *texts) check(text []byte) error {
	if len(text) > r.most {
		return r.oversize()
	}
	if crowd := strictjson.CheckCrowd(text); crowd != nil {
		return &knowledge.BadRecord{Err: crowd}
	}
	return nil
}

// first returns the first byte of the stream that is no white space, and leaves it there.
func (r *texts) first() (byte, error) {
	for {
		c, err := r.in.ReadByte()
		switch {
		case errors.Is(err, io.EOF):
			return 0, err
		case err != nil:
			return 0, brokenOff(err)
		case c != ' ' && c != '\t' && c != '\r' && c != '\n':
			return c, r.in.UnreadByte()
		}
	}
}

// begin finds out which of the two forms the stream has.
func (r *texts) begin() error {
	c, err := r.first()
	if err != nil {
		return err
	}
	r.begun = true
	switch c {
	case '[':
		r.left = readAhead * r.most
		r.array = json.NewDecoder(r)
		_, err = r.array.Token()
		return err
	case '{':
		return nil
	}
	return errs.Errorf(errs.Invalid, "the body is neither a JSON array nor one JSON object a line: it begins with %q", rune(c))
}

// Read implements io.Reader for the decoder.
func (r *texts) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, r.oversize()
	}
	n, err := r.in.Read(p)
	r.left -= n
	return n, err
}

// element returns the text of the array's next element, and io.EOF at its end. Nothing but white space may follow the array.
func (r *texts) element() ([]byte, error) {
	r.left = readAhead * r.most
	if r.array.More() {
		var text json.RawMessage
		if err := r.array.Decode(&text); err != nil {
			return nil, r.fault(err)
		}
		r.count++
		return text, nil
	}
	if _, err := r.array.Token(); err != nil {
		return nil, r.fault(err)
	}
	if _, err := r.array.Token(); !errors.Is(err, io.EOF) {
		return nil, r.malformed("something follows the array")
	}
	return nil, io.EOF
}

// line returns the next line that is not blank.
func (r *texts) line() ([]byte, error) {
	for {
		line, tooLong, err := strictjson.Line(r.in, r.most)
		switch line = bytes.TrimSpace(line); {
		case tooLong:
			return nil, r.oversize()
		case err != nil && !errors.Is(err, io.EOF):
			return nil, brokenOff(err)
		case len(line) > 0:
			return line, nil
		case err != nil:
			return nil, err
		}
	}
}

func (r *texts) oversize() error {
	return &knowledge.BadRecord{Err: errs.Errorf(errs.TooLarge, "the record is longer than %d bytes", r.most)}
}

// brokenOff is an error of the stream.
func brokenOff(err error) error { return errs.Wrap(errs.Invalid, err, "the body broke off") }

// fault is an error of the array's decoder: of the stream, of the JSON, or of a record that was given up.
func (r *texts) fault(err error) error {
	bad, over := errors.AsType[*knowledge.BadRecord](err)
	_, syntax := errors.AsType[*json.SyntaxError](err)
	_, known := errors.AsType[*errs.Error](err)
	switch {
	case over:
		return bad.Err
	case known:
		return err
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return r.malformed("the body is not finished")
	case syntax:
		return r.malformed(err.Error())
	}
	return brokenOff(err)
}

func (r *texts) malformed(what string) error {
	return errs.Errorf(errs.Invalid, "the body is not valid JSON at byte %d, after %d records: %s", r.array.InputOffset(), r.count, what)
}
