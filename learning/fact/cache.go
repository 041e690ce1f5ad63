package fact

import (
	"encoding/json"
	"time"
)

// CacheRequest asks for a fact, or for a lease to compute it.
type CacheRequest struct {
	Persona string `json:"persona,omitempty"`
	Key     string `json:"key"`
	AgentID string `json:"agent_id,omitempty"`
	// LeaseMS is how long the caller may compute, in milliseconds, before another may:
	// MinLease to MaxLease; 0 means DefaultLease. Renew lets it last.
	LeaseMS int64 `json:"lease_ms,omitempty"`
	// WaitMS is how long to wait for what another computes, in milliseconds: 0 to MaxCacheWait.
	WaitMS int64 `json:"wait_ms,omitempty"`
	// StaleOK takes an expired fact while another computes. It never spares the first caller the lease.
	StaleOK bool `json:"stale_ok,omitempty"`
}

// CacheStatus says what an answer of the cache is.
type CacheStatus string

// What a Lease answers.
const (
	CacheHit    CacheStatus = "hit"    // Fact is live
	CacheStale  CacheStatus = "stale"  // Fact has expired, and another computes it anew
	CacheLeased CacheStatus = "leased" // compute it, and Complete or Release the Lease
	CacheWait   CacheStatus = "wait"   // another still computes it; ask again
)

// CacheAnswer is the answer to a CacheRequest.
type CacheAnswer struct {
	Status  CacheStatus `json:"status"`
	Fact    *Fact       `json:"fact,omitempty"`
	Lease   string      `json:"lease,omitempty"`    // the lease's token: whoever has it may end it
	LeaseMS int64       `json:"lease_ms,omitempty"` // how long the lease lasts, or the other's still does
}

// CacheResult is what was computed under a lease.
type CacheResult struct {
	Lease    string          `json:"lease"`
	Value    json.RawMessage `json:"value"`
	Category string          `json:"category,omitempty"`
	TTL      *int64          `json:"ttl,omitempty"` // seconds, as Draft.TTL
	Probe    string          `json:"probe,omitempty"`
	Source   string          `json:"source,omitempty"`
}

// CacheStored says what became of a result.
type CacheStored struct {
	Stored bool    `json:"stored"`
	Fact   *Stored `json:"fact,omitempty"`
	// Redacted lists the kinds of secret for whose sake nothing was stored.
	Redacted []string `json:"redacted,omitempty"`
}

// LeaseRef names a lease by its token.
type LeaseRef struct {
	Lease string `json:"lease"`
}

// Bounds of the cache.
const (
	DefaultLease = 30 * time.Second
	MinLease     = 100 * time.Millisecond
	// MaxLease bounds how long one who died can keep the others waiting. Who computes
	// longer renews.
	MaxLease = 10 * time.Minute
	// MaxCacheWait is shorter than clients' and proxies' usual time limit of 30 s.
	MaxCacheWait = 25 * time.Second
	// MaxLeases bounds the leases at one time, and MaxLeaseWaiters who waits for one of
	// them: beyond these nobody waits in memory, and callers are told to ask again.
	MaxLeases       = 10_000
	MaxLeaseWaiters = 1_000
)
