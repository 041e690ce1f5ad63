package folder

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/skillrouter/skillrouter/internal/defaults"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/redact"
	"github.com/skillrouter/skillrouter/internal/strictjson"
)

// EngineCommand runs the policy's reviewer command: a ReviewRequest as JSON on
// its stdin, a Review as JSON on its stdout.
const EngineCommand = "command"

// EngineCodex runs "codex exec" of the PATH, as the original's policy asks: it may read the repository and change nothing.
const EngineCodex = "codex_subprocess"

// ReviewSchema is the JSON schema of what a reviewer answers; a policy's own
// may ask for more, and for nothing less.
//
//go:embed semantic_review_schema.json
var ReviewSchema []byte

// ReviewRequest is what a reviewer is given.
type ReviewRequest struct {
	Task        string          `json:"task"`
	Mode        Mode            `json:"mode"`
	Root        string          `json:"root"` // the repository, which is also the working folder
	Model       string          `json:"model,omitempty"`
	MaxFindings int             `json:"maxFindings"`
	Findings    []Finding       `json:"deterministicFindings"`
	Lessons     []Match         `json:"lessons"` // of the latest preflight
	Schema      json.RawMessage `json:"schema"`  // of the answer
}

// Review is what a reviewer answers.
type Review struct {
	Summary  string          `json:"summary"`
	Findings []ReviewFinding `json:"findings"`
}

// ReviewFinding is one thing that a reviewer found.
type ReviewFinding struct {
	Severity       Rating `json:"severity"`
	Rule           string `json:"rule"`
	Message        string `json:"message"`
	Evidence       string `json:"evidence"`
	Recommendation string `json:"recommendation"`
}

// review asks the reviewer that the policy names and holds its answer to the
// schema. Whatever goes wrong is an error, and the caller's finding.
func (g *guarding) review(ctx context.Context, findings []Finding, lessons []Match) (Review, error) {
	policy := g.policy.SemanticReview
	schema, own, err := g.schema()
	if err != nil {
		return Review{}, err
	}
	limit := time.Duration(policy.TimeoutSec * float64(time.Second))
	request := ReviewRequest{
		Task: g.task, Mode: g.mode, Root: g.root, Model: policy.Model, MaxFindings: policy.MaxFindings,
		Findings: findings, Lessons: lessons, Schema: own,
	}
	var answer []byte
	switch {
	case policy.Engine == EngineCodex:
		if answer, err = g.codex(ctx, request, limit); err != nil {
			return Review{}, err
		}
	case policy.Engine != EngineCommand:
		return Review{}, fmt.Errorf("there is no engine %q here", policy.Engine)
	case len(policy.Command) == 0 || policy.Command[0] == "":
		return Review{}, errors.New("semanticReview.command names no reviewer")
	default:
		stdin, err := json.Marshal(request)
		if err != nil {
			return Review{}, err
		}
		if answer, err = g.ask(ctx, policy.Command, stdin, limit); err != nil {
			return Review{}, err
		}
	}
	return readReview(answer, schema)
}

// ask runs a reviewer and returns what it wrote.
func (g *guarding) ask(ctx context.Context, command Command, stdin []byte, limit time.Duration) ([]byte, error) {
	ran := execute(ctx, g.root, command, stdin, limit)
	if ran.err != nil {
		return nil, fmt.Errorf("the reviewer %w%s", ran.err, said(ran.tail))
	}
	if ran.cut {
		return nil, fmt.Errorf("the reviewer answered more than %d bytes", maxOutput)
	}
	return ran.stdout, nil
}

// codex asks the Codex CLI for a review. Its last message goes to a file, and to its output where it is too old for that.
func (g *guarding) codex(ctx context.Context, request ReviewRequest, limit time.Duration) ([]byte, error) {
	program, err := exec.LookPath("codex")
	if err != nil {
		return nil, fmt.Errorf("codex is not on the PATH, and the policy's engine %s needs it: install the Codex CLI, or set semanticReview.enabled to false", EngineCodex)
	}
	folder, err := os.MkdirTemp("", "skillrouter-review-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	schema, last := filepath.Join(folder, "schema.json"), filepath.Join(folder, "answer.json")
	if err := os.WriteFile(schema, request.Schema, 0o600); err != nil {
		return nil, err
	}
	asked, err := json.MarshalIndent(request, "", "  ")
	if err != nil {
		return nil, err
	}
	command := Command{program, "exec", "--skip-git-repo-check", "--sandbox", "read-only", "-C", g.root, "--output-schema", schema, "-o", last}
	if request.Model != "" {
		command = append(command, "-m", request.Model)
	}
	prompt := fmt.Sprintf("Review the uncommitted changes of this repository against the task, the lessons and the findings below. "+
		"Change nothing. Answer with JSON that fits the schema and nothing else, with at most %d findings.\n\n%s\n", request.MaxFindings, asked)
	printed, err := g.ask(ctx, append(command, "-"), []byte(prompt), limit)
	if err != nil {
		return nil, err
	}
	switch answer, err := readNamed("", last, maxOutput); {
	case missing(err) || err == nil && len(bytes.TrimSpace(answer)) == 0:
		return printed, nil //nolint:nilerr // it wrote none
	case err != nil:
		return nil, fmt.Errorf("the reviewer's answer %s", reason(err))
	default:
		return answer, nil
	}
}

// readReview holds an answer to every schema.
func readReview(answer []byte, schemas []*jsonschema.Resolved) (Review, error) {
	var review Review
	if len(bytes.TrimSpace(answer)) == 0 {
		return review, errors.New("the reviewer answered nothing")
	}
	answer = bytes.TrimPrefix(answer, []byte("\ufeff"))
	if err := strictjson.Decode(answer, &review); err != nil {
		return review, errs.Wrap(errs.Invalid, err, "the reviewer's answer is not the JSON that was asked for: %s", reason(err))
	}
	var value any
	if err := json.Unmarshal(answer, &value); err != nil {
		return review, err
	}
	for _, schema := range schemas {
		if err := schema.Validate(value); err != nil {
			return review, fmt.Errorf("the reviewer's answer does not fit the schema: %w", err)
		}
	}
	return review, json.Unmarshal(new(redact.Redaction).JSON(answer), &review) // it is kept
}

// schema is what an answer must fit, resolved, and what a reviewer is shown of it.
func (g *guarding) schema() (schemas []*jsonschema.Resolved, own []byte, err error) {
	own = ReviewSchema
	texts := [][]byte{ReviewSchema}
	if name := g.policy.SemanticReview.SchemaPath; name != "" {
		if own, err = readNamed(g.root, name, maxPolicy); err != nil {
			return nil, nil, fmt.Errorf("the schema %s cannot be read: %s", name, reason(err))
		}
		texts = append(texts, own)
	}
	for _, text := range texts {
		var schema jsonschema.Schema
		err := json.Unmarshal(text, &schema)
		if err == nil {
			var resolved *jsonschema.Resolved
			if resolved, err = schema.Resolve(nil); err == nil { // without a loader: nothing is fetched
				schemas = append(schemas, resolved)
				continue
			}
		}
		return nil, nil, fmt.Errorf("the schema %s cannot be used: %w", g.policy.SemanticReview.SchemaPath, err)
	}
	return schemas, own, nil
}

// worst keeps the most severe findings, at most max, in the reviewer's order among equals.
func worst(findings []ReviewFinding, max int) []ReviewFinding {
	kept := slices.Clone(findings)
	slices.SortStableFunc(kept, func(a, b ReviewFinding) int {
		return cmp.Compare(slices.Index(Ratings(), b.Severity), slices.Index(Ratings(), a.Severity))
	})
	kept = defaults.List(kept)
	return kept[:min(len(kept), max)]
}

// said is a command's last words, for a message.
func said(tail string) string {
	if tail == "" {
		return ""
	}
	return ": " + strings.Join(strings.Fields(tail), " ")
}
