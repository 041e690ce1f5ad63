package web_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPagingNames: a list whose page leads on has every name that the part reads; without one its page fails once it is full.
func TestPagingNames(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?s)type (\w+) struct \{.*?\n\}`)
	older := regexp.MustCompile(`\bOlder\b`)
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range list.FindAllStringSubmatch(string(text), -1) {
			if older.MatchString(one[0]) && (!strings.Contains(one[0], "NewerName") || !strings.Contains(one[0], "OlderName")) {
				t.Errorf("%s: %s has Older and lacks NewerName or OlderName", name, one[1])
			}
		}
	}
}
