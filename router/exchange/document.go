package exchange

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// A JSON document is read element by element: only one element of one of its
// lists is held at a time. Where JSON itself breaks nobody can tell where the
// next element begins, so reading ends there and the error says where.

// maxElement bounds an element of a document, in bytes.
const maxElement = MaxLine

// document reads a JSON document from its lists.
type document struct {
	in      *bounded
	decoder *json.Decoder
}

// errElement is an element that is longer than may be held.
var errElement = errors.New("an element is longer than 8 MiB")

// bounded is a reader that refuses to give more than an element may have.
type bounded struct {
	from io.Reader
	left int64
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errElement
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.from.Read(p)
	b.left -= int64(n)
	return n, err
}

func newDocument(r io.Reader) *document {
	in := &bounded{from: withoutMark(r), left: maxElement}
	return &document{in: in, decoder: json.NewDecoder(in)}
}

// withoutMark takes a byte order mark away.
func withoutMark(r io.Reader) io.Reader {
	in := bufio.NewReader(r)
	if head, _ := in.Peek(3); string(head) == "\ufeff" {
		_, _ = in.Discard(3)
	}
	return in
}

// token reads the next token of JSON.
func (d *document) token() (json.Token, error) {
	d.in.left = maxElement
	token, err := d.decoder.Token()
	return token, d.fault(err)
}

// fault says where a document broke off.
func (d *document) fault(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("the document is truncated: it ends at byte %d", d.decoder.InputOffset())
	case errors.Is(err, errElement):
		return fmt.Errorf("%w, behind byte %d", errElement, d.decoder.InputOffset())
	}
	return fmt.Errorf("the document is not valid JSON behind byte %d: %w", d.decoder.InputOffset(), err)
}

// list visits the elements of the list that comes next. visit is false once it has enough.
func (d *document) list(name string, visit func(place string, text json.RawMessage) bool) (more bool, err error) {
	token, err := d.token()
	if err != nil {
		return false, err
	}
	if token == nil {
		return true, nil // null is an empty list
	}
	if token != json.Delim('[') {
		return false, fmt.Errorf("%s is no list", name)
	}
	for n := 0; d.decoder.More(); n++ {
		var text json.RawMessage
		d.in.left = maxElement
		if err := d.decoder.Decode(&text); err != nil {
			return false, d.fault(err)
		}
		if !visit(fmt.Sprintf("%s[%d]", name, n), text) {
			return false, nil
		}
	}
	_, err = d.token() // ]
	return err == nil, err
}

// object visits the lists of a document that is an object. Members that lists does not know are
// passed over. other is said of a document that is no object, and empty of one that has none of the lists.
func (d *document) object(other, empty string, lists map[string]func(place string, text json.RawMessage) bool) error {
	token, err := d.token()
	if err != nil {
		return err
	}
	if token != json.Delim('{') {
		return errors.New(other)
	}
	found := false
	for d.decoder.More() {
		token, err := d.token()
		if err != nil {
			return err
		}
		name, _ := token.(string)
		if visit, ours := lists[name]; ours {
			found = true
			if more, err := d.list(name, visit); err != nil || !more {
				return err
			}
			continue
		}
		var other json.RawMessage
		d.in.left = maxElement
		if err := d.decoder.Decode(&other); err != nil {
			return d.fault(err)
		}
	}
	if _, err := d.token(); err != nil { // }
		return err
	}
	if err := d.end(); err != nil || found {
		return err
	}
	return errors.New(empty)
}

// end accepts nothing but white space after the document.
func (d *document) end() error {
	d.in.left = maxElement
	if _, err := d.decoder.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("something follows the document, at byte %d", d.decoder.InputOffset())
	}
	return nil
}
