package operational

import "skillrouter/internal/redact"

// redactEach cuts secrets out of texts before they are stored: a task's error or
// a finding's evidence is often what a tool printed.
// It returns the kinds of those it has found.
func redactEach(texts ...*string) (kinds []string) {
	var redaction redact.Redaction
	redaction.Text(texts...)
	return redaction.Kinds()
}
