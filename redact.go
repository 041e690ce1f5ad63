package skillrouter

import "skillrouter/internal/redact"

// A Redaction removes the secrets from the texts of one record: package redact says how.
type Redaction = redact.Redaction

// Redact replaces what looks like a secret in text by "[redacted: kind]", and returns the kinds it found, each once.
func Redact(text string) (string, []string) { return redact.Text(text) }

// HoldsSecret returns an error that names the field if the text contains a secret. It is for
// names, keys and ids, from which a secret cannot be removed without naming something else.
func HoldsSecret(field, text string) error {
	if kind := redact.InName(text); kind != "" {
		return InvalidField(field, "holds a secret (%s), which is never stored", kind)
	}
	return nil
}
