// Package learning defines the words that all kinds of memory share: trust, severity, results, time
// ranges, and the checks of texts and names. Each kind has a package below this one: knowledge,
// episode, fact, procedure and lesson. Package shelf finds rows of any kind. Other packages work on
// the kinds: guard checks commands, consolidate proposes what to store, and feedback stores what users
// say of answers. This package knows no kind, no SQL, no HTTP and no agent.
package learning

import (
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/principal"
)

// Trust says how far an agent may believe the text of an entry. It is decided by who wrote
// the entry, never by the entry itself.
type Trust string

// The levels of trust.
const (
	// TrustPerson is for what a person of this installation said: wrote at the command line, or imported.
	TrustPerson Trust = "person"
	// TrustAgent is for what an identified agent of this installation wrote, or a person of whom nothing shows that.
	TrustAgent Trust = "agent"
	// TrustImported is for what came in from a file or another system.
	TrustImported Trust = "imported"
)

// TrustOf is the trust of what somebody writes.
func TrustOf(writer principal.Principal) Trust {
	if writer.IsPerson() {
		return TrustPerson
	}
	return TrustAgent
}

// TrustOfTaken is the trust of what somebody imports: a person's import is said by that person.
func TrustOfTaken(by principal.Principal) Trust {
	if by.IsPerson() {
		return TrustPerson
	}
	return TrustImported
}

// Refusal names a record of a bulk call that was not stored, and says why.
type Refusal struct {
	Index int    `json:"index"` // position among the request's records, from 0
	Field string `json:"field,omitempty"`
	Error string `json:"error"`
}

// BulkResult says what became of a bulk call's records.
type BulkResult struct {
	Stored       int       `json:"stored"`
	Updated      int       `json:"updated"`
	Duplicates   int       `json:"duplicates"`
	Refused      []Refusal `json:"refused"`       // the first MaxRefusals of them
	RefusedCount int       `json:"refused_count"` // all of them
	Redacted     int       `json:"redacted"`      // records that held a secret, which was cut out before they were stored
}

// Reason is one part of a score: what matched, and how much it added.
type Reason struct {
	Lane   string  `json:"lane"`
	Term   string  `json:"term,omitempty"`
	Weight float64 `json:"weight"`
}

// Defaults and bounds.
const (
	MaxLimit = 200 // an answer of more is a listing, not a search
	MaxID    = 200 // bytes of a client's own id
	// MaxSupersedes bounds the entries in whose place one stands.
	MaxSupersedes = 16
	MaxTitle      = 4096 // bytes; a title is a line
	// MaxContent bounds an entry's text, in bytes. Larger texts are documents
	// and belong in a file that the entry points to.
	MaxContent = 1 << 20
	// MaxAnswer bounds the contents in one answer, in bytes. An answer ends with the
	// entry that reaches it: MaxLimit entries of MaxContent are nobody's context.
	MaxAnswer = 4 << 20
	MaxTags   = 32   // tags on an entry
	MaxSource = 2000 // bytes; a path, an address or a short sentence
	// MaxQuery bounds a query's text, in bytes: a pasted stack trace fits.
	MaxQuery = 16 << 10
	// MaxRefusals bounds how many refused records a bulk call's answer lists: who has
	// more of them has one mistake many times.
	MaxRefusals = 100
)

// DefaultPersona is whose memory is meant if nobody says (of the persona's memory).
const DefaultPersona = check.DefaultPersona

// EventEpisodeRecorded tells of an episode; lessons that fit an agent's work are found by it.
const EventEpisodeRecorded = "episode.recorded"

// Bounds and defaults that several kinds share.
const (
	DefaultListing        = 50   // entries on a page of a listing
	DefaultKnowledgeLimit = 5    // the sidecar
	DefaultEpisodeLimit   = 10   // the sidecar
	MaxReason             = 2000 // bytes of why something is rejected
	// SessionIdle is how long after its last episode an agent's session is still the
	// current one: longer than a night's break is another piece of work.
	SessionIdle = 8 * time.Hour
)

// Later returns the later of two times.
func Later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
