package folder_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/folder"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

func notes(t testing.TB, text string) folder.Notes {
	t.Helper()
	n, err := folder.ReadNotes([]byte(text), "")
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestNotesGolden(t *testing.T) {
	text, err := os.ReadFile("testdata/notes/LESSONS-LEARNED.md")
	if err != nil {
		t.Fatal(err)
	}
	out, err := json.MarshalIndent(notes(t, string(text)), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/notes.golden.json", string(out)+"\n")
}

func TestNotesShapes(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       []string // title | context | cause | solution of each lesson
		unread     []int    // lines
	}{
		{"empty", "", nil, nil},
		{"blank", "\n \n\t\n", nil, nil},
		{"free text under a heading", "# Disk full on CI\n\nThe cache grew.\n", []string{"Disk full on CI|The cache grew.||"}, nil},
		{"labels below a title", "# Disk full\n## Symptom\nbuild fails\n## Cause\nlogs\n## Fix\nrotate\n", []string{"Disk full|build fails|logs|rotate"}, nil},
		{"labels of every spelling", "## T\n**Problem**: a\n*Root Cause:* b\n__Solution__ – c\n", []string{"T|a|b|c"}, nil},
		{"labels in a list", "## T\n1. **Issue:** a\n2. **Why:** b\n3. **Resolution:** c\n", []string{"T|a|b|c"}, nil},
		{"a label alone", "## T\n\n**Fix**\n\ndo this\n\nand that\n", []string{"T|||do this\n\nand that"}, nil},
		{"an item after a label", "## The title of it\n- **Fix:** a\n- more\n", []string{"The title of it|- more||a"}, nil},
		{"a label in code is none", "## T\n\n```\nFix: not\n```\n", []string{"T|```\nFix: not\n```||"}, nil},
		{"a heading in code is none", "## T\ntext\n```\n# not\n```\n", []string{"T|text\n```\n# not\n```||"}, nil},
		{"what is no label", "## T\nNote: a: b\nhttps://fix: x\n", []string{"T|Note: a: b\nhttps://fix: x||"}, nil},
		{"a topic's list", "## Git\n- pull often\n- push rarely. Really.\n  more\n", []string{"Git: pull often|pull often||", "Git: push rarely|push rarely. Really.\nmore||"}, nil},
		{"a statement's list", "## Docker builds fail on arm64 machines\n- a\n- b\n", []string{"Docker builds fail on arm64 machines|- a\n- b||"}, nil},
		{"paragraphs without a heading", "First thing learned. More.\n\nSecond thing.\n\n    code\n", []string{"First thing learned|First thing learned. More.||", "Second thing|Second thing.\n\n    code||"}, nil},
		{"problems one after the other", "Problem: a\nFix: b\n\nProblem: c\nFix: d\n", []string{"a|a||b", "c|c||d"}, nil},
		{"a table of something else", "## T\n| x | y |\n|---|---|\n| 1 | 2 |\n", []string{"T|| x | y |\n|---|---|\n| 1 | 2 |||"}, nil},
		{"setext", "Subject\n=======\n\ntext\n", []string{"Subject|text||"}, nil},
		{"headings alone", "# A\n## B\n", nil, []int{1, 2}},
		{"a label under a heading of no words", "# Alpha\n##\n#### Cause\n", nil, []int{1, 2, 3}},
		{"an introduction", "# Lessons\n\nintro\n\n## T\n\ntext\n", []string{"T|text||"}, []int{1, 3}},
		{"before the first heading", "hello\n\n# T\n\ntext\n", []string{"T|text||"}, []int{1}},
		{"front matter", "---\ntitle: x\n---\n# T\n\ntext\n", []string{"T|text||"}, []int{1, 2, 3}},
		{"a comment alone", "## T\n<!-- note -->\n", nil, []int{1, 2}},
		{"a comment", "## T\ntext\n\n<!-- note -->\n", []string{"T|text||"}, []int{4}},
		{"CRLF and BOM", "\ufeff## T\r\n**Fix:** a\r\nb\r\n", []string{"T|||a\nb"}, nil},
		{"date", "## [2026-03-05] T\ntext\n", []string{"[2026-03-05] T|text||"}, nil},
		{"a topic's item keeps its heading", "## ARIA\n- results go back by it\n- another\n", []string{"ARIA: results go back by it|results go back by it||", "ARIA: another|another||"}, nil},
		{"a table", "## Web\n| Lesson | Fix |\n|---|---|\n| hooks need an id | give one |\n", []string{"Web|| Lesson | Fix |\n|---|---|\n| hooks need an id | give one |||"}, nil},
		{"a template", "## Format\n### [Title]\n**Problem:** [what happened]\n\n## T\n\ntext\n", []string{"T|text||"}, []int{1, 2, 3}},
		{"a template by its places", "## New\n- Date: YYYY-MM-DD\n- What: <what happened>\n", nil, []int{1, 2, 3}},
		{"labels below a template", "# Alpha\n[what happened]\n[when]\n## Fix\n[what helps]\n", nil, []int{1, 2, 3, 4, 5}},
		{"labels below comments", "# Alpha\n<!-- one -->\n<!-- two -->\n## Fix\nrotate\n", []string{"Alpha|||rotate"}, []int{2, 3}},
		{"a table of contents", "# N\n\n- [T](#t)\n- [U](#u)\n\n## T\n\ntext\n", []string{"T|text||"}, []int{1, 3, 4}},
		{"a link's definition below an item", "- nectar\n\n[date]: http://elder", []string{"nectar|nectar\n[date]: http://elder||"}, nil},
		{"a link's definition below a table", "| N |\n|---|\n| oscar |\n\n[date]: http://elder", []string{"| N ||| N |\n|---|\n| oscar |\n[date]: http://elder||"}, nil},
		{"prevention", "## T\nFix: a\nPrevention: b\n", []string{"T|||a\n\nPrevention: b"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := notes(t, test.text)
			var got []string
			for _, l := range n.Lessons {
				got = append(got, strings.Join([]string{l.Draft.Title, l.Draft.Context, l.Draft.RootCause, l.Draft.Solution}, "|"))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("%q, want %q", got, test.want)
			}
			var lines []int
			for _, u := range n.Unread {
				lines = append(lines, u.Line)
			}
			if !slices.Equal(lines, test.unread) {
				t.Errorf("unread %+v, want %v", n.Unread, test.unread)
			}
			if lost := lost(test.text, n); lost != "" {
				t.Error(lost)
			}
		})
	}
}

var (
	wordRuns = regexp.MustCompile(`[\p{L}\p{N}]+`)
	numbered = regexp.MustCompile(`^[\s>#*_-]*\d+[.)]`)
)

// structure is the words that a label, or the language of code, may be made of.
var structure = func() map[string]bool {
	set := map[string]bool{}
	for _, label := range folder.LabelWords() {
		for _, word := range wordRuns.FindAllString(label, -1) {
			set[word] = true
		}
	}
	return set
}()

// lost names a line of notes that is neither in a lesson, word by word, nor listed.
func lost(text string, n folder.Notes) string {
	listed := map[int]bool{}
	for _, u := range n.Unread {
		listed[u.Line] = true
	}
	kept := map[string]bool{}
	for _, l := range n.Lessons {
		d := l.Draft
		for _, part := range append([]string{d.Title, d.Context, d.RootCause, d.Solution, d.Action, d.Outcome, d.Body, string(d.Severity)}, slices.Concat(d.Alternatives, d.Tags, d.RelatedCommands, d.RelatedFiles)...) {
			for _, word := range wordRuns.FindAllString(strings.ToLower(part), -1) {
				kept[word] = true
			}
		}
	}
	for i, line := range strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n") {
		if listed[i+1] {
			continue
		}
		for _, word := range wordRuns.FindAllString(strings.ToLower(numbered.ReplaceAllString(line, "")), -1) {
			if !kept[word] && !structure[word] {
				return fmt.Sprintf("line %d, %q: %q is lost", i+1, line, word)
			}
		}
	}
	return ""
}

// servable tells why the service could not take a lesson, or "".
func servable(n folder.Notes) string {
	ids := map[string]bool{}
	for _, l := range n.Lessons {
		d := l.Draft
		switch {
		case ids[d.ID] || d.ID == "" || len(d.ID) > learning.MaxID:
			return "id " + d.ID
		case strings.TrimSpace(d.Title) == "" || len(d.Title) > learning.MaxTitle || strings.ContainsAny(d.Title, "\n\r"):
			return fmt.Sprintf("title %q", d.Title)
		case max(len(d.Context), len(d.Solution), len(d.RootCause), len(d.Action), len(d.Outcome)) > lesson.MaxText || len(d.Body) > learning.MaxContent:
			return "text too long"
		case len(d.Tags) > learning.MaxTags || len(d.Alternatives) > lesson.MaxListItems || len(d.RelatedCommands) > lesson.MaxListItems || len(d.RelatedFiles) > lesson.MaxListItems:
			return "list too long"
		case l.Line < 1 || l.Last < l.Line:
			return fmt.Sprintf("lines %d to %d", l.Line, l.Last)
		}
		for _, tag := range d.Tags {
			if tag == "" || check.Name("tags", tag) != nil {
				return fmt.Sprintf("tag %q", tag)
			}
		}
		for _, item := range slices.Concat(d.Alternatives, d.RelatedCommands, d.RelatedFiles) {
			if len(item) > lesson.MaxListItem {
				return "item too long"
			}
		}
		ids[d.ID] = true
	}
	return ""
}

// TestNotesLoseNothing: every word of every line is in a lesson, or its line is listed.
func TestNotesLoseNothing(t *testing.T) {
	line := rapid.SampledFrom([]string{
		"# Alpha", "## Bravo charlie", "### Delta", "## Fix", "#### Cause", "# Lessons", "##", "Echo", "====", "----", "---", "***", "",
		"", "**Fix:** foxtrot", "- **Symptom:** golf", "* Problem: hotel", "Solution: india", "**Workaround**", "Tags: juliet, kilo lima",
		"Severity: high", "Severity: odd", "Date: 2026-01-01", "Commands: mike", "Files: november.go", "- oscar", "  - papa", "    quebec", "1. romeo",
		"> sierra", "> - Fix: tango", "```", "```sh", "$ uniform --victor", "~~~", "| Symptom | Fix |", "|---|---|", "| whiskey | xray |", "| yankee | zulu | extra |",
		"|", "<!-- apple -->", "<div>", "banana: cherry", "[date]: http://elder", "\tfig", "Title: grape", "日本語の行", "Prevention — hazel", "**Prevention** — iris",
		"- [ ] jade", "\\| kiwi", "Name", "| lemon | Cause |", "**bold** mango", "Alternatives:", "- nectar", "2026-02-03 olive", "[what happened]", "- Date: YYYY-MM-DD", "## Format", "- [T](#t)",
	})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(line, 0, 30).Draw(t, "lines"), rapid.SampledFrom([]string{"\n", "\r\n", "\n\n"}).Draw(t, "end"))
		n, err := folder.ReadNotes([]byte(text), "")
		if err != nil {
			t.Fatal(err)
		}
		if lost := lost(text, n); lost != "" {
			out, _ := json.MarshalIndent(n, "", " ")
			t.Fatalf("%s\n%s\n%s", lost, text, out)
		}
		if why := servable(n); why != "" {
			t.Fatal(why)
		}
	})
}

// TestNotesKeepWhatStandsAboveATable: lines above a table's head, without an empty one between, are a paragraph of their own.
func TestNotesKeepWhatStandsAboveATable(t *testing.T) {
	for _, text := range []string{
		"Echo\nSolution: india\n|---|---|", "====\nEcho\n|---|---|\n====", "Echo\n**Fix:** foxtrot\n|---|---|\n====", "Echo\nfoxtrot\n| Symptom | Fix |\n|---|---|\n| whiskey | xray |", "- Echo\n  golf\n  | Name |\n  |---|\n", "> Echo\n> | hotel | kilo |\n> |---|---|\n> | lima | mike |",
	} {
		n, err := folder.ReadNotes([]byte(text), "")
		if err != nil {
			t.Fatal(err)
		}
		if lost := lost(text, n); lost != "" {
			t.Errorf("%s\n%s", lost, text)
		}
	}
}

func TestNotesRefuses(t *testing.T) {
	for name, text := range map[string]string{"larger": strings.Repeat("x", folder.MaxNotes+1)} {
		if _, err := folder.ReadNotes([]byte(text), ""); !strings.Contains(explain(err), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNotesOfTheWorstKind(t *testing.T) {
	if testing.Short() {
		t.Skip("reads megabytes in one goroutine")
	}
	for name, piece := range map[string]string{
		"headings": "# a\n", "quotations": "> ", "items": "- ", "items on lines": "- a\n", "labels": "Fix: a\n", "problems": "Problem: a\nFix: b\n", "fences": "```\n",
		"table": "| Symptom | Fix |\n|---|---|\n| a | b |\n\n", "brackets": "[", "backticks": "`", "stars": "*", "html": "<!--", "one line": "x",
		"label headings": "# a\n## Fix\nb\n", "numbers": "1. ", "indented": " ", "paragraphs": "a\n\n", "rules": "---\n", "deep": "###### a\nb\n",
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Repeat(piece, 200_000/len(piece))
			begin := time.Now()
			n, err := folder.ReadNotes([]byte(text), "")
			if err != nil {
				t.Fatal(err)
			}
			if took := time.Since(begin); took > 10*time.Second {
				t.Errorf("took %s", took)
			}
			if why := servable(n); why != "" {
				t.Error(why)
			}
			if lost := lost(text, n); lost != "" {
				t.Error(lost[:min(len(lost), 200)])
			}
		})
	}
}

func TestImportNotes(t *testing.T) {
	text, err := os.ReadFile("testdata/notes/LESSONS-LEARNED.md")
	if err != nil {
		t.Fatal(err)
	}
	n := notes(t, string(text))
	r := newRouter()
	dry, err := folder.ImportNotes(t.Context(), r, n, folder.Options{DryRun: true})
	if err != nil || dry.Counts[folder.ActionReport] != len(n.Lessons) || len(r.ids) > 0 {
		t.Errorf("%v %v", err, dry.Counts)
	}
	r.refuse = func(title string) error {
		if strings.Contains(title, "Rebase before") {
			return errs.InvalidField("title", "is not wanted")
		}
		return nil
	}
	result, err := folder.ImportNotes(t.Context(), r, n, folder.Options{})
	if err != nil || result.Counts[folder.ActionReport] != len(n.Lessons)-1 || result.Counts[folder.ActionRefused] != 1 {
		t.Errorf("%v %v", err, result.Counts)
	}
	r.refuse = nil
	for range 2 {
		if _, err = folder.ImportNotes(t.Context(), r, n, folder.Options{}); err != nil {
			t.Error(err)
		}
	}
	if len(r.ids) != len(n.Lessons) || len(r.occurred) > 0 || r.calls["edit"] > 0 {
		t.Errorf("importing again made %d lessons of %d, %v", len(r.ids), len(n.Lessons), r.occurred)
	}
	changed := notes(t, strings.Replace(string(text), "Pin images by digest", "Pin all images by digest", 1))
	left, err := folder.ImportNotes(t.Context(), r, changed, folder.Options{})
	if err != nil || left.Counts[folder.ActionLeft] != 1 || r.calls["edit"] > 0 {
		t.Errorf("%v %v", err, left.Counts)
	}
}

func FuzzNotes(f *testing.F) {
	names, _ := filepath.Glob(filepath.FromSlash("testdata/notes/*.md"))
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte("# a\n\n- **Fix:** b\n  c\n\n| Symptom | Fix |\n|-|-|\n| d | e |\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		n, err := folder.ReadNotes(text, "")
		if err != nil {
			return
		}
		if lost := lost(string(text), n); lost != "" {
			t.Fatal(lost)
		}
		if why := servable(n); why != "" {
			t.Fatal(why)
		}
	})
}

func TestNotesNestedByIndentation(t *testing.T) {
	var text strings.Builder
	for i := range 500 {
		text.WriteString(strings.Repeat("  ", i) + "- w" + itoa(i) + "\n")
	}
	begin := time.Now()
	if lost := lost(text.String(), notes(t, text.String())); lost != "" {
		t.Error(lost)
	}
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("took %s", took)
	}
}

// TestNotesWeigh: how grave a lesson is and what it is about, by its words (O10).
func TestNotesWeigh(t *testing.T) {
	for _, test := range []struct {
		text     string
		severity learning.Severity
		level    lesson.Level
		domain   string
		kind     learning.LessonType
	}{
		{"## Docker\n\n### Never prune volumes\n\nthey are in no backup\n", learning.SeverityHigh, lesson.LevelCase, "docker", learning.LessonAntiPattern},
		{"## Rules\n\n### CRITICAL: Do not log credentials\n\nthey stay\n", learning.SeverityCritical, lesson.LevelCase, "general", learning.LessonAntiPattern},
		{"## Deploy Agents\n\n### Review first\n\nNON-NEGOTIABLE\n", learning.SeverityCritical, lesson.LevelCase, "deploy-agents", learning.LessonDiscovery},
		{"## Secrets\n\n### Plain text in tickets\n\n**FORBIDDEN**\n", learning.SeverityCritical, lesson.LevelCase, "secrets", learning.LessonDiscovery},
		{"## Principles\n\n### Measure first\n\ntext\n", "", lesson.LevelCase, "general", learning.LessonDiscovery},
		{"## CI\n\n### The disk was full\n\n**Symptom:** never ended\n\n```\nCRITICAL: disk full\n```\n", "", lesson.LevelCase, "ci", learning.LessonFailure},
		{"## Severity said\n\n### Never do it\n\nSeverity: low\n", learning.SeverityLow, lesson.LevelCase, "severity-said", learning.LessonAntiPattern},
		{"# Lessons Learned\n\n## 2026-03-01 notes\n\n### Git hooks\n\ntext\n", "", lesson.LevelCase, "general", learning.LessonDiscovery},
		{"### The whole heading is a long sentence\n\ntext\n", "", lesson.LevelCase, "general", learning.LessonDiscovery},
	} {
		n := notes(t, test.text)
		if len(n.Lessons) != 1 {
			t.Errorf("%q: %d lessons", test.text, len(n.Lessons))
			continue
		}
		if d := n.Lessons[0].Draft; d.Severity != test.severity || d.Level != test.level || d.Domain != test.domain || d.Type != test.kind || d.Proposed != (d.Type == learning.LessonAntiPattern) {
			t.Errorf("%q: %q, %s, domain %s, %s", test.text, d.Severity, d.Level, d.Domain, d.Type)
		}
	}
	if n, err := folder.ReadNotes([]byte("## Docker\n\n### T\n\ntext\n"), "ops"); err != nil || n.Lessons[0].Draft.Domain != "ops" {
		t.Errorf("a domain that was given: %+v, %v", n.Lessons, err)
	}
}

// TestNotesForbid: a heading or a bullet that forbids a command is a proposed rule that names it, also in a lesson that says more.
func TestNotesForbid(t *testing.T) {
	for text, want := range map[string]string{
		"## Docker\n\n- Never run `docker volume prune` on this host\n":                                     "Docker: Never run docker volume prune on this host|docker volume prune",
		"## Never `git push --force`\n\nIt drops work.\n":                                                   "Never git push --force|git push --force",
		"## How we deploy to the production hosts\n\nText.\n\n- Do not use `sudo`\n- Be quick.\n":           "Do not use sudo|sudo",
		"## Deploying with the new pipeline\n\n**Symptom:** it broke\n\n- You must not use `npm`\n\nEnd.\n": "You must not use npm|npm",
		"## Release\n\n- Never release without `make check`\n- Never use `any`\n":                           "Release: Never release without make check|,Release: Never use any|",
	} {
		var got []string
		for _, l := range notes(t, text).Lessons {
			if l.Draft.Proposed && l.Draft.Type == learning.LessonAntiPattern {
				got = append(got, l.Draft.Title+"|"+strings.Join(l.Draft.RelatedCommands, ";"))
			}
		}
		if strings.Join(got, ",") != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestImportNotesSpreadsSecrets imports notes in which a password stands in an
// address of one lesson, and in backticks of another, before it (O9).
func TestImportNotesSpreadsSecrets(t *testing.T) {
	const password = "q7Vt-w2Lx_9Zk3vQ9"
	n := notes(t, "# Deployments\n\n## The password is URL-encoded\n\nIt is read from DATABASE_URL: `"+password+"` was refused as it stands.\n\n"+
		"## The address\n\nWe set `postgresql://app:"+password+"@db/app` by hand.\n")
	r := newRouter()
	result, err := folder.ImportNotes(t.Context(), r, n, folder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.lessons) < 2 {
		t.Fatalf("%d lessons were reported", len(r.lessons))
	}
	if all := fmt.Sprintf("%+v", r.lessons); strings.Contains(all, password) || strings.Count(all, "[redacted: password]") < 2 {
		t.Errorf("reported was %s", all)
	}
	for _, step := range result.Steps {
		if len(step.Notes) == 0 {
			t.Errorf("the step of %q says nothing of secrets", step.Title)
		}
	}
}

// TestImportNotesRefusesALine gives notes of which one line is no text, and a router that refuses one lesson by its id,
// and one whole call: the others are taken.
func TestImportNotesRefusesALine(t *testing.T) {
	n, err := folder.ReadNotes([]byte("## One\n\nKeep.\n\n## Bad\n\nA \xff byte.\nStays.\n\n## Nul\n\na\x00b\nStays too.\n"), "")
	if err != nil || len(n.Lessons) != 3 || len(n.Unread) != 2 || n.Unread[0].Line != 7 || n.Unread[1].Line != 12 {
		t.Fatalf("%v %+v", err, n)
	}
	r := newRouter()
	r.refuseID = n.Lessons[1].Draft.ID
	result, err := folder.ImportNotes(t.Context(), r, n, folder.Options{})
	if err != nil || result.Counts[folder.ActionReport] != 2 || result.Steps[1].Action != folder.ActionRefused || result.Steps[1].Why == "" || result.Steps[1].Line != 5 {
		t.Errorf("%v %+v", err, result)
	}
}
