package guard

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// CheckAside is Check on a node that follows the one which writes: it judges by the rules alone. Only what nothing speaks against, and what neither reads a file
// nor changes one, is known to be judged alike there; sure tells that. The rest is the writer's to judge, which knows what agents did at other nodes, and what people
// allowed. If it does not answer, the verdict is better than none: always has it entered too.
func (g *Guards) CheckAside(ctx context.Context, action rule.Action, always bool) (checked Checked, sure bool, err error) {
	p, id, err := proposed(ctx, &action)
	if err != nil {
		return Checked{}, false, err
	}
	begin := time.Now()
	verdict, alone := g.guard.Aside(ctx, action)
	if needs := needed(action, verdict); len(needs) > 0 {
		return unjudged(needs), true, nil
	}
	g.recall(action, &verdict)
	sure = alone && verdict.Decision == rule.DecisionAllow
	if err := withoutNUL(action); err != nil && verdict.Decision != rule.DecisionBlock {
		return Checked{}, false, err
	}
	if !sure && !always {
		return Checked{}, false, nil
	}
	return g.entered(p, action, verdict, lesson.CheckRecord{ID: id, TookUS: time.Since(begin).Microseconds()}), sure, nil
}

// Settle has the checks entered that wait for it.
func (g *Guards) Settle(ctx context.Context) { g.ledger.settle(ctx) }

// EnterChecks writes checks into the ledger that another node made, each once however often it is handed over.
func (g *Guards) EnterChecks(ctx context.Context, checks []lesson.CheckRecord) error {
	return g.store.Change(ctx, func(tx lesson.PipelineTx) error {
		for _, c := range checks {
			if _, err := enter(tx, c); err != nil {
				return err
			}
		}
		return nil
	}, nil)()
}

// enter writes a check into the ledger, unless it is there.
func enter(tx lesson.PipelineTx, c lesson.CheckRecord) (known bool, err error) {
	if _, known, err = tx.CheckOf(c.ID); err != nil || known {
		return known, err
	}
	return false, cmp.Or(tx.AddChecks(c), tx.AddEvents(checkEvents(c)...))
}

// Follow brings the rules in step with events that another router wrote.
func (g *Guards) Follow(ctx context.Context, events []eventlog.Event) error {
	var lessons, patterns, standings []string
	packs := false
	for _, e := range events {
		switch {
		case strings.HasPrefix(e.Type, "lesson."):
			lessons = append(lessons, e.Subject)
		case strings.HasPrefix(e.Type, "pattern."):
			patterns = append(patterns, e.Subject)
		case e.Type == lesson.EventRuleDemoted, e.Type == lesson.EventRuleRestored:
			standings = append(standings, e.Subject)
		case e.Type == lesson.EventPackChanged:
			packs = true
		}
	}
	if packs {
		if err := g.loadPacks(ctx); err != nil {
			return err
		}
	}
	for part := range slices.Chunk(distinct(lessons), learning.MaxLimit) {
		if err := g.followLessons(ctx, part); err != nil {
			return err
		}
	}
	for _, id := range distinct(patterns) {
		if err := g.followPattern(ctx, id); err != nil {
			return err
		}
	}
	return g.followStandings(ctx, distinct(standings))
}

func distinct(ids []string) []string {
	slices.Sort(ids)
	return slices.Compact(ids)
}

func (g *Guards) followLessons(ctx context.Context, ids []string) error {
	found, err := g.store.Lessons(ctx, ids)
	if err := cmp.Or(err, g.followStandings(ctx, ids)); err != nil {
		return err
	}
	g.KeepRules(slices.DeleteFunc(found, func(l lesson.Lesson) bool { return l.Type != learning.LessonAntiPattern })...)
	return nil
}

func (g *Guards) followPattern(ctx context.Context, id string) error {
	p, there, err := g.store.PatternOf(ctx, id)
	if err != nil || !there {
		g.drop(id)
		return err
	}
	return g.loadPattern(ctx, p)
}

// followStandings takes in what became of rules.
func (g *Guards) followStandings(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	standings, err := g.store.GuardStandings(ctx, ids)
	g.stand(standings...)
	return err
}
