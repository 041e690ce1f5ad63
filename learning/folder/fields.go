package folder

import (
	"slices"
	"strconv"
	"strings"

	"skillrouter/internal/defaults"
	"skillrouter/learning/lesson"
)

// field is one part of an entry that can differ between a file and the router.
type field struct {
	name string
	of   func(Entry) string
	set  func(*lesson.Patch, Entry) // nil: an edit cannot change it
}

// fields lists every part of an entry but its id.
func fields() []field {
	joined := func(items []string) string { return strings.Join(items, "\x00") }
	kept := func(items []string) *[]string { items = slices.Clone(defaults.List(items)); return &items }
	return []field{
		{"title", func(e Entry) string { return e.Title }, func(p *lesson.Patch, e Entry) { p.Title = &e.Title }},
		{"summary", func(e Entry) string { return e.Summary }, func(p *lesson.Patch, e Entry) { p.Context = &e.Summary }},
		{"body", func(e Entry) string { return e.Body }, func(p *lesson.Patch, e Entry) { p.Body = &e.Body }},
		{"tags", func(e Entry) string { return joined(e.Tags) }, func(p *lesson.Patch, e Entry) { p.Tags = kept(e.Tags) }},
		{"confidence", func(e Entry) string { return strconv.Itoa(e.Confidence) }, func(p *lesson.Patch, e Entry) {
			confidence := Share(e.Confidence)
			p.Confidence = &confidence
		}},
		{"transferability", func(e Entry) string { return strconv.Itoa(e.Transferability) }, func(p *lesson.Patch, e Entry) {
			p.Transferability = &e.Transferability
		}},
		{"last_validated_at", func(e Entry) string { return e.LastValidatedAt }, func(p *lesson.Patch, e Entry) {
			p.LastValidatedAt = e.validatedAt()
		}},
		{"category", func(e Entry) string { return e.Extra.Category }, func(p *lesson.Patch, e Entry) { p.Category = &e.Extra.Category }},
		{"severity", func(e Entry) string { return string(e.Extra.Severity) }, func(p *lesson.Patch, e Entry) { p.Severity = &e.Extra.Severity }},
		{"action_taken", func(e Entry) string { return e.Extra.Action }, func(p *lesson.Patch, e Entry) { p.Action = &e.Extra.Action }},
		{"outcome", func(e Entry) string { return e.Extra.Outcome }, func(p *lesson.Patch, e Entry) { p.Outcome = &e.Extra.Outcome }},
		{"root_cause", func(e Entry) string { return e.Extra.RootCause }, func(p *lesson.Patch, e Entry) { p.RootCause = &e.Extra.RootCause }},
		{"solution", func(e Entry) string { return e.Extra.Solution }, func(p *lesson.Patch, e Entry) { p.Solution = &e.Extra.Solution }},
		{"alternatives", func(e Entry) string { return joined(e.Extra.Alternatives) }, func(p *lesson.Patch, e Entry) {
			p.Alternatives = kept(e.Extra.Alternatives)
		}},
		{"related_files", func(e Entry) string { return joined(e.Extra.RelatedFiles) }, func(p *lesson.Patch, e Entry) {
			p.RelatedFiles = kept(e.Extra.RelatedFiles)
		}},
		{"related_commands", func(e Entry) string { return joined(e.Extra.RelatedCommands) }, func(p *lesson.Patch, e Entry) {
			p.RelatedCommands = kept(e.Extra.RelatedCommands)
		}},
		{"trigger_pattern", func(e Entry) string { return e.Extra.TriggerPattern }, func(p *lesson.Patch, e Entry) {
			p.TriggerPattern = &e.Extra.TriggerPattern
		}},
		{"block_action", func(e Entry) string { return strconv.FormatBool(e.Extra.BlockAction) }, func(p *lesson.Patch, e Entry) {
			p.BlockAction = &e.Extra.BlockAction
		}},
		{"proposed", func(e Entry) string { return strconv.FormatBool(e.Extra.Proposed) }, nil},
		{"level", func(e Entry) string { return string(e.Level) }, nil},
		{"status", func(e Entry) string { return string(e.Status) }, nil},
		{"source_case_ids", func(e Entry) string { return joined(e.SourceCaseIDs) }, nil},
		{"lesson_type", func(e Entry) string { return string(e.Extra.Type) }, nil},
		{"domain", func(e Entry) string { return e.Extra.Domain }, nil},
		{"contexts", func(e Entry) string { return joined(e.Extra.Contexts) }, nil},
		{"source_agent", func(e Entry) string { return e.Extra.SourceAgent }, nil},
		{"project", func(e Entry) string { return e.Extra.Project }, nil},
	}
}

// patch is what an edit changes to make a lesson say what its file says, and
// the fields in which they would still differ. empty tells that it changes nothing.
func patch(file, router Entry) (p lesson.Patch, empty bool, left []string) {
	empty = true
	for _, f := range fields() {
		if f.of(file) == f.of(router) {
			continue
		}
		if f.set == nil || f.name == "last_validated_at" && file.LastValidatedAt == "" {
			left = append(left, f.name) // nor is a validation taken back by leaving out its date
			continue
		}
		f.set(&p, file)
		empty = false
	}
	return p, empty, left
}
