// Package lesson stores what agents report and decides how far to believe it. It owns lessons, the
// patterns that similar lessons form, the confidence that time and use change, judgements, promotion
// and retirement. Each change is one transaction with its event. It knows neither the guard's rules
// nor who is told of a lesson.
package lesson

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/overlay"
	"github.com/skillrouter/skillrouter/internal/safetext"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/tfidf"
)

// Service is what can be done with lessons. Lessons implements it beside
// the database, router/client over HTTP. A lesson is named by its id or by its
// number in decimal: an id that a client gives is never a number.
type Service interface {
	// Report stores a lesson, or counts another occurrence of one that is there: the same
	// title (compared without case and spacing) in the same domain, or, within a domain
	// and type, nearly the same text. Patterns that it forms are told of.
	Report(ctx context.Context, draft Draft) (Reported, error)
	// ReportAll reports lessons in their order, a group at a time, as Report would report
	// each; those that are refused are named by their index, and the others are stored.
	ReportAll(ctx context.Context, drafts []Draft) (BulkReported, error)
	// Lesson returns the lesson of that id or number.
	Lesson(ctx context.Context, ref string) (Lesson, error)
	// List returns a page of lessons, newest first.
	List(ctx context.Context, filter Filter) (Page, error)
	// Relevant finds the lessons that fit a situation, best first.
	Relevant(ctx context.Context, query Query) (Results, error)
	// Validate records that somebody judged a lesson, and moves its confidence.
	Validate(ctx context.Context, ref string, draft ValidationDraft) (Lesson, error)
	// Apply records that a lesson was applied and how it went, and moves its confidence.
	Apply(ctx context.Context, ref string, draft ApplicationDraft) (Applied, error)
	// Edit changes what a lesson says. What it said stays in its history.
	Edit(ctx context.Context, ref string, patch Patch) (Lesson, error)
	// Promote raises a lesson to the next level, or says in a Conflict error which evidence is missing.
	Promote(ctx context.Context, ref string, draft PromotionDraft) (Lesson, error)
	// Retire takes a lesson out of use; it is kept, with its history.
	Retire(ctx context.Context, ref string, draft RetirementDraft) (Lesson, error)
	// Restore takes a retired lesson back into use.
	Restore(ctx context.Context, ref string, note string) (Lesson, error)
	// Review lists what needs a person's eye: promotions that have their evidence, and lessons not validated for long.
	Review(ctx context.Context, query ReviewQuery) (Review, error)
	// History returns what happened to a lesson, oldest first.
	History(ctx context.Context, ref string) ([]Change, error)
}

// Level says how far a lesson generalises, in the words of the original lessons folder.
type Level string

// The levels, the least general first.
const (
	LevelCase      Level = "case"      // one incident
	LevelPattern   Level = "pattern"   // an operational pattern that can be used again
	LevelPrinciple Level = "principle" // stable guidance across domains
)

// Levels lists every level, the least general first.
func Levels() []Level { return []Level{LevelCase, LevelPattern, LevelPrinciple} }

// Choices are the values as texts, for whoever asks for one.
func (Level) Choices() []string { return safetext.Strings(Levels()) }

// Status says how far a lesson has been checked, in the words of the original lessons folder.
type Status string

// The statuses.
const (
	StatusCandidate Status = "candidate" // reported, and nobody has judged it
	StatusValidated Status = "validated" // somebody confirmed it
	StatusCanonical Status = "canonical" // confirmed and promoted: the team's word on the matter
	StatusRetired   Status = "retired"   // superseded, refuted, deprecated or outdated; kept, and never answered unasked
)

// Statuses lists every status.
func Statuses() []Status {
	return []Status{StatusCandidate, StatusValidated, StatusCanonical, StatusRetired}
}

// Choices are the values as texts, for whoever asks for one.
func (Status) Choices() []string { return safetext.Strings(Statuses()) }

// Lesson is something that was learned: the one kind of lesson that stands for those of MNEMOSYNE, the lessons folder and the experience server.
type Lesson struct {
	ID              string              `json:"id"`
	Number          int64               `json:"number"` // order of reporting; the id on the experience server's paths
	Type            learning.LessonType `json:"lesson_type"`
	Domain          string              `json:"domain"`
	Category        string              `json:"category"`
	Title           string              `json:"title"`        // a line; the experience server's statement
	Context         string              `json:"context"`      // what was happening; the original lessons folder's summary
	Action          string              `json:"action_taken"` // what was done
	Outcome         string              `json:"outcome"`      // what came of it
	RootCause       string              `json:"root_cause,omitempty"`
	Solution        string              `json:"solution,omitempty"`
	Body            string              `json:"body,omitempty"` // further text, Markdown, of a lesson from a file
	Alternatives    []string            `json:"alternatives"`
	Severity        learning.Severity   `json:"severity"`
	Tags            []string            `json:"tags"`
	SourceAgent     string              `json:"source_agent"` // who learned it
	Reporter        string              `json:"-"`            // whose voice it is, whatever agent it names: see principal.Principal.Voice
	RelatedFiles    []string            `json:"related_files"`
	RelatedCommands []string            `json:"related_commands"`
	Contexts        []string            `json:"contexts"`                  // operation types or other contexts it holds in (the experience server)
	TriggerPattern  string              `json:"trigger_pattern,omitempty"` // of an anti_pattern: an RE2 expression over each command
	BlockAction     bool                `json:"block_action,omitempty"`    // of an anti_pattern: blocks whatever the severity
	Proposed        bool                `json:"proposed,omitempty"`        // an anti_pattern that is no rule until somebody confirms it
	Project         string              `json:"project,omitempty"`
	Trust           learning.Trust      `json:"trust"`
	Level           Level               `json:"level"`
	Status          Status              `json:"status"`
	Transferability int                 `json:"transferability"` // 1, only where it was learned, to 5, everywhere
	SourceCaseIDs   []string            `json:"source_case_ids"` // the lessons that it was drawn from
	PatternID       string              `json:"pattern_id,omitempty"`

	// Confidence is what is left now of the one that the last evidence gave: see Belief.
	Confidence float64 `json:"confidence"`
	Belief

	Occurrences     int64      `json:"occurrence_count"`
	LastOccurred    time.Time  `json:"last_occurred"`
	TimesApplied    int64      `json:"times_applied"`
	TimesSucceeded  int64      `json:"times_succeeded"`
	Validated       bool       `json:"validated"` // the last judgement on it confirmed it
	ValidatedBy     string     `json:"validated_by,omitempty"`
	Validator       string     `json:"-"` // whose voice that was: see principal.Principal.Judge
	ValidationNotes string     `json:"validation_notes,omitempty"`
	LastValidatedAt *time.Time `json:"last_validated_at,omitempty"`
	SupersededBy    string     `json:"superseded_by,omitempty"`
	RetiredAt       *time.Time `json:"retired_at,omitempty"` // the experience server's deprecated_at
	RetiredReason   string     `json:"retired_reason,omitempty"`
	Deprecated      bool       `json:"deprecated,omitempty"` // its applications retired it: it may still be applied
	CreatedAt       time.Time  `json:"created_at"`
	UpdatedAt       time.Time  `json:"updated_at"`
}

// Belief is a confidence and when it was last moved by evidence. What is left of
// it at a time t is CF(t) = CF₀·e^(−kt), with CF₀ the initial one, k the decay
// constant and t in days since ConfidenceAt (the experience server, "Key Formulas").
type Belief struct {
	InitialConfidence float64   `json:"initial_confidence"` // 0 to 1, at ConfidenceAt
	DecayConstant     float64   `json:"decay_constant"`     // per day
	ConfidenceAt      time.Time `json:"confidence_at"`
}

// Draft is what a client may say of a new lesson. The required fields are those of MNEMOSYNE.
type Draft struct {
	ID              string              `json:"id,omitempty" doc:"Your own id for it"` // the client's own id, at most MaxID bytes and not a number; empty: one is given
	Type            learning.LessonType `json:"lesson_type" help:"What it is"`
	Domain          string              `json:"domain" help:"Such as docker, security, infrastructure"`
	Category        string              `json:"category" help:"More closely; the domain if you say none"`
	Title           string              `json:"title"`
	Context         string              `json:"context" doc:"What was happening"`
	Action          string              `json:"action_taken" help:"What was done"`
	Outcome         string              `json:"outcome" help:"How it went"`
	RootCause       string              `json:"root_cause,omitempty" help:"Why it went so"`
	Solution        string              `json:"solution,omitempty" doc:"How to mend or avoid it"`
	Body            string              `json:"body,omitempty"`
	Alternatives    []string            `json:"alternatives,omitempty" doc:"What to do instead" help:"What to do instead; may be repeated"`
	Severity        learning.Severity   `json:"severity,omitempty" help:"How grave it is (default medium)"` // empty: medium
	Tags            []string            `json:"tags,omitempty" help:"Tag; may be repeated"`
	SourceAgent     string              `json:"source_agent,omitempty" actor:"true"` // empty: the caller's agent
	RelatedFiles    []string            `json:"related_files,omitempty" help:"File that it is about; may be repeated"`
	RelatedCommands []string            `json:"related_commands,omitempty" help:"Command that it is about; of an anti_pattern: what to stop; may be repeated"`
	Contexts        []string            `json:"contexts,omitempty"`
	TriggerPattern  string              `json:"trigger_pattern,omitempty" help:"Of an anti_pattern: an RE2 expression over each command"`
	BlockAction     bool                `json:"block_action,omitempty" help:"Of an anti_pattern: block whatever the severity"`
	Proposed        bool                `json:"proposed,omitempty" doc:"Of an anti_pattern: no rule of the guard until somebody confirms it"` // of an anti_pattern: no rule until somebody else, or a captain, confirms it
	Force           bool                `json:"force,omitempty" doc:"Keep a rule that fits nearly every command"`                             // of an anti_pattern: keep a rule that fits nearly every command
	Project         string              `json:"project,omitempty" here:"project"`
	Level           Level               `json:"level,omitempty"`                                                    // empty: case
	Transferability int                 `json:"transferability,omitempty"`                                          // 1 to 5; 0: DefaultTransferability
	SourceCaseIDs   []string            `json:"source_case_ids,omitempty"`                                          // each must be there, or be reported in the same call
	Confidence      *float64            `json:"confidence,omitempty" help:"How sure you are, 0 to 1 (default 0.8)"` // 0 to 1; nil: DefaultConfidence
	Status          Status              `json:"status,omitempty"`                                                   // of an import: what another store held it for; empty: candidate
	LastValidatedAt *time.Time          `json:"last_validated_at,omitempty"`
	PatternID       string              `json:"-"` // the pattern that it was learned from: ours to say, never a client's
	Trust           learning.Trust      `json:"-"` // of where it comes from; TrustImported is untrusted, see temper. Empty: who writes is known
}

// lesson is a lesson of what a checked draft says. What the router says of it is to be filled in.
func (d *Draft) lesson() (l Lesson) {
	overlay.Copy(&l, d)
	return l
}

// Draft is what a client would have said of a lesson; its lists are its own.
func (l *Lesson) Draft() (d Draft) {
	overlay.Copy(&d, l)
	for _, list := range append(d.lists(), textList{items: &d.Tags}) {
		*list.items = slices.Clone(*list.items)
	}
	d.SourceAgent, d.PatternID, d.Trust, d.LastValidatedAt, d.Confidence = "", "", "", nil, &l.InitialConfidence
	return d
}

// Patch is what may be changed of a lesson's text; nil leaves a field as it is.
type Patch struct {
	Category        *string            `json:"category,omitempty" doc:"Category"`
	Title           *string            `json:"title,omitempty" doc:"A line"`
	Context         *string            `json:"context,omitempty" doc:"What was happening"`
	Action          *string            `json:"action_taken,omitempty" help:"What was done"`
	Outcome         *string            `json:"outcome,omitempty" help:"How it went"`
	RootCause       *string            `json:"root_cause,omitempty" help:"Why it went so"`
	Solution        *string            `json:"solution,omitempty" doc:"How to mend or avoid it"`
	Body            *string            `json:"body,omitempty"`
	Alternatives    *[]string          `json:"alternatives,omitempty" help:"What to do instead; may be repeated"`
	Severity        *learning.Severity `json:"severity,omitempty" help:"How grave it is"`
	Tags            *[]string          `json:"tags,omitempty" help:"Tag; may be repeated"`
	RelatedFiles    *[]string          `json:"related_files,omitempty" help:"File that it is about; may be repeated"`
	RelatedCommands *[]string          `json:"related_commands,omitempty" help:"Command that it is about; of an anti_pattern: what to stop; may be repeated"`
	TriggerPattern  *string            `json:"trigger_pattern,omitempty" help:"Of an anti_pattern: an RE2 expression over each command"`
	BlockAction     *bool              `json:"block_action,omitempty" help:"Of an anti_pattern: block whatever the severity"`
	Transferability *int               `json:"transferability,omitempty" doc:"1, only where it was learned, to 5, everywhere"`
	Confidence      *float64           `json:"confidence,omitempty"` // of a sync: the other side's
	LastValidatedAt *time.Time         `json:"last_validated_at,omitempty"`
	// Expect, if it is set, is the UpdatedAt that the caller saw; another one now is a Conflict.
	Expect *time.Time `json:"expect,omitempty"`
}

// Reported says what became of a reported lesson.
type Reported struct {
	LessonID    string   `json:"lesson_id"`
	Number      int64    `json:"number"`
	Status      string   `json:"status"`    // "recorded", as MNEMOSYNE answers
	Duplicate   bool     `json:"duplicate"` // it was there: another occurrence of it was counted
	Occurrences int64    `json:"occurrence_count"`
	Patterns    int      `json:"patterns_detected"`
	PatternIDs  []string `json:"pattern_ids,omitempty"`
	EscalatedTo []string `json:"escalated_to"` // the agents whose mailboxes get it
	// Redacted lists the kinds of secret that were cut out before it was stored.
	Redacted []string `json:"redacted,omitempty"`
	// Notes say what the writer should know: a command that is no trigger, a rule that can only warn.
	Notes []string `json:"notes,omitempty"`
}

// BulkReported says what became of the lessons of a bulk call.
type BulkReported struct {
	Processed    int                `json:"processed"` // stored or counted as another occurrence
	Results      []BulkOutcome      `json:"results"`   // of these, in the order of the request
	Duplicates   int                `json:"duplicates"`
	Refused      []learning.Refusal `json:"refused"` // the first MaxRefusals of them
	RefusedCount int                `json:"refused_count"`
}

// BulkOutcome is what became of one lesson of a bulk call.
type BulkOutcome struct {
	Index int `json:"index"` // position among the request's lessons, from 0
	Reported
}

// Filter selects lessons for a listing; empty fields select everything.
type Filter struct {
	Type          learning.LessonType `json:"lesson_type,omitempty" help:"Only this type"`
	Domain        string              `json:"domain,omitempty" doc:"Only this domain"`
	Category      string              `json:"category,omitempty" doc:"Only this category"`
	Severity      learning.Severity   `json:"severity,omitempty" doc:"Only this severity"`
	Level         Level               `json:"level,omitempty" doc:"Only this level"`
	Statuses      []Status            `json:"status,omitempty" doc:"Separated by commas; none: all but retired"`
	SourceAgent   string              `json:"source_agent,omitempty" help:"Only those that this agent reported"`
	Project       string              `json:"project,omitempty" doc:"Only this project"`
	Proposed      bool                `json:"-"` // only rules that wait for somebody to confirm them
	General       bool                `json:"-"` // only those that belong to no project
	Within        []string            `json:"-"` // only those of these projects; nil: of any
	Scope         *RecallScope        `json:"-"` // only those of this memory
	OccurredSince time.Time           `json:"-"` // last occurred not before
	Tag           string              `json:"tag,omitempty" doc:"Only those with this tag"`
	MinConfidence float64             `json:"min_confidence,omitempty" doc:"Of what is left of the confidence now"`
	Since         time.Time           `json:"since,omitzero" doc:"Reported not before this time"`
	Cursor        string              `json:"cursor,omitempty" doc:"The answer's next of the page before"`
	Limit         int                 `json:"limit,omitempty" doc:"1 to 200; 0: 50"` // 1 to MaxLimit; 0 means DefaultListing
}

// Page is a page of a listing, newest first.
type Page struct {
	Lessons []Lesson `json:"lessons"`
	Count   int      `json:"count"`
	Next    string   `json:"next,omitempty"` // cursor of the next page; empty: this is the last
}

// Hit is a lesson that was found. Score = w·Similarity + (1−w)·Recency
// with the configured weights, 0.7 and 0.3 in MNEMOSYNE.
type Hit struct {
	Lesson
	Similarity float64           `json:"similarity"`    // 0 to 1
	Recency    float64           `json:"recency_score"` // 0 to 1
	Score      float64           `json:"relevance_score"`
	Relevance  float64           `json:"relevance"` // as knowledge.Hit's
	Why        []learning.Reason `json:"why,omitempty"`

	Evidence tfidf.Evidence `json:"-"` // as knowledge.Hit's
}

// Says is what the hit says, to be compared with what others say.
func (h *Hit) Says() learning.Saying {
	said := slices.Concat([]string{string(h.Type), h.Title, h.Context, h.Action, h.Outcome, h.RootCause, h.Solution, h.Body}, h.Alternatives, h.RelatedCommands)
	return learning.Saying{ID: h.ID, Kind: "lesson", Where: h.Project + " " + h.Domain, Trust: h.Trust, Text: strings.Join(said, "\n")}
}

// Results is the answer to a Query.
type Results struct {
	Results   []Hit             `json:"results"`
	Count     int               `json:"count"`
	LeftOut   int               `json:"left_out,omitempty"`
	Corrected map[string]string `json:"corrected,omitempty"`
	Notice    string            `json:"notice,omitempty"` // as knowledge.Results'
	Repairs   []learning.Repair `json:"tried,omitempty"`  // as knowledge.Results'
	NoMatch   bool              `json:"-"`                // as knowledge.Results'
}

// ValidationType is a judgement on a lesson, in the words of MNEMOSYNE.
type ValidationType string

// The judgements. The experience server's verified and refuted signals are confirmed and refuted.
const (
	ValidationConfirmed ValidationType = "confirmed"
	ValidationRefuted   ValidationType = "refuted"
	ValidationPartial   ValidationType = "partial"
	ValidationOutdated  ValidationType = "outdated"
)

// ValidationTypes lists every judgement.
func ValidationTypes() []ValidationType {
	return []ValidationType{ValidationConfirmed, ValidationRefuted, ValidationPartial, ValidationOutdated}
}

// ValidationDraft is a judgement that a client passes on a lesson.
type ValidationDraft struct {
	Type  ValidationType `json:"validation_type,omitempty"`
	By    string         `json:"validated_by" actor:"true"`
	Notes string         `json:"notes,omitempty"`
	Trust learning.Trust `json:"-"` // of who judges; TrustImported is untrusted: it moves the confidence and nothing else. Empty: who judges is known
}

// ApplicationDraft says that a lesson was applied.
type ApplicationDraft struct {
	Outcome learning.Result `json:"outcome"`
	Notes   string          `json:"notes,omitempty"`
	Agent   string          `json:"agent,omitempty" actor:"true"`
	Context string          `json:"context,omitempty" doc:"Where: what counts as a context of its own; the project or the agent if you say none"` // where: what counts as a distinct context for a promotion; empty: the agent's project, or the agent
}

// Applied says what an application did to a lesson's confidence (the experience server's apply_lesson).
type Applied struct {
	Applied            bool    `json:"applied"`
	LessonID           string  `json:"-"`
	LessonNumber       int64   `json:"lesson_id"`
	PreviousConfidence float64 `json:"previous_confidence"` // decayed, before
	NewConfidence      float64 `json:"new_confidence"`
	TotalApplications  int64   `json:"total_applications"`
	SuccessRate        float64 `json:"success_rate"`
	Deprecated         bool    `json:"deprecated,omitempty"` // this application, or one before it, retired the lesson
}

// PromotionDraft asks to raise a lesson to the next level.
type PromotionDraft struct {
	By      string   `json:"promoted_by,omitempty" actor:"true"`
	Sources []string `json:"source_case_ids,omitempty" doc:"Further lessons that it was drawn from"` // further evidence: lessons that it was drawn from
	Title   string   `json:"title,omitempty" doc:"Of the pattern that is drawn; empty: the case's"`
	Notes   string   `json:"notes,omitempty"`
}

// RetirementDraft asks to take a lesson out of use.
type RetirementDraft struct {
	By           string `json:"retired_by,omitempty" actor:"true"`
	Reason       string `json:"reason"`
	SupersededBy string `json:"superseded_by,omitempty" doc:"The lesson that stands in its place"` // id or number of the lesson that stands in its place
}

// ReviewQuery asks what needs a person's eye.
type ReviewQuery struct {
	StaleDays int    `json:"stale_days,omitempty" doc:"0: 90" range:"0,"` // 0 means DefaultStaleDays
	Domain    string `json:"domain,omitempty" doc:"Only this domain"`
	Limit     int    `json:"limit,omitempty"`
}

// Review is what needs a person's eye.
type Review struct {
	Promotions []Suggestion `json:"promotions"` // lessons with the evidence for the next level
	Stale      []Stale      `json:"stale"`      // not validated for long, the longest first
}

// Suggestion is a lesson that has the evidence for the next level.
type Suggestion struct {
	LessonID string   `json:"lesson_id"`
	Number   int64    `json:"number"`
	Title    string   `json:"title"`
	From     Level    `json:"from"`
	To       Level    `json:"to"`
	Evidence []string `json:"evidence"` // ids of the cases, or the distinct contexts
	Why      string   `json:"why"`
}

// Stale is a lesson that nobody validated for long.
type Stale struct {
	LessonID string  `json:"lesson_id"`
	Number   int64   `json:"number"`
	Title    string  `json:"title"`
	Level    Level   `json:"level"`
	Days     float64 `json:"days"` // since it was validated, or reported if it never was
}

// Change is one thing that happened to a lesson.
type Change struct {
	Seq      int64     `json:"seq"`
	LessonID string    `json:"lesson_id"`
	Kind     string    `json:"kind"` // reported, occurred, validated, applied, edited, promoted, retired, restored, escalated, demoted
	Agent    string    `json:"agent_id,omitempty"`
	Note     string    `json:"note,omitempty"`
	Before   *Snapshot `json:"before,omitempty"`
	After    *Snapshot `json:"after,omitempty"`
	At       time.Time `json:"at"`
}

// Snapshot is what a change moved; of an edit also the text as it was.
type Snapshot struct {
	Level      Level   `json:"level,omitempty"`
	Status     Status  `json:"status,omitempty"`
	Confidence float64 `json:"confidence"`
	Patch      *Patch  `json:"fields,omitempty"`
}

// Defaults and bounds of lessons.
const (
	DefaultConfidence      = 0.8 // MNEMOSYNE
	DefaultTransferability = 3   // the middle of the original lessons folder's range
	DefaultLimit           = 10  // MNEMOSYNE
	// DefaultStaleDays is after how many days without a validation a lesson is stale:
	// a quarter, at the end of which the default decay has taken 60 % of its confidence.
	DefaultStaleDays = 90
	// MaxText bounds each text of a lesson but the body, in bytes: a stack trace fits.
	MaxText      = 64 << 10
	MaxListItems = 64      // alternatives, files, commands, contexts and sources on a lesson, of each
	MaxListItem  = 8 << 10 // bytes of one
)
