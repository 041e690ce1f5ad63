package learning

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"skillrouter"
)

// Lessons is the LessonService beside the database. Load opens its index at
// start; Run does its background work.
type Lessons struct {
	store          PipelineStore
	*Shelf[Lesson]           // those that are not retired
	like           *likeness // every lesson
	prints         prints
	patterns       detector
	rules          ruleKeeper
	escalations    Escalates
	weights        RelevanceWeights
	domainOf       func(ctx context.Context, agent string) string
	now            skillrouter.Clock
	log            *slog.Logger

	line    reportLine
	reading recollection
}

// LessonOptions are the settings of Lessons. The zero value is usable.
type LessonOptions struct {
	Options
	Patterns    detector         // what finds patterns in the lessons: a *Patterns; nil: none are found
	Rules       ruleKeeper       // what guards against anti-patterns: a *Guards; nil: none are kept
	Escalations Escalates        // nil: nothing is escalated
	Relevance   RelevanceWeights // the zero value: DefaultRelevance
	// DomainOf tells the domain that an agent works in, or ""; nil: nobody's is known.
	DomainOf func(ctx context.Context, agent string) string
}

// Escalates says to whom a lesson is escalated; *EscalationRules does.
type Escalates interface {
	// For returns the escalations of a lesson as it is now.
	For(lesson Lesson) []Escalation
	// Supervisor returns who supervises a domain.
	Supervisor(domain string) string
}

// escalatesNothing knows the supervisors alone.
type escalatesNothing struct{}

func (escalatesNothing) For(Lesson) []Escalation         { return nil }
func (escalatesNothing) Supervisor(domain string) string { return SupervisorOf(domain) }

// detector finds patterns in the lessons that are reported.
type detector interface {
	// observe is told of a lesson that was reported (first) or occurred again, and by whom,
	// in the transaction that stores it and before the next report is. It writes the
	// patterns that the lesson forms or joins, with their evidence, and returns them and
	// their events, which are to be appended behind the lesson's.
	// looks is what look found for the lesson, nil if nobody looked.
	observe(tx PipelineTx, lesson Lesson, by string, first bool, looks *looks, at time.Time) ([]Pattern, []skillrouter.Event, error)
	// look looks for what a new lesson is like before its transaction, which is spared that.
	look(lesson *Lesson, of likenessOf) *looks
	// recall reads in what it remembers of the patterns there are, after the lessons' texts.
	recall(ctx context.Context) error
	// resemblance is the memory of lessons' texts that patterns and lessons share.
	// Lessons fills it.
	resemblance() *likeness
}

// ruleKeeper turns anti_pattern lessons into guard rules.
type ruleKeeper interface {
	// checkRule refuses, before it is stored, a lesson that cannot be a rule or, unless
	// forced, fits nearly every command. The notes say what its writer should know.
	checkRule(ctx context.Context, lesson Lesson, force bool) (notes []string, err error)
	// keepRules is told, after the commit, of anti_pattern lessons as they are now: an
	// active one is a rule from then on, a retired one no more.
	keepRules(lessons ...Lesson)
	// restored is told, after the commit, that a rule which was demoted blocks again.
	restored(id string)
	// triggers are the commands that a lesson's rule may be recognised by.
	triggers(lesson *Lesson) []string
	// unites tells whether the rule of a lesson that a report was merged into would stop
	// whatever the lesson's rule and the report's own would stop, each for itself.
	unites(merged, lesson, report *Lesson) bool
	// confines tells whether p may not make rules that block others, and confined whether the
	// rule of a lesson was made by such a one.
	confines(p skillrouter.Principal) bool
	confined(id string) bool
}

// NewLessons makes Lessons with an empty index.
func NewLessons(store PipelineStore, options LessonOptions) *Lessons {
	o := options.Options.withDefaults()
	l := &Lessons{
		Shelf: newShelf(store, shelved[Lesson]{
			kind: KeptLessons, form: lessonForm, events: []string{"lesson."}, embedded: EmbeddedLesson,
			id: func(e *Lesson) string { return e.ID }, size: lessonSize, document: lessonDocument, findable: (*Lesson).active,
			rows: store.Lessons, scan: store.ScanLessons, find: store.FindLessons,
		}, o),
		store: store, patterns: options.Patterns, rules: options.Rules,
		escalations: options.Escalations, weights: options.Relevance.withDefaults(), domainOf: options.DomainOf, now: o.Now, log: o.Log,
	}
	if l.escalations == nil {
		l.escalations = escalatesNothing{}
	}
	if l.patterns != nil {
		l.like = l.patterns.resemblance()
	} else {
		l.like = newLikeness()
	}
	return l
}

// Lesson implements LessonService. It needs ScopeRead.
func (l *Lessons) Lesson(ctx context.Context, ref string) (Lesson, error) {
	if err := cmp.Or(skillrouter.PrincipalOf(ctx).Need(skillrouter.ScopeRead), checkID("lesson_id", ref)); err != nil {
		return Lesson{}, err
	}
	lesson, ok, err := l.store.LessonOf(ctx, ref)
	if err == nil && !ok {
		err = noLesson()
	}
	return present(lesson, l.now.Stamp()), err
}

func noLesson() error { return skillrouter.Errorf(skillrouter.NotFound, "no lesson has this id") }

// present returns the lesson with what is left of its confidence.
func present(lesson Lesson, at time.Time) Lesson {
	lesson.Confidence = lesson.At(at)
	return lesson
}

// active tells whether a lesson is in use.
func (l *Lesson) active() bool { return l.Status != StatusRetired }

// rule tells whether the lesson is a rule of the guard.
func (l *Lesson) rule() bool { return l.Type == LessonAntiPattern && l.active() && !l.Proposed }

// blocks tells whether the lesson is a guard rule that stops an action.
func (l *Lesson) blocks() bool {
	return l.rule() && (l.BlockAction || l.Severity == SeverityCritical)
}

// FingerprintOfLesson is that of a lesson.
func FingerprintOfLesson(lessonType LessonType, domain, title string) Fingerprint {
	return (&Lesson{Type: lessonType, Domain: domain, Title: title}).print()
}

// print is what tells the lesson from others: its domain and normalised title,
// and whether it is a rule.
func (l *Lesson) print() Fingerprint {
	kind := ""
	if l.Type == LessonAntiPattern && !l.Proposed {
		kind = string(l.Type)
	}
	return fingerprint(kind, l.Domain, l.Title)
}

// mayChangeLesson returns a Forbidden error unless p learned the lesson or is a captain.
func mayChangeLesson(p skillrouter.Principal, lesson *Lesson) error {
	if p.Has(skillrouter.ScopeCaptain) || p.Has(skillrouter.ScopeAgent) && p.AgentID != "" && p.AgentID == lesson.SourceAgent {
		return nil
	}
	return skillrouter.Errorf(skillrouter.Forbidden, "another agent learned this lesson: only that agent or a captain may change it")
}

// laterThan returns at, or the first millisecond after t if at is not after
// it: who saw a lesson's UpdatedAt must notice every change since.
func laterThan(t, at time.Time) time.Time {
	if at.After(t) {
		return at
	}
	return t.Add(time.Millisecond)
}
