package experience

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"skillrouter/internal/check"
	"skillrouter/internal/errs"
	"skillrouter/internal/redact"
	"skillrouter/internal/strictjson"
	"skillrouter/learning"
	"skillrouter/learning/episode"
	"skillrouter/learning/lesson"
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
	var c cleaner
	e := Experience{
		OperationType: operation, ServerName: c.text("server_name", strings.TrimSpace(draft.ServerName)), Outcome: draft.Outcome,
		QualityScore: draft.QualityScore, DurationMS: draft.DurationMS, Notes: c.text("notes", draft.Notes),
		AgentID: author, Project: draft.Project,
	}
	problem, solution, metadata := c.problem(draft.Problem), c.solution(draft.Solution), c.metadata(draft.Metadata)
	e.Problem, e.Solution, e.Metadata = part(&c, "problem", problem), part(&c, "solution", solution), part(&c, "metadata", metadata)
	if c.err != nil {
		return p, c.err
	}
	p = prepared{experience: e, redacted: c.Kinds()}
	if problem != nil {
		p.fingerprint = queryFingerprint(problem.Query)
	}
	if metadata != nil {
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

// cleaner checks texts, cuts secrets out of them, and keeps the first error.
type cleaner struct {
	redact.Redaction
	err error
}

func (c *cleaner) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// text cleans one text.
func (c *cleaner) text(field, s string) string {
	if err := check.Text(field, s, lesson.MaxText); err != nil {
		c.fail(err)
		return ""
	}
	return c.Cut(s)
}

// texts cleans a list of texts. What was sent comes back as it was: an empty list, and empty texts in it.
func (c *cleaner) texts(field string, list []string) []string {
	if len(list) > lesson.MaxListItems {
		c.fail(errs.InvalidField(field, "may hold at most %d items", lesson.MaxListItems))
		return nil
	}
	clean := slices.Clone(list)
	for i, s := range list {
		if err := check.Text(field, s, lesson.MaxListItem); err != nil {
			c.fail(err)
			return nil
		}
		clean[i] = c.Cut(s)
	}
	return clean
}

// value cleans a value of JSON. name is the member that it stands under: a
// word is a password only by its name.
func (c *cleaner) value(field, name string, v any) any {
	switch v := v.(type) {
	case string:
		if err := check.Text(field, v, MaxPart); err != nil {
			c.fail(err)
			return nil
		}
		before := name + ": "
		if clean, named := strings.CutPrefix(c.Cut(before+v), before); named {
			return clean
		}
		return c.Cut(v)
	case map[string]any:
		return c.object(field, v)
	case []any:
		clean := make([]any, len(v))
		for i := range v {
			clean[i] = c.value(field, name, v[i])
		}
		return clean
	}
	return v
}

func (c *cleaner) object(field string, members map[string]any) map[string]any {
	if members == nil {
		return nil
	}
	clean := make(map[string]any, len(members))
	for name, v := range members {
		if err := check.Text(field, name, MaxPart); err != nil {
			c.fail(err)
			return nil
		}
		clean[c.Cut(name)] = c.value(field, name, v)
	}
	return clean
}

func (c *cleaner) problem(p *Problem) *Problem {
	if p == nil {
		return nil
	}
	return &Problem{
		Query:       c.text("problem.query", p.Query),
		Constraints: c.object("problem.constraints", p.Constraints),
		Context:     c.object("problem.context", p.Context),
	}
}

func (c *cleaner) solution(s *Solution) *Solution {
	if s == nil {
		return nil
	}
	return &Solution{
		Tool:     c.text("solution.tool", s.Tool),
		Params:   c.object("solution.params", s.Params),
		Approach: c.text("solution.approach", s.Approach),
	}
}

func (c *cleaner) metadata(m *Metadata) *Metadata {
	if m == nil {
		return nil
	}
	return &Metadata{
		Environment:  c.text("metadata.environment", m.Environment),
		Dependencies: c.texts("metadata.dependencies", m.Dependencies),
		Triggers:     c.texts("metadata.triggers", m.Triggers),
	}
}

// part is a part of an experience as it is stored; nil if there is none.
func part[T any](c *cleaner, field string, value *T) json.RawMessage {
	if value == nil {
		return nil
	}
	text, err := strictjson.Plain(value)
	switch {
	case err != nil:
		c.fail(errs.InvalidField(field, "holds what JSON cannot hold"))
	case len(text) > MaxPart:
		c.fail(&errs.Error{Code: errs.TooLarge, Field: field, Message: "is longer than 65536 bytes of JSON"})
	}
	return text
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
	filter.Limit, err = check.Limit(filter.Limit, DefaultRecall, learning.MaxLimit)
	return err
}

// checkNumber checks the number of an episode, pattern or lesson.
func checkNumber(field string, number int64) error {
	if number <= 0 || number == math.MaxInt64 {
		return errs.InvalidField(field, "must be a positive number")
	}
	return nil
}
