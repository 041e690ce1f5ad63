package main

import (
	"fmt"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/scripts/bench/sidecar"
)

// lessons makes lessons as a team reports them: most are new, some happened
// before, and some are like an earlier one in other words.
type lessons struct {
	*sidecar.Words
	made []lesson.Draft // the latest, which may come again
}

const (
	// remembered is how many earlier lessons may come again.
	remembered = 2000
	// againShare and alikeShare are how many of a hundred lessons are an earlier one, and are like an earlier one.
	againShare, alikeShare = 5, 15
	domains, categories    = 20, 60
)

func newLessons(seed uint64) *lessons { return &lessons{Words: sidecar.NewWords(seed)} }

// next is another lesson.
func (l *lessons) next() lesson.Draft {
	roll := l.Random.IntN(100)
	if len(l.made) > 0 && roll < againShare+alikeShare {
		d := l.made[l.Random.IntN(len(l.made))]
		d.SourceAgent = l.agent()
		if roll >= againShare { // the same trouble, told anew
			d.Title += " " + l.Phrase(2)
			d.Context = l.Phrase(10) + " " + d.Context
		}
		return d
	}
	types := learning.LessonTypes()
	severities := []learning.Severity{learning.SeverityMedium, learning.SeverityMedium, learning.SeverityLow, learning.SeverityHigh, learning.SeverityMedium}
	n := l.Random.IntN(categories)
	d := lesson.Draft{
		Type: types[l.Random.IntN(len(types))], Domain: fmt.Sprintf("domain-%d", n%domains), Category: fmt.Sprintf("category-%d", n),
		Title: l.Phrase(8), Context: l.Phrase(20), Action: l.Phrase(8), Outcome: l.Phrase(10), RootCause: l.Phrase(6), Solution: l.Phrase(10),
		Severity: severities[l.Random.IntN(len(severities))], Tags: []string{l.Phrase(1), l.Phrase(1)}, SourceAgent: l.agent(),
	}
	if d.Type == learning.LessonAntiPattern {
		d.RelatedCommands = []string{fmt.Sprintf("%s --%s %s", l.Phrase(1), l.Phrase(1), l.Phrase(1))}
	}
	if len(l.made) < remembered {
		l.made = append(l.made, d)
	} else {
		l.made[l.Random.IntN(remembered)] = d
	}
	return d
}

func (l *lessons) agent() string { return fmt.Sprintf("agent-%d", l.Random.IntN(50)) }

// some is n lessons.
func (l *lessons) some(n int) []lesson.Draft {
	out := make([]lesson.Draft, n)
	for i := range out {
		out[i] = l.next()
	}
	return out
}
