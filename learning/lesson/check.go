package lesson

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/markdown"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/redact"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/guard/act"
)

// clockAhead is how far in the future a client's date of validation may lie: a
// date has no time zone, and another machine's clock is not this one's.
const clockAhead = 48 * time.Hour

// checkDraft checks what a client says of a lesson, its author apart,
// fills in the defaults and cleans it.
func checkDraft(draft *Draft, at time.Time) error {
	if draft.ID != "" {
		if err := checkID("id", draft.ID); err != nil {
			return err
		}
	}
	if err := check.OneOf("lesson_type", draft.Type, learning.LessonTypes()); err != nil {
		return err
	}
	for _, name := range []struct{ field, value string }{{"domain", draft.Domain}, {"category", draft.Category}} {
		if err := learning.CheckRequiredName(name.field, name.value); err != nil {
			return err
		}
	}
	if err := learning.CheckTitle(draft.Title); err != nil {
		return err
	}
	if err := cmp.Or(
		check.Texts(MaxText, "context", draft.Context, "action_taken", draft.Action, "outcome", draft.Outcome, "root_cause", draft.RootCause, "solution", draft.Solution),
		check.Text("body", draft.Body, learning.MaxContent),
		check.Text("trigger_pattern", draft.TriggerPattern, MaxListItem),
		check.Name("project", draft.Project),
	); err != nil {
		return err
	}
	for _, list := range draft.lists() {
		if err := cleanList(list.field, list.items); err != nil {
			return err
		}
	}
	tags, err := learning.CleanTags(draft.Tags)
	if err != nil {
		return err
	}
	draft.Tags = tags
	draft.Domain, draft.Category = strings.TrimSpace(draft.Domain), strings.TrimSpace(draft.Category)
	draft.Title, draft.Project = check.OneLine(draft.Title), strings.TrimSpace(draft.Project)
	return checkGrades(draft, at)
}

// checkGrades checks a draft's enumerations and figures, and fills in their defaults.
func checkGrades(draft *Draft, at time.Time) error {
	draft.Severity, draft.Level = cmp.Or(draft.Severity, learning.SeverityMedium), cmp.Or(draft.Level, LevelCase)
	draft.Status, draft.Transferability = cmp.Or(draft.Status, StatusCandidate), cmp.Or(draft.Transferability, DefaultTransferability)
	if draft.Confidence == nil {
		confidence := DefaultConfidence
		draft.Confidence = &confidence
	}
	if err := cmp.Or(
		check.OneOf("severity", draft.Severity, learning.Severities()),
		check.OneOf("level", draft.Level, Levels()),
		check.OneOf("status", draft.Status, Statuses()),
		checkTransferability(draft.Transferability),
		check.Range("confidence", *draft.Confidence, 0, 1),
	); err != nil {
		return err
	}
	if draft.Type != learning.LessonAntiPattern {
		if draft.TriggerPattern != "" {
			return errs.InvalidField("trigger_pattern", "is for lessons of type %s", learning.LessonAntiPattern)
		}
		if draft.BlockAction {
			return errs.InvalidField("block_action", "is for lessons of type %s", learning.LessonAntiPattern)
		}
		if draft.Proposed {
			return errs.InvalidField("proposed", "is for lessons of type %s", learning.LessonAntiPattern)
		}
	}
	if err := checkTrigger(draft.TriggerPattern); err != nil {
		return err
	}
	return checkValidatedAt(draft.LastValidatedAt, at)
}

// checkGrant refuses what an agent may not say of a lesson that it reports
// itself: that it has been checked, or holds everywhere.
func checkGrant(p principal.Principal, draft *Draft) error {
	if p.Has(principal.ScopeCaptain) {
		return nil
	}
	switch {
	case draft.Status != "" && draft.Status != StatusCandidate:
		return &errs.Error{Code: errs.Forbidden, Field: "status", Message: "only a captain may report a lesson that was judged already"}
	case draft.LastValidatedAt != nil:
		return &errs.Error{Code: errs.Forbidden, Field: "last_validated_at", Message: "only a captain may report a lesson that was judged already"}
	case draft.Level == LevelPrinciple:
		return &errs.Error{Code: errs.Forbidden, Field: "level", Message: "only a captain may report a principle: others are promoted to it"}
	}
	return nil
}

// checkID holds a client's own id to what is no number: numbers name lessons too.
func checkID(field, id string) error {
	if err := learning.CheckID(field, id); err != nil {
		return err
	}
	if strings.Trim(id, "0123456789") == "" {
		return errs.InvalidField(field, "may not be a number: these are given in the order of reporting")
	}
	return nil
}

func checkTransferability(t int) error {
	if t < 1 || t > 5 {
		return errs.InvalidField("transferability", "must lie between 1 and 5")
	}
	return nil
}

func checkValidatedAt(t *time.Time, at time.Time) error {
	if t == nil {
		return nil
	}
	if t.Before(time.Unix(0, 0)) || t.After(at.Add(clockAhead)) {
		return errs.InvalidField("last_validated_at", "must lie between 1970 and now")
	}
	return nil
}

// textList is one of a lesson's lists and the name of its field.
type textList struct {
	field string
	items *[]string
}

func (d *Draft) lists() []textList {
	return []textList{
		{"alternatives", &d.Alternatives},
		{"related_files", &d.RelatedFiles},
		{"related_commands", &d.RelatedCommands},
		{"contexts", &d.Contexts},
		{"source_case_ids", &d.SourceCaseIDs},
	}
}

// cleanList checks a list's items, drops empty ones and repeats, and keeps their order. The list is never nil then.
func cleanList(field string, list *[]string) error {
	if len(*list) > MaxListItems {
		return &errs.Error{Code: errs.TooLarge, Field: field, Message: fmt.Sprintf("holds more than %d items", MaxListItems)}
	}
	clean := make([]string, 0, len(*list))
	for i, item := range *list {
		if err := check.Text(fmt.Sprintf("%s[%d]", field, i), item, MaxListItem); err != nil {
			return err
		}
		if item = strings.TrimSpace(item); item != "" && !slices.Contains(clean, item) {
			clean = append(clean, item)
		}
	}
	*list = clean
	return nil
}

// redactDraft cuts the secrets out of everything that a writer says in a lesson.
func redactDraft(d *Draft) (kinds []string) {
	var r redact.Redaction
	r.Text(&d.Title, &d.Context, &d.Action, &d.Outcome, &d.RootCause, &d.Solution, &d.Body)
	r.List(d.Alternatives, d.RelatedFiles, d.RelatedCommands, d.Contexts, d.Tags)
	return r.Kinds()
}

// checkTrigger refuses an expression with a secret in it: with the secret cut
// out it would be another expression.
func checkTrigger(pattern string) error {
	if _, kinds := redact.Text(pattern); len(kinds) > 0 {
		return errs.InvalidField("trigger_pattern", "holds a secret (%s), which is never stored", strings.Join(kinds, ", "))
	}
	return nil
}

// CategoryProhibition is the category of what a text forbids.
const CategoryProhibition = "prohibition"

// Prohibition is the rule that a heading or an item of a list proposes if it forbids commands: no rule of the guard until another agent, or a
// captain, confirms it. text is all that it says, and above the headings that it stands under.
func Prohibition(sentence, text, domain string, above []string) (d Draft, forbids bool) {
	for _, command := range act.Forbidden(sentence) {
		if len(command) <= MaxListItem && len(d.RelatedCommands) < MaxListItems {
			d.RelatedCommands = append(d.RelatedCommands, command)
		}
	}
	d.Type, d.Proposed, d.Domain, d.Category, d.Severity = learning.LessonAntiPattern, true, domain, CategoryProhibition, learning.SeverityHigh
	d.Level, d.Status, d.Transferability, d.Confidence = LevelCase, StatusCandidate, DefaultTransferability, new(DefaultConfidence)
	d.Title, d.Context = check.Head(markdown.Plain(sentence), learning.MaxTitle), check.Head(strings.Join(above, " > "), MaxText)
	if text != sentence {
		d.Body = check.Head(text, learning.MaxContent)
	}
	return d, len(d.RelatedCommands) > 0
}

// A report is untrusted if nobody has proven who sent it, such as a datagram
// without a signature: its draft has the trust TrustImported. It may be stored
// and counted. It must not stop anybody's work, wake anybody, or change what
// known senders have said. These are the limits.
const (
	// untrustedConfidence is the most that an untrusted lesson begins with: medium, in
	// the experience server's words, so that it is never among the lessons of high confidence by itself.
	untrustedConfidence = 0.5
	// untrustedSeverity is the worst that it may say of itself; what is worse is escalated.
	untrustedSeverity = learning.SeverityMedium
)

// untrusted tells whether nobody has proven who sent a draft.
func untrusted(trust learning.Trust) bool { return trust == learning.TrustImported }

// temper takes out of a draft what an untrusted one may not say: it makes no rule, is
// never worse than medium, no more than a case, and believed to 0.5 at the most.
func (d *Draft) temper() {
	if d.Type == learning.LessonAntiPattern {
		d.Type = learning.LessonWarning
	}
	d.TriggerPattern, d.BlockAction, d.Proposed, d.Force = "", false, false, false
	if worse(d.Severity, untrustedSeverity) {
		d.Severity = untrustedSeverity
	}
	if d.Level != "" {
		d.Level = LevelCase
	}
	d.Status, d.LastValidatedAt = "", nil
	confidence := untrustedConfidence
	if d.Confidence != nil && *d.Confidence >= 0 && *d.Confidence < confidence {
		confidence = *d.Confidence
	}
	d.Confidence = &confidence
}
