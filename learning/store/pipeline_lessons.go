package store

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"sync"
	"time"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// lessonRow is a lesson with the fingerprint by which the same one is known again.
type lessonRow struct {
	lesson.Lesson
	fingerprint learning.Fingerprint
}

// lessonRows are written for every report.
var lessonRows = table.Listed("lessons", []string{
	"num", "id", "lesson_type", "domain", "category", "title", "context", "action_taken", "outcome",
	"root_cause", "solution", "body", "alternatives", "severity", "tags", "source_agent", "related_files",
	"related_commands", "contexts", "trigger_pattern", "block_action", "project", "trust", "level", "status",
	"transferability", "source_case_ids", "pattern_id", "initial_confidence", "decay_constant", "confidence_at",
	"occurrences", "last_occurred", "times_applied", "times_succeeded", "validated", "validated_by",
	"validation_notes", "last_validated_at", "superseded_by", "retired_at", "retired_reason", "created_at", "updated_at",
	"deprecated", "proposed", "reporter", "validator",
}, func(l *lessonRow) []any {
	return []any{
		&l.Number, &l.ID, &l.Type, &l.Domain, &l.Category, &l.Title, &l.Context, &l.Action, &l.Outcome,
		&l.RootCause, &l.Solution, &l.Body, table.JSON(&l.Alternatives), &l.Severity, table.JSON(&l.Tags), &l.SourceAgent, table.JSON(&l.RelatedFiles),
		table.JSON(&l.RelatedCommands), table.JSON(&l.Contexts), &l.TriggerPattern, &l.BlockAction, &l.Project, &l.Trust, &l.Level, &l.Status,
		&l.Transferability, table.JSON(&l.SourceCaseIDs), &l.PatternID, &l.InitialConfidence, &l.DecayConstant, table.At(&l.ConfidenceAt),
		&l.Occurrences, table.At(&l.LastOccurred), &l.TimesApplied, &l.TimesSucceeded, &l.Validated, &l.ValidatedBy,
		&l.ValidationNotes, table.AtOrNil(&l.LastValidatedAt), &l.SupersededBy, table.AtOrNil(&l.RetiredAt), &l.RetiredReason, table.At(&l.CreatedAt), table.At(&l.UpdatedAt),
		&l.Deprecated, &l.Proposed, &l.Reporter, &l.Validator,
	}
}).Numbered("num").With("fingerprint", func(l *lessonRow) any { return l.fingerprint[:] })

// selectLesson is made once: it is run for every report.
var selectLesson = sync.OnceValue(lessonRows.Select)

// byLevels has the index serve that is of lessons which were drawn from others.
const byLevels = "{indexed by lessons_raised} "

// byOrder has lessons found by a walk in the order of their numbers: over those alone that are critical, drawn from others or of a status that is
// not the first if it is those, and else over the index that has all of what few values tell apart. An index for each of these was written for every report.
func byOrder(c *table.Conditions, severity learning.Severity, level lesson.Level, statuses []lesson.Status) string {
	switch {
	case severity == learning.SeverityCritical:
		c.Add("(" + general + ")")
		return "{indexed by lessons_general} "
	case level != "" && level != lesson.LevelCase:
		c.Add("level <> 'case'")
		return "{indexed by lessons_raised} "
	case len(statuses) == 1 && statuses[0] != lesson.StatusCandidate:
		c.Add("status <> 'candidate'")
		return "{indexed by lessons_settled} "
	}
	return "{indexed by lessons_listed} "
}

// scanLesson reads a row of selectLesson, and how many bytes it counts for.
func scanLesson(rows *sql.Rows) (lesson.Lesson, int, error) {
	var row lessonRow
	err := rows.Scan(lessonRows.Fields(&row)...)
	return row.Lesson, lessonSize(&row.Lesson), err
}

// lessonSize is how many bytes of text a lesson holds, its short fields apart.
func lessonSize(l *lesson.Lesson) int {
	return len(l.Title) + len(l.Context) + len(l.Action) + len(l.Outcome) + len(l.RootCause) + len(l.Solution) + len(l.Body)
}

// lessons reads lessons until they hold most bytes, and one more, so that the
// domain sees whether there are more.
func lessons(db *gorm.DB, most int, where string, args ...any) ([]lesson.Lesson, error) {
	return upTo(most, oneMore(scanLesson)).of(table.Query(db, selectLesson()+where, args...))
}

func oneLesson(db *gorm.DB, where string, args ...any) (lesson.Lesson, bool, error) {
	return table.First(lessons(db, unbounded, where, args...))
}

// LessonsByFingerprint implements lesson.PipelineTx.
func (tx *transaction) LessonsByFingerprint(fingerprint learning.Fingerprint, limit int) ([]lesson.Lesson, error) {
	return lessons(tx.db, unbounded, "WHERE fingerprint = ? ORDER BY num LIMIT ?", fingerprint[:], limit)
}

// LessonOf implements lesson.PipelineTx.
func (tx *transaction) LessonOf(ref string) (lesson.Lesson, bool, error) {
	where, arg := byRef(ref)
	return oneLesson(tx.db, where, arg)
}

// PatternDrawnFrom implements lesson.PipelineTx.
func (tx *transaction) PatternDrawnFrom(caseID string) (lesson.Lesson, bool, error) {
	return oneLesson(tx.db, byLevels+"WHERE level <> 'case' AND level = 'pattern' AND status <> 'retired' AND EXISTS (SELECT 1 FROM {elements source_case_ids} WHERE value = ?) ORDER BY num LIMIT 1", caseID)
}

// InsertLesson implements lesson.PipelineTx.
func (tx *transaction) InsertLesson(l *lesson.Lesson, fingerprint learning.Fingerprint) (err error) {
	row := &lessonRow{*l, fingerprint}
	err = lessonRows.Insert(tx.db, row)
	l.Number = row.Number
	return err
}

// UpdateLesson implements lesson.PipelineTx.
func (tx *transaction) UpdateLesson(l lesson.Lesson, fingerprint learning.Fingerprint) error {
	return lessonRows.Update(tx.db, &lessonRow{l, fingerprint}, "id")
}

// LessonOf implements lesson.PipelineStore.
func (s *Store) LessonOf(ctx context.Context, ref string) (lesson.Lesson, bool, error) {
	where, arg := byRef(ref)
	return oneLesson(s.Read.WithContext(ctx), where, arg)
}

// Lessons implements lesson.PipelineStore.
func (s *Store) Lessons(ctx context.Context, ids []string) ([]lesson.Lesson, error) {
	return table.InParts(ids, func(part []string) ([]lesson.Lesson, error) {
		return lessons(s.Read.WithContext(ctx), unbounded, "WHERE id IN ("+table.Marks(len(part))+")", table.Anys(part)...)
	})
}

// LessonPlaces implements lesson.PipelineStore.
func (s *Store) LessonPlaces(ctx context.Context, ids []string) ([]lesson.Lesson, error) {
	return table.InParts(ids, func(part []string) ([]lesson.Lesson, error) {
		return table.List(s.Read.WithContext(ctx), func(l *lesson.Lesson) []any {
			return []any{&l.ID, &l.Number, &l.Domain, &l.Project, &l.Transferability, &l.Trust, table.At(&l.LastOccurred)}
		}, "SELECT id, num, domain, project, transferability, trust, last_occurred FROM lessons WHERE id IN ("+table.Marks(len(part))+") AND status <> 'retired'", table.Anys(part)...)
	})
}

// msPerDay turns milliseconds into the days of a decay constant.
const msPerDay = float64(24 * time.Hour / time.Millisecond)

// ListLessons implements lesson.PipelineStore. The confidence that it
// compares is Belief.At in SQL.
func (s *Store) ListLessons(ctx context.Context, filter lesson.Filter, before int64, at time.Time) ([]lesson.Lesson, error) {
	var c table.Conditions
	by := ""
	// Each of the first has an index of its own, and so has a time; of tags no index knows.
	if filter.Domain+filter.Category+filter.SourceAgent+filter.Project+string(filter.Type)+filter.Tag == "" && filter.Since.IsZero() {
		by = byOrder(&c, filter.Severity, filter.Level, filter.Statuses)
	}
	c.Equal("lesson_type", string(filter.Type))
	c.Equal("severity", string(filter.Severity))
	c.Equal("level", string(filter.Level))
	c.Equal("domain", filter.Domain)
	c.Equal("category", filter.Category)
	c.Equal("source_agent", filter.SourceAgent)
	c.Given("project = ? AND project <> ''", filter.Project) // which the index is of
	if filter.Within != nil {
		table.Among(&c, "project", filter.Within)
	}
	if filter.General {
		c.Add("project = ?", "")
	}
	if filter.Proposed {
		c.Add("proposed")
	}
	c.Between("last_occurred", filter.OccurredSince, time.Time{})
	if scope := filter.Scope; scope != nil {
		var reasons []string
		var args []any
		for _, b := range branches(*scope) {
			reasons, args = append(reasons, "("+b.where+")"), append(args, b.arg...)
		}
		c.Add("("+strings.Join(reasons, " OR ")+")", args...)
	}
	if len(filter.Statuses) > 0 {
		table.Among(&c, "status", filter.Statuses)
	} else {
		// This keeps it out of the choice of an index: nearly every lesson fits it.
		c.Add("{unindexed}status <> ?", string(lesson.StatusRetired))
	}
	c.Given("EXISTS (SELECT 1 FROM {elements tags} WHERE lower(value) = lower(?))", filter.Tag)
	if filter.MinConfidence > 0 {
		c.Add(sureness+" >= ?", table.Millis(at), msPerDay, filter.MinConfidence)
	}
	c.Between("created_at", filter.Since, time.Time{})
	c.Below("num", before)
	return lessons(s.Read.WithContext(ctx), learning.MaxAnswer, by+c.Text+" ORDER BY num DESC LIMIT ?", c.With(filter.Limit)...)
}

// ScanLessons implements lesson.PipelineStore.
func (s *Store) ScanLessons(ctx context.Context, visit func(chunk []lesson.Lesson) error) error {
	return eachPage(s.Read.WithContext(ctx), selectLesson(), "num", func(l lesson.Lesson) int64 { return l.Number }, scanLesson, visit)
}

// ScanRules implements lesson.PipelineStore.
func (s *Store) ScanRules(ctx context.Context, visit func(chunk []lesson.Lesson) error) error {
	return eachChunk(s.Read.WithContext(ctx).Raw(selectLesson()+"WHERE lesson_type = ? AND {unindexed}status <> ? AND NOT proposed ORDER BY num",
		string(learning.LessonAntiPattern), string(lesson.StatusRetired)), scanLesson, visit)
}

var lessonChanges = table.Listed("lesson_changes", []string{"seq", "lesson_id", "kind", "agent_id", "note", "was", "became", "at"}, func(c *lesson.Change) []any {
	return []any{&c.Seq, &c.LessonID, &c.Kind, &c.Agent, &c.Note, table.JSON(&c.Before), table.JSON(&c.After), table.At(&c.At)}
}).Numbered("seq")

var applications = table.Of[lesson.Application]("lesson_applications", "Agent agent_id")

// AddChange implements lesson.PipelineTx.
func (tx *transaction) AddChange(changes ...lesson.Change) error {
	_, err := lessonChanges.InsertAll(tx.db, changes, "")
	return err
}

// LessonChanges implements lesson.PipelineStore.
func (s *Store) LessonChanges(ctx context.Context, lessonID string, limit int) ([]lesson.Change, error) {
	latest, err := lessonChanges.List(s.Read.WithContext(ctx), "WHERE lesson_id = ? ORDER BY seq DESC LIMIT ?", lessonID, limit)
	slices.Reverse(latest)
	return latest, err
}

// JudgedSince implements lesson.PipelineTx. The judgement is the first word of the note.
func (tx *transaction) JudgedSince(lessonID, by string, judgement lesson.ValidationType, after time.Time) (bool, error) {
	return table.One(tx.db, []any{new(int)}, `SELECT 1 FROM lesson_changes WHERE lesson_id = ? AND kind = ? AND (agent_id = ? OR substr(agent_id, 1, ?) = ?) AND at > ?
		AND (note = ? OR substr(note, 1, ?) = ?) LIMIT 1`,
		lessonID, lesson.ChangeValidated, by, len(by)+1, by+":", table.Millis(after), string(judgement), len(judgement)+1, string(judgement)+":")
}

// AddApplication implements lesson.PipelineTx.
func (tx *transaction) AddApplication(a lesson.Application) error {
	return applications.Insert(tx.db, &a)
}

// Applications implements lesson.PipelineTx.
func (tx *transaction) Applications(lessonID string, limit int) ([]lesson.Application, error) {
	return applications.List(tx.db, "WHERE lesson_id = ? ORDER BY num DESC LIMIT ?", lessonID, limit)
}
