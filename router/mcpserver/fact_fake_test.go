package mcpserver_test

import (
	"context"
	"sync"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/fact"
)

// houseFacts is the fact service in memory, as small as the tools' tests need it.
type houseFacts struct {
	fact.Service
	house *house

	mu   sync.Mutex
	list []fact.Fact
}

func (h *houseFacts) Remember(ctx context.Context, d fact.Draft) (fact.Stored, error) {
	if err := h.house.enter(ctx, d.Key); err != nil {
		return fact.Stored{}, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.list = append(h.list, fact.Fact{
		Persona: d.Persona, Key: d.Key, Category: d.Category, Value: d.Value, Version: int64(len(h.list) + 1),
		Probe: d.Probe, Source: d.Source, Author: d.AgentID, Trust: learning.TrustAgent, CachedAt: noon,
	})
	return fact.Stored{Persona: d.Persona, Key: d.Key, Version: int64(len(h.list)), ExpiresAt: &noon, Redacted: []string{"password"}}, nil
}

func (h *houseFacts) Recall(ctx context.Context, ref fact.Ref) (fact.Fact, error) {
	if err := h.house.enter(ctx, ref.Key); err != nil {
		return fact.Fact{}, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, f := range h.list {
		if f.Key == ref.Key {
			return f, nil
		}
	}
	return fact.Fact{}, errs.Errorf(errs.NotFound, "there is no fact")
}

func (h *houseFacts) Update(ctx context.Context, ref fact.Ref, patch fact.Patch) (fact.Fact, error) {
	f, err := h.Recall(ctx, ref)
	f.Value, f.Author = patch.Value, patch.AgentID
	return f, err
}

func (h *houseFacts) Search(ctx context.Context, q fact.Query) (fact.Page, error) {
	if err := h.house.enter(ctx, q.Pattern); err != nil {
		return fact.Page{}, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return fact.Page{Facts: append([]fact.Fact{}, h.list...), Count: len(h.list), Next: "k"}, nil
}

func (h *houseFacts) Forget(context.Context, fact.Ref) error { return nil }
