package experience

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"math"
	"strings"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/redact"
	"github.com/skillrouter/skillrouter/internal/strictjson"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// Bounds of experiences.
const (
	// MaxPart bounds each of problem, solution and metadata, in bytes of JSON: a stack trace fits.
	MaxPart = 64 << 10
	// MaxDuration bounds a duration, in milliseconds: ten years, past which it is no duration but a mistake.
	MaxDuration = 10 * 365 * 24 * 3600 * 1000
)

// prepared is a draft that was checked, cleaned and rendered: all
// that can be done before the transaction.
type prepared struct {
	experience             Experience      // without its number, its scores and its time
	episode                episode.Episode // without its number, session and time
	fingerprint            int64           // of the problem's query
	dependencies, triggers int
	redacted               []string
}

// prepare checks what a client says of an experience. Secrets are
// cut out of every text in it.
func prepare(draft Draft, author string) (p prepared, err error) {
	operation, err := checkOperation(draft.OperationType)
	if err != nil {
		return p, err
	}
	if err := cmp.Or(
		check.Name("server_name", draft.ServerName),
		check.OneOf("outcome", draft.Outcome, learning.Results()),
		check.OptionalRange("quality_score", draft.QualityScore, 0, 1),
	); err != nil {
		return p, err
	}
	if draft.DurationMS != nil {
		if err := check.Range("duration_ms", float64(*draft.DurationMS), 0, MaxDuration); err != nil {
			return p, err
		}
	}
	if err := check.Name("project", draft.Project); err != nil {
		return p, err
	}
	if err := check.Text("notes", draft.Notes, lesson.MaxText); err != nil {
		return p, err
	}
	var c redact.Redaction
	e := Experience{
		OperationType: operation, ServerName: c.Cut(strings.TrimSpace(draft.ServerName)), Outcome: draft.Outcome,
		QualityScore: draft.QualityScore, DurationMS: draft.DurationMS, Notes: c.Cut(draft.Notes), AgentID: author, Project: draft.Project,
	}
	problem, problemErr := part(&c, "problem", draft.Problem, &e.Problem)
	solution, solutionErr := part(&c, "solution", draft.Solution, &e.Solution)
	metadata, metadataErr := part(&c, "metadata", draft.Metadata, &e.Metadata)
	if err := cmp.Or(problemErr, solutionErr, metadataErr); err != nil {
		return p, err
	}
	p = prepared{experience: e, redacted: c.Kinds()}
	if problem != nil {
		p.fingerprint = queryFingerprint(problem.Query)
	}
	if metadata != nil {
		if err := cmp.Or(checkItems("metadata.dependencies", metadata.Dependencies), checkItems("metadata.triggers", metadata.Triggers)); err != nil {
			return p, err
		}
		p.dependencies, p.triggers = len(metadata.Dependencies), len(metadata.Triggers)
	}
	p.episode = experienceEpisode(e, problem, solution, metadata)
	return p, nil
}

// checkOperation checks an operation type and cleans it.
func checkOperation(operationType string) (string, error) {
	return strings.TrimSpace(operationType), learning.CheckRequiredName("operation_type", operationType)
}

// queryFingerprint tells problems apart by their query; 0 stands for none.
func queryFingerprint(query string) int64 {
	if query == "" {
		return 0
	}
	sum := sha256.Sum256([]byte(query))
	return int64(binary.BigEndian.Uint64(sum[:8])) //nolint:gosec // the bits are what counts
}

func checkItems(field string, items []string) error {
	if len(items) > lesson.MaxListItems {
		return errs.InvalidField(field, "may hold at most %d items", lesson.MaxListItems)
	}
	return nil
}

// part puts a part of an experience into its place as it is stored, without its secrets, and returns what it says then; nil if there is none.
func part[T any](c *redact.Redaction, field string, value *T, stored *json.RawMessage) (*T, error) {
	if value == nil {
		return nil, nil
	}
	text, err := strictjson.Plain(value)
	if err != nil {
		return nil, errs.InvalidField(field, "holds what JSON cannot hold")
	}
	if *stored, err = learning.CleanJSON(c, field, text, MaxPart); err != nil {
		return nil, err
	}
	said := new(T)
	return said, json.Unmarshal(*stored, said)
}

// checkFilter checks what a client asks for, and sets its limit.
func checkFilter(filter *Filter) (err error) {
	if filter.OperationType != "" {
		if filter.OperationType, err = checkOperation(filter.OperationType); err != nil {
			return err
		}
	}
	if err := check.Optional("outcome", filter.Outcome, learning.Results()); err != nil {
		return err
	}
	if filter.Offset < 0 || filter.Offset > lesson.MaxOffset {
		return errs.InvalidField("offset", "must lie between 0 and %d", lesson.MaxOffset)
	}
	if filter.Patterns < 1 || filter.Patterns > MaxShown {
		filter.Patterns = MaxShown
	}
	return check.SetLimit(&filter.Limit, DefaultRecall, learning.MaxLimit)
}

// checkNumber checks the number of an episode, pattern or lesson.
func checkNumber(field string, number int64) error {
	if number <= 0 || number == math.MaxInt64 {
		return errs.InvalidField(field, "must be a positive number")
	}
	return nil
}
