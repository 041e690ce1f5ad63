package transfer

import (
	"bytes"
	"encoding/json"
	"errors"
	"sync"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/strictjson"
	"github.com/skillrouter/skillrouter/router/kind"
)

// Kinds lists the kinds of memory that are exported and imported, in that order.
var Kinds = sync.OnceValue(func() []string { return kind.Names(kind.Exported) })

// Record is one memory of one kind. As JSON it is that memory with its "kind".
type Record struct {
	Kind   string
	Memory any // a pointer, as the kind's Decode gives it; of a record that was sent its text, which Import decodes

	// Fault is what made it impossible to read the record: it is refused, beside the others.
	Fault error
}

// MarshalJSON implements json.Marshaler.
func (r Record) MarshalJSON() ([]byte, error) {
	members, err := strictjson.Plain(r.Memory)
	if err != nil {
		return nil, err
	}
	if len(members) < 2 || members[0] != '{' {
		return nil, errors.New("a record without its memory")
	}
	out := append([]byte(`{"kind":"`), r.Kind...)
	out = append(out, '"')
	if members = members[1:]; members[0] != '}' {
		out = append(out, ',')
	}
	return append(out, members...), nil
}

// Sent is a record that somebody sent. What is wrong with it is its Fault, so that the others with it can be taken in.
func Sent(text []byte) Record {
	var head struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return Record{Fault: errs.Wrap(errs.Invalid, err, "the record must be an object with a kind")}
	}
	return Record{Kind: head.Kind, Memory: json.RawMessage(bytes.Clone(text))}
}

// DecodeRecord reads a memory of a kind, as its Decode does.
func DecodeRecord(name string, text []byte) (r Record, err error) {
	r.Kind = name
	if err = check.OneOf("kind", name, Kinds()); err == nil {
		r.Memory, err = kind.Named(name).Decode(text)
	}
	return r, err
}
