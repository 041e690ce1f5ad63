package router

import (
	"context"
	"time"

	"github.com/skillrouter/skillrouter/internal/principal"
)

// SystemService looks at the process that serves, rather than at what it holds.
type SystemService interface {
	// Health says whether the router is well, and how much it holds. It needs ScopeRead.
	Health(ctx context.Context) (Health, error)
	// Doctor has the router check itself: settings, databases, index, disk, clock. It needs ScopeCaptain.
	Doctor(ctx context.Context) (Doctor, error)
	// Outbound lists every place of the program that may open a connection. It needs ScopeCaptain.
	Outbound(ctx context.Context) (OutboundList, error)
}

// StatusHealthy is the Status of a router that is well, in the experience server's word.
const StatusHealthy = "healthy"

// Doctor is what the router found when it checked itself.
type Doctor struct {
	OK     bool          `json:"ok"`
	Checks []SystemCheck `json:"checks"`
}

// SystemCheck is one thing that the router checked about itself.
type SystemCheck struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
}

// OutboundList is every place of the program that may open a connection.
type OutboundList struct {
	Airgapped bool       `json:"airgapped" doc:"No connection leaves this machine"`
	Enforced  bool       `json:"enforced" doc:"The setting airgapped is on: a start with a place that leaves this machine is refused"`
	Places    []Outbound `json:"places" doc:"Every place that may open a connection"`
}

// Outbound is a place of the program that may open a connection.
type Outbound struct {
	Name    string `json:"name"`
	Purpose string `json:"purpose" doc:"What it is for"`
	Setting string `json:"setting" doc:"What switches it on"`
	On      bool   `json:"on"`
	Target  string `json:"target,omitempty" doc:"What is dialled, and nothing else"`
	Leaves  bool   `json:"leaves" doc:"It is on, and the target is not this machine"`
}

// Says is its state in a word.
func (o Outbound) Says() string {
	switch {
	case o.Leaves:
		return "ON"
	case o.On:
		return "this machine"
	}
	return "off"
}

// Authenticator says who a secret belongs to.
type Authenticator interface {
	// Authenticate returns the principal of a token's secret, or an Unauthenticated error.
	Authenticate(ctx context.Context, secret string) (principal.Principal, error)
	// Issued tells whether any token is in force; from then on every call needs one.
	Issued(ctx context.Context) (bool, error)
}

// Health is the answer of GET /health. Without a token, where one is needed, its status alone is answered. Its first members are those of the experience server.
type Health struct {
	Status    string            `json:"status" enum:"healthy,degraded" doc:"degraded: it answers, and doctor has something to say"`
	Server    string            `json:"server"`
	Version   string            `json:"version"`
	UptimeMS  int64             `json:"uptime_ms"`
	Timestamp time.Time         `json:"timestamp"`
	Stats     map[string]int64  `json:"stats" doc:"How many of each there are"`
	Search    map[string]string `json:"search" doc:"State of each search index: whole, or how much of it has been read since the start; meanwhile searches look up the rest in the database"`
	Guard     string            `json:"guard" doc:"Whether the guard's ledger keeps up with its verdicts, which do not wait for it"`
	Interlock string            `json:"interlock" doc:"State of the UDP mesh"`
	Problems  []string          `json:"problems,omitempty" doc:"Stored writes that turned out to be gone after a crash, until a person has seen to it"`
}
