package folder

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
)

// PolicyName is the file that a repository keeps its workflow policy in.
const PolicyName = "agent_workflow_policy.json"

// Defaults and bounds of a policy.
const (
	maxPolicy          = 1 << 20 // bytes of the file, and of a schema
	maxGates           = 64      // who needs more writes a script
	defaultMaxAgeHours = 24
	// defaultReviewTime and longestReview bound a reviewer's run.
	defaultReviewTime  = 2 * time.Minute
	longestReview      = time.Hour
	defaultMaxFindings = 20
)

// Mode says whether the guard may block.
type Mode string

// The modes.
const (
	ModeWarn  Mode = "warn"
	ModeBlock Mode = "block"
)

// Modes lists every mode.
func Modes() []Mode { return []Mode{ModeWarn, ModeBlock} }

// Rating is how much a finding weighs, in the words of the original lessons folder.
type Rating string

// The ratings.
const (
	RatingLow    Rating = "low"
	RatingMedium Rating = "medium"
	RatingHigh   Rating = "high"
)

// Ratings lists every rating, the lightest first.
func Ratings() []Rating { return []Rating{RatingLow, RatingMedium, RatingHigh} }

// Policy is agent_workflow_policy.json: what a repository asks of those who
// work in it. The commands in it are run as they stand: whoever may change the
// file may run commands as the one who calls the guard, as with a Makefile.
type Policy struct {
	Version             any            `json:"policyVersion"`
	WorkflowMode        string         `json:"workflowMode"` // how the team works, in its own word: "spec-first"
	Mode                Mode           `json:"mode"`         // default: a workflowMode that is one, else ModeWarn
	SpecRoot            string         `json:"specRoot"`
	Lessons             LessonsPolicy  `json:"lessons"`
	RequiredDocs        []string       `json:"requiredDocs"`
	Preflight           PreflightRule  `json:"preflight"`
	DeterministicChecks Checks         `json:"deterministicChecks"`
	QualityGates        []Gate         `json:"qualityGates"`
	SemanticReview      SemanticReview `json:"semanticReview"`

	// Unknown are the keys of the file that say nothing here, with dots between levels.
	Unknown []string `json:"-"`
}

// LessonsPolicy says where the lessons are, from the repository's root: the
// lessons may lie in another repository beside it.
type LessonsPolicy struct {
	Root                 string    `json:"root"`
	IndexPath            string    `json:"indexPath"`
	FallbackHeadingsPath string    `json:"fallbackHeadingsPath"`
	Selection            Selection `json:"selection"`
}

// Selection bounds a shortlist.
type Selection struct {
	Top           int `json:"top"`
	PrinciplesMax int `json:"principlesMax"`
	PatternsMax   int `json:"patternsMax"`
	CasesMax      int `json:"casesMax"`
}

// PreflightRule says whether a preflight must have been made, and how old it may be.
type PreflightRule struct {
	Required     *bool   `json:"required"` // default true
	ArtifactGlob string  `json:"artifactGlob"`
	MaxAgeHours  float64 `json:"maxAgeHours"`
}

// Checks switches single checks; each is on unless it is switched off.
type Checks struct {
	RequirePreflightArtifact *bool `json:"requirePreflightArtifact"`
	RequireSpecDocs          *bool `json:"requireSpecDocs"` // default: on if there is a specRoot
}

// Gate is a command that must succeed.
type Gate struct {
	ID          string  `json:"id"`
	Description string  `json:"description"`
	Command     Command `json:"command"`
	Required    *bool   `json:"required"` // default true; otherwise a failure is medium
}

// SemanticReview is the lane that reads for meaning.
type SemanticReview struct {
	Enabled         bool     `json:"enabled"`
	Engine          string   `json:"engine"` // EngineCodex or EngineCommand
	Model           string   `json:"model"`
	Command         Command  `json:"command"` // of EngineCommand; ours, beside the keys of the original lessons folder
	TimeoutSec      float64  `json:"timeoutSec"`
	MaxFindings     int      `json:"maxFindings"`
	BlockOnSeverity Severity `json:"blockOnSeverity"`
	SchemaPath      string   `json:"schemaPath"`
}

// Severity is a list of ratings; one alone need not be a list, and null is none.
type Severity []Rating

// UnmarshalJSON implements json.Unmarshaler.
func (s *Severity) UnmarshalJSON(text []byte) error {
	*s = nil
	var one *Rating
	if json.Unmarshal(text, &one) == nil {
		if one != nil && *one != "" && *one != "none" {
			*s = Severity{*one}
		}
		return nil
	}
	return json.Unmarshal(text, (*[]Rating)(s))
}

// Command is a program with its arguments, or one line for the shell.
type Command []string

// UnmarshalJSON implements json.Unmarshaler.
func (c *Command) UnmarshalJSON(text []byte) error {
	*c = nil
	var line *string
	if json.Unmarshal(text, &line) == nil {
		if line != nil && strings.TrimSpace(*line) != "" {
			*c = append(shell(), *line)
		}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(c))
}

// ReadPolicy reads a policy. name is relative to root; empty means PolicyName,
// which need not be there: then the defaults hold. Wrong types, repeated keys and
// values out of range are Invalid and name the key. A key that is not known here
// may be another tool's: it is named in Unknown.
func ReadPolicy(root, name string) (Policy, error) {
	var policy Policy
	text, err := readNamed(root, cmp.Or(name, PolicyName), maxPolicy)
	switch {
	case name == "" && missing(err):
	case err != nil:
		return policy, errs.Wrap(errs.Invalid, err, "the policy %s cannot be read: %s", cmp.Or(name, PolicyName), reason(err))
	default:
		if policy.Unknown, err = tolerant(text, &policy); err != nil {
			return policy, errs.Wrap(errs.Invalid, err, "the policy %s is refused: %s", cmp.Or(name, PolicyName), strings.TrimPrefix(err.Error(), "json: "))
		}
	}
	if err := policy.complete(); err != nil {
		coded, _ := errors.AsType[*errs.Error](err)
		return policy, errs.Errorf(errs.Invalid, "the policy %s is refused: %s %s", cmp.Or(name, PolicyName), coded.Field, coded.Message)
	}
	return policy, nil
}

// complete checks a policy and fills in the defaults.
func (p *Policy) complete() error {
	if p.Mode == "" {
		p.Mode = ModeWarn
		if mode := Mode(p.WorkflowMode); slices.Contains(Modes(), mode) {
			p.Mode = mode
		}
	}
	if err := check.OneOf("mode", p.Mode, Modes()); err != nil {
		return err
	}
	p.Lessons.Root = cmp.Or(p.Lessons.Root, "lessons")
	p.Lessons.IndexPath = cmp.Or(p.Lessons.IndexPath, filepath.ToSlash(filepath.Join(p.Lessons.Root, IndexName)))
	p.Lessons.FallbackHeadingsPath = cmp.Or(p.Lessons.FallbackHeadingsPath, "LESSONS.md")
	for _, bound := range []struct {
		field     string
		n         *int
		otherwise int
	}{
		{"lessons.selection.top", &p.Lessons.Selection.Top, 5},
		{"lessons.selection.principlesMax", &p.Lessons.Selection.PrinciplesMax, 2},
		{"lessons.selection.patternsMax", &p.Lessons.Selection.PatternsMax, 2},
		{"lessons.selection.casesMax", &p.Lessons.Selection.CasesMax, 2},
		{"semanticReview.maxFindings", &p.SemanticReview.MaxFindings, defaultMaxFindings},
	} {
		if *bound.n == 0 {
			*bound.n = bound.otherwise
		}
		if err := check.Range(bound.field, float64(*bound.n), 1, 1000); err != nil {
			return err
		}
	}
	if p.SpecRoot != "" && !filepath.IsLocal(filepath.FromSlash(p.SpecRoot)) {
		return errs.InvalidField("specRoot", "must be a path within the repository")
	}
	for _, doc := range p.RequiredDocs {
		if !filepath.IsLocal(filepath.FromSlash(doc)) {
			return errs.InvalidField("requiredDocs", "must hold paths within the repository")
		}
	}
	p.Preflight.ArtifactGlob = cmp.Or(p.Preflight.ArtifactGlob, preflightPlace+"/preflight_*.json")
	if _, err := filepath.Match(p.Preflight.ArtifactGlob, "x"); err != nil || !filepath.IsLocal(filepath.FromSlash(p.Preflight.ArtifactGlob)) {
		return errs.InvalidField("preflight.artifactGlob", "must be a pattern of paths within the repository")
	}
	p.Preflight.MaxAgeHours = cmp.Or(p.Preflight.MaxAgeHours, defaultMaxAgeHours)
	if err := check.Range("preflight.maxAgeHours", p.Preflight.MaxAgeHours, 0, 24*3650); err != nil {
		return err
	}
	if len(p.QualityGates) > maxGates {
		return errs.InvalidField("qualityGates", "may hold at most %d gates", maxGates)
	}
	seen := map[string]bool{}
	// A gate that is not required and has no command yet is a place kept for one.
	p.QualityGates = slices.DeleteFunc(p.QualityGates, func(g Gate) bool { return !on(g.Required) && (len(g.Command) == 0 || g.Command[0] == "") })
	for _, gate := range p.QualityGates {
		switch {
		case gate.ID == "" || seen[gate.ID]:
			return errs.InvalidField("qualityGates.id", "must be there, and be each gate's own")
		case len(gate.Command) == 0 || gate.Command[0] == "":
			return errs.InvalidField("qualityGates.command", "is required for %s", gate.ID)
		}
		seen[gate.ID] = true
	}
	return p.SemanticReview.complete()
}

func (r *SemanticReview) complete() error {
	if r.TimeoutSec == 0 {
		r.TimeoutSec = defaultReviewTime.Seconds()
	}
	if err := cmp.Or(
		check.Range("semanticReview.timeoutSec", r.TimeoutSec, 0.001, longestReview.Seconds()),
		check.Each("semanticReview.blockOnSeverity", r.BlockOnSeverity, Ratings()),
	); err != nil {
		return err
	}
	r.Engine = cmp.Or(r.Engine, EngineCommand)
	return nil
}

func (r SemanticReview) blocks(rating Rating) bool { return slices.Contains(r.BlockOnSeverity, rating) }

// on is a switch that holds unless it is set to false.
func on(b *bool) bool { return b == nil || *b }

// readNamed reads a file that the user or the policy named: relative to root,
// or anywhere. Only regular files are read.
func readNamed(root, name string, max int) ([]byte, error) {
	name = filepath.FromSlash(name)
	if !filepath.IsAbs(name) {
		name = filepath.Join(root, name)
	}
	info, err := os.Stat(name)
	text, err := readRegular(info, err, os.Open, name, max)
	return bytes.TrimPrefix(text, []byte("\ufeff")), err
}
