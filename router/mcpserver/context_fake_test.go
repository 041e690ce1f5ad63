package mcpserver_test

import (
	"context"

	"github.com/skillrouter/skillrouter/router"
	"github.com/skillrouter/skillrouter/router/contexts"
)

// houseContext is the context builder, with one thing to say.
type houseContext struct{ house *house }

func (h houseContext) Show(context.Context, contexts.Showing) (contexts.Context, error) {
	return contexts.Context{Text: "# Memory\n", Items: []contexts.Item{}, LeftOut: []contexts.LeftOut{}}, nil
}

func (h houseContext) Build(ctx context.Context, r contexts.Request) (contexts.Context, error) {
	if err := h.house.enter(ctx, r.Task); err != nil {
		return contexts.Context{}, err
	}
	c := contexts.Context{Budget: r.Budget, Tokenizer: contexts.Tokenizer, Items: []contexts.Item{}, LeftOut: []contexts.LeftOut{}}
	if r.Task == "nothing" {
		c.LeftOut = append(c.LeftOut, contexts.LeftOut{Kind: router.KindKnowledge, ID: "k", Reason: "budget"}, contexts.LeftOut{Kind: router.KindKnowledge, ID: "l", Reason: "untrusted"})
		return c, nil
	}
	c.Text = "# Memory\n<memory-00000000 knowledge>\nk by " + r.AgentID + "\n" + r.Project + r.Persona + "\n</memory-00000000>\n"
	c.Items = append(c.Items, contexts.Item{Kind: router.KindKnowledge, ID: "k", Author: r.AgentID, Trust: "agent", Score: 1, Tokens: 9})
	c.Tokens = contexts.CountTokens(c.Text)
	return c, nil
}
