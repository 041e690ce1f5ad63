package app

import (
	"context"

	"skillrouter/learning"
	"skillrouter/learning/shelf"
)

// wireEmbeddings lets searches go by meaning too, if a model is configured.
func (a *App) wireEmbeddings(ctx context.Context, p *parts) error {
	p.vectors = shelf.NewVectors(p.memory, p.embedder, shelf.VectorOptions{
		Options:     learning.Options{Now: a.now, Log: a.log},
		QueryPrefix: a.config.LLM.QueryPrefix, ItemPrefix: a.config.LLM.ItemPrefix,
	})
	p.knowledge.UseVectors(p.vectors)
	p.episodes.UseVectors(p.vectors)
	p.lessons.UseVectors(p.vectors)
	a.life.run(ctx, "vectors", p.vectors.Run)
	return nil
}
