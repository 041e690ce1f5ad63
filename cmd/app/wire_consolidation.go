package app

import (
	"context"

	"skillrouter/learning"
	"skillrouter/router/llm"
)

// wireConsolidation builds what makes memory of transcripts. With a model it asks that first.
func (a *App) wireConsolidation(ctx context.Context, p *parts) error {
	options := learning.ConsolidationOptions{
		Options: learning.Options{Now: a.now, Log: a.log}, Threshold: a.config.Consolidation.Threshold,
	}
	if p.model != nil {
		options.Extractor = llm.NewExtractor(p.model)
	}
	consolidation := learning.NewConsolidation(p.memory, learning.ConsolidationPorts{
		Facts: p.facts, Episodes: p.episodes, Procedures: p.procedures,
	}, options)
	a.life.run(ctx, "consolidation", consolidation.Run)
	p.consolidation = consolidation
	return nil
}
