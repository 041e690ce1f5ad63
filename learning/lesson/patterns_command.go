package lesson

import (
	"slices"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/likeness"
)

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
	id, err := learning.NewID()
	if err != nil {
		return err
	}
	pattern := Pattern{
		ID: id, Name: nameOf("It keeps failing: " + command), Type: PatternAntiPattern, Command: command, Domain: o.lesson.Domain,
		Description: "The command failed again and again: " + command, Status: PatternEmerging, Representative: o.lesson.ID, Weight: 1,
		FirstSeen: o.at, LastSeen: o.at, CreatedAt: o.at, UpdatedAt: o.at, Categories: []string{}, Prevention: []string{},
	}
	evidence := make([]Evidence, 0, len(members))
	for i := range members {
		evidence = append(evidence, Evidence{Kind: EvidenceLesson, Ref: members[i].ID, Agent: members[i].SourceAgent, Score: 1, At: members[i].CreatedAt})
	}
	return o.found(pattern, members, evidence)
}
