package mcpserver

import (
	"context"
	"encoding/json"
	"reflect"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning/fact"
)

type recalledFact struct {
	Found  bool            `json:"found"`
	Value  json.RawMessage `json:"value"` // null if there is none, or if it is cut
	Fact   record          `json:"fact,omitempty"`
	Notice string          `json:"notice,omitempty"`
}

const aKey = "Such as database.orders.schema"

// factTools are the persona's semantic memory, in a toolset of its own.
func factTools() []tool {
	return []tool{
		{name: "remember_fact", title: "Remember a fact", effect: ensure, holds: "key version", does: fact.Service.Remember, takes: "key! value! ttl category persona probe source"},
		{
			name: "recall_fact", title: "Recall a fact", effect: reads, holds: "found value",
			description: "The value under a key, or found: false. Ask before an expensive lookup.",
			does:        (*Server).recallFact, takes: "key! persona stale_ok",
			about: words{"key": aKey, "persona": whoseMemory, "stale_ok": "An expired one too"},
			resource: &resource{
				template: "memory://facts/{persona}/{key}", name: "fact", description: "A fact that a persona remembers", arguments: []string{"persona", "key"}, found: "found",
				lists: fact.Service.Search, asks: fact.Query{Limit: listedPerKind}, members: "persona key",
			},
		},
		{name: "search_facts", title: "Search facts", effect: reads, holds: "facts", does: fact.Service.Search, takes: "category pattern persona cursor limit"},
		{
			name: "update_fact", title: "Update a fact", effect: ensure, as: "fact",
			description: "Give a fact that is there a new value; its time to live begins anew.",
			does:        fact.Service.Update, takes: "key! value! persona ttl if_version",
			about: words{
				"key": aKey, "value": "Any JSON", "persona": whoseMemory, "ttl": "Seconds, in place of the fact's own", "if_version": "Only over this version of it",
			},
		},
		{
			name: "forget_fact", title: "Forget a fact", effect: steers, holds: "deleted",
			description: "Delete a fact; restore_deleted brings it back within 30 days.",
			does:        fact.Service.Forget, takes: "key! persona", about: words{"key": aKey, "persona": whoseMemory},
		},
	}
}

func (s *Server) recallFact(ctx context.Context, ref fact.Ref) (out recalledFact, text string, err error) {
	found, err := s.services.Facts.Recall(ctx, ref)
	if errs.CodeOf(err) == errs.NotFound {
		return out, "Nothing is known under this key, or it has expired. Once you have found it out, keep it with remember_fact.", nil
	}
	if err != nil {
		return out, "", err
	}
	shown, text, err := (&tool{as: "fact"}).answer(reflect.ValueOf(found))
	if err != nil {
		return out, "", err
	}
	out = recalledFact{Found: true, Value: found.Value, Fact: shown[0].things[0], Notice: notice}
	if shown[0].things[0].member("cut_bytes") != nil {
		out.Value = nil
	}
	return out, text, nil
}
