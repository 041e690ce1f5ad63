package store

import (
	"context"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/episode"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/learning/propagation"
	"github.com/skillrouter/skillrouter/learning/share"
)

// What of each kind's rows an index chooses by, with the same columns: of knowledge it lies in one index of the database, so that no text is read.
// What another entry stands in the place of is left out, as are episodes that are no decisions.
const (
	projectRows = ` FROM (SELECT 'knowledge' AS kind, num, category AS subject, trust, use_count AS uses, updated_at AS at, project, folder, branch
		FROM knowledge WHERE project IN (%) AND (superseded_by = '' OR NOT EXISTS (SELECT 1 FROM knowledge other WHERE other.id = knowledge.superseded_by))
		UNION ALL SELECT 'episode', num, event_type, 'agent', 0, created_at, project, folder, branch FROM episodes WHERE project IN (%) AND event_type = '` + episode.EventDecision + `'`
	personaRows = `
		UNION ALL SELECT 'fact', version, category, trust, access_count, cached_at, '', '', '' FROM facts WHERE persona = ? AND (expires_at IS NULL OR expires_at > ?)
		UNION ALL SELECT 'procedure', num, category, trust, runs, updated_at, '', '', '' FROM procedures WHERE persona = ? AND deleted_at IS NULL`

	// worth is the use of an entry, how fresh it is and who said it, each up to about 1, and more where it was made.
	worth = `uses / (uses + 4.0) + 30.0 / (30.0 + {greatest}(0, ? - at) / 86400000.0) + CASE trust WHEN 'person' THEN 0.6 WHEN 'agent' THEN 0.2 ELSE -3 END
		+ CASE WHEN branch <> '' AND branch = ? THEN 0.3 ELSE 0 END - CASE project WHEN '' THEN 0.2 ELSE 0 END
		+ CASE WHEN folder = '' THEN 0 WHEN substr(?, 1, length(folder) + 1) = folder || '/' THEN 0.3 ELSE -0.1 END`

	lineText = `coalesce(k.content, e.content, f.value, '')`
	bestLast = ` ORDER BY worth DESC, at DESC, num DESC`
)

// Lines implements contexts.Sources.Index.
func (s *Store) Lines(ctx context.Context, q learning.LinesQuery) (learning.Lines, error) {
	db := s.Read.WithContext(ctx)
	projects, at := table.Anys(q.Projects), table.Millis(q.At)
	rows, args := strings.ReplaceAll(projectRows, "%", table.Marks(len(projects))), append(projects[:len(projects):len(projects)], projects...)
	if q.Persona != "" {
		rows, args = rows+personaRows, append(args, q.Persona, at, q.Persona)
	}
	rows += ") AS entries"
	counts, err := table.Tallied[string](db, "SELECT subject, count(*)"+rows+" GROUP BY subject", args...)
	if err != nil {
		return learning.Lines{}, err
	}
	found := learning.Lines{Subjects: counts}
	args = append([]any{learning.LineText, at, q.Place.Branch, q.Place.Folder + "/"}, args...)
	found.Lines, err = table.List(db, func(l *learning.Line) []any {
		return []any{&l.Kind, &l.Number, &l.ID, &l.Title, &l.Author, &l.Text, &l.Length, &l.Subject, &l.Trust, &l.Uses, table.At(&l.At), &l.Project, &l.Folder, &l.Branch, &l.Worth}
	}, `SELECT kind, best.num, coalesce(k.id, e.id, f.key, p.name), substr(coalesce(k.title, e.title, f.key, p.name), 1, 400), coalesce(k.agent_id, e.agent_id, f.agent_id, p.agent_id),
		substr(`+lineText+`, 1, ?), length(`+lineText+`), subject, best.trust, uses, at, best.project, best.folder, best.branch, worth
		FROM (SELECT entries.*, `+worth+` AS worth`+rows+bestLast+` LIMIT ?) AS best
		LEFT JOIN knowledge k ON kind = 'knowledge' AND k.num = best.num LEFT JOIN episodes e ON kind = 'episode' AND e.num = best.num
		LEFT JOIN facts f ON kind = 'fact' AND f.version = best.num LEFT JOIN procedures p ON kind = 'procedure' AND p.num = best.num`+strings.Replace(bestLast, "num", "best.num", 1),
		append(args, q.Limit)...)
	return found, err
}

// numbered are the rows of each kind that has handles, by their numbers. An older value's number leads to its fact.
var numbered = map[string]string{
	"knowledge": "SELECT id FROM knowledge WHERE num = ?", "episode": "SELECT id FROM episodes WHERE num = ?", "lesson": "SELECT id FROM lessons WHERE num = ?",
	"procedure": "SELECT persona || '/' || name FROM procedures WHERE num = ? AND deleted_at IS NULL",
	"fact":      "SELECT persona || '/' || key FROM (SELECT version, persona, key FROM facts UNION SELECT version, persona, key FROM fact_versions) AS every_version WHERE version = ?",
}

// Numbered implements contexts.Sources.Index.
func (s *Store) Numbered(ctx context.Context, kind string, number int64) ([]learning.Named, error) {
	return table.List(s.Read.WithContext(ctx), func(n *learning.Named) []any { n.Kind = kind; return []any{&n.ID} }, numbered[kind], number)
}

// Beginning implements contexts.Sources.Index.
func (s *Store) Beginning(ctx context.Context, part string) ([]learning.Named, error) {
	var text []string
	var args []any
	for _, of := range [][2]string{{"knowledge", "knowledge"}, {"episode", "episodes"}, {"lesson", "lessons"}} {
		text = append(text, "SELECT '"+of[0]+"' AS kind, id FROM "+of[1]+" WHERE id >= ? AND id < ?")
		args = append(args, part, table.Behind(part))
	}
	return table.List(s.Read.WithContext(ctx), func(n *learning.Named) []any { return []any{&n.Kind, &n.ID} }, strings.Join(text, " UNION ALL ")+" LIMIT 4", args...)
}

var _ share.Store = (*Store)(nil)

var shared = table.Of[share.Known]("shared", "Commit commit_id", "By decided_by", `Gone (NOT EXISTS (SELECT 1 FROM knowledge WHERE knowledge.id = shared.id)
	AND NOT EXISTS (SELECT 1 FROM episodes WHERE episodes.id = shared.id) AND NOT EXISTS (SELECT 1 FROM lessons WHERE lessons.id = shared.id AND lessons.status <> 'retired'))`)

// KnownShared implements share.Store.
func (s *Store) KnownShared(ctx context.Context, project string) ([]share.Known, error) {
	return shared.List(s.Read.WithContext(ctx), "WHERE project = ? ORDER BY id", project)
}

// PutShared implements share.Store.
func (s *Store) PutShared(ctx context.Context, rows []share.Known) error {
	return s.Commit.Write(ctx, noted(ctx, func(tx *gorm.DB) error { return shared.PutAll(tx, rows, "project", "id") }), nil)
}

// Superseded implements share.Store.
func (s *Store) Superseded(ctx context.Context, project, id string) ([]string, error) {
	return table.List(s.Read.WithContext(ctx), table.Value[string], `SELECT shared.id FROM shared WHERE project = ? AND (EXISTS (SELECT 1 FROM knowledge WHERE knowledge.id = shared.id AND superseded_by = ?)
		OR EXISTS (SELECT 1 FROM lessons WHERE lessons.id = shared.id AND superseded_by = ?)) ORDER BY shared.id`, project, id, id)
}

var _ lesson.RecallStore = (*Store)(nil)

const (
	// general is what makes a lesson one for everybody: the condition of the index lessons_general.
	general = "severity = 'critical' OR level = 'principle' OR transferability >= 4"
	// inUse says that a lesson is not retired. No index is chosen for it: nearly every lesson passes.
	inUse = "{unindexed}status <> 'retired'"
)

// branch is one reason for which a lesson is in a memory, with an index that gives its lessons in order.
type branch struct {
	where string
	arg   []any
}

func branches(scope lesson.RecallScope) []branch {
	list := []branch{{general, nil}}
	if scope.Agent != "" {
		list = append(list, branch{"source_agent = ?", []any{scope.Agent}})
	}
	for _, domain := range lesson.Spellings(scope.Domain) {
		list = append(list, branch{"domain = ?", []any{domain}})
	}
	return list
}

// RecentFor implements lesson.RecallStore.
func (s *Store) RecentFor(ctx context.Context, scope lesson.RecallScope, limit int) ([]lesson.Lesson, error) {
	return s.latestOf(ctx, branches(scope), limit, learning.MaxAnswer)
}

// latestOf reads the latest lessons in use of any branch, most bytes of them. Each branch gives its latest from its own index.
func (s *Store) latestOf(ctx context.Context, list []branch, limit, most int) ([]lesson.Lesson, error) {
	var parts []string
	var args []any
	for _, b := range list {
		parts = append(parts, "SELECT num FROM (SELECT num FROM lessons WHERE ("+b.where+") AND "+inUse+" ORDER BY num DESC LIMIT ?) AS latest")
		args = append(append(args, b.arg...), limit)
	}
	return lessons(s.Read.WithContext(ctx), most,
		"WHERE num IN (SELECT num FROM ("+strings.Join(parts, " UNION ")+") AS latest ORDER BY num DESC LIMIT ?) ORDER BY num DESC", append(args, limit)...)
}

// CountFor implements lesson.RecallStore, from indexes alone.
func (s *Store) CountFor(ctx context.Context, scope lesson.RecallScope) (int, error) {
	var parts []string
	var args []any
	for _, b := range branches(scope) {
		parts = append(parts, "SELECT num FROM lessons WHERE "+b.where)
		args = append(args, b.arg...)
	}
	return table.Scalar[int](s.Read.WithContext(ctx), "SELECT count(*) FROM ("+strings.Join(parts, " UNION ")+" EXCEPT SELECT num FROM lessons WHERE status = 'retired' AND status <> 'candidate') AS held", args...)
}

// ByTopic implements lesson.RecallStore.
func (s *Store) ByTopic(ctx context.Context, topics []string, limit int) (map[string][]lesson.Lesson, error) {
	found := map[string][]lesson.Lesson{}
	for _, topic := range topics {
		spellings := lesson.Spellings(topic) // lower changes ASCII letters alone in SQLite
		list := []branch{{
			"num > (SELECT coalesce(max(num), 0) FROM lessons) - ? AND EXISTS (SELECT 1 FROM {elements tags} WHERE lower(value) = ? OR value IN (" + table.Marks(len(spellings)) + "))",
			append([]any{lesson.RecallTagged, topic}, table.Anys(spellings)...),
		}}
		for _, spelling := range spellings {
			list = append(list, branch{"domain = ?", []any{spelling}}, branch{"category = ?", []any{spelling}})
		}
		var err error
		if found[topic], err = s.latestOf(ctx, list, limit, learning.MaxAnswer/4); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// LessonFigures implements lesson.RecallStore.
func (s *Store) LessonFigures(ctx context.Context, today, week time.Time) (lesson.Figures, error) {
	var f lesson.Figures
	for _, q := range []struct {
		into *int
		text string
		args []any
	}{
		{&f.Total, "SELECT count(*) FROM lessons", nil},
		{&f.Failures, "SELECT count(*) FROM lessons WHERE lesson_type = 'failure'", nil},
		{&f.Successes, "SELECT count(*) FROM lessons WHERE lesson_type = 'success'", nil},
		{&f.AntiPatterns, "SELECT count(*) FROM lessons WHERE lesson_type = 'anti_pattern'", nil},
		{&f.ConfirmedPatterns, "SELECT count(*) FROM patterns WHERE status = 'confirmed'", nil},
		{&f.Today, "SELECT count(*) FROM lessons WHERE created_at > ?", []any{table.Millis(today)}},
		{&f.ThisWeek, "SELECT count(*) FROM lessons WHERE created_at > ?", []any{table.Millis(week)}},
	} {
		var err error
		if *q.into, err = table.Scalar[int](s.Read.WithContext(ctx), q.text, q.args...); err != nil {
			return f, err
		}
	}
	return f, nil
}

var _ propagation.Store = (*Store)(nil)

// latestReports is how many of an agent's lessons say which domain it works in.
const latestReports = 200

// ReportedDomains implements propagation.Store.
func (s *Store) ReportedDomains(ctx context.Context, agent string) ([]string, error) {
	return table.List(s.Read.WithContext(ctx), func(domain *string) []any { return []any{domain} },
		"SELECT domain FROM lessons WHERE source_agent = ? ORDER BY num DESC LIMIT ?", agent, latestReports)
}
