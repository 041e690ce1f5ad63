package app

import (
	"context"
	"fmt"

	"skillrouter/learning"
	"skillrouter/learning/feedback"
	"skillrouter/learning/knowledge"
)

// wireGaps has the searches tell of what was asked and not found.
func (a *App) wireGaps(ctx context.Context, p *parts) error {
	p.gaps = feedback.NewGaps(a.aside.memory(p.memory), feedback.GapSources{Knowledge: p.knowledge, Episodes: p.episodes, Lessons: p.lessons}, feedback.GapsOptions{
		Options: learning.Options{Now: a.now, Log: a.log}, Changed: p.memory.EventBell(),
	})
	p.knowledge.ReportMisses(p.gaps)
	p.episodes.ReportMisses(p.gaps)
	p.lessons.ReportMisses(p.gaps)
	a.life.run(ctx, "gaps", p.gaps.Run)
	return nil
}

// wireAnswered has the searches heed which entries answered which questions.
func (a *App) wireAnswered(ctx context.Context, p *parts) (err error) {
	if p.answered, err = knowledge.NewAnswered(ctx, p.memory, p.knowledge.Used, a.now); err != nil {
		return fmt.Errorf("read what was learned from use: %w", err)
	}
	p.knowledge.LearnFrom(p.answered)
	return nil
}
