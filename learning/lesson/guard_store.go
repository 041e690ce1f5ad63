package lesson

import (
	"context"
	"time"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
)

// GuardStore keeps the guard's ledger. It is part of PipelineStore.
type GuardStore interface {
	// GuardStandings returns what became of the rules with the ids, of all if ids is nil.
	// A rule to which nothing happened has none.
	GuardStandings(ctx context.Context, ids []string) ([]GuardStanding, error)
	// PackStates returns what was said of the guard's packs, everywhere and in projects.
	PackStates(ctx context.Context) ([]PackState, error)
	// ListChecks returns checks, newest first, whose number is below before (0: all).
	ListChecks(ctx context.Context, filter LedgerFilter, before int64) ([]CheckRecord, error)
	// OfflineChecks counts the checks since a time that hooks made by their copy of the rules, and tells when the last was.
	OfflineChecks(ctx context.Context, since time.Time) (times int, last time.Time, err error)
	// AskedGuard tells when each agent last asked the guard, of those that did since a time.
	AskedGuard(ctx context.Context, since time.Time) (map[string]time.Time, error)
	// Approval returns the approval of an id.
	Approval(ctx context.Context, id string) (approval Approval, ok bool, err error)
	// ListApprovals returns approvals, newest first, whose number is below before (0: all), of one agent and of one state at a time, if they are named.
	ListApprovals(ctx context.Context, agent string, state ApprovalState, at time.Time, before int64, limit int) ([]Approval, error)
	// ListPermissions returns the permissions that hold at a time, newest first; of the zero time, also those that have ended or were revoked.
	ListPermissions(ctx context.Context, at time.Time, limit int) ([]Permission, error)
}

// GuardTx is what a transaction can do with the guard's ledger. It is part of PipelineTx.
type GuardTx interface {
	// AddChecks stores checks with what they showed, and counts it for the rules.
	AddChecks(checks ...CheckRecord) error
	// CheckOf returns the check of an id.
	CheckOf(id string) (check CheckRecord, ok bool, err error)
	// SettleCheck stores a check's outcome under its number.
	SettleCheck(check CheckRecord) error
	// RemoveChecks removes the oldest checks before a time, at most limit, and returns how many there were.
	RemoveChecks(before time.Time, limit int) (int, error)
	// GuardStanding returns what became of a rule; a new standing if nothing did.
	GuardStanding(ruleID string) (GuardStanding, error)
	// PutGuardStanding stores a rule's standing; how often it was triggered stays as it is.
	PutGuardStanding(standing GuardStanding) error
	// PackStates returns what was said of the guard's packs.
	PackStates() ([]PackState, error)
	// PutPackState stores what was said of a pack.
	PutPackState(state PackState) error
	// RemovePackState takes back what was said of a pack, everywhere ("") or in a project.
	RemovePackState(name, project string) error
	// ApprovalOf returns the approval of an id.
	ApprovalOf(id string) (approval Approval, ok bool, err error)
	// PutApproval stores an approval in the place of the one of its id, under a new number if it has none.
	PutApproval(approval *Approval) error
	// BoundApprovals removes pending approvals of an agent and its sessions (empty: of all) but so many, those that GiveWay names.
	BoundApprovals(holder string, keep int) error
	// RemoveApprovals removes approvals that were asked for before a time, and permissions that ended before it.
	RemoveApprovals(before time.Time) error
	// PermissionOf returns the permission of an id.
	PermissionOf(id string) (permission Permission, ok bool, err error)
	// CountPermissions counts those that hold at a time.
	CountPermissions(at time.Time) (int, error)
	// AddPermission stores a permission and gives it its number.
	AddPermission(permission *Permission) error
	// RevokePermission stores when and by whom a permission was revoked.
	RevokePermission(permission Permission) error
	// MoveLesson stores a lesson's belief.
	MoveLesson(lessonID string, belief Belief, at time.Time) error
}

// PackState is what was said of a pack of rules, and by whom.
type PackState struct {
	Name    string
	Project string // in which it is so; empty: everywhere
	Mode    rule.Mode
	By      string
	At      time.Time
}

// GuardStanding is what became of a rule.
type GuardStanding struct {
	RuleID            string
	Forced            bool
	TimesTriggered    int64
	LastTriggered     *time.Time
	Heeded            int64
	Overridden        int64
	OverriddenSuccess int64
	OverriddenFailure int64
	OverriddenPartial int64
	RecentSuccess     int64    // overridden with success since it last was restored
	Overriders        []string // the agents who did that, at most DemotionAgents
	Belief            *Belief  // of a rule without a lesson, once it moved
	DemotedAt         *time.Time
	DemotedReason     string
}

// The types of the guard's other events. Their Data is a GuardEvent.
const (
	EventActionChecked = "guard.checked" // a check that did not allow
	EventCheckSettled  = "guard.settled"
	EventRuleRestored  = "guard.restored"
	EventPackChanged   = "guard.pack"       // a pack was switched: its subject
	EventApproval      = "guard.approval"   // a person decided, or what he allowed was used; its Data is an ApprovalEvent
	EventPermission    = "guard.permission" // a standing permission was given or revoked; its Data is an ApprovalEvent
)

// GuardEvent is the Data of the guard's other events but EventRuleDemoted, whose Data is an Event.
type GuardEvent struct {
	Decision rule.Decision   `json:"decision,omitempty"`
	RuleIDs  []string        `json:"rule_ids,omitempty"`
	Outcome  Outcome         `json:"outcome,omitempty"`
	Result   learning.Result `json:"result,omitempty"`
	Reason   string          `json:"reason,omitempty"`
}
