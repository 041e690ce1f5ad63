package lesson

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/likeness"
	"github.com/skillrouter/skillrouter/tfidf/text"
)

// describe names a pattern and says what it is about, in its representative's words.
func describe(pattern *Pattern, lesson *Lesson) {
	pattern.Name = nameOf(lesson.Title)
	parts := []string{gatheringOf(pattern.Type).lead + strings.TrimSuffix(lesson.Title, ".")}
	if lesson.RootCause != "" {
		parts = append(parts, "Root cause: "+strings.TrimSuffix(lesson.RootCause, "."))
	}
	pattern.Description = strings.Join(parts, ". ") + "."
}

// nameOf is a text as a name.
func nameOf(text string) string { return check.Clip(check.OneLine(text), check.MaxName) }

// draw takes into a pattern what a lesson advises: the recommended action is
// that of the lesson with the highest confidence, the others are steps of prevention.
func draw(pattern *Pattern, lesson *Lesson, at time.Time) {
	if len(pattern.Categories) < maxPatternCategories && !slices.Contains(pattern.Categories, lesson.Category) {
		pattern.Categories = append(pattern.Categories, lesson.Category)
	}
	if pattern.Domain != lesson.Domain {
		pattern.Domain = CrossDomain
	}
	advice := advised(lesson)
	for i, step := range advice {
		confidence := lesson.At(at)
		if i == 0 && confidence > pattern.ActionConfidence && !said(pattern.Action, step) {
			previous := pattern.Action
			pattern.Action, pattern.ActionConfidence = step, confidence
			pattern.Prevention = slices.DeleteFunc(pattern.Prevention, func(s string) bool { return said(s, step) })
			step = previous
		}
		if step != "" && !said(pattern.Action, step) && len(pattern.Prevention) < maxPrevention &&
			!slices.ContainsFunc(pattern.Prevention, func(s string) bool { return said(s, step) }) {
			pattern.Prevention = append(pattern.Prevention, step)
		}
	}
}

// said tells whether two steps are the same but for case and spacing.
func said(a, b string) bool {
	return string(learning.AppendNormal(nil, a)) == string(learning.AppendNormal(nil, b))
}

// advised is what a lesson says is to be done, the best first.
func advised(lesson *Lesson) (advice []string) {
	if lesson.Solution != "" {
		advice = append(advice, lesson.Solution)
	}
	switch lesson.Type {
	case learning.LessonWorkaround, learning.LessonSuccess, learning.LessonOptimization:
		advice = append(advice, lesson.Action)
	}
	advice = append(advice, lesson.Alternatives...)
	return slices.DeleteFunc(advice, func(s string) bool { return strings.TrimSpace(s) == "" })
}

// whyGathered says what brought lessons together. The first line counts, the
// second names who told of it; both change with further evidence.
func whyGathered(pattern *Pattern, members []Lesson, agents []string) []string {
	why := []string{"", ""}
	if pattern.Command != "" {
		why = append(why, "the same command: "+pattern.Command)
	} else if len(members) == 1 {
		why = append(why, "the same lesson, reported again")
	} else {
		why = append(why, shared("shared words", members, func(l *Lesson) []string {
			return words(strings.Join([]string{l.Title, l.Context, l.Action, l.Outcome, l.RootCause}, "\n"))
		})...)
		why = append(why, shared("shared root cause", members, func(l *Lesson) []string { return words(l.RootCause) })...)
	}
	if len(members) > 1 {
		why = append(why, shared("shared tags", members, func(l *Lesson) []string { return learning.FoldTags(l.Tags) })...)
	}
	pattern.Why = why
	rewhy(pattern, agents)
	return pattern.Why
}

// rewhy counts anew in a pattern's Why. No names leave these as they are.
func rewhy(pattern *Pattern, agents []string) {
	if len(pattern.Why) < 2 {
		return
	}
	pattern.Why[0] = fmt.Sprintf("seen %d times in %d lessons of %d agents", pattern.Frequency, pattern.Lessons, max(pattern.Agents, 1))
	if len(agents) > 0 {
		slices.Sort(agents)
		more := ""
		if int(pattern.Agents) > len(agents) {
			more = " and others"
		}
		pattern.Why[1] = "told by " + strings.Join(agents, ", ") + more
	} else if pattern.Why[1] == "" {
		pattern.Why[1] = "told by nobody in particular"
	}
	const generalises = "it holds across domains"
	if pattern.Domain == CrossDomain && !slices.Contains(pattern.Why, generalises) {
		pattern.Why = append(pattern.Why, generalises)
	}
}

// maxShared bounds how many words a line of Why names.
const maxShared = 12

// shared names what the lessons have in common, if they do.
func shared(title string, members []Lesson, of func(l *Lesson) []string) []string {
	common := of(&members[0])
	for i := range members[1:] {
		has := map[string]bool{}
		for _, w := range of(&members[1+i]) {
			has[stemOf(w)] = true
		}
		common = slices.DeleteFunc(common, func(w string) bool { return !has[stemOf(w)] })
	}
	if len(common) == 0 {
		return nil
	}
	return []string{title + ": " + strings.Join(common[:min(len(common), maxShared)], ", ")}
}

// words are the distinct words of a text that say something, as they are spelt but for case.
func words(title string) (said []string) {
	seen := map[string]bool{}
	for word := range strings.FieldsSeq(likeness.Clean(title)) {
		word = strings.ToLower(strings.Trim(word, "`'\"()[]{}<>,;:.!?…*“”‘’«»"))
		if stem := stemOf(word); len(word) > 1 && !text.StopWord(word) && stem != "" && !seen[stem] {
			seen[stem] = true
			said = append(said, word)
		}
	}
	return said
}

// stemOf is the stem of a word, or the word itself if it is made of several.
func stemOf(word string) string {
	terms := text.Terms(word)
	if len(terms) != 1 {
		return word
	}
	if name, known := likeness.Names()[terms[0]]; known {
		return name
	}
	return terms[0]
}

// failed counts the failures of the lesson's commands. Three of one command,
// whatever they were about, form an anti_pattern.
func (o *observation) failed() error {
	if o.lesson.Type != learning.LessonFailure {
		return nil
	}
	ran := o.lesson.ran()
	for _, command := range ran[:min(len(ran), likeness.MaxPatternCommands)] {
		command = likeness.PlainCommand(command)
		if command == "" || slices.ContainsFunc(o.patterns, func(p Pattern) bool { return p.Command == command }) {
			continue // it names a program alone, or this occurrence was counted
		}
		// Looking is cheap; only what may be three failures is read.
		ids := o.like.Running(command)
		if len(ids) < 2 && o.lesson.Occurrences < commandFailures {
			continue
		}
		pattern, known, err := o.tx.CommandPattern(command)
		if err != nil {
			return err
		}
		if known {
			if err := o.join(pattern, 1); err != nil {
				return err
			}
			continue
		}
		if err := o.formCommand(command, ids); err != nil {
			return err
		}
	}
	return nil
}

// formCommand forms the pattern of a command if it failed often enough in the lessons.
func (o *observation) formCommand(command string, ids []string) error {
	members := []Lesson{o.lesson}
	failures := o.lesson.Occurrences
	slices.Sort(ids) // made in the order of their time
	slices.Reverse(ids)
	read := 0
	for _, id := range ids {
		if id == o.lesson.ID {
			continue
		}
		if read++; read > commandLessons {
			break
		}
		other, found, err := o.tx.LessonOf(id)
		if err != nil {
			return err
		}
		if found && other.Status != StatusRetired && other.Type == learning.LessonFailure {
			members, failures = append(members, other), failures+other.Occurrences
		}
	}
	if failures < commandFailures {
		return nil
	}
	slices.SortFunc(members, byNumber)
	pattern := Pattern{
		ID: check.NewID(), Name: nameOf("It keeps failing: " + command), Type: PatternAntiPattern, Command: command, Domain: o.lesson.Domain,
		Description: "The command failed again and again: " + command, Status: PatternEmerging, Representative: o.lesson.ID, Weight: 1,
		FirstSeen: o.at, LastSeen: o.at, CreatedAt: o.at, UpdatedAt: o.at, Categories: []string{}, Prevention: []string{},
	}
	evidence := make([]Evidence, 0, len(members))
	for i := range members {
		evidence = append(evidence, Evidence{Kind: EvidenceLesson, Ref: members[i].ID, Agent: members[i].SourceAgent, Score: 1, At: members[i].CreatedAt})
	}
	return o.found(pattern, members, evidence)
}
