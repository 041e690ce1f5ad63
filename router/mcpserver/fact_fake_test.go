package mcpserver_test

import (
	"context"
	"sync"

	"skillrouter"
	"skillrouter/learning"
)

// houseFacts is the fact service in memory, as small as the tools' tests need it.
type houseFacts struct {
	learning.FactService
	house *house

	mu   sync.Mutex
	list []learning.Fact
}

func (h *houseFacts) Remember(ctx context.Context, d learning.FactDraft) (learning.FactStored, error) {
	if err := h.house.enter(ctx, d.Key); err != nil {
		return learning.FactStored{}, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.list = append(h.list, learning.Fact{
		Persona: d.Persona, Key: d.Key, Category: d.Category, Value: d.Value, Version: int64(len(h.list) + 1),
		Probe: d.Probe, Source: d.Source, Author: d.AgentID, Trust: learning.TrustAgent, CachedAt: noon,
	})
	return learning.FactStored{Persona: d.Persona, Key: d.Key, Version: int64(len(h.list)), ExpiresAt: &noon, Redacted: []string{"password"}}, nil
}

func (h *houseFacts) Recall(ctx context.Context, ref learning.FactRef) (learning.Fact, error) {
	if err := h.house.enter(ctx, ref.Key); err != nil {
		return learning.Fact{}, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, f := range h.list {
		if f.Key == ref.Key {
			return f, nil
		}
	}
	return learning.Fact{}, skillrouter.Errorf(skillrouter.NotFound, "there is no fact")
}

func (h *houseFacts) Update(ctx context.Context, ref learning.FactRef, patch learning.FactPatch) (learning.Fact, error) {
	f, err := h.Recall(ctx, ref)
	f.Value, f.Author = patch.Value, patch.AgentID
	return f, err
}

func (h *houseFacts) Search(ctx context.Context, q learning.FactQuery) (learning.FactPage, error) {
	if err := h.house.enter(ctx, q.Pattern); err != nil {
		return learning.FactPage{}, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return learning.FactPage{Facts: append([]learning.Fact{}, h.list...), Count: len(h.list), Next: "k"}, nil
}

func (h *houseFacts) Forget(context.Context, learning.FactRef) error { return nil }
