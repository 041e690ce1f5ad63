package check

import (
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/redact"
)

// NoSecret returns an error that names the field if the text contains a secret. It is for
// names, keys and ids, from which a secret cannot be removed without naming something else.
func NoSecret(field, text string) error {
	if kind := redact.InName(text); kind != "" {
		return errs.InvalidField(field, "holds a secret (%s), which is never stored", kind)
	}
	return nil
}
