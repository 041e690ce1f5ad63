package llm

import (
	"context"
	"fmt"
	"time"

	"github.com/skillrouter/skillrouter/internal/safetext"
	"github.com/skillrouter/skillrouter/router/contexts"
)

// memoryTime is how long a conversation waits for its memory: more would be felt
// before the first word of an answer.
const memoryTime = 300 * time.Millisecond

// framing is how many tokens the text takes besides the context: the message around it.
const framing = 8

// remembered returns the body with memory in it, and what the answer's header says of it.
// Whatever goes wrong with memory, the conversation goes on without.
func (p *Proxy) remembered(ctx context.Context, c *conversation, w wishes) ([]byte, string) {
	switch {
	case !w.memory || w.budget <= 0:
		return c.body, "off"
	case p.options.Context == nil:
		return c.body, "none: there is no memory here"
	}
	question := c.question()
	if question == "" {
		return c.body, "none: the user asks nothing"
	}
	budget := w.budget
	if window := p.options.Window; window > 0 {
		answer := c.answer
		if answer <= 0 {
			answer = min(DefaultAnswer, window/4)
		}
		budget = min(budget, window-answer-c.tokens()-framing)
	}
	if budget < MinBudget {
		return c.body, "none: the conversation fills the model's window"
	}
	built, err := p.build(ctx, contexts.Request{Task: question, Budget: budget, Persona: w.persona, AgentID: w.agent, Project: w.project})
	switch {
	case err != nil && ctx.Err() == nil:
		p.options.Log.WarnContext(ctx, "a conversation goes on without memory", "error", err)
		return c.body, "none: it could not be gathered in time"
	case err != nil:
		return c.body, "none"
	case built.Text == "":
		return c.body, "none: nothing fits"
	}
	return c.with(built.Text), fmt.Sprintf("%s, %d tokens", safetext.Counted(len(built.Items), "item", "items"), built.Tokens)
}

// build gathers memory within memoryTime, also from a builder that does not look at its context.
func (p *Proxy) build(ctx context.Context, request contexts.Request) (contexts.Context, error) {
	ctx, cancel := context.WithTimeout(ctx, p.options.MemoryTime)
	defer cancel()
	type result struct {
		built contexts.Context
		err   error
	}
	ready := make(chan result, 1)
	go func() {
		built, err := p.options.Context.Build(ctx, request)
		ready <- result{built, err}
	}()
	select {
	case <-ctx.Done():
		return contexts.Context{}, ctx.Err()
	case r := <-ready:
		return r.built, r.err
	}
}
