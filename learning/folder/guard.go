package folder

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/redact"
)

// guardPlace is where the guard's findings are kept, within the repository.
const guardPlace = "logs/agent/guard"

// DefaultGateTime bounds a quality gate's run unless the caller says otherwise:
// a test suite that takes longer is no gate before each commit.
const DefaultGateTime = 10 * time.Minute

// Verdict is what the guard comes to.
type Verdict string

// The verdicts. Only a high finding of the deterministic lane, or a finding of
// the semantic lane whose severity the policy elevates, blocks, and only in ModeBlock.
const (
	VerdictPass  Verdict = "PASS"
	VerdictWarn  Verdict = "WARN"
	VerdictBlock Verdict = "BLOCK"
)

// The codes of the deterministic lane's findings. Those of documents that are
// required are high, and a required gate's; all others are medium.
const (
	CodeMissingDoc       = "missing-required-doc"
	CodeMissingSpecRoot  = "missing-spec-root"
	CodeEmptySpecRoot    = "empty-spec-root"
	CodeMissingIndex     = "missing-lessons-index"
	CodeMissingPreflight = "missing-preflight-artifact"
	CodeStalePreflight   = "stale-preflight-artifact"
	CodeSemanticFailed   = "semantic-run-failed"
	CodeGateFailed       = "quality-gate-failed" // ours, beside the original lessons folder's
)

// Finding is one finding of the deterministic lane.
type Finding struct {
	Severity Rating `json:"severity"`
	Code     string `json:"code"`
	Message  string `json:"message"`
}

// Guarded is what the guard found: the original lessons folder's guard artifact, in the order of its keys.
type Guarded struct {
	Status        Verdict   `json:"status"`
	Mode          Mode      `json:"mode"`
	Task          string    `json:"task"`
	Deterministic []Finding `json:"deterministicFindings"`
	Summary       struct {
		High   int `json:"high"`
		Medium int `json:"medium"`
		Total  int `json:"total"`
	} `json:"deterministicSummary"`
	Semantic    Semantic `json:"semantic"`
	GeneratedAt string   `json:"generatedAt"`
}

// Semantic is what came of the semantic lane.
type Semantic struct {
	Status       string          `json:"status"`       // disabled, completed or failed
	ArtifactPath *string         `json:"artifactPath"` // of the reviewer's answer; null unless completed
	Findings     []ReviewFinding `json:"findings"`
}

// What came of the semantic lane.
const (
	SemanticDisabled  = "disabled"
	SemanticCompleted = "completed"
	SemanticFailed    = "failed"
)

// GuardOptions are how the guard is run. The zero value is usable.
type GuardOptions struct {
	Mode     Mode             // empty: the policy's
	GateTime time.Duration    // 0: DefaultGateTime
	Now      func() time.Time // nil: time.Now
}

type guarding struct {
	root   string
	policy Policy
	task   string
	mode   Mode
}

// Guard checks whether the repository at root holds to its policy, and keeps
// what it found in root's logs. It runs the policy's commands. It returns the
// findings and where they were written to; an error means that the guard itself
// could not be run.
func Guard(ctx context.Context, root string, policy Policy, task string, options GuardOptions) (Guarded, string, error) {
	var out Guarded
	if err := check.Required("task", task, MaxTask); err != nil {
		return out, "", err
	}
	options.Mode = cmp.Or(options.Mode, policy.Mode)
	if err := check.OneOf("mode", options.Mode, Modes()); err != nil {
		return out, "", err
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	options.GateTime = cmp.Or(options.GateTime, DefaultGateTime)
	absolute, err := filepath.Abs(root)
	if err != nil {
		return out, "", errs.Wrap(errs.Invalid, err, "the folder %s cannot be found", root)
	}
	opened, err := os.OpenRoot(absolute)
	if err != nil {
		return out, "", errs.Wrap(errs.Invalid, err, "%s cannot be opened as a folder", root)
	}
	defer opened.Close()
	task, _ = redact.Text(task)
	g := &guarding{absolute, policy, task, options.Mode}
	now := options.Now()

	out = Guarded{Status: VerdictPass, Mode: options.Mode, Task: task, Deterministic: []Finding{}, GeneratedAt: stamp(now)}
	out.Deterministic = append(out.Deterministic, g.docs(opened)...)
	lessons, stale := g.preflight(opened, now)
	out.Deterministic = append(out.Deterministic, stale...)
	gates, err := g.gates(ctx, options.GateTime)
	if err != nil {
		return out, "", err
	}
	out.Deterministic = append(out.Deterministic, gates...)

	elevated := false
	out.Semantic = Semantic{Status: SemanticDisabled, Findings: []ReviewFinding{}}
	if policy.SemanticReview.Enabled {
		review, err := g.review(ctx, out.Deterministic, lessons)
		if ctx.Err() != nil {
			return out, "", errs.Wrap(errs.Unavailable, ctx.Err(), "the run was given up")
		}
		if err == nil {
			var name string
			if name, err = keep(absolute, guardPlace, "semantic", review, now); err == nil {
				out.Semantic = Semantic{SemanticCompleted, &name, worst(review.Findings, policy.SemanticReview.MaxFindings)}
			}
		}
		if err != nil {
			out.Semantic.Status = SemanticFailed
			out.Deterministic = append(out.Deterministic, Finding{RatingMedium, CodeSemanticFailed, redacted(reason(err))})
		}
		// All of the review's findings count, also those that the list has no room for.
		for _, f := range review.Findings {
			elevated = elevated || err == nil && policy.SemanticReview.blocks(f.Severity)
		}
	}
	for _, f := range out.Deterministic {
		if f.Severity == RatingHigh {
			out.Summary.High++
		} else {
			out.Summary.Medium++
		}
	}
	out.Summary.Total = len(out.Deterministic)
	switch {
	case out.Mode == ModeBlock && (out.Summary.High > 0 || elevated):
		out.Status = VerdictBlock
	case out.Summary.Total > 0 || len(out.Semantic.Findings) > 0:
		out.Status = VerdictWarn
	}
	name, err := keep(absolute, guardPlace, "guard", out, options.Now())
	return out, name, err
}

// docs are the findings on documents, the specification and the index.
func (g *guarding) docs(root *os.Root) []Finding {
	var found []Finding
	for _, doc := range g.policy.RequiredDocs {
		if info, err := root.Stat(doc); err != nil || !info.Mode().IsRegular() && !info.IsDir() {
			found = append(found, Finding{RatingHigh, CodeMissingDoc, "the required document " + doc + " is not there"})
		}
	}
	checks, spec := g.policy.DeterministicChecks, g.policy.SpecRoot
	if spec == "" && checks.RequireSpecDocs != nil && *checks.RequireSpecDocs {
		found = append(found, Finding{RatingMedium, CodeMissingSpecRoot, "specifications are required, and the policy's specRoot names no folder for them"})
	}
	if spec != "" && on(checks.RequireSpecDocs) {
		if info, err := root.Stat(spec); err != nil || !info.IsDir() {
			found = append(found, Finding{RatingMedium, CodeMissingSpecRoot, "the specifications' folder " + spec + " is not there"})
		} else if !holdsFile(root, spec) {
			found = append(found, Finding{RatingMedium, CodeEmptySpecRoot, "the specifications' folder " + spec + " holds no file"})
		}
	}
	index := filepath.FromSlash(g.policy.Lessons.IndexPath)
	if !filepath.IsAbs(index) {
		index = filepath.Join(g.root, index)
	}
	if info, err := os.Stat(index); err != nil || !info.Mode().IsRegular() {
		found = append(found, Finding{RatingMedium, CodeMissingIndex, "the index of the lessons " + g.policy.Lessons.IndexPath + " is not there"})
	}
	return found
}

// holdsFile tells whether a folder, or one below it, holds a file that is not hidden.
func holdsFile(root *os.Root, dir string) (found bool) {
	_ = fs.WalkDir(root.FS(), path.Clean(filepath.ToSlash(dir)), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && strings.Count(name, "/") > 64 {
			return fs.SkipDir
		}
		if found = d.Type().IsRegular() && !strings.HasPrefix(d.Name(), "."); found {
			return fs.SkipAll
		}
		return nil
	})
	return found
}

// gates runs the policy's commands one after the other.
func (g *guarding) gates(ctx context.Context, limit time.Duration) ([]Finding, error) {
	var found []Finding
	for _, gate := range g.policy.QualityGates {
		ran := execute(ctx, g.root, gate.Command, nil, limit)
		if ctx.Err() != nil {
			return found, errs.Wrap(errs.Unavailable, ctx.Err(), "the run was given up")
		}
		if ran.err == nil {
			continue
		}
		severity := RatingMedium
		if on(gate.Required) {
			severity = RatingHigh
		}
		name := gate.ID
		if gate.Description != "" {
			name += " (" + gate.Description + ")"
		}
		found = append(found, Finding{severity, CodeGateFailed, redacted(fmt.Sprintf("%s %s%s", name, ran.err, said(ran.tail)))})
	}
	return found, nil
}

// redacted is a text without secrets: what commands print is kept in a file.
func redacted(s string) string {
	s, _ = redact.Text(s)
	return s
}
