package lesson

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/skillrouter/skillrouter/internal/eventlog"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
	"github.com/skillrouter/skillrouter/learning/shelf"
)

// PipelineStore keeps lessons, patterns, their evidence and what happened to
// them. learning/store implements it on learning.db.
type PipelineStore interface {
	shelf.IndexStore
	// Change queues a change and returns at once; changes are made in the order in which
	// they were queued. decide runs in a durable transaction, sees what earlier changes of
	// the same transaction wrote, and reads and writes through tx alone. It may run twice
	// and must then answer for itself alone. after is called after the commit, in commit
	// order, before wait returns; not if the change failed.
	Change(ctx context.Context, decide func(tx PipelineTx) error, after func()) (wait func() error)

	// Lessons returns the lessons with the ids that exist, in no order.
	Lessons(ctx context.Context, ids []string) ([]Lesson, error)
	// LessonPlaces returns the active ones of the lessons with the ids, in no order, with
	// nothing but where and when they hold: ID, Number, Domain, Project, Transferability, LastOccurred.
	LessonPlaces(ctx context.Context, ids []string) ([]Lesson, error)
	// LessonOf returns the lesson of an id or number.
	LessonOf(ctx context.Context, ref string) (lesson Lesson, ok bool, err error)
	// ListLessons returns lessons, newest first, whose number is below before (0: all); up to
	// filter.Limit and MaxAnswer bytes of them. at is when a confidence is compared.
	ListLessons(ctx context.Context, filter Filter, before int64, at time.Time) ([]Lesson, error)
	// ScanLessons visits every lesson, oldest first, chunk by chunk. visit may keep the chunk.
	ScanLessons(ctx context.Context, visit func(chunk []Lesson) error) error
	// ScanRules visits every anti_pattern that is not retired, as ScanLessons does.
	ScanRules(ctx context.Context, visit func(chunk []Lesson) error) error
	// LessonChanges returns a lesson's history, oldest first: the latest limit changes of it.
	LessonChanges(ctx context.Context, lessonID string, limit int) ([]Change, error)

	// PatternOf returns the pattern of an id or number, with its evidence.
	PatternOf(ctx context.Context, ref string) (pattern Pattern, ok bool, err error)
	// ListPatterns returns patterns with their evidence, the latest seen first.
	ListPatterns(ctx context.Context, filter PatternFilter) ([]Pattern, error)

	PatternStore
	GuardStore
}

// PipelineTx is one transaction on the pipeline's tables. It is used by its
// change alone and ends with it.
type PipelineTx interface {
	// LessonsByFingerprint returns the lessons with that fingerprint, the first reported first, at most limit.
	LessonsByFingerprint(fingerprint learning.Fingerprint, limit int) ([]Lesson, error)
	// LessonOf returns the lesson of an id or number.
	LessonOf(ref string) (lesson Lesson, ok bool, err error)
	// PatternDrawnFrom returns a lesson in use, of LevelPattern, that names the case among its sources.
	PatternDrawnFrom(caseID string) (lesson Lesson, ok bool, err error)
	// InsertLesson stores a lesson and gives it its number.
	InsertLesson(lesson *Lesson, fingerprint learning.Fingerprint) error
	// UpdateLesson stores a lesson's fields under its id.
	UpdateLesson(lesson Lesson, fingerprint learning.Fingerprint) error
	// AddChange appends to lessons' histories.
	AddChange(changes ...Change) error
	// JudgedSince tells whether a lesson's history has that judgement after a time, by that person or kind of agent.
	JudgedSince(lessonID, by string, judgement ValidationType, after time.Time) (bool, error)
	// AddApplication records where a lesson was applied and how it went.
	AddApplication(application Application) error
	// Applications returns a lesson's applications, the latest first, at most limit.
	Applications(lessonID string, limit int) ([]Application, error)

	// PatternOf returns the pattern of an id or number, without its evidence.
	PatternOf(ref string) (pattern Pattern, ok bool, err error)
	// PatternsOf returns the patterns that have a piece of evidence, deprecated ones too, without their evidence.
	PatternsOf(evidence Evidence) ([]Pattern, error)
	// OperationPattern returns the one pattern of an operation type's episodes that has its Made.
	OperationPattern(operationType string) (pattern Pattern, ok bool, err error)
	// FailingOperation returns the model's own pattern of an operation type that keeps failing.
	FailingOperation(operationType string) (pattern Pattern, ok bool, err error)
	// PatternByText returns the first made of the patterns of episodes whose text, as made, has
	// that text in it, without case.
	PatternByText(text string) (pattern Pattern, ok bool, err error)
	// CountApplication counts one application of a lesson on its pattern, if it is there, with 1 or 0 successes.
	CountApplication(patternID string, succeeded int64, at time.Time) error
	// InsertPattern stores a pattern and gives it its number.
	InsertPattern(pattern *Pattern) error
	// UpdatePattern stores a pattern's fields under its id.
	UpdatePattern(pattern Pattern) error
	// AddEvidence adds to a pattern's evidence what is not there already, and returns how many were new.
	AddEvidence(patternID string, evidence ...Evidence) (int, error)

	// EpisodeNumbers returns the numbers of the episodes with the ids that there are.
	EpisodeNumbers(ids []string) (map[string]int64, error)

	PatternTx
	GuardTx

	// AddEvents appends to the event log.
	AddEvents(events ...eventlog.Event) error
}

// Evidence is a lesson or an episode that a pattern gathers.
type Evidence struct {
	Kind  string // EvidenceLesson or EvidenceEpisode
	Ref   string // a lesson's id, or an episode's number in decimal
	Agent string // whose it is: cases of one agent are not independent
	Score float64
	At    time.Time
}

// The kinds of evidence.
const (
	EvidenceLesson  = "lesson"
	EvidenceEpisode = "episode"
)

// Application is one time that a lesson was applied.
type Application struct {
	LessonID string          `json:"lesson_id"`
	Agent    string          `json:"agent_id,omitempty"`
	Context  string          `json:"context,omitempty"`
	Outcome  learning.Result `json:"outcome"`
	Notes    string          `json:"notes,omitempty"`
	At       time.Time       `json:"at"`
}

// The types of the pipeline's events. Their Data is a Event, a
// PatternEvent or, of an experience, an ExperienceEvent.
const (
	EventReported           = "lesson.reported" // new
	EventOccurred           = "lesson.occurred" // reported again
	EventValidated          = "lesson.validated"
	EventApplied            = "lesson.applied"
	EventEdited             = "lesson.edited"
	EventPromoted           = "lesson.promoted"
	EventRetired            = "lesson.retired" // Data tells whether it was deprecated by itself
	EventRestored           = "lesson.restored"
	EventPatternEmerged     = "pattern.emerged"
	EventPatternSeen        = "pattern.seen" // more evidence
	EventPatternConfirmed   = "pattern.confirmed"
	EventPatternDeprecated  = "pattern.deprecated"
	EventExperienceRecorded = "experience.recorded"
	EventRuleDemoted        = "guard.demoted"
)

// Event is the Data of a lesson's events.
type Event struct {
	Number     int64               `json:"number"`
	Type       learning.LessonType `json:"lesson_type"`
	Domain     string              `json:"domain"`
	Title      string              `json:"title"`
	Severity   learning.Severity   `json:"severity"`
	Milder     learning.Severity   `json:"previous_severity,omitempty"` // what the severity was, if this event made it worse
	Level      Level               `json:"level"`
	Confidence float64             `json:"confidence"`
	Previous   *float64            `json:"previous_confidence,omitempty"`
	Reason     string              `json:"reason,omitempty"`
	Escalate   []Escalation        `json:"escalate,omitempty"` // whoever handles the event raises these
}

// PatternEvent is the Data of a pattern's events.
type PatternEvent struct {
	Number      int64       `json:"number"`
	Type        PatternType `json:"pattern_type"`
	Name        string      `json:"pattern_name"`
	Description string      `json:"description"`
	Domain      string      `json:"domain"`
	Frequency   int64       `json:"occurrence_count"`
	Confidence  float64     `json:"confidence"`
	Reason      string      `json:"reason,omitempty"`
}

// ExperienceEvent is the Data of EventExperienceRecorded.
type ExperienceEvent struct {
	EpisodeID     int64   `json:"episode_id"`
	OperationType string  `json:"operation_type"`
	Utility       float64 `json:"utility_score"`
}

// Escalation says who should look at a lesson, and why. The rules that make it
// are data; see escalation.Rules.
type Escalation struct {
	To       string            `json:"to"` // an agent's id
	Reason   string            `json:"reason"`
	Priority learning.Severity `json:"priority"`
}

// PatternTx is what patterns of lessons and promotions need of a transaction.
type PatternTx interface {
	// CommandPattern returns the pattern of the failures of a command.
	CommandPattern(command string) (pattern Pattern, ok bool, err error)
	// AddPatternAgents adds to the agents that told of a pattern, and returns how many were new.
	AddPatternAgents(patternID string, agents ...string) (int, error)
	// PatternAgents returns agents that told of a pattern, at most limit, by name.
	PatternAgents(patternID string, limit int) ([]string, error)
	// LessonEvidence returns the ids of the lessons that a pattern gathers, the latest first, at most limit.
	LessonEvidence(patternID string, limit int) ([]string, error)
	// ActiveEvidence tells whether a pattern gathers a lesson that is not retired.
	ActiveEvidence(patternID string) (bool, error)
}

// PatternStore is what patterns of lessons and reviews need beside transactions.
type PatternStore interface {
	// View reads one state of the database through tx, which writes nothing.
	View(ctx context.Context, read func(tx PipelineTx) error) error
	// ScanPatterns visits every pattern that has a representative, oldest first, chunk by
	// chunk, without its evidence. visit may keep the chunk.
	ScanPatterns(ctx context.Context, visit func(chunk []Pattern) error) error
	// FadedPatterns returns ids of patterns that are not deprecated: of lessons, if they have at that
	// time less confidence left than least, or only retired lessons; of operations, if they were last seen before lapsed. At most limit.
	FadedPatterns(ctx context.Context, least float64, at, lapsed time.Time, limit int) ([]string, error)
	// StaleLessons returns lessons that were last validated, or reported and never
	// validated, before that time, and are not retired; those that wait longest first.
	StaleLessons(ctx context.Context, domain string, before time.Time, limit int) ([]Lesson, error)
	// PromotableLessons returns lessons, not retired, that may have the evidence for the
	// next level, the strongest evidence first: of patterns that gather at least cases
	// lessons the representatives, cases that name the cases they were drawn from, and
	// patterns that were applied with success at least applications times.
	PromotableLessons(ctx context.Context, domain string, cases, applications, limit int) ([]Lesson, error)
}

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

// RecallStore reads what goes into an agent's memory. learning/store implements it on learning.db.
type RecallStore interface {
	// RecentFor returns the latest lessons that an agent should know, newest first.
	RecentFor(ctx context.Context, scope RecallScope, limit int) ([]Lesson, error)
	// CountFor counts the lessons that an agent should know.
	CountFor(ctx context.Context, scope RecallScope) (int, error)
	// ListLessons is a PipelineStore's.
	ListLessons(ctx context.Context, filter Filter, before int64, at time.Time) ([]Lesson, error)
	// ByTopic returns, for each topic in lower case, the latest lessons whose domain or
	// category it is, or which have it as a tag, newest first. Tags are looked at in the latest RecallTagged lessons.
	ByTopic(ctx context.Context, topics []string, limit int) (map[string][]Lesson, error)
	// Figures counts lessons and patterns; the times say since when a lesson is of today, and of this week.
	LessonFigures(ctx context.Context, today, week time.Time) (Figures, error)
}

// RecallScope says whose memory it is: the agent's own lessons, those of its
// domain, and those for everybody. Retired ones are in nobody's.
type RecallScope struct {
	Agent  string
	Domain string // empty: it has none
}

// Figures are the figures of MNEMOSYNE's mnemosyne_dashboard.
type Figures struct {
	Total             int `json:"total_lessons"`
	Failures          int `json:"failures"`
	Successes         int `json:"successes"`
	AntiPatterns      int `json:"anti_patterns"`
	ConfirmedPatterns int `json:"confirmed_patterns"`
	Pending           int `json:"pending_escalations"`
	Today             int `json:"lessons_today"`     // in the last 24 hours
	ThisWeek          int `json:"lessons_this_week"` // in the last 7 days
}

// RecallTagged is in how many of the latest lessons a topic is looked for among
// the tags: there is no index of tags, and older ones are found by a search.
const RecallTagged = 5000

// Spellings returns the ways in which a name is usually written: as it is, in
// lower case, in upper case, and with a capital. Domains are kept as their
// authors wrote them, and an index finds what is written alike.
func Spellings(name string) []string {
	if name = strings.TrimSpace(name); name == "" {
		return nil
	}
	lower := strings.ToLower(name)
	first, size := utf8.DecodeRuneInString(lower)
	list := []string{}
	for _, spelling := range []string{name, lower, strings.ToUpper(name), string(unicode.ToUpper(first)) + lower[size:]} {
		if !slices.Contains(list, spelling) {
			list = append(list, spelling)
		}
	}
	return list
}
