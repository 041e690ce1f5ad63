package app

import (
	"context"

	"skillrouter/learning"
	"skillrouter/learning/shelf"
	"skillrouter/router/contexts"
	"skillrouter/router/httpapi"
	"skillrouter/router/llm"
)

// wireLLM builds the ways out that are configured; by default there are none.
func (a *App) wireLLM(_ context.Context, p *parts) error {
	settings := a.config.LLM
	if settings.BaseURL != "" {
		endpoint, err := a.endpoint(settings.BaseURL)
		if err != nil {
			return err
		}
		p.endpoint, a.services.endpoint = endpoint, endpoint
		if settings.Model != "" {
			p.model = llm.NewChat(endpoint, settings.Model, llm.ChatOptions{Window: settings.ContextWindow})
		}
	}
	if base := settings.EmbeddingBase(); base != "" {
		endpoint, err := a.endpoint(base)
		if err != nil {
			return err
		}
		p.embedder = llm.NewEmbeddings(endpoint, settings.EmbeddingModel)
	}
	return nil
}

// wireChat puts memory in front of the endpoint. It comes after all that memory is made of.
func (a *App) wireChat(ctx context.Context, p *parts) error {
	settings := a.config.LLM
	options := llm.ProxyOptions{Context: p.context, Budget: settings.MemoryBudget, Window: settings.ContextWindow, Log: a.log}
	if settings.Record {
		options.Episodes = p.episodes
	}
	proxy := llm.NewProxy(p.endpoint, httpapi.WriteChatProblem, options)
	if settings.Record {
		a.runs(ctx, "exchanges", proxy.Run)
	}
	if p.endpoint != nil { // the first conversation would not wait for the vocabulary
		a.life.run(ctx, "tokenizer", func(ctx context.Context) error {
			contexts.CountTokens("")
			<-ctx.Done()
			return nil
		})
	}
	p.chat = proxy
	return nil
}

// endpoint makes the way to a base address, which is closed with the App. The key is the first endpoint's alone.
func (a *App) endpoint(base string) (*llm.Endpoint, error) {
	settings := a.config.LLM
	options := llm.Options{
		Timeouts: llm.Timeouts{FirstByte: settings.Timeout, Idle: settings.Timeout},
		Now:      a.now, Log: a.log,
	}
	if base == settings.BaseURL {
		options.Key = llm.Secret(settings.APIKey)
	}
	endpoint, err := llm.NewEndpoint(base, options)
	if err != nil {
		return nil, err
	}
	a.life.defers("model endpoint", endpoint.Close)
	return endpoint, nil
}

// wireEmbeddings lets searches go by meaning too, if a model is configured.
func (a *App) wireEmbeddings(ctx context.Context, p *parts) error {
	p.vectors = shelf.NewVectors(p.memory, p.embedder, shelf.VectorOptions{
		Options:     learning.Options{Now: a.now, Log: a.log},
		QueryPrefix: a.config.LLM.QueryPrefix, ItemPrefix: a.config.LLM.ItemPrefix,
	})
	p.knowledge.UseVectors(p.vectors)
	p.episodes.UseVectors(p.vectors)
	p.lessons.UseVectors(p.vectors)
	a.runs(ctx, "vectors", p.vectors.Run)
	return nil
}
