package transfer

import (
	"encoding/json"
	"errors"
	"sync"

	"skillrouter/internal/check"
	"skillrouter/internal/errs"
	"skillrouter/internal/strictjson"
	"skillrouter/router/kind"
)

// Kinds lists the kinds of memory that are exported and imported, in that order.
var Kinds = sync.OnceValue(func() []string { return kind.Names(kind.Exported) })

// Record is one memory of one kind. As JSON it is that memory with its "kind".
type Record struct {
	Kind   string
	Memory any // a pointer, as the kind's Decode gives it

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

// UnmarshalJSON implements json.Unmarshaler. It never fails: what is wrong
// with a record is its Fault, so that the others with it can be taken in.
func (r *Record) UnmarshalJSON(text []byte) error {
	var head struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		r.Fault = errs.Wrap(errs.Invalid, err, "the record must be an object with a kind")
		return nil
	}
	*r, r.Fault = DecodeRecord(head.Kind, text)
	return nil
}

// DecodeRecord reads a memory of a kind, as its Decode does.
func DecodeRecord(name string, text []byte) (r Record, err error) {
	r.Kind = name
	if err = check.OneOf("kind", name, Kinds()); err == nil {
		r.Memory, err = kind.Named(name).Decode(text)
	}
	return r, err
}
