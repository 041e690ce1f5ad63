package folder_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/folder"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// lines makes texts that are hard on a format: quotes, colons, indentation, line ends of every kind.
func lines() *rapid.Generator[string] {
	awkward := rapid.SampledFrom([]string{
		"---", "- x", "a: b", "# no", "&a *a", "'", "\"", "\\", "\t", " ", "\n", "\r\n", "{}", "[", "null", "true", "007", "1e3",
		"é", "日本語", "\u2028", "\ufeff", "\u0085", "\a", "😀", "x", "|", ">", "%", "@", "`", ": ", " #", "\n\n", "  indented", "\u202e", "~",
	})
	return rapid.Custom(func(t *rapid.T) string {
		if rapid.Bool().Draw(t, "free") {
			return strings.ReplaceAll(rapid.String().Draw(t, "text"), "\x00", "")
		}
		return strings.Join(rapid.SliceOfN(awkward, 1, 8).Draw(t, "parts"), "")
	})
}

func filled(g *rapid.Generator[string]) *rapid.Generator[string] {
	return g.Filter(func(s string) bool { return strings.TrimSpace(s) != "" && len(s) < 1000 })
}

// drafts makes what a file can say of a lesson.
func drafts() *rapid.Generator[lesson.Draft] {
	return rapid.Custom(func(t *rapid.T) lesson.Draft {
		some := func(name string) []string { return rapid.SliceOfN(lines(), 0, 3).Draw(t, name) }
		d := lesson.Draft{
			ID:     rapid.StringMatching(`[A-Za-z][A-Za-z0-9._/:é-]{0,40}`).Draw(t, "id"),
			Level:  rapid.SampledFrom(lesson.Levels()).Draw(t, "level"),
			Status: rapid.SampledFrom(lesson.Statuses()).Draw(t, "status"),
			Tags:   some("tags"), Confidence: new(folder.Share(rapid.IntRange(1, 5).Draw(t, "confidence"))),
			Transferability: rapid.IntRange(1, 5).Draw(t, "transferability"), SourceCaseIDs: some("sources"),
			Title: filled(lines()).Draw(t, "title"), Context: lines().Draw(t, "summary"),
			Type: rapid.SampledFrom(learning.LessonTypes()).Draw(t, "type"), Domain: filled(lines()).Draw(t, "domain"),
			Category: filled(lines()).Draw(t, "category"), Severity: rapid.SampledFrom(learning.Severities()).Draw(t, "severity"),
			Action: lines().Draw(t, "action"), Outcome: lines().Draw(t, "outcome"), RootCause: lines().Draw(t, "cause"),
			Solution: lines().Draw(t, "solution"), Alternatives: some("alternatives"), RelatedFiles: some("files"),
			RelatedCommands: some("commands"), Contexts: some("contexts"), TriggerPattern: lines().Draw(t, "trigger"),
			BlockAction: rapid.Bool().Draw(t, "block"), SourceAgent: "a1", Project: lines().Draw(t, "project"),
			Body: lines().Draw(t, "body"),
		}
		if date := rapid.SampledFrom([]string{"", "2026-11-21", "1999-01-01"}).Draw(t, "date"); date != "" {
			d.LastValidatedAt = new(day(date))
		}
		return d
	})
}

func day(date string) time.Time {
	at, _ := time.Parse(time.DateOnly, date) // the tests' own
	return at
}

func TestFileHoldsEveryDraft(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drafts().Filter(func(d lesson.Draft) bool { return !slices.Contains(d.SourceCaseIDs, d.ID) }).Draw(t, "draft") // no lesson is drawn from itself
		file, err := folder.Render(want)
		if err != nil {
			t.Fatalf("%v", err)
		}
		got, err := folder.Parse(file, want.Level, "")
		if err != nil {
			t.Fatalf("%v\n%s", err, file)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%s\n%s", diff, file)
		}
	})
}

// TestRoundTripChangesNothing: what a file says of a lesson, reported and
// exported again, is the same file.
func TestRoundTripChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drafts().Draw(t, "draft")
		r := newRouter()
		r.anySource = true
		if _, err := r.Report(context.Background(), want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, folder.Of(r.lessons[want.ID]), cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestStars(t *testing.T) {
	for n := 1; n <= 5; n++ {
		if got := folder.Stars(folder.Share(n)); got != n {
			t.Errorf("%d stars come back as %d", n, got)
		}
	}
	for confidence, want := range map[float64]int{0: 1, 0.05: 1, 0.29: 1, 0.3: 2, 0.83: 4, 0.95: 5, 1: 5, 7: 5, -1: 1} {
		if got := folder.Stars(confidence); got != want {
			t.Errorf("%g is %d stars, want %d", confidence, got, want)
		}
	}
}

func TestSeedFile(t *testing.T) {
	file, err := os.ReadFile(filepath.FromSlash("testdata/seed/cases/case-docker-cache.md"))
	if err != nil {
		t.Fatal(err)
	}
	entry, err := folder.Parse(file, lesson.LevelCase, "ops")
	if err != nil {
		t.Fatal(err)
	}
	if entry.Domain != "ops" || entry.Type != learning.LessonDiscovery || entry.Action != "" || folder.Stars(*entry.Confidence) != 3 {
		t.Errorf("defaults: %+v", entry)
	}
	if _, body, _ := strings.Cut(string(file), "\n---\n"); entry.Body != body {
		t.Errorf("body %q, want %q", entry.Body, body)
	}
	// What only has the original lessons folder's keys is written with these alone.
	entry.Domain = folder.DefaultDomain
	again, err := folder.Render(entry)
	if err != nil || string(again) != string(file) {
		t.Errorf("%v\n%s", err, cmp.Diff(string(file), string(again)))
	}
}

func TestParseRefuses(t *testing.T) {
	bomb := "a: &a [x, x, x]\nb: &b [*a, *a, *a]\ntags: [*b, *b]\n"
	for _, test := range []struct{ name, file, want string }{
		{"nothing", "", "has no front matter"},
		{"no front matter", "# Title\n", "has no front matter"},
		{"no end", "---\nid: a\n", "does not end"},
		{"duplicate key", "---\nid: a\nid: b\n---\n", "line 3"},
		{"duplicate key in ours", "---\nid: a\ntitle: t\nskillrouter:\n  domain: a\n  domain: b\n---\n", "line 6"},
		{"unknown key", "---\nid: a\nowner: me\n---\n", `unknown field "owner"`},
		{"unknown key in ours", "---\nid: a\nskillrouter:\n  owner: me\n---\n", `unknown field "owner"`},
		{"alias bomb", "---\nid: a\n" + bomb + "---\n", "aliases"},
		{"merge key", "---\nid: a\n<<: {title: x}\n---\n", "merge keys"},
		{"tag", "---\nid: !!binary aGk=\n---\n", "tags"},
		{"second document", "---\nid: a\n--- \n", ""},
		{"deep", "---\nid: a\ntags: " + strings.Repeat("[", 100_000) + "\n---\n", "nested deeper"},
		{"deep in blocks", "---\nid: a\ntags: \n" + strings.Repeat("- ", 5000) + "x\n---\n", "nested deeper"},
		{"list of lists", "---\nid: a\ntags: [[a]]\n---\n", "list of texts"},
		{"mapping for a text", "---\nid: {a: b}\n---\n", "one text"},
		{"no id", "---\ntitle: x\n---\n", "id is required"},
		{"numeric id", "---\nid: 007\n---\n", "is a number"},
		{"unknown level", "---\nid: a\nlevel: saga\n---\n", "level"},
		{"unknown status", "---\nid: a\nstatus: odd\n---\n", "status"},
		{"confidence 6", "---\nid: a\nconfidence: 6\n---\n", "confidence"},
		{"confidence 3.5", "---\nid: a\nconfidence: 3.5\n---\n", "confidence"},
		{"confidence NaN", "---\nid: a\nconfidence: .nan\n---\n", "confidence"},
		{"no date", "---\nid: a\nlast_validated_at: yesterday\n---\n", "last_validated_at"},
		{"its own source", "---\nid: a\nsource_case_ids: [a]\n---\n", "itself"},
		{"invalid UTF-8", "---\nid: a\n---\n\xff", "UTF-8"},
		{"NUL", "---\nid: a\n---\n\x00", "NUL"},
		{"large", "---\nid: a\n---\n" + strings.Repeat("x", folder.MaxFile), "larger than"},
		{"large front matter", "---\nid: a\n#" + strings.Repeat("x", folder.MaxFrontMatter) + "\n---\n", "front matter of more"},
	} {
		t.Run(test.name, func(t *testing.T) {
			begin := time.Now()
			_, err := folder.Parse([]byte(test.file), lesson.LevelCase, "")
			if test.want == "" {
				return
			}
			if err == nil || !strings.Contains(explain(err), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
			if took := time.Since(begin); took > 5*time.Second {
				t.Errorf("took %s", took)
			}
		})
	}
}

func TestParseAccepts(t *testing.T) {
	for _, test := range []struct{ name, file string }{
		{"BOM", "\ufeff---\nid: a\ntags: [x, y]\n---\nbody"},
		{"CRLF", "---\r\nid: a\r\ntags:\r\n- x\r\n- y\r\n---\r\nbody"},
		{"commas", "---\nid: a\ntags: x, y\n---\nbody"},
		{"time for a date", "---\nid: a\ntags: [x, y]\nlast_validated_at: 2026-11-21T10:00:00Z\n---\nbody"},
		{"comments", "--- \n# note\nid: a # this\ntags: [x, y]\n---\t\nbody"},
	} {
		t.Run(test.name, func(t *testing.T) {
			entry, err := folder.Parse([]byte(test.file), lesson.LevelPattern, "")
			if err != nil {
				t.Fatal(err)
			}
			if entry.ID != "a" || entry.Level != lesson.LevelPattern || entry.Status != lesson.StatusCandidate || entry.Body != "body" ||
				!cmp.Equal(entry.Tags, []string{"x", "y"}) || entry.Title != "a" || folder.Stars(*entry.Confidence) != 4 {
				t.Errorf("%+v", entry)
			}
		})
	}
}

func TestFileName(t *testing.T) {
	seen := map[string]string{}
	for _, id := range []string{
		"case-1", "Case-1", "CASE-1", "../../etc/passwd", "/etc/passwd", "a/b", "a\\b", "con", "CON", "nul.txt", ".hidden", "..", "x.", "ünï", "日本",
		"0199aaaa-bbbb-7ccc-8ddd-eeeeffff0000", strings.Repeat("x", 200), "a:b", "a b",
	} {
		name := folder.FileName(lesson.Draft{ID: id, Level: lesson.LevelCase, Title: "Never force-push to Main!"})
		rest, ok := strings.CutPrefix(name, "cases/")
		stem, md := strings.CutSuffix(rest, ".md")
		if !ok || !md || !filepath.IsLocal(name) || strings.ContainsAny(rest, `/\:*?"<>| `) || strings.HasPrefix(stem, ".") || strings.ToLower(name) != name || len(rest) > 100 {
			t.Errorf("%q is kept in %q", id, name)
		}
		if other, twice := seen[strings.ToLower(name)]; twice {
			t.Errorf("%q and %q are kept in %q", id, other, name)
		}
		seen[strings.ToLower(name)] = id
	}
	if got := folder.FileName(lesson.Draft{ID: "case-1", Level: lesson.LevelPrinciple}); got != "principles/case-1.md" {
		t.Error(got)
	}
	if _, ok := seen["cases/con.md"]; ok {
		t.Error("con is a device")
	}
}

func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/seed/*/*.md", "testdata/hostile/*.md"} {
		names, _ := filepath.Glob(filepath.FromSlash(pattern))
		for _, name := range names {
			file, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(file)
		}
	}
	f.Add([]byte("---\nid: a\nskillrouter:\n  action_taken: |-\n    x\n     y\n  outcome: \"\\u00e9\"\n---\nbody"))
	f.Fuzz(func(t *testing.T, file []byte) {
		entry, err := folder.Parse(file, lesson.LevelCase, "")
		if err != nil {
			return
		}
		again, err := folder.Render(entry)
		if err != nil {
			t.Fatalf("was read and cannot be written: %v", err)
		}
		back, err := folder.Parse(again, lesson.LevelCase, "")
		if diff := cmp.Diff(entry, back, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Fatalf("%v\n%s", err, diff)
		}
	})
}
