package mcpserver_test

import (
	"context"

	"skillrouter/router"
)

// houseContext is the context builder, with one thing to say.
type houseContext struct{ house *house }

func (h houseContext) Build(ctx context.Context, r router.ContextRequest) (router.Context, error) {
	if err := h.house.enter(ctx, r.Task); err != nil {
		return router.Context{}, err
	}
	c := router.Context{Budget: r.Budget, Tokenizer: router.Tokenizer, Items: []router.ContextItem{}, LeftOut: []router.LeftOut{}}
	if r.Task == "nothing" {
		c.LeftOut = append(c.LeftOut, router.LeftOut{Kind: router.KindKnowledge, ID: "k", Reason: "budget"}, router.LeftOut{Kind: router.KindKnowledge, ID: "l", Reason: "untrusted"})
		return c, nil
	}
	c.Text = "# Memory\n<memory-00000000 knowledge>\nk by " + r.AgentID + "\n" + r.Project + r.Persona + "\n</memory-00000000>\n"
	c.Items = append(c.Items, router.ContextItem{Kind: router.KindKnowledge, ID: "k", Author: r.AgentID, Trust: "agent", Score: 1, Tokens: 9})
	c.Tokens = router.CountTokens(c.Text)
	return c, nil
}
