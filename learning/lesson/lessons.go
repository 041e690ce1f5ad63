package lesson

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/clock"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/likeness"
	"github.com/skillrouter/skillrouter/learning/shelf"
)

// Lessons is the Service beside the database. Load opens its index at
// start; Run does its background work.
type Lessons struct {
	store                PipelineStore
	*shelf.Shelf[Lesson]                    // those that are not retired
	like                 *likeness.Likeness // every lesson
	patterns             *Patterns
	rules                ruleKeeper
	escalations          Escalates
	weights              RelevanceWeights
	domainOf             func(ctx context.Context, agent string) (string, error)
	now                  clock.Clock
	log                  *slog.Logger

	reading sync.Mutex // held while that is read in with which reports are compared
	read    bool
}

// Options are the settings of Lessons. The zero value is usable.
type Options struct {
	learning.Options
	Patterns    *Patterns        // what finds patterns in the lessons; nil: none are found
	Rules       ruleKeeper       // what guards against anti-patterns: a *Guards; nil: none are kept
	Escalations Escalates        // nil: nothing is escalated
	Relevance   RelevanceWeights // the zero value: DefaultRelevance
	// DomainOf tells the domain that an agent works in, or ""; nil: nobody's is known.
	DomainOf func(ctx context.Context, agent string) (string, error)
}

// Escalates says to whom a lesson is escalated; *escalation.Rules does.
type Escalates interface {
	// For returns the escalations of a lesson as it is now.
	For(lesson Lesson) []Escalation
	// Supervisor returns who supervises a domain.
	Supervisor(domain string) string
}

// EscalatedTo lists the agents of escalations, each once, in their order.
func EscalatedTo(escalations []Escalation) []string {
	agents := make([]string, 0, len(escalations))
	for _, e := range escalations {
		if !slices.Contains(agents, e.To) {
			agents = append(agents, e.To)
		}
	}
	return agents
}

// escalatesNothing has the captain supervise every domain.
type escalatesNothing struct{}

func (escalatesNothing) For(Lesson) []Escalation  { return nil }
func (escalatesNothing) Supervisor(string) string { return "captain" }

// ruleKeeper turns anti_pattern lessons into guard rules.
type ruleKeeper interface {
	// CheckRule refuses, before it is stored, a lesson that cannot be a rule or, unless
	// forced, fits nearly every command. The notes say what its writer should know.
	CheckRule(ctx context.Context, lesson Lesson, force bool) (notes []string, err error)
	// KeepRules is told, after the commit, of anti_pattern lessons as they are now: an
	// active one is a rule from then on, a retired one no more.
	KeepRules(lessons ...Lesson)
	// Restored is told, after the commit, that a rule which was demoted blocks again.
	Restored(id string)
	// Covers tells whether the rule of a stored lesson stops whatever a report's own would stop.
	Covers(lesson, report *Lesson) bool
	// Confines tells whether p may not make rules that block others, and confined whether the
	// rule of a lesson was made by such a one.
	Confines(p principal.Principal) bool
	Confined(id string) bool
}

// NewLessons makes Lessons with an empty index.
func NewLessons(store PipelineStore, options Options) *Lessons {
	o := options.Options.WithDefaults()
	l := &Lessons{
		Shelf: shelf.NewShelf(store, shelf.Shelved[Lesson]{
			Kind: IndexKind, Events: []string{"lesson."}, Embedded: shelf.EmbeddedLesson,
			ID: func(e *Lesson) string { return e.ID }, Size: lessonSize, Document: document, Findable: (*Lesson).active,
			Rows: store.Lessons, Scan: store.ScanLessons,
		}, o),
		store: store, patterns: options.Patterns, rules: options.Rules,
		escalations: options.Escalations, weights: options.Relevance.withDefaults(), domainOf: options.DomainOf, now: o.Now, log: o.Log,
	}
	if l.escalations == nil {
		l.escalations = escalatesNothing{}
	}
	if l.patterns != nil {
		l.like = l.patterns.like
	} else {
		l.like = likeness.New()
	}
	return l
}

// Lesson implements Service. It needs ScopeRead.
func (l *Lessons) Lesson(ctx context.Context, ref string) (Lesson, error) {
	if err := cmp.Or(principal.Of(ctx).Keeping().Need(principal.ScopeRead), learning.CheckID("lesson_id", ref)); err != nil {
		return Lesson{}, err
	}
	lesson, ok, err := l.store.LessonOf(ctx, ref)
	if err == nil && (!ok || !principal.Of(ctx).Sees(lesson.Project)) {
		return Lesson{}, no()
	}
	return present(lesson, l.now.Stamp()), err
}

func no() error { return errs.Errorf(errs.NotFound, "no lesson has this id") }

// present returns the lesson with what is left of its confidence.
func present(lesson Lesson, at time.Time) Lesson {
	lesson.Confidence = lesson.At(at)
	return lesson
}

// active tells whether a lesson is in use.
func (l *Lesson) active() bool { return l.Status != StatusRetired }

// Rule tells whether the lesson is a rule of the guard.
func (l *Lesson) Rule() bool {
	return l.Type == learning.LessonAntiPattern && l.active() && !l.Proposed
}

// blocks tells whether the lesson is a guard rule that stops an action.
func (l *Lesson) blocks() bool { return l.Rule() && l.stops() }

// stops tells whether the lesson stops an action where it is a rule in use.
func (l *Lesson) stops() bool { return l.BlockAction || l.Severity == learning.SeverityCritical }

// FingerprintOf is that of a lesson.
func FingerprintOf(lessonType learning.LessonType, domain, title string) learning.Fingerprint {
	return (&Lesson{Type: lessonType, Domain: domain, Title: title}).fingerprint()
}

// fingerprint is what tells the lesson from others: its domain and normalised title,
// and whether it is a rule.
func (l *Lesson) fingerprint() learning.Fingerprint {
	kind := ""
	if l.Type == learning.LessonAntiPattern && !l.Proposed {
		kind = string(l.Type)
	}
	return learning.FingerprintOf(kind, l.Domain, l.Title)
}

// mayChange returns a Forbidden error unless p learned the lesson or is a captain.
func mayChange(p principal.Principal, lesson *Lesson) error {
	return learning.MayChange(p, lesson.SourceAgent, "learned this lesson: only that agent")
}

// laterThan returns at, or the first millisecond after t if at is not after
// it: who saw a lesson's UpdatedAt must notice every change since.
func laterThan(t, at time.Time) time.Time {
	if at.After(t) {
		return at
	}
	return t.Add(time.Millisecond)
}

// Vouched tells whether another voice than that which reported the lesson stands by it, or a person.
func (l *Lesson) Vouched() bool {
	return l.Validated && l.ValidatedBy != "" && !principal.SameVoice(l.Validator, l.Reporter)
}

// MaxHistory bounds how many changes History answers, the latest of them: a
// lesson that occurs every minute has half a million a year.
const MaxHistory = 1000

// List implements Service. It needs ScopeRead. A page has as many lessons
// as the limit says, or fewer that are MaxAnswer bytes together. Lessons that
// are reported while one pages through come on no later page, and none comes twice.
func (l *Lessons) List(ctx context.Context, filter Filter) (Page, error) {
	caller := principal.Of(ctx).Keeping()
	limit, wrongLimit := check.Limit(filter.Limit, learning.DefaultListing, learning.MaxLimit)
	before, wrongCursor := learning.ReadCursor(filter.Cursor)
	if err := cmp.Or(caller.Need(principal.ScopeRead), checkFilter(&filter), wrongLimit, wrongCursor); err != nil {
		return Page{}, err
	}
	at := l.now.Stamp()
	filter.Within = caller.Projects()
	filter.Limit = limit + 1 // one more tells whether there is a next page
	found, err := l.store.ListLessons(ctx, filter, before, at)
	if err != nil {
		return Page{}, err
	}
	page := Page{Lessons: found}
	size := 0
	for i := range found {
		if i == limit || size >= learning.MaxAnswer {
			page.Lessons, page.Next = found[:i], strconv.FormatInt(found[i-1].Number, 10)
			break
		}
		size += lessonSize(&found[i])
	}
	for i := range page.Lessons {
		page.Lessons[i] = present(page.Lessons[i], at)
	}
	page.Count = len(page.Lessons)
	return page, nil
}

// lessonSize is how many bytes of text a lesson adds to an answer.
func lessonSize(l *Lesson) int {
	return len(l.Title) + len(l.Context) + len(l.Action) + len(l.Outcome) + len(l.RootCause) + len(l.Solution) + len(l.Body)
}

func checkFilter(f *Filter) error {
	if err := cmp.Or(
		check.Names("domain", f.Domain, "category", f.Category, "source_agent", f.SourceAgent, "project", f.Project, "tag", f.Tag),
		check.Optional("lesson_type", f.Type, learning.LessonTypes()),
		check.Optional("severity", f.Severity, learning.Severities()),
		check.Optional("level", f.Level, Levels()),
	); err != nil {
		return err
	}
	if len(f.Statuses) > len(Statuses()) {
		return errs.InvalidField("status", "names more than there are")
	}
	return cmp.Or(check.Each("status", f.Statuses, Statuses()), check.Range("min_confidence", f.MinConfidence, 0, 1))
}

// History implements Service. It needs ScopeRead. It answers the latest MaxHistory changes.
func (l *Lessons) History(ctx context.Context, ref string) ([]Change, error) {
	lesson, err := l.Lesson(ctx, ref)
	if err != nil {
		return nil, err
	}
	return l.store.LessonChanges(ctx, lesson.ID, MaxHistory)
}
