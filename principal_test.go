package skillrouter_test

import (
	"testing"

	"skillrouter"
)

// TestWhoActs: an agent's token acts as its own agent, a captain's as any, and
// the name that is checked is the name that is stored.
func TestWhoActs(t *testing.T) {
	agent := skillrouter.Principal{AgentID: "ada", Scopes: []skillrouter.Scope{skillrouter.ScopeAgent}}
	captain := skillrouter.Principal{AgentID: "cap", Scopes: []skillrouter.Scope{skillrouter.ScopeCaptain}}
	reader := skillrouter.Principal{AgentID: "ada", Scopes: []skillrouter.Scope{skillrouter.ScopeRead}}
	for _, c := range []struct {
		what     string
		by       skillrouter.Principal
		named    string
		acting   string // what ActingAs answers, "" for an error
		speaking string // what SpeakingAs answers, "" for an error
	}{
		{"an agent that names nobody", agent, "", "ada", "ada"},
		{"an agent that names itself", agent, "ada", "ada", "ada"},
		{"an agent that names another", agent, "bob", "", ""},
		{"an agent that names itself with white space", agent, " ada ", "", "ada"},
		{"an agent that names nothing but white space", agent, "  ", "", "ada"},
		{"a captain that names nobody", captain, "", "cap", "cap"},
		{"a captain that names an agent", captain, "bob", "bob", "bob"},
		{"a captain that names a person", captain, " Ann Lee ", "", "Ann Lee"},
		{"a captain that names nothing but white space", captain, "  ", "", "cap"},
		{"a captain that names two lines", captain, "Ann\nLee", "", ""},
		{"a reader", reader, "ada", "", ""},
	} {
		acting, err := c.by.ActingAs("agent_id", c.named)
		if (err != nil) != (c.acting == "") || err == nil && acting != c.acting {
			t.Errorf("%s acts as %q: %v", c.what, acting, err)
		}
		speaking, err := c.by.SpeakingAs("by", c.named)
		if (err != nil) != (c.speaking == "") || err == nil && speaking != c.speaking {
			t.Errorf("%s speaks as %q: %v", c.what, speaking, err)
		}
	}
}
