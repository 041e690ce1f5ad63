package operational

import (
	"time"

	"github.com/skillrouter/skillrouter/internal/principal"
)

// Token is an issued token as it may be shown: without its secret, of which
// only a digest is stored.
type Token struct {
	ID        string            `json:"id"`
	AgentID   string            `json:"agent_id,omitempty"`
	Person    string            `json:"person,omitempty"`
	Scopes    []principal.Scope `json:"scopes"`
	Projects  []string          `json:"projects,omitempty"` // the only ones that it sees and writes; none: all
	Note      string            `json:"note,omitempty"`
	CreatedAt time.Time         `json:"created_at"`
	ExpiresAt *time.Time        `json:"expires_at,omitempty"`
	RevokedAt *time.Time        `json:"revoked_at,omitempty"`
	// IssuedBelow is the kind of agent that ran the program which asked for the token, in what earlier versions issued. Nobody decides with it
	// what only a person may.
	IssuedBelow string `json:"issued_below,omitempty"`
}

// TokenDraft is what may be asked for of a new token.
type TokenDraft struct {
	AgentID    string            `json:"agent_id,omitempty" doc:"Agent that it is for; needed for the scope agent"` // needed for the scope agent
	Person     string            `json:"person,omitempty" doc:"Person that it is for, instead of an agent"`         // whose it is, if it is no agent's: what this person decides is signed so
	Scopes     []principal.Scope `json:"scopes" doc:"What it may do" among:"read,agent,captain,admin"`
	Projects   []string          `json:"projects,omitempty" doc:"Projects that it is bound to; none: it sees all"` // the only ones that it sees and writes; none: all
	Note       string            `json:"note,omitempty" doc:"What it is for, in your words"`
	TTLSeconds int64             `json:"ttl_seconds,omitempty" unit:"s" doc:"Seconds that it lives; 0: until it is revoked"` // 0: until revoked
}
