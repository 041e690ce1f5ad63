package comms

import (
	"context"
	"time"
)

// MeshService looks at the UDP mesh (the experience server's InterLock). router/interlock
// implements it beside the socket, router/client over HTTP.
type MeshService interface {
	// Mesh returns the mesh's state, its peers and its counters since the start.
	Mesh(ctx context.Context) (Mesh, error)
}

// The states of the mesh.
const (
	MeshOff = "off"
	MeshOn  = "on"
)

// Mesh is the state of the UDP mesh. The counters hold every signal and every
// reason, also those that never came up.
type Mesh struct {
	State               string           `json:"state" enum:"off,on"`
	Listen              string           `json:"listen,omitempty" doc:"Address that datagrams are heard at"`
	Name                string           `json:"name,omitempty" doc:"Sender of what is emitted"`
	Hears               string           `json:"hears,omitempty" enum:"peers,open" doc:"peers: those that are listed; open: also others on this machine, as long as no token was issued"`
	ReplayWindowSeconds int              `json:"replay_window_seconds,omitempty"`
	Tumbler             string           `json:"tumbler,omitempty" doc:"What is filtered by signal"`
	Peers               []MeshPeer       `json:"peers" doc:"Those that are listed, then the last others that were heard"`
	Received            int64            `json:"received" doc:"Datagrams that came in"`
	Heard               map[string]int64 `json:"heard" doc:"Datagrams that were heard and acted on, by signal"`
	Emitted             map[string]int64 `json:"emitted" doc:"Datagrams that were sent to peers, by signal"`
	Unsent              int64            `json:"unsent" doc:"Datagrams that could not be sent"`
	Refused             map[string]int64 `json:"refused" doc:"Datagrams that were refused, by reason"`
}

// MeshPeer is a sender on the mesh.
type MeshPeer struct {
	Name      string     `json:"name"`
	Address   string     `json:"address,omitempty"` // that it is told at, and heard from; empty: it is not listed
	Listed    bool       `json:"listed"`
	Signed    bool       `json:"signed"` // it has a key: what it sends is proven
	LastHeard *time.Time `json:"last_heard,omitempty"`
	Heard     int64      `json:"heard"`
	Emitted   int64      `json:"emitted"`
	Refused   int64      `json:"refused"` // in its name, whoever sent it
}
