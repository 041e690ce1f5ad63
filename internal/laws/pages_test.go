package laws_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mostPageWords bounds README and the pages of docs that people write. It only gets smaller.
const mostPageWords = 29_000

// TestPageWords bounds what people have to read and to keep true.
func TestPageWords(t *testing.T) {
	files, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	pages, words := 0, 0
	for _, file := range append(files, "README.md") {
		if slices.Contains(generated, filepath.ToSlash(file)) {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		pages++
		words += len(strings.Fields(string(text)))
	}
	if words > mostPageWords {
		t.Errorf("the pages by hand have %d words, %d are allowed: say it shorter, or remove what nobody needs", words, mostPageWords)
	}
	if pages < 10 {
		t.Errorf("only %d pages were found: the search is broken", pages)
	}
}
