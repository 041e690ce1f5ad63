package laws_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Bounds of the words that people write: README and the pages of docs, and the decisions. They only get smaller, and come to 40,000.
const (
	mostPageWords     = 28_400
	mostDecisionWords = 11_600
)

// TestPageWords bounds what people have to read and to keep true.
func TestPageWords(t *testing.T) {
	pages, words := wordsIn(t, "README.md", "docs/*.md")
	if words > mostPageWords {
		t.Errorf("the pages by hand have %d words, %d are allowed: say it shorter, or remove what nobody needs", words, mostPageWords)
	}
	decisions, words := wordsIn(t, "docs/decisions/*.md")
	if words > mostDecisionWords {
		t.Errorf("the decisions have %d words, %d are allowed: a page has about 400", words, mostDecisionWords)
	}
	if pages < 10 || decisions < 10 {
		t.Errorf("only %d pages and %d decisions were found: the search is broken", pages, decisions)
	}
}

// wordsIn counts the files that fit some patterns, without generated ones, and their words.
func wordsIn(t *testing.T, patterns ...string) (files, words int) {
	t.Helper()
	for _, pattern := range patterns {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range found {
			if slices.Contains(generated, filepath.ToSlash(file)) {
				continue
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			files++
			words += len(strings.Fields(string(text)))
		}
	}
	return files, words
}
