package app

import (
	"context"

	"skillrouter/learning"
	"skillrouter/learning/history"
	"skillrouter/router/llm"
)

// wireConsolidation builds what makes memory of transcripts. With a model it asks that first.
func (a *App) wireConsolidation(_ context.Context, p *parts) error {
	options := history.ConsolidationOptions{
		Options: learning.Options{Now: a.now, Log: a.log}, Threshold: a.config.Consolidation.Threshold,
	}
	if p.model != nil {
		options.Extractor = llm.NewExtractor(p.model)
	}
	p.consolidation = history.NewConsolidation(p.memory, history.Ports{Facts: p.facts, Episodes: p.episodes, Procedures: p.procedures, Rules: p.lessons}, options)
	return nil
}
