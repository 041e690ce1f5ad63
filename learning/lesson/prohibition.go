package lesson

import (
	"strings"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/markdown"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/guard/act"
)

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
