package llm

import "log/slog"

// Secret is a text that prints as a mask, however it is printed.
type Secret string

const mask = "[secret]"

// String implements fmt.Stringer.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return mask
}

// GoString implements fmt.GoStringer, for %#v.
func (s Secret) GoString() string { return s.String() }

// LogValue implements slog.LogValuer.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText implements encoding.TextMarshaler: it keeps a secret out of JSON.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
