package lesson

import (
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/safetext"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
)

// Withhold takes out of a check what its agent meant to do, unless p is that
// agent or a captain.
func (r *CheckRecord) Withhold(p principal.Principal) {
	if p.ActAs(r.Agent) == nil {
		return
	}
	r.Action, r.Context, r.Remark, r.Notes, r.Withheld = "", "", "", []string{}, true
	for i := range r.Matches {
		r.Matches[i].Reason = "" // it quotes what fits
	}
}

// Outcome is what an agent did after a check.
type Outcome string

// The outcomes.
const (
	OutcomeHeeded     Outcome = "heeded"     // the action was not taken
	OutcomeOverridden Outcome = "overridden" // it was taken all the same
)

// Outcomes lists every outcome.
func Outcomes() []Outcome { return []Outcome{OutcomeHeeded, OutcomeOverridden} }

// Choices are the values as texts, for whoever asks for one.
func (Outcome) Choices() []string { return safetext.Strings(Outcomes()) }

// CheckRecord is a check as the ledger keeps it. The action is redacted, and cut to guard.MaxRecorded bytes.
type CheckRecord struct {
	Number    int64           `json:"number"`
	ID        string          `json:"check_id"`
	Agent     string          `json:"agent"`
	Project   string          `json:"project,omitempty"`
	Domain    string          `json:"domain,omitempty"`
	Tool      string          `json:"tool,omitempty"`
	Action    string          `json:"proposed_action"`
	Context   string          `json:"context,omitempty"`
	Decision  rule.Decision   `json:"decision"`
	Matches   []rule.Match    `json:"matching_patterns"` // without what the rules' lessons say: why_bad and alternatives
	Notes     []string        `json:"notes"`
	TookUS    int64           `json:"took_us"` // microseconds
	At        time.Time       `json:"at"`
	Outcome   Outcome         `json:"outcome,omitempty"`
	Result    learning.Result `json:"result,omitempty"`
	OutcomeBy string          `json:"outcome_by,omitempty"`
	Remark    string          `json:"outcome_notes,omitempty"`
	OutcomeAt *time.Time      `json:"outcome_at,omitempty"`
	// Withheld: another agent made the check, and so its action, and all that quotes it, is empty here.
	Withheld bool `json:"withheld,omitempty"`

	Asks *Approval `json:"-"` // what is stored with a check that was blocked, so that a person may allow it
}

// Brief is the action in short: of a tool what its arguments are about, which its record begins with.
func (c CheckRecord) Brief() string {
	if about, args, ok := strings.Cut(c.Action, ` {"`); ok && c.Tool != "" && (strings.HasSuffix(args, "}") || strings.HasSuffix(args, "…")) {
		return about
	}
	return c.Action
}

// NoteOffline is the first note of a check that a hook made by its copy of the rules.
const NoteOffline = "judged by the agent's hook, as the router was away"

// LedgerFilter selects checks; empty fields select everything.
type LedgerFilter struct {
	Agent    string        `json:"agent,omitempty" doc:"Only what this agent asked of"`
	Project  string        `json:"project,omitempty" doc:"Only of this project"`
	RuleID   string        `json:"rule_id,omitempty" doc:"Only checks that this rule matched"`
	Decision rule.Decision `json:"decision,omitempty" doc:"allow, warn or block"`
	Outcome  Outcome       `json:"outcome,omitempty" doc:"heeded or overridden"`
	Since    time.Time     `json:"since,omitzero" doc:"Not before this time"`
	Until    time.Time     `json:"until,omitzero" doc:"Before this time"`
	Cursor   string        `json:"cursor,omitempty" doc:"The answer's next of the page before"`
	Limit    int           `json:"limit,omitempty" doc:"1 to 200; 0: 50"` // 1 to MaxLimit; 0 means guard.DefaultRuleLimit
}
