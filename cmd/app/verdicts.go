package app

import (
	"context"
	"fmt"

	"skillrouter/learning"
	"skillrouter/learning/episode"
	"skillrouter/learning/knowledge"
	"skillrouter/learning/lesson"
	"skillrouter/learning/verdict"
)

// wireVerdicts has the searches tell of what was asked and not found, and heed which entries answered which questions.
func (a *App) wireVerdicts(ctx context.Context, p *parts) (err error) {
	options := verdict.Options{Options: learning.Options{Now: a.now, Log: a.log}, Used: p.knowledge.Used}
	if a.aside == nil { // else the node that writes asks gaps again
		options.Changed = p.memory.EventBell()
		options.Finders = []verdict.Finder{
			func(ctx context.Context, question, project string) (bool, error) {
				found, err := p.knowledge.Find(ctx, knowledge.Query{Query: question, Project: project, Limit: 1})
				return len(found.Results) > 0 && !found.NoMatch, err
			},
			func(ctx context.Context, question, project string) (bool, error) {
				found, err := p.lessons.Relevant(ctx, lesson.Query{Context: question, Project: project, Limit: 1})
				return len(found.Results) > 0 && !found.NoMatch, err
			},
			func(ctx context.Context, question, project string) (bool, error) {
				found, err := p.episodes.Search(ctx, episode.Query{Query: question, Project: project, Limit: 1})
				return len(found.Results) > 0 && !found.NoMatch, err
			},
		}
	}
	if p.verdicts, err = verdict.New(ctx, a.aside.memory(p.memory), options); err != nil {
		return fmt.Errorf("read what was said of answers: %w", err)
	}
	p.knowledge.LearnFrom(p.verdicts)
	p.knowledge.ReportMisses(p.verdicts)
	p.episodes.ReportMisses(p.verdicts)
	p.lessons.ReportMisses(p.verdicts)
	a.life.run(ctx, "verdicts", p.verdicts.Run)
	return nil
}
