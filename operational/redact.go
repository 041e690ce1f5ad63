package operational

import "skillrouter"

// redact cuts secrets out of texts before they are stored: a task's error or
// a finding's evidence is often what a tool printed.
func redact(texts ...*string) {
	for _, text := range texts {
		*text, _ = skillrouter.Redact(*text)
	}
}
