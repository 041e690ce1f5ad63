package cli_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// link is a link or picture of a page of Markdown.
var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// TestLinks: what the pages point to within the repository is there.
func TestLinks(t *testing.T) {
	pages := []string{"../../README.md", "../../CHANGELOG.md"}
	err := filepath.WalkDir("../../docs", func(file string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(file, ".md") {
			pages = append(pages, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	links := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range link.FindAllStringSubmatch(string(text), -1) {
			target, _, _ := strings.Cut(found[1], "#")
			if target == "" || strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			links++
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), target)); err != nil {
				t.Errorf("%s points to %s, which is not there", page, found[1])
			}
		}
	}
	if links < 50 {
		t.Errorf("only %d links were found: the search is broken", links)
	}
}
