package lesson

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/internal/safetext"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
)

// ApprovalState is what became of an action that the guard blocked.
type ApprovalState string

// The states of an Approval. ApprovalExpired is never stored: it follows from the clock.
const (
	ApprovalPending  ApprovalState = "pending"  // nobody has said anything
	ApprovalApproved ApprovalState = "approved" // the next check of exactly this is allowed, once
	ApprovalDenied   ApprovalState = "denied"
	ApprovalUsed     ApprovalState = "used"
	ApprovalExpired  ApprovalState = "expired" // it was not decided, or not used, in time
)

// ApprovalStates lists every state.
func ApprovalStates() []ApprovalState {
	return []ApprovalState{ApprovalPending, ApprovalApproved, ApprovalDenied, ApprovalUsed, ApprovalExpired}
}

// Choices are the values as texts, for whoever asks for one.
func (ApprovalState) Choices() []string { return safetext.Strings(ApprovalStates()) }

// clockSlack is how far back a clock may be set before what was said by it counts as ended: clocks
// are corrected by less every day.
const clockSlack = time.Minute

// Approval is an action that the guard blocked, and what a person said of it. Its id follows from the
// action, the folder and the agent, so the same action asked again is the same approval; its number is a new one
// when it is asked again after it was settled.
type Approval struct {
	Number    int64         `json:"number"`
	ID        string        `json:"approval_id"`
	Agent     string        `json:"agent"`
	Folder    string        `json:"folder,omitempty"`
	Project   string        `json:"project,omitempty"`
	Tool      string        `json:"tool,omitempty"`
	Action    string        `json:"proposed_action"`   // redacted
	Matches   []rule.Match  `json:"matching_patterns"` // the rules that block it
	State     ApprovalState `json:"state" enum:"pending,approved,denied,used,expired"`
	CheckID   string        `json:"check_id"` // the last check that was blocked
	Asked     int64         `json:"asked"`    // how often
	AskedAt   time.Time     `json:"asked_at"`
	EndsAt    time.Time     `json:"ends_at"`              // until when it waits, or may be used, or stays denied
	DecidedBy string        `json:"decided_by,omitempty"` // the person
	DecidedAt *time.Time    `json:"decided_at,omitempty"`
	Notes     string        `json:"notes,omitempty"`
	UsedAt    *time.Time    `json:"used_at,omitempty"`
	UsedCheck string        `json:"used_check,omitempty"` // the check that it allowed
	// Withheld: another agent asked, and so the action, and all that quotes it, is empty here.
	Withheld bool `json:"withheld,omitempty"`

	Holder string `json:"-"` // of what is asked: the token's agent that Agent is a session of, if it is one's

	Exact string `json:"-"` // SHA-256 of the action, in hexadecimal
}

// GiveWay chooses of pending approvals, which stand in the order of their numbers, those that go so that so many stay: of whoever has
// most, the oldest. So nobody's flood takes away what another waits for. Whoever has them is an agent with all its sessions,
// or among those of one holder each name.
func GiveWay(asks []Approval, keep int, holder string) (gone []int64) {
	of := map[string][]int64{}
	for _, a := range asks {
		name := principal.KindOf(a.Agent)
		if holder != "" {
			name = a.Agent
		}
		of[name] = append(of[name], a.Number)
	}
	names := slices.Sorted(maps.Keys(of))
	for left := len(asks); left > keep; left-- {
		most := slices.MaxFunc(names, func(a, b string) int { return len(of[a]) - len(of[b]) })
		gone, of[most] = append(gone, of[most][0]), of[most][1:]
	}
	return gone
}

// Live tells whether what was asked or said still holds at a time. After the clock was set back by more than a
// minute it does not.
func (a *Approval) Live(at time.Time) bool {
	from := a.AskedAt
	if a.DecidedAt != nil {
		from = *a.DecidedAt
	}
	return at.Before(a.EndsAt) && !from.After(at.Add(clockSlack))
}

// Says is what the agent asked for, as a person reads it.
func (a *Approval) Says() string {
	switch {
	case a.Withheld:
		return "(another agent's)"
	case a.Tool != "" && a.Action != "":
		return a.Tool + ": " + a.Action
	}
	return cmp.Or(a.Action, a.Tool)
}

// Shown returns the approval as it is at a time, without what is another's than p's.
func (a Approval) Shown(p principal.Principal, at time.Time) Approval {
	if (a.State == ApprovalPending || a.State == ApprovalApproved) && !a.Live(at) {
		a.State = ApprovalExpired
	}
	a.Matches = slices.Clone(a.Matches)
	if p.ActAs(a.Agent) != nil {
		a.Action, a.Folder, a.Notes, a.Withheld = "", "", "", true
		for i := range a.Matches {
			a.Matches[i].Reason = "" // it quotes what fits
		}
	}
	return a
}

// Covers tells whether a person who said yes saw every rule that blocks among matches.
func (a *Approval) Covers(matches []rule.Match) bool {
	return covers(matches, func(id string) bool {
		return slices.ContainsFunc(a.Matches, func(m rule.Match) bool { return m.RuleID == id })
	})
}

func covers(matches []rule.Match, seen func(id string) bool) bool {
	return !slices.ContainsFunc(matches, func(m rule.Match) bool { return m.Blocks && !seen(m.RuleID) })
}

// Permission is a standing one: what a person allows an agent's kind again and again, in one place, until it ends.
type Permission struct {
	Number    int64      `json:"number"`
	ID        string     `json:"permission_id"`
	Pattern   string     `json:"pattern,omitempty"` // of the command; empty: exactly the action
	Action    string     `json:"action"`            // that was approved; redacted
	Tool      string     `json:"tool,omitempty"`
	AgentKind string     `json:"agent_kind"`
	Project   string     `json:"project,omitempty"`
	Folder    string     `json:"folder,omitempty"` // empty: every folder of the project
	RuleIDs   []string   `json:"rule_ids"`         // that it lifts; where another blocks it does nothing
	Owner     string     `json:"owner"`            // the person
	Notes     string     `json:"notes,omitempty"`
	CreatedAt time.Time  `json:"created_at"`
	EndsAt    time.Time  `json:"ends_at"`
	RevokedAt *time.Time `json:"revoked_at,omitempty"`
	RevokedBy string     `json:"revoked_by,omitempty"`
	// Withheld: it is for another kind of agent, and so what it allows is empty here.
	Withheld bool `json:"withheld,omitempty"`

	Exact string `json:"-"` // SHA-256 of the action, in hexadecimal; empty if there is a pattern
}

// Live tells whether it holds at a time.
func (p *Permission) Live(at time.Time) bool {
	return p.RevokedAt == nil && at.Before(p.EndsAt) && !p.CreatedAt.After(at.Add(clockSlack))
}

// Covers tells whether it lifts every rule that blocks among matches.
func (p *Permission) Covers(matches []rule.Match) bool {
	return covers(matches, func(id string) bool { return slices.Contains(p.RuleIDs, id) })
}

// Shown returns the permission without what is another's than the caller's.
func (p Permission) Shown(caller principal.Principal) Permission {
	if !caller.Has(principal.ScopeCaptain) && !(caller.Has(principal.ScopeAgent) && principal.SameVoice(caller.AgentID, p.AgentKind)) {
		p.Pattern, p.Action, p.Folder, p.Notes, p.Withheld = "", "", "", "", true
	}
	return p
}

// ApprovalEvent is the Data of the events of approvals and permissions: who said what. The event's agent is the one that asked.
type ApprovalEvent struct {
	State  ApprovalState `json:"state,omitempty"`
	By     string        `json:"by"`
	Number int64         `json:"number"`
	EndsAt time.Time     `json:"ends_at,omitzero"`
}
