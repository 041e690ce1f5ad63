package app

import (
	"context"

	"skillrouter/router"
	"skillrouter/router/search"
)

// wireSearch builds the search over every memory, and has the others tell of
// it where they find nothing. What of operational.db is searched by words is
// read in beside everything else.
func (a *App) wireSearch(ctx context.Context, p *parts) error {
	words := search.NewWords(p.operations, p.operations.SignalLog(), a.log)
	a.life.run(ctx, "words", words.Run)
	searcher := search.NewSearcher(search.Sources{
		Knowledge: p.knowledge, Episodes: p.episodes, Lessons: p.lessons, Facts: p.facts, Procedures: p.procedures, Words: words,
	}, search.SearcherOptions{Now: a.now, Misses: p.gaps})
	p.knowledge.TellElsewhere(router.KindKnowledge, searcher)
	p.episodes.TellElsewhere(router.KindEpisode, searcher)
	p.lessons.TellElsewhere(router.KindLesson, searcher)
	p.facts.TellElsewhere(router.KindFact, searcher)
	p.procedures.TellElsewhere(router.KindProcedure, searcher)
	p.search = searcher
	return nil
}
