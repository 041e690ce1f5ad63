package store

import (
	"context"
	"strings"

	"skillrouter/internal/database/table"
	"skillrouter/learning"
	"skillrouter/learning/episode"
)

// Each kind's rows for an index, with the same columns. Their texts are cut by the database, so that none is read whole.
// What another entry stands in the place of is left out, as are episodes that are no decisions.
const (
	knowledgeLines = `SELECT 'knowledge' AS kind, num, id, title, content AS text, category AS subject, agent_id, trust, use_count AS uses, updated_at AS at, project, folder, branch
		FROM knowledge WHERE project IN (%) AND (superseded_by = '' OR NOT EXISTS (SELECT 1 FROM knowledge other WHERE other.id = knowledge.superseded_by))`
	episodeLines = ` UNION ALL SELECT 'episode', num, id, title, content, event_type, agent_id, 'agent', 0, created_at, project, folder, branch
		FROM episodes WHERE project IN (%) AND event_type = '` + episode.EventDecision + `'`
	factLines = ` UNION ALL SELECT 'fact', version, key, key, value, category, agent_id, trust, access_count, cached_at, '', '', ''
		FROM facts WHERE persona = ? AND (expires_at IS NULL OR expires_at > ?)`
	procedureLines = ` UNION ALL SELECT 'procedure', num, name, name, '', category, agent_id, trust, runs, updated_at, '', '', ''
		FROM procedures WHERE persona = ? AND deleted_at IS NULL`

	// lineWorth is the use of an entry, how fresh it is and who said it, each up to about 1, and more where it was made.
	lineWorth = `uses / (uses + 4.0) + 30.0 / (30.0 + {greatest}(0, ? - at) / 86400000.0) + CASE trust WHEN 'person' THEN 0.6 WHEN 'agent' THEN 0.2 ELSE -3 END
		+ CASE WHEN branch <> '' AND branch = ? THEN 0.3 ELSE 0 END + CASE WHEN folder = '' THEN 0 WHEN substr(?, 1, length(folder) + 1) = folder || '/' THEN 0.3 ELSE -0.1 END - CASE project WHEN '' THEN 0.2 ELSE 0 END`
)

// Lines implements contexts.Sources.Index: one pass over the rows, whose best alone are read.
func (s *Store) Lines(ctx context.Context, q learning.LinesQuery) (learning.Lines, error) {
	db := s.Read.WithContext(ctx)
	projects, at := table.Anys(q.Projects), table.Millis(q.At)
	from := strings.ReplaceAll(knowledgeLines+episodeLines, "%", table.Marks(len(projects)))
	args := append(append([]any{}, projects...), projects...)
	if q.Persona != "" {
		from, args = from+factLines+procedureLines, append(args, q.Persona, at, q.Persona)
	}
	from = " FROM (" + from + ") AS lines"
	counts, err := table.Tallied[string](db, "SELECT subject, count(*)"+from+" GROUP BY subject", args...)
	if err != nil {
		return learning.Lines{}, err
	}
	found := learning.Lines{Subjects: make(map[string]int, len(counts))}
	for subject, n := range counts {
		found.Subjects[subject] = int(n)
	}
	type row struct {
		learning.Line
		length int64
	}
	rows, err := table.List(db, func(r *row) []any {
		return []any{&r.Kind, &r.Number, &r.ID, &r.Title, &r.Text, &r.length, &r.Subject, &r.Author, &r.Trust, &r.Uses, table.At(&r.At), &r.Project, &r.Folder, &r.Branch, &r.Worth}
	}, "SELECT kind, num, id, substr(title, 1, 400), substr(text, 1, ?), length(text), subject, agent_id, trust, uses, at, project, folder, branch, "+lineWorth+" AS worth"+from+
		" ORDER BY worth DESC, at DESC, num DESC LIMIT ?",
		append(append([]any{learning.LineText, at, q.Place.Branch, q.Place.Folder + "/"}, args...), q.Limit)...)
	for _, r := range rows {
		r.Whole = r.length <= learning.LineText
		found.Lines = append(found.Lines, r.Line)
	}
	return found, err
}
