// Package fact stores values under keys. A fact has versions and may expire.
package fact

import (
	"context"
	"encoding/json"
	"time"

	"github.com/skillrouter/skillrouter/learning"
)

// Service is what can be done with facts: values that an agent keeps under
// a key, for a while or for ever. Facts implements it beside the database,
// router/client over HTTP.
//
// Facts belong to a persona, and the fact says who wrote what it holds now. Those of
// check.DefaultPersona and SharedPersona any agent may replace or delete; those
// of another persona, while they have not expired, their writer or a captain. Refused is Forbidden.
type Service interface {
	// Remember stores a value under its key, over whatever is there. It needs ScopeAgent.
	Remember(ctx context.Context, draft Draft) (Stored, error)
	// Recall returns the fact under a key and counts the access. An expired fact is
	// NotFound, unless the reference asks for stale ones. It needs ScopeRead.
	Recall(ctx context.Context, ref Ref) (Fact, error)
	// Update changes what the patch sets of a fact that has not expired, and lets its time
	// to live begin anew. It needs ScopeAgent.
	Update(ctx context.Context, ref Ref, patch Patch) (Fact, error)
	// Forget deletes a fact, an expired one too. It needs ScopeAgent.
	Forget(ctx context.Context, ref Ref) error
	// Search returns the facts of a persona that fit, by key. It needs ScopeRead.
	Search(ctx context.Context, query Query) (Page, error)
	// Categories lists the categories that a persona's facts are in, by name. It needs ScopeRead.
	Categories(ctx context.Context, persona string) ([]Category, error)
	// Stats counts what is stored, and what readers found since the start. It needs ScopeRead.
	Stats(ctx context.Context) (Stats, error)
}

// Fact is a value under a key.
type Fact struct {
	Persona      string          `json:"persona"`
	Key          string          `json:"key"`
	Category     string          `json:"category"`
	Value        json.RawMessage `json:"value"`
	Version      int64           `json:"version"` // another with each write, greater than every one before, of any key
	TTL          int64           `json:"ttl"`     // seconds; 0: for ever
	ExpiresAt    *time.Time      `json:"expires_at,omitempty"`
	Expired      bool            `json:"expired,omitempty"` // it is shown because stale ones were asked for
	Probe        string          `json:"probe,omitempty"`   // the command or URL by which its owner verifies it; the router never runs it
	Source       string          `json:"source,omitempty"`
	Author       string          `json:"agent_id,omitempty"` // who stored this value
	Trust        learning.Trust  `json:"trust"`
	AccessCount  int64           `json:"access_count"`
	LastAccessed *time.Time      `json:"last_accessed,omitempty"`
	CachedAt     time.Time       `json:"_cached_at"` // when the value was stored
	CreatedAt    time.Time       `json:"created_at"` // when the key was first stored
	UpdatedAt    time.Time       `json:"updated_at"`
}

// Live tells whether the fact has not expired at that time. A fact lives up
// to its expiry and not at it.
func (f *Fact) Live(at time.Time) bool { return f.ExpiresAt == nil || at.Before(*f.ExpiresAt) }

// Ref says which fact.
type Ref struct {
	Persona string `path:"persona" doc:"The persona's name; default is everybody's" default:"default"` // empty: DefaultPersona
	Key     string `path:"key" doc:"The fact's key, percent-encoded as one segment of the path"`
	// StaleOK takes an expired fact too, for as long as it is kept (StaleRetention).
	StaleOK bool `query:"stale_ok" doc:"An expired one too, while it is kept"`
}

// Draft is what a client may say of a fact.
type Draft struct {
	Persona  string          `json:"persona,omitempty" path:"persona" default:"default" doc:"Whose memory; default \"default\""` // empty: DefaultPersona
	Key      string          `json:"key" path:"key" doc:"Such as database.orders.schema"`
	Value    json.RawMessage `json:"value" doc:"Any JSON" long:"true"` // any JSON but null, at most MaxValue bytes without its white space
	Category string          `json:"category,omitempty" doc:"Default general" help:"Category (default \"general\")"`
	TTL      *int64          `json:"ttl,omitempty" doc:"Seconds, default 3600; 0: for ever" range:"0,315360000" unit:"s" help:"How long it is true, such as 90 (seconds) or 12h (default: for ever)"` // seconds, 0 (for ever) to MaxTTL; nil: DefaultTTL
	Probe    string          `json:"probe,omitempty" doc:"The command or URL that verifies it when it has expired; it is never run for you"`
	Source   string          `json:"source,omitempty" doc:"Where it comes from"`
	AgentID  string          `json:"agent_id,omitempty" actor:"true"`
	// IfVersion makes the write a comparison first: 0 stores only if there is no live
	// fact, another number only over the live fact of that version.
	IfVersion *int64 `json:"if_version,omitempty" help:"Store only over this version; 0: only if nothing is there"`
	// Exact refuses a value that holds a secret, instead of cutting the secret out: a cache
	// must answer with the value that was computed.
	Exact bool `json:"exact,omitempty"`
}

// Patch is what a client may change of a fact; nil leaves a field as it is.
type Patch struct {
	Value     json.RawMessage `json:"value,omitempty" long:"true"` // nil: the value stays, and counts as verified
	Category  *string         `json:"category,omitempty"`
	TTL       *int64          `json:"ttl,omitempty" unit:"s" doc:"How long it is true from now on, in seconds; 0: for ever"`
	Probe     *string         `json:"probe,omitempty" doc:"The command or URL that verifies it when it has expired"`
	Source    *string         `json:"source,omitempty" doc:"Where it comes from"`
	AgentID   string          `json:"agent_id,omitempty" actor:"true"`
	IfVersion *int64          `json:"if_version,omitempty" help:"Change only this version"`
}

// Stored says what became of a draft.
type Stored struct {
	Persona   string     `json:"persona"`
	Key       string     `json:"key"`
	Version   int64      `json:"version"`
	ExpiresAt *time.Time `json:"expires_at,omitempty"`
	Replaced  bool       `json:"replaced"` // a live fact was there
	// Redacted lists the kinds of secret that were cut out before it was stored.
	Redacted []string `json:"redacted,omitempty"`
}

// Query selects a persona's facts.
type Query struct {
	Persona  string `json:"persona,omitempty" doc:"Whose memory; default \"default\""`
	Category string `json:"category,omitempty" help:"Only facts of this category"`
	// Pattern is what the whole key must fit: * stands for any characters, ? for one,
	// [a-z] for one of these and [!a-z] for one of the others; \ takes the next as it is.
	Pattern string `json:"pattern,omitempty" doc:"Glob over the whole key: * ? [a-z] [!a]"`
	Cursor  string `json:"cursor,omitempty" doc:"The next of the page before"` // Next of the page before
	Limit   int    `json:"limit,omitempty"`                                    // 1 to MaxPage; 0 means DefaultPage
}

// Page is facts in the order of their keys.
type Page struct {
	Facts []Fact `json:"facts"`
	Count int    `json:"count"` // how many are in this answer
	// Next is the cursor of the page after; empty if there is none. A page can be short,
	// or empty, and have one: a search looks at MaxScan keys at once.
	Next string `json:"next,omitempty"`
}

// Category is a category of a persona's live facts.
type Category struct {
	Category string `json:"category"`
	Facts    int64  `json:"facts"`
}

// Stats is how much there is.
type Stats struct {
	Personas []PersonaFacts `json:"personas"`
	Cache    CacheStats     `json:"cache"`
}

// PersonaFacts is how many facts a persona has.
type PersonaFacts struct {
	Persona string `json:"persona"`
	Facts   int64  `json:"facts"`   // live ones
	Expired int64  `json:"expired"` // expired and still kept
	Bytes   int64  `json:"bytes"`   // of all their values
}

// CacheStats is what readers found since the router started.
type CacheStats struct {
	Hits   int64 `json:"hits"`   // answered with a live fact
	Stale  int64 `json:"stale"`  // answered with an expired one
	Misses int64 `json:"misses"` // answered that there is none
}

// Defaults and bounds of facts.
const (

	// DefaultTTL is the persona memory's, in seconds.
	DefaultTTL = 3600
	// MaxTTL is ten years, in seconds. What lives longer lives for ever: 0 says so.
	MaxTTL = 10 * 365 * 86400
	// MaxKey bounds a key, in bytes. A longer one is a text: hash it.
	MaxKey = 512
	// MaxValue bounds a value, in bytes of compact JSON. Larger ones are files, and the
	// fact should say where they are.
	MaxValue = 1 << 20
	// MaxProbe bounds a probe, in bytes: a command line, not a script.
	MaxProbe = 4096
	// MaxPattern bounds a search's pattern, in bytes.
	MaxPattern = 256
	// DefaultPage and MaxPage bound the facts of one answer; MaxAnswer bounds their bytes.
	DefaultPage = 100
	MaxPage     = 1000
	// MaxScan bounds how many keys one search compares with its pattern: about a
	// tenth of a second's work.
	MaxScan = 100_000
	// StaleRetention is how long an expired fact is still there for those who ask for
	// stale ones: over a night, so that what was learned in the evening can be verified
	// in the morning.
	StaleRetention = 24 * time.Hour
)
