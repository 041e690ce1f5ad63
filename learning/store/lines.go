package store

import (
	"context"
	"strings"

	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/episode"
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
