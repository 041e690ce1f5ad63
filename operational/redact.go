package operational

import "skillrouter"

// redact cuts secrets out of texts before they are stored: a task's error or
// a finding's evidence is often what a tool printed.
// It returns the kinds of those it has found.
func redact(texts ...*string) (kinds []string) {
	var redaction skillrouter.Redaction
	redaction.Text(texts...)
	return redaction.Kinds()
}
