package guard

import (
	"context"
	"time"

	"github.com/skillrouter/skillrouter/internal/operation"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// Service is what can be done with the guard. Guards implements it beside
// the database, router/client over HTTP.
type Service interface {
	// Check judges a proposed action. The judgement is written to the ledger behind the answer:
	// a kill of the router may lose what it judged in the last second. A ledger that cannot be
	// written is said in a warning; it keeps no action from being judged.
	Check(ctx context.Context, action rule.Action) (Checked, error)
	// Outcome says what was done after a check, and how it went. It moves the confidence
	// of the rules that the check showed, and may demote one to warning.
	Outcome(ctx context.Context, draft OutcomeDraft) (Settled, error)
	// Rules lists the rules: the built-in ones first, then the newest first.
	Rules(ctx context.Context, filter RuleFilter) (RulePage, error)
	// Rule returns the rule of that id.
	Rule(ctx context.Context, id string) (Rule, error)
	// RestoreRule lets a rule that was demoted block again.
	RestoreRule(ctx context.Context, id string, draft RestorationDraft) (Rule, error)
	// Packs lists the packs of rules, and what their rules do everywhere or in a project.
	Packs(ctx context.Context, filter PackFilter) (PackList, error)
	// SetPacks switches packs off, to warn or to block, everywhere or in a project.
	SetPacks(ctx context.Context, draft PackDraft) (PackList, error)
	// Approvals lists what was blocked and may be allowed by a person, newest first.
	Approvals(ctx context.Context, filter ApprovalFilter) (ApprovalPage, error)
	// Approve allows exactly one approval's action, once, or again and again; for a person.
	Approve(ctx context.Context, id string, draft ApprovalDraft) (lesson.Approval, error)
	// Deny refuses an approval; for a person.
	Deny(ctx context.Context, id string, draft DenialDraft) (lesson.Approval, error)
	// Permissions lists the standing permissions, newest first.
	Permissions(ctx context.Context) (PermissionList, error)
	// RevokePermission ends a standing permission at once; for a person. Revoking it again changes nothing.
	RevokePermission(ctx context.Context, id string) (lesson.Permission, error)
	// Explain says what the guard reads in an action and what it would say of it. It is no check.
	Explain(ctx context.Context, action rule.Action) (Explained, error)
	// Offline takes in what hooks judged by their copy of the rules while the router was away; each check once.
	Offline(ctx context.Context, draft OfflineDraft) (OfflineStored, error)
	// Ledger lists checks, newest first. What another agent meant to do is Withheld
	// from whoever is no captain: only that it was checked, and how that went, is told.
	Ledger(ctx context.Context, filter lesson.LedgerFilter) (LedgerPage, error)
}

// Checked is the answer to a check, as MNEMOSYNE gives it and with what was
// judged. Warnings hold a line for each match, then what the guard could not do.
type Checked struct {
	Blocked      bool          `json:"blocked"`
	Matches      []rule.Match  `json:"matching_patterns"`
	Alternatives []string      `json:"alternatives"`
	Warnings     []string      `json:"warnings"`
	CheckID      string        `json:"check_id"`              // names the check when its outcome is told, at once; empty: it is not in the ledger
	ApprovalID   string        `json:"approval_id,omitempty"` // by which a person may allow what is blocked, once; empty: nobody may
	ToAllow      []string      `json:"to_allow,omitempty"`    // while no token was issued: the commands by which a person allows it, in a terminal of their own
	Decision     rule.Decision `json:"decision"`
	Lanes        []string      `json:"lanes"` // in which the matches were found
	// Needs are files that the action runs and that whoever asks offered to send: it was not judged, and is to be asked again with them.
	Needs []string `json:"needs,omitempty"`
	// Stale: a node that does not write judged it by its own rules, which may be some seconds old, as the one that writes did not answer.
	Stale bool `json:"stale,omitempty"`
}

// OutcomeDraft says what was done after a check. The agent of the check, or a
// captain, may say it. An outcome without a result may be told again with one;
// apart from that a check has one outcome.
type OutcomeDraft struct {
	CheckID string          `json:"check_id" doc:"Of check_before_action"`
	Outcome lesson.Outcome  `json:"outcome" doc:"heeded: the action was not taken"`
	Result  learning.Result `json:"result,omitempty" doc:"How it went"` // how it went; empty: nobody knows yet
	Notes   string          `json:"notes,omitempty" doc:"What else to know"`
	Agent   string          `json:"agent,omitempty" actor:"true" doc:"Who says so, if not the agent that asked"` // who says so; empty: the token's agent, or that of the check
}

// Settled says what an outcome changed.
type Settled struct {
	CheckID   string          `json:"check_id"`
	Outcome   lesson.Outcome  `json:"outcome"`
	Result    learning.Result `json:"result,omitempty"`
	Duplicate bool            `json:"duplicate"` // it was said already, and did not count again
	Rules     []RuleMoved     `json:"rules"`     // those that the check showed, the ones of the similarity lane apart
}

// RuleMoved is what an outcome did to a rule.
type RuleMoved struct {
	RuleID     string  `json:"rule_id"`
	Previous   float64 `json:"previous_confidence"`
	Confidence float64 `json:"confidence"`
	Precision  float64 `json:"precision"`
	Demoted    bool    `json:"demoted"` // by this outcome: it warns from now on
}

// The sources of rules.
const (
	RuleOfLesson  = "lesson"
	RuleOfPattern = "pattern"
	RuleBuiltin   = "builtin" // of the pack mnemosyne
	RuleOfPack    = "pack"
)

// Rule is a rule of the guard and how it did. Its id is that of the lesson or
// pattern that it comes from.
type Rule struct {
	ID             string            `json:"rule_id"`
	Source         string            `json:"source"` // lesson, pattern, builtin or pack
	LessonID       string            `json:"source_lesson_id,omitempty"`
	PatternID      string            `json:"source_pattern_id,omitempty"`
	Number         int64             `json:"number,omitempty"` // of the lesson or pattern
	Title          string            `json:"title"`
	WhyBad         string            `json:"why_bad"`
	Severity       learning.Severity `json:"severity"`
	Domain         string            `json:"domain"`
	Category       string            `json:"category"`
	Tags           []string          `json:"tags"`
	Commands       []string          `json:"related_commands"`
	TriggerPattern string            `json:"trigger_pattern,omitempty"`
	Alternatives   []string          `json:"alternatives"`
	Active         bool              `json:"active"`        // checks see it
	Deterministic  bool              `json:"deterministic"` // it recognises acts; else it only warns, by likeness of words
	Blocks         bool              `json:"blocks"`
	Demoted        bool              `json:"demoted"` // it would block, and was overridden with success too often
	DemotedAt      *time.Time        `json:"demoted_at,omitempty"`
	DemotedReason  string            `json:"demoted_reason,omitempty"`
	Forced         bool              `json:"forced,omitempty"`
	UnusedCommands []string          `json:"unused_commands"` // related commands that are no trigger
	Notes          []string          `json:"notes"`           // what its writer should know

	Confidence        float64    `json:"confidence"` // what is left now
	Precision         float64    `json:"precision"`  // see Precision
	TimesTriggered    int64      `json:"times_triggered"`
	LastTriggered     *time.Time `json:"last_triggered,omitempty"`
	Heeded            int64      `json:"heeded"`
	Overridden        int64      `json:"overridden"`
	OverriddenSuccess int64      `json:"overridden_with_success"`
	OverriddenFailure int64      `json:"overridden_with_failure"`
	OverriddenPartial int64      `json:"overridden_with_partial"`
}

// RuleFilter selects rules; empty fields select everything.
type RuleFilter struct {
	Source   string            `json:"source,omitempty" doc:"lesson, pattern or builtin; pack: those of the packs, which are listed by this alone"`
	Domain   string            `json:"domain,omitempty" doc:"Only this domain"`
	Severity learning.Severity `json:"severity,omitempty" doc:"Only this severity"`
	Demoted  *bool             `json:"demoted,omitempty" enum:"true,false" doc:"Only those that were demoted to warning, or that were not"`
	Blocks   *bool             `json:"blocks,omitempty" enum:"true,false" doc:"Only those that block, or that only warn"`
	Cursor   string            `json:"cursor,omitempty" doc:"The answer's next of the page before"`
	Limit    int               `json:"limit,omitempty" doc:"1 to 200; 0: 50"` // 1 to MaxLimit; 0 means DefaultRuleLimit
}

// RulePage is a page of rules.
type RulePage struct {
	Rules []Rule `json:"rules"`
	Count int    `json:"count"`
	Total int    `json:"total"` // rules that fit the filter
	Next  string `json:"next,omitempty"`
}

// RestorationDraft says who lets a demoted rule block again, and why.
type RestorationDraft struct {
	By    string `json:"restored_by,omitempty" actor:"true"` // empty: the token's agent
	Notes string `json:"notes,omitempty" doc:"Why"`
}

// LedgerPage is a page of the ledger, newest first.
type LedgerPage struct {
	Checks []lesson.CheckRecord `json:"checks"`
	Count  int                  `json:"count"`
	Next   string               `json:"next,omitempty"`
}

// Defaults and bounds of the guard's service.
const (
	DefaultRuleLimit = 50
	// MaxProposal bounds a proposed action, in bytes. What is longer than 64 KB is judged by
	// its words alone; what is longer than this is a file and no action.
	MaxProposal = 1 << 20
	// MaxNeeds bounds the files that one check is asked for.
	MaxNeeds = 16
	// maxSent bounds what is said of files that were asked for, in several turns.
	maxSent = 128
	// MaxRecorded bounds what the ledger keeps of an action, in bytes: a long command fits.
	MaxRecorded = 2000
)

const aRule = "The rule's id, percent-encoded as one segment of the path"

// Operations is how the methods of a Service are called from outside.
var Operations = operation.Of("guard", "/check",
	operation.Post("/anti-pattern", "Judge a proposed action before it is taken: a command in proposed_action, or a call of tool with args", Service.Check).Keeps(),
	operation.Post("/outcome", "Say what was done after a check, and how it went", Service.Outcome).Keeps(),
	operation.Get("/rules", "The rules and how they did: the built-in ones first, then the newest first", Service.Rules),
	operation.Get("/rules/{id}", "One rule and how it did", Service.Rule).Named(aRule),
	operation.Post("/rules/{id}/restore", "Let a rule that was demoted to warning block again", Service.RestoreRule).Named(aRule).Needs("captain"),
	operation.Get("/packs", "The packs of rules, and whether they are off, warn or block, everywhere or in a project", Service.Packs),
	operation.Post("/packs", "Switch packs off, to warn or to block, everywhere or in a project; for the captain", Service.SetPacks).Needs("captain"),
	operation.Get("/approvals", "What was blocked and may be allowed by a person, newest first", Service.Approvals),
	operation.Post("/approvals/{id}/approve", "Allow exactly this, once or again and again; for a person, never for an agent's token nor while no token was issued", Service.Approve),
	operation.Post("/approvals/{id}/deny", "Refuse it; for a person", Service.Deny),
	operation.Get("/permissions", "The standing permissions, newest first", Service.Permissions),
	operation.Post("/permissions/{id}/revoke", "End a standing permission at once; for a person", Service.RevokePermission),
	operation.Post("/explain", "What the guard reads in an action and would say of it; no check is made", Service.Explain).Needs("read"),
	operation.Post("/offline", "Hand over what hooks judged by their copy of the rules while the router was away; each check is stored once", Service.Offline),
	operation.Get("/ledger", "The checks that were made, newest first", Service.Ledger),
)
