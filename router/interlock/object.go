package interlock

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"unicode/utf8"
)

// Bounds of a payload.
const (
	// MaxDepth is how deeply a payload's values may be nested; what the signals carry needs three levels.
	MaxDepth = 16
	// MaxValues bounds the values and members in a payload: an empty object takes two
	// bytes of a datagram and a hundred times that in memory.
	MaxValues = 4096
)

// readObject reads a JSON object strictly: valid UTF-8, no member twice at any
// level, bounded in depth and number, and nothing after it. The error is a Reason.
func readObject(text []byte) (map[string]any, error) {
	if !utf8.Valid(text) {
		return nil, RefusedUTF8
	}
	r := objectReader{decoder: json.NewDecoder(bytes.NewReader(text))}
	if first, err := r.token(); err != nil || first != json.Delim('{') {
		return nil, RefusedJSON
	}
	object, err := r.object(1)
	if err != nil {
		return nil, err
	}
	if _, err := r.decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, RefusedJSON
	}
	return object, nil
}

type objectReader struct {
	decoder *json.Decoder
	values  int
}

// token returns the next token. A number that is no finite float64 is none.
func (r *objectReader) token() (json.Token, error) {
	if r.values++; r.values > MaxValues {
		return nil, RefusedDepth
	}
	token, err := r.decoder.Token()
	if err != nil {
		return nil, RefusedJSON
	}
	return token, nil
}

// object reads the members after an opening brace.
func (r *objectReader) object(depth int) (map[string]any, error) {
	if depth > MaxDepth {
		return nil, RefusedDepth
	}
	object := map[string]any{}
	for {
		token, err := r.token()
		if err != nil {
			return nil, err
		}
		name, isName := token.(string)
		if !isName {
			return object, nil // the decoder lets nothing but the closing brace stand here
		}
		if _, twice := object[name]; twice {
			return nil, RefusedDuplicate
		}
		if object[name], err = r.value(depth); err != nil {
			return nil, err
		}
	}
}

// array reads the values after an opening bracket.
func (r *objectReader) array(depth int) ([]any, error) {
	if depth > MaxDepth {
		return nil, RefusedDepth
	}
	list := []any{}
	for r.decoder.More() {
		value, err := r.value(depth)
		if err != nil {
			return nil, err
		}
		list = append(list, value)
	}
	_, err := r.token()
	return list, err
}

func (r *objectReader) value(depth int) (any, error) {
	token, err := r.token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		return r.object(depth + 1)
	case json.Delim('['):
		return r.array(depth + 1)
	}
	return token, nil
}
