package cli_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// link is a link or picture of a page of Markdown.
var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

var (
	heading   = regexp.MustCompile(`(?m)^#+ (.+)$`)
	codeBlock = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	unspoken  = regexp.MustCompile(`[^\p{L}\p{N}\s_-]`)
)

// headings are the addresses of a page's headings, as GitHub makes them.
func headings(t *testing.T, page string) (list []string) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range heading.FindAllStringSubmatch(codeBlock.ReplaceAllString(string(text), ""), -1) {
		words := unspoken.ReplaceAllString(strings.ToLower(link.ReplaceAllString(found[1], "]")), "")
		list = append(list, strings.ReplaceAll(strings.TrimSpace(words), " ", "-"))
	}
	return list
}

// TestLinks: what the pages point to within the repository is there, headings too.
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
	links, known := 0, map[string][]string{}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range link.FindAllStringSubmatch(string(text), -1) {
			target, anchor, _ := strings.Cut(found[1], "#")
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			links++
			file := filepath.Join(filepath.Dir(page), target)
			if target == "" {
				file = page
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s points to %s, which is not there", page, found[1])
			} else if anchor != "" && strings.HasSuffix(file, ".md") {
				if known[file] == nil {
					known[file] = headings(t, file)
				}
				if !slices.Contains(known[file], anchor) {
					t.Errorf("%s points to %s, a heading that is not there", page, found[1])
				}
			}
		}
	}
	if links < 50 {
		t.Errorf("only %d links were found: the search is broken", links)
	}
}

// TestPagesAreRun: a script runs the commands of each page that shows some with what they print.
func TestPagesAreRun(t *testing.T) {
	scripts, err := filepath.Glob("testdata/script/page_*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var run strings.Builder
	for _, script := range scripts {
		text, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		run.Write(text)
	}
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for _, page := range append(pages, "../../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "```console\n") {
			continue
		}
		shown++
		if name := strings.TrimPrefix(page, "../../"); !strings.Contains(run.String(), "$REPO/"+name) {
			t.Errorf("no script runs what %s shows: add testdata/script/page_NAME.txtar", name)
		}
	}
	if shown < 8 {
		t.Errorf("only %d pages show commands: the search is broken", shown)
	}
}
