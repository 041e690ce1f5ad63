package classify

import (
	"strings"
	"testing"
)

func TestPhrase(t *testing.T) {
	for query, want := range map[string]string{
		"Who's online?":                    "who is online",
		"what’s builder-2's task, #12?":    "what is builder-2 task #12",
		"isn't it  (done)…":                "is not it done",
		"read /etc/passwd. CVE-2024-1234!": "read etc/passwd cve-2024-1234",
		"":                                 "",
		"'s ' ... --":                      "s",
	} {
		if got := strings.Join(Phrase(query), " "); got != want {
			t.Errorf("%q is read as %q, want %q", query, got, want)
		}
	}
	if got := Phrase(strings.Repeat("word ", 10_000)); len(got) != MaxPhraseWords {
		t.Errorf("a long question has %d words", len(got))
	}
}
