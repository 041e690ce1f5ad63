package folder

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"time"

	"skillrouter/internal/check"
	"skillrouter/internal/defaults"
	"skillrouter/internal/errs"
	"skillrouter/learning"
	"skillrouter/learning/lesson"
)

// Entry is a lesson as a file holds it: the keys of the original lessons folder, those of Extra,
// and the text below the front matter.
type Entry struct {
	ID              string        `json:"id"`
	Level           lesson.Level  `json:"level"`
	Status          lesson.Status `json:"status"`
	Tags            []string      `json:"tags"`
	Confidence      int           `json:"confidence"`      // 1 to 5; see Stars
	Transferability int           `json:"transferability"` // 1 to 5
	SourceCaseIDs   []string      `json:"source_case_ids"`
	LastValidatedAt string        `json:"last_validated_at"` // a date such as 2026-11-21, UTC; empty: never
	Title           string        `json:"title"`
	Summary         string        `json:"summary"` // the lesson's context
	Extra           Extra         `json:"extra"`
	Body            string        `json:"body"` // byte for byte what stands below the front matter
}

// Extra is what a lesson has beyond the original lessons folder's keys. A file keeps it under the
// one key "skillrouter", and leaves out what is the default.
type Extra struct {
	Type            learning.LessonType `json:"lesson_type"`
	Domain          string              `json:"domain"`
	Category        string              `json:"category"`
	Severity        learning.Severity   `json:"severity"`
	Action          string              `json:"action_taken"`
	Outcome         string              `json:"outcome"`
	RootCause       string              `json:"root_cause"`
	Solution        string              `json:"solution"`
	Alternatives    []string            `json:"alternatives"`
	RelatedFiles    []string            `json:"related_files"`
	RelatedCommands []string            `json:"related_commands"`
	Contexts        []string            `json:"contexts"`
	TriggerPattern  string              `json:"trigger_pattern"`
	BlockAction     bool                `json:"block_action"`
	Proposed        bool                `json:"proposed"`
	SourceAgent     string              `json:"source_agent"`
	Project         string              `json:"project"`
}

// What a lesson needs, and a file that the original lessons folder's own tools wrote does not say.
const (
	DefaultDomain   = "general"
	DefaultCategory = "lesson"
)

// plain is Extra with every default.
func plain(domain string) Extra {
	return Extra{Type: learning.LessonDiscovery, Domain: domain, Category: DefaultCategory, Severity: learning.SeverityMedium}
}

// Stars is a confidence from 0 to 1 on the original lessons folder's scale: round(5c), from 1 to 5.
func Stars(confidence float64) int {
	if math.IsNaN(confidence) {
		return 1
	}
	return int(min(max(math.Round(5*confidence), 1), 5))
}

// Share is the confidence that stands for n of the original lessons folder's scale: n/5.
func Share(stars int) float64 { return float64(stars) / 5 }

// Of is a lesson as a file would hold it. Its confidence is the undecayed one,
// so that a file changes when evidence moves the confidence and not as time passes.
func Of(lesson lesson.Lesson) Entry {
	entry := Entry{
		ID: lesson.ID, Level: lesson.Level, Status: lesson.Status, Tags: lesson.Tags,
		Confidence: Stars(lesson.InitialConfidence), Transferability: lesson.Transferability,
		SourceCaseIDs: lesson.SourceCaseIDs, Title: lesson.Title, Summary: lesson.Context, Body: lesson.Body,
		Extra: Extra{
			Type: lesson.Type, Domain: lesson.Domain, Category: lesson.Category, Severity: lesson.Severity,
			Action: lesson.Action, Outcome: lesson.Outcome, RootCause: lesson.RootCause, Solution: lesson.Solution,
			Alternatives: lesson.Alternatives, RelatedFiles: lesson.RelatedFiles, RelatedCommands: lesson.RelatedCommands,
			Contexts: lesson.Contexts, TriggerPattern: lesson.TriggerPattern, BlockAction: lesson.BlockAction, Proposed: lesson.Proposed,
			SourceAgent: lesson.SourceAgent, Project: lesson.Project,
		},
	}
	if lesson.LastValidatedAt != nil {
		entry.LastValidatedAt = lesson.LastValidatedAt.UTC().Format(time.DateOnly)
	}
	// What a lesson leaves empty reads as what a file leaves out.
	x, def := &entry.Extra, plain(DefaultDomain)
	x.Type, x.Domain = cmp.Or(x.Type, def.Type), cmp.Or(x.Domain, def.Domain)
	x.Category, x.Severity = cmp.Or(x.Category, def.Category), cmp.Or(x.Severity, def.Severity)
	return entry
}

// Draft is the entry as it is reported to the router.
func (e Entry) Draft() lesson.Draft {
	confidence := Share(e.Confidence)
	return lesson.Draft{
		ID: e.ID, Type: e.Extra.Type, Domain: e.Extra.Domain, Category: e.Extra.Category, Title: e.Title,
		Context: e.Summary, Action: e.Extra.Action, Outcome: e.Extra.Outcome, RootCause: e.Extra.RootCause,
		Solution: e.Extra.Solution, Body: e.Body, Alternatives: e.Extra.Alternatives, Severity: e.Extra.Severity,
		Tags: e.Tags, SourceAgent: e.Extra.SourceAgent, RelatedFiles: e.Extra.RelatedFiles,
		RelatedCommands: e.Extra.RelatedCommands, Contexts: e.Extra.Contexts, TriggerPattern: e.Extra.TriggerPattern,
		BlockAction: e.Extra.BlockAction, Proposed: e.Extra.Proposed, Project: e.Extra.Project, Level: e.Level, Transferability: e.Transferability,
		SourceCaseIDs: e.SourceCaseIDs, Confidence: &confidence, Status: e.Status, LastValidatedAt: e.validatedAt(),
	}
}

// validatedAt is the date of the last validation as a time: the midnight that it begins with.
func (e Entry) validatedAt() *time.Time {
	at, err := time.Parse(time.DateOnly, e.LastValidatedAt)
	if err != nil {
		return nil
	}
	return &at
}

// Hash tells entries of the same content: SHA-256 over all that a file says, and not how it says it.
func (e Entry) Hash() string {
	for _, list := range []*[]string{
		&e.Tags, &e.SourceCaseIDs, &e.Extra.Alternatives, &e.Extra.RelatedFiles, &e.Extra.RelatedCommands, &e.Extra.Contexts,
	} {
		*list = defaults.List(*list)
	}
	text, err := json.Marshal(e)
	if err != nil {
		panic("folder: an entry cannot be written as JSON: " + err.Error()) // strings and numbers always can
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// check holds an entry to what a file may say. What a lesson may say beyond
// that is the service's to judge.
func (e Entry) check() error {
	if err := cmp.Or(
		checkID("id", e.ID),
		check.OneOf("level", e.Level, lesson.Levels()),
		check.OneOf("status", e.Status, lesson.Statuses()),
		check.OneOf("lesson_type", e.Extra.Type, learning.LessonTypes()),
		check.OneOf("severity", e.Extra.Severity, learning.Severities()),
		check.Range("confidence", float64(e.Confidence), 1, 5),
		check.Range("transferability", float64(e.Transferability), 1, 5),
	); err != nil {
		return err
	}
	if e.LastValidatedAt != "" && e.validatedAt() == nil {
		return errs.InvalidField("last_validated_at", "is no date such as 2026-11-21")
	}
	if slices.Contains(e.SourceCaseIDs, e.ID) {
		return errs.InvalidField("source_case_ids", "names the lesson itself")
	}
	if len(e.Tags) > learning.MaxTags {
		return errs.InvalidField("tags", "may hold at most %d tags", learning.MaxTags)
	}
	for _, list := range []struct {
		field string
		items []string
	}{
		{"source_case_ids", e.SourceCaseIDs},
		{"alternatives", e.Extra.Alternatives},
		{"related_files", e.Extra.RelatedFiles},
		{"related_commands", e.Extra.RelatedCommands},
		{"contexts", e.Extra.Contexts},
	} {
		if len(list.items) > lesson.MaxListItems {
			return errs.InvalidField(list.field, "may hold at most %d items", lesson.MaxListItems)
		}
	}
	return check.Required("title", e.Title, learning.MaxTitle)
}

// checkID holds a client's own id to what the service takes for one.
func checkID(field, id string) error {
	if err := learning.CheckID(field, id); err != nil {
		return err
	}
	if _, err := strconv.ParseInt(id, 10, 64); err == nil {
		return errs.InvalidField(field, "is a number, which names a lesson by its order: give it a prefix, such as case-%s", id)
	}
	return nil
}
