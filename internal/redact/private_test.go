package redact_test

import (
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/internal/redact"
)

// TestPrivate: what stands between the tags is kept nowhere, however they are written; where they are only spoken of, nothing is cut.
func TestPrivate(t *testing.T) {
	for text, want := range map[string]string{
		"<private>":                     "[redacted: private]",
		"a <private>wombat</private> b": "a [redacted: private] b",
		"a <PRIVATE>wombat</Private> b <private>wombat\nwombat</private>": "a [redacted: private] b [redacted: private]",
		"a <private>wombat <private>wombat</private> wombat</private> b":  "a [redacted: private] b",
		"cut in the middle: <private>wombat\nwombat":                      "cut in the middle: [redacted: private]",
		"spaces < private >wombat< / private >":                           "spaces [redacted: private]",
		"a tag `<private>` is spoken of; <private>wombat</private>":       "a tag `<private>` is spoken of; [redacted: private]",
		"an end alone</private> stays":                                    "an end alone</private> stays",
		"private: a word, <privately>, <div>, a < b":                      "private: a word, <privately>, <div>, a < b",
	} {
		if got, _ := redact.Text(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
	var r redact.Redaction
	for _, text := range []string{`{"a":"<private>wombat</private> b","c":1}`, `{"a":"\u003cprivate\u003ewombat\u003c/private\u003e b","c":1}`} {
		got := string(r.JSON([]byte(text)))
		if strings.Contains(got, "wombat") || !strings.HasSuffix(got, ` b","c":1}`) {
			t.Errorf("%s became %s", text, got)
		}
	}
}
