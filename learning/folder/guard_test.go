//go:build unix

package folder_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning/folder"
)

// guard writes a policy, runs the guard and returns what it found, as it was kept.
func guard(t *testing.T, root, text string, options folder.GuardOptions) folder.Guarded {
	t.Helper()
	if text != "" {
		put(t, root, folder.PolicyName, text)
	}
	if options.Now == nil {
		options.Now = func() time.Time { return noon }
	}
	_, name, err := folder.Guard(t.Context(), root, policy(t, root), "ship it", options)
	if err != nil {
		t.Fatal(err)
	}
	if match, _ := filepath.Match("logs/agent/guard/guard_*.json", name); !match {
		t.Error(name)
	}
	kept, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	var out folder.Guarded
	if err := json.Unmarshal(kept, &out); err != nil {
		t.Fatal(err)
	}
	if out.Summary.High+out.Summary.Medium != out.Summary.Total || out.Summary.Total != len(out.Deterministic) {
		t.Errorf("%+v", out.Summary)
	}
	return out
}

func codes(out folder.Guarded) string {
	var list []string
	for _, f := range out.Deterministic {
		list = append(list, string(f.Severity)+" "+f.Code)
	}
	return strings.Join(list, ", ")
}

// fresh is a repository with an index and a preflight of an hour ago.
func fresh(t *testing.T) string {
	root := repo(t)
	if _, _, _, err := folder.Prepare(root, policy(t, root), "docker", noon.Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	return root
}

func TestGuardDeterministic(t *testing.T) {
	for _, test := range []struct {
		name, policy string
		mode         folder.Mode
		prepare      func(t *testing.T, root string)
		want         string
		status       folder.Verdict
	}{
		{"all is well", `{"requiredDocs": ["README.md"], "specRoot": "specs"}`, folder.ModeBlock, func(t *testing.T, root string) {
			put(t, root, "README.md", "x")
			put(t, root, "specs/a/design.md", "x")
		}, "", folder.VerdictPass},
		{"missing document, warn", `{"requiredDocs": ["README.md"]}`, folder.ModeWarn, nil, "high missing-required-doc", folder.VerdictWarn},
		{"missing document, block", `{"requiredDocs": ["README.md"]}`, folder.ModeBlock, nil, "high missing-required-doc", folder.VerdictBlock},
		{"mode of the policy", `{"requiredDocs": ["README.md"], "workflowMode": "block"}`, "", nil, "high missing-required-doc", folder.VerdictBlock},
		{"a required folder is there", `{"requiredDocs": ["lessons"]}`, folder.ModeBlock, nil, "", folder.VerdictPass},
		{"a required folder is not there", `{"requiredDocs": [".specs"]}`, folder.ModeBlock, nil, "high missing-required-doc", folder.VerdictBlock},
		{"a link out is no document", `{"requiredDocs": ["out.md"]}`, folder.ModeBlock, func(t *testing.T, root string) {
			if err := os.Symlink("/etc/hostname", filepath.Join(root, "out.md")); err != nil {
				t.Fatal(err)
			}
		}, "high missing-required-doc", folder.VerdictBlock},
		{"no specifications", `{"specRoot": "specs"}`, folder.ModeBlock, nil, "medium missing-spec-root", folder.VerdictWarn},
		{"empty specifications", `{"specRoot": "specs"}`, folder.ModeBlock, func(t *testing.T, root string) {
			put(t, root, "specs/.keep", "")
		}, "medium empty-spec-root", folder.VerdictWarn},
		{"specifications not asked for", `{"specRoot": "specs", "deterministicChecks": {"requireSpecDocs": false}}`, folder.ModeBlock, nil, "", folder.VerdictPass},
		{"specifications nowhere", `{"deterministicChecks": {"requireSpecDocs": true}}`, folder.ModeBlock, nil, "medium missing-spec-root", folder.VerdictWarn},
		{"no index", `{"lessons": {"root": "elsewhere"}}`, folder.ModeBlock, nil, "medium missing-lessons-index", folder.VerdictWarn},
		{"stale preflight", `{"preflight": {"maxAgeHours": 0.5}}`, folder.ModeBlock, nil, "medium stale-preflight-artifact", folder.VerdictWarn},
		{"no preflight", `{"preflight": {"artifactGlob": "logs/none_*.json"}}`, folder.ModeBlock, nil, "medium missing-preflight-artifact", folder.VerdictWarn},
		{"preflight not asked for", `{"preflight": {"required": false, "artifactGlob": "logs/none_*.json"}}`, folder.ModeBlock, nil, "", folder.VerdictPass},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := fresh(t)
			if test.prepare != nil {
				test.prepare(t, root)
			}
			out := guard(t, root, test.policy, folder.GuardOptions{Mode: test.mode})
			if codes(out) != test.want || out.Status != test.status || out.Semantic.Status != folder.SemanticDisabled {
				t.Errorf("%s %q: %+v", out.Status, codes(out), out)
			}
		})
	}
}

func TestGuardArtifact(t *testing.T) {
	root := fresh(t)
	put(t, root, folder.PolicyName, `{"requiredDocs": ["README.md"], "lessons": {"root": "elsewhere"}}`)
	out, name, err := folder.Guard(t.Context(), root, policy(t, root), "ship it", folder.GuardOptions{Mode: folder.ModeBlock, Now: func() time.Time { return noon }})
	if err != nil || out.Status != folder.VerdictBlock {
		t.Fatal(err, out)
	}
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/guard.golden.json", string(text))
}

func TestGuardGates(t *testing.T) {
	root := fresh(t)
	out := guard(t, root, `{"qualityGates": [
		{"id": "good", "command": "true"},
		{"id": "argv", "command": ["sh", "-c", "exit $1", "x", "0"]},
		{"id": "here", "command": "test -f agent_workflow_policy.json"},
		{"id": "bad", "description": "unit tests", "command": "echo 3 failed; echo password=hunter2secret >&2; exit 3"},
		{"id": "optional", "command": "exit 1", "required": false},
		{"id": "absent", "command": ["no-such-program-anywhere"]}]}`, folder.GuardOptions{Mode: folder.ModeBlock})
	if codes(out) != "high quality-gate-failed, medium quality-gate-failed, high quality-gate-failed" || out.Status != folder.VerdictBlock {
		t.Errorf("%s %q", out.Status, codes(out))
	}
	message := out.Deterministic[0].Message
	if !strings.HasPrefix(message, "bad (unit tests) ended with exit status 3: ") || !strings.Contains(message, "3 failed") || strings.Contains(message, "hunter2") {
		t.Errorf("%q", message)
	}
	if !strings.Contains(out.Deterministic[2].Message, "could not be run") {
		t.Errorf("%q", out.Deterministic[2].Message)
	}
}

// alive tells whether a process that wrote its id to a file still runs.
func alive(t *testing.T, file string) bool {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	state, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || !strings.Contains(string(state), ") Z ") // ended, and nobody has asked how
}

func TestGuardEndsWhatHangs(t *testing.T) {
	root := fresh(t)
	begin := time.Now()
	out := guard(t, root, `{"qualityGates": [
		{"id": "hangs", "command": "trap '' TERM; sleep 60 & echo $! > hangs.pid; wait; wait"},
		{"id": "leaves", "command": "sleep 60 & echo $! > leaves.pid"},
		{"id": "floods", "command": "yes x"}]}`, folder.GuardOptions{GateTime: 300 * time.Millisecond})
	if codes(out) != "high quality-gate-failed, high quality-gate-failed, high quality-gate-failed" || !strings.Contains(out.Deterministic[0].Message, "took longer than 300ms") {
		t.Errorf("%+v", out.Deterministic)
	}
	for _, name := range []string{"hangs.pid", "leaves.pid"} {
		if alive(t, filepath.Join(root, name)) {
			t.Errorf("%s still runs", name)
		}
	}
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("took %s", took)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := folder.Guard(ctx, root, policy(t, root), "x", folder.GuardOptions{}); errs.CodeOf(err) != errs.Unavailable {
		t.Error("given up:", err)
	}
}

func TestGuardSemantic(t *testing.T) {
	finding := func(severity string) string {
		return `{"severity": "` + severity + `", "rule": "r", "message": "m", "evidence": "e", "recommendation": "x"}`
	}
	answer := func(findings ...string) string {
		return `{"summary": "s", "findings": [` + strings.Join(findings, ", ") + `]}`
	}
	for _, test := range []struct {
		name, reviewer, more string // a shell script, and more of the policy
		status               folder.Verdict
		semantic, failure    string
		findings             int
	}{
		{"nothing found", "cat > /dev/null; cat <<'E'\n" + answer() + "\nE", "", folder.VerdictPass, "completed", "", 0},
		{"advisory", "cat <<'E'\n" + answer(finding("high"), finding("low")) + "\nE", "", folder.VerdictWarn, "completed", "", 2},
		{"elevated", "cat <<'E'\n" + answer(finding("high")) + "\nE", `, "blockOnSeverity": ["high"]`, folder.VerdictBlock, "completed", "", 1},
		{"elevated, but lighter", "cat <<'E'\n" + answer(finding("medium")) + "\nE", `, "blockOnSeverity": "high"`, folder.VerdictWarn, "completed", "", 1},
		{"elevated beyond the list", "cat <<'E'\n" + answer(finding("high"), finding("high"), finding("low")) + "\nE", `, "blockOnSeverity": "low", "maxFindings": 2`, folder.VerdictBlock, "completed", "", 2},
		{"is given the request", `grep -q '"task":"ship it".*"lessons":\[{"id":"case-docker-cache".*"schema":' || exit 9` + "\ncat <<'E'\n" + answer() + "\nE", "", folder.VerdictPass, "completed", "", 0},
		{"fails", "echo no key >&2; exit 4", "", folder.VerdictWarn, "failed", "exit status 4: no key", 0},
		{"says nothing", "true", "", folder.VerdictWarn, "failed", "answered nothing", 0},
		{"hangs", "sleep 60", `, "timeoutSec": 0.2`, folder.VerdictWarn, "failed", "took longer", 0},
		{"garbage", "echo 'I found nothing.'", "", folder.VerdictWarn, "failed", "not the JSON", 0},
		{"fenced", "printf '```json\\n{}\\n```'", "", folder.VerdictWarn, "failed", "not the JSON", 0},
		{"extra key", `echo '{"summary": "", "findings": [], "score": 1}'`, "", folder.VerdictWarn, "failed", "score", 0},
		{"missing key", `echo '{"summary": ""}'`, "", folder.VerdictWarn, "failed", "schema", 0},
		{"missing key below", `echo '{"summary": "", "findings": [{"severity": "low"}]}'`, "", folder.VerdictWarn, "failed", "schema", 0},
		{"severity", "cat <<'E'\n" + answer(finding("fatal")) + "\nE", "", folder.VerdictWarn, "failed", "schema", 0},
		{"repeated key", `echo '{"summary": "", "summary": "", "findings": []}'`, "", folder.VerdictWarn, "failed", "twice", 0},
		{"null", "echo null", "", folder.VerdictWarn, "failed", "schema", 0},
		{"two answers", "echo '" + answer() + answer() + "'", "", folder.VerdictWarn, "failed", "something follows", 0},
		{"flood", "yes x", "", folder.VerdictWarn, "failed", "", 0},
		{"invalid UTF-8", `printf '{"summary": "\377", "findings": []}'`, "", folder.VerdictWarn, "failed", "UTF-8", 0},
		{"own schema", "cat <<'E'\n" + answer(finding("low"), finding("low")) + "\nE", `, "schemaPath": "own.json"`, folder.VerdictWarn, "failed", "schema", 0},
		{"schema that is not there", "true", `, "schemaPath": "none.json"`, folder.VerdictWarn, "failed", "none.json cannot be read", 0},
		{"schema that is none", "true", `, "schemaPath": "bad.json"`, folder.VerdictWarn, "failed", "bad.json cannot be used", 0},
		{"remote schema", "true", `, "schemaPath": "remote.json"`, folder.VerdictWarn, "failed", "remote.json cannot be used", 0},
		{"unknown engine", "true", `, "engine": "oracle"`, folder.VerdictWarn, "failed", `no engine "oracle"`, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := fresh(t)
			put(t, root, "review.sh", "#!/bin/sh\n"+test.reviewer+"\n")
			put(t, root, "own.json", `{"properties": {"findings": {"maxItems": 1}}}`)
			put(t, root, "bad.json", `{"type": 7}`)
			put(t, root, "remote.json", `{"$ref": "http://127.0.0.1:1/schema.json"}`)
			more := test.more
			if test.name == "flood" {
				more = `, "timeoutSec": 1`
			}
			out := guard(t, root, `{"semanticReview": {"enabled": true, "command": ["./review.sh"]`+more+`}}`, folder.GuardOptions{Mode: folder.ModeBlock})
			if out.Status != test.status || out.Semantic.Status != test.semantic || len(out.Semantic.Findings) != test.findings {
				t.Errorf("%+v", out)
			}
			if test.semantic == "failed" {
				if codes(out) != "medium semantic-run-failed" || !strings.Contains(out.Deterministic[0].Message, test.failure) || out.Semantic.ArtifactPath != nil {
					t.Errorf("%+v", out)
				}
				return
			}
			kept, err := os.ReadFile(filepath.Join(root, *out.Semantic.ArtifactPath))
			if err != nil || !strings.Contains(string(kept), `"summary"`) {
				t.Errorf("%v %s", err, kept)
			}
		})
	}
}

// TestGuardCodex runs a stand-in for the Codex CLI, as the original's policy asks for it.
func TestGuardCodex(t *testing.T) {
	const nothing = `{"summary": "s", "findings": []}`
	const low = `{"summary": "s", "findings": [{"severity": "low", "rule": "r", "message": "m", "evidence": "e", "recommendation": "x"}]}`
	for name, test := range map[string]struct {
		codex, more, failure string // a shell script in which $last is the file of the last message, and more of the policy
		findings             int
	}{
		"its last message":    {`echo thinking; echo '` + low + `' > "$last"`, "", "", 1},
		"its output":          {`echo '` + nothing + `'`, "", "", 0},
		"is given what it is": {`[ "$schema" ] && grep -q '"severity"' "$schema" && [ "$model" = m1 ] && [ "$box" = read-only ] && [ "$(pwd)" -ef "$root" ] && grep -q 'ship it' prompt.txt && echo '` + nothing + `' > "$last"`, `, "model": "m1"`, "", 0},
		"its schema is held":  {`echo '{"summary": "s"}' > "$last"`, "", "schema", 0},
		"the policy's schema": {`grep -q maxItems "$schema" && echo '` + low + `' > "$last"`, `, "schemaPath": "own.json"`, "schema", 0},
		"it fails":            {"echo no key >&2; exit 4", "", "exit status 4: no key", 0},
		"it takes too long":   {"sleep 60", `, "timeoutSec": 0.3`, "took longer than 300ms", 0},
		"it answers a flood":  {`yes x | head -c 5000000 > "$last"`, "", "is larger than", 0},
		"it answers nothing":  {`true`, "", "answered nothing", 0},
	} {
		t.Run(name, func(t *testing.T) {
			root, bin := fresh(t), t.TempDir()
			put(t, root, "own.json", `{"properties": {"findings": {"maxItems": 0}}}`)
			put(t, bin, "codex", `#!/bin/sh
[ "$1" = exec ] || exit 9
while [ $# -gt 0 ]; do
	case "$1" in
	-o) last=$2; shift;;
	-m) model=$2; shift;;
	-C) root=$2; shift;;
	--sandbox) box=$2; shift;;
	--output-schema) schema=$2; shift;;
	esac
	shift
done
cat > prompt.txt
`+test.codex+"\n")
			if err := os.Chmod(filepath.Join(bin, "codex"), 0o755); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
			out := guard(t, root, `{"semanticReview": {"enabled": true, "engine": "codex_subprocess"`+test.more+`}}`, folder.GuardOptions{Mode: folder.ModeBlock})
			if test.failure != "" {
				if out.Semantic.Status != "failed" || codes(out) != "medium semantic-run-failed" || !strings.Contains(out.Deterministic[0].Message, test.failure) {
					t.Errorf("%+v", out)
				}
			} else if out.Semantic.Status != "completed" || len(out.Semantic.Findings) != test.findings {
				t.Errorf("%+v", out)
			}
		})
	}
	t.Setenv("PATH", t.TempDir())
	out := guard(t, fresh(t), `{"semanticReview": {"enabled": true, "engine": "codex_subprocess"}}`, folder.GuardOptions{})
	if codes(out) != "medium semantic-run-failed" || !strings.Contains(out.Deterministic[0].Message, "codex is not on the PATH") {
		t.Errorf("without the program: %+v", out)
	}
}

func TestGuardWritesNowhereElse(t *testing.T) {
	root, outside := fresh(t), t.TempDir()
	if err := os.RemoveAll(filepath.Join(root, "logs")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(root, "logs")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := folder.Guard(t.Context(), root, policy(t, root), "x", folder.GuardOptions{}); err == nil {
		t.Error("wrote through a link")
	}
	if left, _ := os.ReadDir(outside); len(left) > 0 {
		t.Errorf("%v", left)
	}
}
