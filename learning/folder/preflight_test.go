package folder_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning/folder"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// repo is a repository with the seed's lessons folder and their index in it.
func repo(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	if err := os.CopyFS(filepath.Join(root, "lessons"), os.DirFS("testdata/seed")); err != nil {
		t.Fatal(err)
	}
	dir, err := folder.Open(filepath.Join(root, "lessons"), false)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	scan, err := dir.Scan("")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dir.WriteIndex(dir.Index(scan.Files, noon)); err != nil {
		t.Fatal(err)
	}
	return root
}

func put(t *testing.T, root, name, text string) {
	t.Helper()
	name = filepath.Join(root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

func policy(t *testing.T, root string) folder.Policy {
	t.Helper()
	p, err := folder.ReadPolicy(root, "")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPreflightFromIndex(t *testing.T) {
	root := repo(t)
	p, artifact, notes, err := folder.Prepare(root, policy(t, root), "Fix the stale docker cache in our CI pipeline (Dockerfile)", noon)
	if err != nil || len(notes) > 0 {
		t.Fatal(err, notes)
	}
	text, err := os.ReadFile(filepath.Join(root, artifact))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/preflight.golden.json", string(text))
	if match, _ := filepath.Match("logs/agent/preflight/preflight_*.json", filepath.ToSlash(artifact)); !match {
		t.Error(artifact)
	}
	if p.Source != folder.SourceIndex || p.FallbackUsed || len(p.Matches) == 0 || p.Matches[0].ID != "case-docker-cache" {
		t.Errorf("%+v", p)
	}
	again, _, _, err := folder.Prepare(root, policy(t, root), p.Task, noon)
	if a, _ := json.Marshal(again); err != nil || string(a) == "" || !sameJSON(t, p, again) {
		t.Error("not the same twice")
	}
}

func sameJSON(t *testing.T, a, b any) bool {
	t.Helper()
	x, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := json.Marshal(b)
	return err == nil && string(x) == string(y)
}

func TestPreflightRanking(t *testing.T) {
	listed := func(id string, level lesson.Level, tags []string, confidence, transfer int, date string) folder.Listed {
		l := folder.Listed{
			ID: id, Level: level, Status: lesson.StatusValidated, Tags: tags, Confidence: confidence, Transferability: transfer,
			Title: "about " + id, Summary: "x", SourceCaseIDs: []string{},
		}
		if date != "" {
			l.LastValidatedAt = &date
		}
		return l
	}
	redis := []string{"redis"}
	base := listed("base", lesson.LevelCase, redis, 3, 3, "2026-01-01")
	for _, test := range []struct {
		name          string
		better, worse folder.Listed
	}{
		{"level", listed("b", lesson.LevelPrinciple, redis, 3, 3, "2026-01-01"), listed("a", lesson.LevelPattern, redis, 3, 3, "2026-01-01")},
		{"level of cases", listed("b", lesson.LevelPattern, redis, 3, 3, "2026-01-01"), base},
		{"tags", listed("z", lesson.LevelCase, []string{"redis", "timeout"}, 3, 3, "2026-01-01"), base},
		{"confidence", listed("z", lesson.LevelCase, redis, 4, 3, "2026-01-01"), base},
		{"transferability", listed("z", lesson.LevelCase, redis, 3, 4, "2026-01-01"), base},
		{"recency", listed("z", lesson.LevelCase, redis, 3, 3, "2026-11-01"), base},
		{"validated at all", base, listed("z", lesson.LevelCase, redis, 3, 3, "")},
		{"a tag before a title's word", listed("z", lesson.LevelCase, redis, 3, 3, ""), func() folder.Listed {
			l := listed("y", lesson.LevelCase, nil, 3, 3, "")
			l.Title = "redis"
			return l
		}()},
		{"id where all is the same", base, listed("z", lesson.LevelCase, redis, 3, 3, "2026-01-01")},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, order := range [][]folder.Listed{{test.better, test.worse}, {test.worse, test.better}} {
				root := t.TempDir()
				text, _ := json.Marshal(folder.Index{SchemaVersion: "1.0.0", Lessons: order})
				put(t, root, "lessons/index.json", string(text))
				p, _, _, err := folder.Prepare(root, policy(t, root), "redis timeout", noon)
				if err != nil || len(p.Matches) != 2 || p.Matches[0].ID != test.better.ID {
					t.Errorf("%v %+v", err, p.Matches)
				}
			}
		})
	}
}

func TestPreflightSelection(t *testing.T) {
	root := t.TempDir()
	index := folder.Index{SchemaVersion: "1.0.0"}
	for _, level := range lesson.Levels() {
		for i := range 4 {
			index.Lessons = append(index.Lessons, folder.Listed{ID: string(level) + itoa(i), Level: level, Status: lesson.StatusCandidate, Tags: []string{"redis"}, Confidence: 3, Transferability: 3})
		}
	}
	index.Lessons = append(index.Lessons,
		folder.Listed{ID: "retired", Level: lesson.LevelPrinciple, Status: lesson.StatusRetired, Tags: []string{"redis"}, Confidence: 5},
		folder.Listed{ID: "other", Level: lesson.LevelPrinciple, Status: lesson.StatusCanonical, Tags: []string{"css"}, Confidence: 5},
		folder.Listed{ID: "odd", Level: "saga", Tags: []string{"redis"}, Confidence: 1 << 40})
	text, _ := json.Marshal(index)
	put(t, root, "lessons/index.json", string(text))
	p, _, _, err := folder.Prepare(root, policy(t, root), "the redis", noon)
	if err != nil || p.MatchCount != 5 || p.Selection != (folder.Selection{Top: 5, PrinciplesMax: 2, PatternsMax: 2, CasesMax: 2}) {
		t.Fatalf("%v %+v", err, p)
	}
	levels := map[lesson.Level]int{}
	for _, m := range p.Matches {
		levels[m.Level]++
	}
	if levels[lesson.LevelPrinciple] != 2 || levels[lesson.LevelPattern] != 2 || levels[lesson.LevelCase] != 1 {
		t.Errorf("%v", levels)
	}
}

func TestPreflightOfHeadings(t *testing.T) {
	root := t.TempDir()
	put(t, root, "LESSONS.md", "# Lessons\n\n## **Redis** timeouts\n\ntext\n\n```\n# no heading, redis\n```\n\nCSS\n---\n")
	p, _, notes, err := folder.Prepare(root, policy(t, root), "tune redis", noon)
	if err != nil || len(notes) > 0 || p.Source != folder.SourceHeadings || !p.FallbackUsed || p.MatchCount != 1 || p.Matches[0].Title != "Redis timeouts" || p.Matches[0].Path != "LESSONS.md#L3" {
		t.Errorf("%v %v %+v", err, notes, p)
	}
	p, _, _, err = folder.Prepare(root, policy(t, root), "kubernetes", noon)
	if err != nil || p.MatchCount != 3 || p.Matches[0].Title != "CSS" || !p.FallbackUsed {
		t.Errorf("the latest headings: %v %+v", err, p)
	}
	put(t, root, "lessons/index.json", `{"schemaVersion": "2.0.0"}`)
	if _, _, notes, err = folder.Prepare(root, policy(t, root), "kubernetes", noon); err != nil || !strings.Contains(strings.Join(notes, " "), "2.0.0") {
		t.Errorf("%v %v", err, notes)
	}
}

func TestPreflightOfNothing(t *testing.T) {
	root := t.TempDir()
	p, _, _, err := folder.Prepare(root, policy(t, root), "the and of", noon)
	if err != nil || p.Source != folder.SourceNone || len(p.Tokens) != 0 {
		t.Errorf("%v %+v", err, p)
	}
	for _, task := range []string{"", " \n", strings.Repeat("x", folder.MaxTask+1), "a\x00"} {
		if _, _, _, err := folder.Prepare(root, policy(t, root), task, noon); errs.FieldOf(err) != "task" {
			t.Errorf("%.10q: %v", task, err)
		}
	}
}

func TestPolicyRefuses(t *testing.T) {
	for _, test := range []struct{ name, policy, want string }{
		{"repeated key", `{"specRoot": "a", "specRoot": "b"}`, "is there twice"},
		{"mode", `{"mode": "panic"}`, "mode"},
		{"two values", `{} {}`, "after top-level value"},
		{"no JSON", `workflowMode: warn`, "invalid character"},
		{"type", `{"requiredDocs": "README.md"}`, "requiredDocs"},
		{"outside", `{"requiredDocs": ["../x"]}`, "within the repository"},
		{"absolute", `{"specRoot": "/etc"}`, "within the repository"},
		{"glob", `{"preflight": {"artifactGlob": "[x"}}`, "artifactGlob"},
		{"age", `{"preflight": {"maxAgeHours": -1}}`, "maxAgeHours"},
		{"selection", `{"lessons": {"selection": {"top": -1}}}`, "selection.top"},
		{"gate without command", `{"qualityGates": [{"id": "x"}]}`, "command"},
		{"gates of one id", `{"qualityGates": [{"id": "x", "command": "a"}, {"id": "x", "command": "b"}]}`, "each gate's own"},
		{"timeout", `{"semanticReview": {"timeoutSec": 1e9}}`, "timeoutSec"},
		{"severity", `{"semanticReview": {"blockOnSeverity": ["fatal"]}}`, "blockOnSeverity"},
		{"large", `{"specRoot": "` + strings.Repeat("x", 1<<20) + `"}`, "larger than"},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := t.TempDir()
			put(t, root, folder.PolicyName, test.policy)
			if _, err := folder.ReadPolicy(root, ""); errs.CodeOf(err) != errs.Invalid || !strings.Contains(explain(err), test.want) {
				t.Errorf("%v", err)
			}
		})
	}
	if _, err := folder.ReadPolicy(t.TempDir(), "named.json"); errs.CodeOf(err) != errs.Invalid {
		t.Error("a policy that was named and is not there:", err)
	}
}

func TestPolicyAccepts(t *testing.T) {
	root := t.TempDir()
	put(t, root, folder.PolicyName, `{
  "workflowMode": "block", "specRoot": "docs/specs",
  "lessons": {"root": "../lessons", "indexPath": "../lessons/index.json", "fallbackHeadingsPath": "LESSONS.md",
    "selection": {"top": 3, "principlesMax": 1, "patternsMax": 1, "casesMax": 1}},
  "requiredDocs": ["AGENTS.md"], "preflight": {"required": true, "artifactGlob": "logs/*.json", "maxAgeHours": 1.5},
  "deterministicChecks": {"requirePreflightArtifact": true, "requireSpecDocs": true},
  "qualityGates": [{"id": "links", "description": "d", "command": "true", "required": false}, {"id": "argv", "command": ["go", "vet"]}],
  "semanticReview": {"enabled": true, "engine": "codex", "model": "m", "timeoutSec": 30, "maxFindings": 5, "blockOnSeverity": "high", "schemaPath": "s.json"}
}`)
	p := policy(t, root)
	if len(p.Unknown) != 0 || p.Mode != folder.ModeBlock || p.SemanticReview.BlockOnSeverity[0] != folder.RatingHigh || len(p.QualityGates[1].Command) != 2 || p.Lessons.Selection.Top != 3 {
		t.Errorf("%+v", p)
	}
}

// TestPolicyOfAnotherTool: a policy that the original's tools are shipped with names
// how the team works in a word of its own, keeps a place for a gate that has no
// command yet, and has keys that say nothing here (O1).
func TestPolicyOfAnotherTool(t *testing.T) {
	root := t.TempDir()
	put(t, root, folder.PolicyName, `{
  "policyVersion": "1.2.0", "workflowMode": "spec-first", "specRoot": ".specs", "reviewers": ["a"],
  "lessons": {"root": "lessons", "rooted": true, "selection": {"top": 5, "bottom": 1}},
  "qualityGates": [{"id": "lint", "description": "no linter yet", "command": "", "required": false},
    {"id": "none", "required": false}, {"id": "unit", "command": "true", "owner": "qa"}],
  "semanticReview": {"enabled": false, "engine": "codex_subprocess"}
}`)
	p := policy(t, root)
	if p.WorkflowMode != "spec-first" || p.Mode != folder.ModeWarn || len(p.QualityGates) != 1 || p.QualityGates[0].ID != "unit" || p.Version != "1.2.0" {
		t.Errorf("%+v", p)
	}
	if diff := cmp.Diff([]string{"lessons.rooted", "lessons.selection.bottom", "qualityGates.owner", "reviewers"}, p.Unknown); diff != "" {
		t.Error(diff)
	}
	put(t, root, folder.PolicyName, `{"workflowMode": "spec-first", "mode": "block"}`)
	if p := policy(t, root); p.Mode != folder.ModeBlock {
		t.Errorf("the mode is %s", p.Mode)
	}
}

// TestPreflightFallsBackToTheLatest: a task that no lesson shares a word with has the
// latest lessons, the most general first, and says so (O8).
func TestPreflightFallsBackToTheLatest(t *testing.T) {
	root := repo(t)
	p, _, notes, err := folder.Prepare(root, policy(t, root), "refactor payments", noon)
	if err != nil || len(notes) > 0 || !p.FallbackUsed || p.Source != folder.SourceIndex || p.MatchCount != 4 {
		t.Fatalf("%v %v %+v", err, notes, p)
	}
	var ids []string
	for _, m := range p.Matches {
		ids = append(ids, m.ID)
		if !strings.Contains(m.Reason, "none fits the task") || m.Score <= 0 {
			t.Errorf("%+v", m)
		}
	}
	// That which was never validated has the day of the index, the others are in the order of their dates.
	if diff := cmp.Diff([]string{"case-npm-lock", "principle-reproduce-first", "pattern-pin-inputs", "case-docker-cache"}, ids); diff != "" {
		t.Error(diff)
	}
	put(t, root, "LESSONS.md", "# Lessons\n\n## Payments are idempotent\n\ntext\n")
	if p, _, _, err = folder.Prepare(root, policy(t, root), "refactor payments", noon); err != nil || p.Source != folder.SourceHeadings || p.MatchCount != 1 {
		t.Errorf("a heading that fits goes before: %v %+v", err, p)
	}
}
