package main

import (
	"fmt"
	"os"
	"strings"
)

// The marks between which docs/mcp.md has the results.
const (
	resultsBegin = "<!-- results of make conformance; written by go run ./scripts/conformance -update -->\n"
	resultsEnd   = "<!-- /results -->"
)

// updatePage puts the results into the page.
func updatePage(path, results string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(raw), resultsBegin)
	_, after, alsoFound := strings.Cut(rest, resultsEnd)
	if !found || !alsoFound {
		return fmt.Errorf("%s has lost the marks of its results", path)
	}
	return os.WriteFile(path, []byte(before+resultsBegin+"\n"+results+"\n"+resultsEnd+after), 0o644)
}
