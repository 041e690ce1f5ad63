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
	value, err := r.value(0)
	if err != nil {
		return nil, err
	}
	object, is := value.(map[string]any)
	if _, err := r.decoder.Token(); !is || !errors.Is(err, io.EOF) {
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

// value reads a value that lies so many objects and arrays deep.
func (r *objectReader) value(depth int) (any, error) {
	token, err := r.token()
	opens, nests := token.(json.Delim)
	switch {
	case err != nil || !nests:
		return token, err
	case depth >= MaxDepth:
		return nil, RefusedDepth
	}
	object, list := map[string]any{}, []any{}
	for r.decoder.More() {
		name := ""
		if opens == '{' {
			token, err := r.token()
			if err != nil {
				return nil, err
			}
			name, _ = token.(string) // the decoder lets nothing else stand here
			if _, twice := object[name]; twice {
				return nil, RefusedDuplicate
			}
		}
		value, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		if opens == '{' {
			object[name] = value
		} else {
			list = append(list, value)
		}
	}
	if _, err := r.token(); err != nil {
		return nil, err
	}
	if opens == '{' {
		return object, nil
	}
	return list, nil
}
