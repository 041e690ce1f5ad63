package store

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"skillrouter/learning"
	"skillrouter/learning/lesson"
	"skillrouter/learning/shelf"
)

// lessonColumns are the columns of lessons but the number, in the order of lessonValues.
var lessonColumns = []string{
	"id", "fingerprint", "lesson_type", "domain", "category", "title", "context", "action_taken", "outcome",
	"root_cause", "solution", "body", "alternatives", "severity", "tags", "source_agent", "related_files",
	"related_commands", "contexts", "trigger_pattern", "block_action", "project", "trust", "level", "status",
	"transferability", "source_case_ids", "pattern_id", "initial_confidence", "decay_constant", "confidence_at",
	"occurrences", "last_occurred", "times_applied", "times_succeeded", "validated", "validated_by",
	"validation_notes", "last_validated_at", "superseded_by", "retired_at", "retired_reason", "created_at", "updated_at", "deprecated", "proposed",
	"reporter", "validator",
}

// lessonMarks are the places of one lesson's values.
var lessonMarks = "(" + marks(len(lessonColumns)) + ")"

// lessonRows is how many lessons one INSERT holds: as many as report at once, of which there are 768 parameters.
const lessonRows = 16

// The statements on lessons, made once: they are run for every report.
var (
	insertLesson = "INSERT INTO lessons (" + strings.Join(lessonColumns, ", ") + ") VALUES " + lessonMarks
	updateLesson = "UPDATE lessons SET " + strings.Join(lessonColumns[1:], " = ?, ") + " = ? WHERE id = ?"
	selectLesson = "SELECT num, " + strings.Join(slices.Concat(lessonColumns[:1], lessonColumns[2:]), ", ") + " FROM lessons "
)

// ofLevels are the lessons that were drawn from others.
const ofLevels = "{indexed by lessons_raised} WHERE level <> 'case'"

// byOrder has lessons found by a walk in the order of their numbers: over those alone that are critical, drawn from others or of a status that is
// not the first if it is those, and else over the index that has all of what few values tell apart. An index for each of these was written for every report.
func byOrder(c *conditions, severity learning.Severity, level lesson.Level, statuses []lesson.Status) string {
	switch {
	case severity == learning.SeverityCritical:
		c.add("(" + general + ")")
		return "{indexed by lessons_general} "
	case level != "" && level != lesson.LevelCase:
		c.add("level <> 'case'")
		return "{indexed by lessons_raised} "
	case len(statuses) == 1 && statuses[0] != lesson.StatusCandidate:
		c.add("status <> 'candidate'")
		return "{indexed by lessons_settled} "
	}
	return "{indexed by lessons_listed} "
}

func lessonValues(l *lesson.Lesson, fingerprint learning.Fingerprint) []any {
	return []any{
		l.ID, fingerprint[:], string(l.Type), l.Domain, l.Category, l.Title, l.Context, l.Action, l.Outcome,
		l.RootCause, l.Solution, l.Body, listText(l.Alternatives), string(l.Severity), listText(l.Tags), l.SourceAgent, listText(l.RelatedFiles),
		listText(l.RelatedCommands), listText(l.Contexts), l.TriggerPattern, l.BlockAction, l.Project, string(l.Trust), string(l.Level), string(l.Status),
		l.Transferability, listText(l.SourceCaseIDs), l.PatternID, l.InitialConfidence, l.DecayConstant, millis(l.ConfidenceAt),
		l.Occurrences, millis(l.LastOccurred), l.TimesApplied, l.TimesSucceeded, l.Validated, l.ValidatedBy,
		l.ValidationNotes, millisPtr(l.LastValidatedAt), l.SupersededBy, millisPtr(l.RetiredAt), l.RetiredReason, millis(l.CreatedAt), millis(l.UpdatedAt), l.Deprecated, l.Proposed,
		l.Reporter, l.Validator,
	}
}

// scanLesson reads a row of selectLesson, and how many bytes it counts for.
func scanLesson(rows *sql.Rows) (l lesson.Lesson, size int, err error) {
	err = rows.Scan(&l.Number, &l.ID, &l.Type, &l.Domain, &l.Category, &l.Title, &l.Context, &l.Action, &l.Outcome,
		&l.RootCause, &l.Solution, &l.Body, fromJSON(&l.Alternatives), &l.Severity, fromJSON(&l.Tags), &l.SourceAgent, fromJSON(&l.RelatedFiles),
		fromJSON(&l.RelatedCommands), fromJSON(&l.Contexts), &l.TriggerPattern, &l.BlockAction, &l.Project, &l.Trust, &l.Level, &l.Status,
		&l.Transferability, fromJSON(&l.SourceCaseIDs), &l.PatternID, &l.InitialConfidence, &l.DecayConstant, at(&l.ConfidenceAt),
		&l.Occurrences, at(&l.LastOccurred), &l.TimesApplied, &l.TimesSucceeded, &l.Validated, &l.ValidatedBy,
		&l.ValidationNotes, atOrNil(&l.LastValidatedAt), &l.SupersededBy, atOrNil(&l.RetiredAt), &l.RetiredReason, at(&l.CreatedAt), at(&l.UpdatedAt), &l.Deprecated, &l.Proposed, &l.Reporter, &l.Validator)
	return l, lessonSize(&l), err
}

// lessonSize is how many bytes of text a lesson holds, its short fields apart.
func lessonSize(l *lesson.Lesson) int {
	return len(l.Title) + len(l.Context) + len(l.Action) + len(l.Outcome) + len(l.RootCause) + len(l.Solution) + len(l.Body)
}

// lessons reads lessons until they hold most bytes, and one more, so that the
// domain sees whether there are more.
func lessons(db *gorm.DB, most int, where string, args ...any) ([]lesson.Lesson, error) {
	return upTo(most, oneMore(scanLesson)).of(query(db, selectLesson+where, args...))
}

func oneLesson(db *gorm.DB, where string, args ...any) (lesson.Lesson, bool, error) {
	return first(lessons(db, unbounded, where, args...))
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
	return oneLesson(tx.db, ofLevels+" AND level = 'pattern' AND status <> 'retired' AND EXISTS (SELECT 1 FROM {elements source_case_ids} WHERE value = ?) ORDER BY num LIMIT 1", caseID)
}

// InsertLesson implements lesson.PipelineTx.
func (tx *transaction) InsertLesson(l *lesson.Lesson, fingerprint learning.Fingerprint) (err error) {
	return tx.InsertLessons([]*lesson.Lesson{l}, []learning.Fingerprint{fingerprint})
}

// InsertLessons implements lesson.PipelineTx.
func (tx *transaction) InsertLessons(all []*lesson.Lesson, fingerprints []learning.Fingerprint) error {
	for from := 0; from < len(all); from += lessonRows {
		part := all[from:min(from+lessonRows, len(all))]
		values, byID := make([]any, 0, len(part)*len(lessonColumns)), make(map[string]*lesson.Lesson, len(part))
		for i, l := range part {
			values, byID[l.ID] = append(values, lessonValues(l, fingerprints[from+i])...), l
		}
		numbers, err := tallied[string](tx.db, insertLesson+strings.Repeat(", "+lessonMarks, len(part)-1)+" RETURNING id, num", values...)
		if err != nil {
			return err
		}
		for id, number := range numbers {
			byID[id].Number = number
		}
	}
	return nil
}

// UpdateLesson implements lesson.PipelineTx.
func (tx *transaction) UpdateLesson(lesson lesson.Lesson, fingerprint learning.Fingerprint) error {
	values := lessonValues(&lesson, fingerprint)
	_, err := exec(tx.db, updateLesson, append(values[1:], values[0])...)
	return err
}

// LessonOf implements lesson.PipelineStore.
func (s *Store) LessonOf(ctx context.Context, ref string) (lesson.Lesson, bool, error) {
	where, arg := byRef(ref)
	return oneLesson(s.read.WithContext(ctx), where, arg)
}

// Lessons implements lesson.PipelineStore.
func (s *Store) Lessons(ctx context.Context, ids []string) ([]lesson.Lesson, error) {
	return inParts(ids, func(part []string) ([]lesson.Lesson, error) {
		return lessons(s.read.WithContext(ctx), unbounded, "WHERE id IN ("+marks(len(part))+")", anys(part)...)
	})
}

// LessonPlaces implements lesson.PipelineStore.
func (s *Store) LessonPlaces(ctx context.Context, ids []string) ([]lesson.Lesson, error) {
	return inParts(ids, func(part []string) ([]lesson.Lesson, error) {
		return list(s.read.WithContext(ctx), func(l *lesson.Lesson) []any {
			return []any{&l.ID, &l.Number, &l.Domain, &l.Project, &l.Transferability, &l.Trust, at(&l.LastOccurred)}
		}, "SELECT id, num, domain, project, transferability, trust, last_occurred FROM lessons WHERE id IN ("+marks(len(part))+") AND status <> 'retired'", anys(part)...)
	})
}

// msPerDay turns milliseconds into the days of a decay constant.
const msPerDay = float64(24 * time.Hour / time.Millisecond)

// ListLessons implements lesson.PipelineStore. The confidence that it
// compares is Belief.At in SQL.
func (s *Store) ListLessons(ctx context.Context, filter lesson.Filter, before int64, at time.Time) ([]lesson.Lesson, error) {
	var c conditions
	by := ""
	// Each of the first has an index of its own, and so has a time; of tags no index knows.
	if filter.Domain+filter.Category+filter.SourceAgent+filter.Project+string(filter.Type)+filter.Tag == "" && filter.Since.IsZero() {
		by = byOrder(&c, filter.Severity, filter.Level, filter.Statuses)
	}
	c.equal("lesson_type", string(filter.Type))
	c.equal("severity", string(filter.Severity))
	c.equal("level", string(filter.Level))
	c.equal("domain", filter.Domain)
	c.equal("category", filter.Category)
	c.equal("source_agent", filter.SourceAgent)
	if filter.Project != "" {
		c.add("project = ? AND project <> ''", filter.Project) // which the index is of
	}
	if filter.Within != nil {
		among(&c, "project", filter.Within)
	}
	if filter.General {
		c.add("project = ?", "")
	}
	if filter.Proposed {
		c.add("proposed")
	}
	if len(filter.Statuses) > 0 {
		among(&c, "status", filter.Statuses)
	} else {
		// This keeps it out of the choice of an index: nearly every lesson fits it.
		c.add("{unindexed}status <> ?", string(lesson.StatusRetired))
	}
	if filter.Tag != "" {
		c.add("EXISTS (SELECT 1 FROM {elements tags} WHERE lower(value) = lower(?))", filter.Tag)
	}
	if filter.MinConfidence > 0 {
		c.add(sureness+" >= ?", millis(at), msPerDay, filter.MinConfidence)
	}
	if !filter.Since.IsZero() {
		c.add("created_at >= ?", millis(filter.Since))
	}
	if before > 0 {
		c.add("num < ?", before)
	}
	return lessons(s.read.WithContext(ctx), learning.MaxAnswer, by+c.text+" ORDER BY num DESC LIMIT ?", append(c.args, filter.Limit)...)
}

// ScanLessons implements lesson.PipelineStore.
func (s *Store) ScanLessons(ctx context.Context, visit func(chunk []lesson.Lesson) error) error {
	return eachPage(s.read.WithContext(ctx), selectLesson, "num", func(l lesson.Lesson) int64 { return l.Number }, scanLesson, visit)
}

// FindLessons implements lesson.PipelineStore.
func (s *Store) FindLessons(ctx context.Context, search shelf.RowSearch, visit func(found []lesson.Lesson) (more bool)) error {
	return containing(ctx, s.read.WithContext(ctx), contained[lesson.Lesson]{
		table: "lessons", choose: selectLesson, where: "status <> 'retired'", project: true, scan: scanLesson,
		texts: []string{
			"title", "context", "action_taken", "outcome", "root_cause", "solution", "body", "alternatives", "tags", "related_commands", "contexts", "category",
		},
	}, search, visit)
}

// ScanRules implements lesson.PipelineStore.
func (s *Store) ScanRules(ctx context.Context, visit func(chunk []lesson.Lesson) error) error {
	return eachChunk(s.read.WithContext(ctx).Raw(selectLesson+"WHERE lesson_type = ? AND {unindexed}status <> ? AND NOT proposed ORDER BY num",
		string(learning.LessonAntiPattern), string(lesson.StatusRetired)), scanLesson, visit)
}
