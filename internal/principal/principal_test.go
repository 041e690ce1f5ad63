package principal_test

import (
	"testing"

	"github.com/skillrouter/skillrouter/internal/principal"
)

// TestWhoActs: an agent's token acts as its own agent, a captain's as any, and
// the name that is checked is the name that is stored.
func TestWhoActs(t *testing.T) {
	agent := principal.Principal{AgentID: "ada", Scopes: []principal.Scope{principal.ScopeAgent}}
	captain := principal.Principal{AgentID: "cap", Scopes: []principal.Scope{principal.ScopeCaptain}}
	reader := principal.Principal{AgentID: "ada", Scopes: []principal.Scope{principal.ScopeRead}}
	for _, c := range []struct {
		what     string
		by       principal.Principal
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

func TestPrincipal(t *testing.T) {
	agent := principal.Principal{AgentID: "a", Scopes: []principal.Scope{principal.ScopeAgent}}
	for name, c := range map[string]struct {
		err error
		ok  bool
	}{
		"itself":               {agent.ActAs("a"), true},
		"another":              {agent.ActAs("b"), false},
		"nobody":               {agent.ActAs(""), false},
		"a reader as itself":   {principal.Principal{AgentID: "a", Scopes: []principal.Scope{principal.ScopeRead}}.ActAs("a"), false},
		"the captain":          {principal.Open().ActAs("b"), true},
		"the zero principal":   {principal.Of(t.Context()).Need(principal.ScopeRead), false},
		"open issues no token": {principal.Open().Need(principal.ScopeAdmin), false},
		"an agent reads":       {agent.Need(principal.ScopeRead), true},
		"an unknown scope":     {agent.Need("root"), false},
	} {
		if (c.err == nil) != c.ok {
			t.Errorf("%s: %v", name, c.err)
		}
	}
}
