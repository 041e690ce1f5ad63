package store

import (
	"context"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/internal/tally"
	"github.com/skillrouter/skillrouter/learning/history"
)

// FactHoldings counts facts by their persona and category; those that have expired at that time are counted apart.
// As in the others, an empty persona stands for everybody's.
func (s *Store) FactHoldings(ctx context.Context, persona string, at time.Time) ([]tally.Tally, error) {
	var c table.Conditions
	c.Equal("persona", persona)
	return s.holdings(ctx, `SELECT persona, category, count(*) FILTER (WHERE expires_at <= ?), count(*) FILTER (WHERE expires_at IS NULL OR expires_at > ?), sum(octet_length(value))
		FROM facts `+c.Text+` GROUP BY persona, category`, append([]any{table.Millis(at), table.Millis(at)}, c.Args...)...)
}

// episodeCategory is what an episode is listed and cleared by.
const episodeCategory = "CASE event WHEN '' THEN event_type ELSE event END"

// EpisodeHoldings counts episodes by their persona and event; those that name none by their type.
func (s *Store) EpisodeHoldings(ctx context.Context, persona string) ([]tally.Tally, error) {
	var c table.Conditions
	c.Equal("persona", persona)
	return s.holdings(ctx, `SELECT persona, `+episodeCategory+` AS category, 0, count(*),
		sum(octet_length(title) + octet_length(content) + coalesce(octet_length(context), 0) + octet_length(learned))
		FROM episodes `+c.Text+` GROUP BY persona, category`, c.Args...)
}

// ProcedureHoldings counts procedures by their persona and category.
func (s *Store) ProcedureHoldings(ctx context.Context, persona string) ([]tally.Tally, error) {
	var c table.Conditions
	c.Add("deleted_at IS NULL")
	c.Equal("persona", persona)
	return s.holdings(ctx, `SELECT persona, category, 0, count(*), sum(octet_length(body)) FROM procedures `+c.Text+` GROUP BY persona, category`, c.Args...)
}

// KnowledgeHoldings counts knowledge by its category. It is nobody's in particular.
func (s *Store) KnowledgeHoldings(ctx context.Context, _ string) ([]tally.Tally, error) {
	return s.holdings(ctx, `SELECT '', category, 0, count(*), sum(octet_length(title) + octet_length(content)) FROM knowledge GROUP BY category`)
}

// LessonHoldings counts lessons that are not retired by their domain. They are nobody's in particular.
func (s *Store) LessonHoldings(ctx context.Context, _ string) ([]tally.Tally, error) {
	return s.holdings(ctx, `SELECT '', domain, 0, count(*), sum(octet_length(title) + octet_length(context) + octet_length(action_taken)
		+ octet_length(outcome) + octet_length(root_cause) + octet_length(solution) + octet_length(body))
		FROM lessons WHERE status <> 'retired' GROUP BY domain`)
}

// idTables are the tables whose rows are named by ids, by what people call what is in them.
var idTables = map[string]string{
	"knowledge": "knowledge", "lessons": "lessons", "patterns": "patterns", "episodes": "episodes", "proposals": "proposals",
	"gaps": "(SELECT DISTINCT subject_key AS id FROM verdicts WHERE item = '') AS gaps", "runs": "runs", "checks": "checks", "approvals": "approvals", "permissions": "permissions", "imports": "imports",
}

// FindIDs finds ids by their beginning or end, by what people call what has them.
func (s *Store) FindIDs() map[string]func(ctx context.Context, part string, most int) ([]string, error) {
	finds := s.Log.FindIDs(idTables)
	finds["incidents"] = s.incidentIDs
	return finds
}

// Projects returns up to limit projects that memories belong to.
func (s *Store) Projects(ctx context.Context, limit int) ([]string, error) {
	return table.List(s.Read.WithContext(ctx), table.Value[string],
		"SELECT project FROM knowledge WHERE project <> '' UNION SELECT project FROM episodes WHERE project <> '' UNION SELECT project FROM lessons WHERE project <> '' LIMIT ?", limit)
}

// incidentIDs looks at every incident: their ids are numbers in the database, and there are some thousands at most.
func (s *Store) incidentIDs(ctx context.Context, part string, most int) (ids []string, err error) {
	numbers, err := table.List(s.Read.WithContext(ctx), table.Value[int64], "SELECT id FROM incidents ORDER BY last_seen DESC, id")
	for _, number := range numbers {
		if id := history.IDOf(number); len(ids) < most && (strings.HasPrefix(id, part) || strings.HasSuffix(id, part)) {
			ids = append(ids, id)
		}
	}
	return ids, err
}

func (s *Store) holdings(ctx context.Context, text string, args ...any) ([]tally.Tally, error) {
	return table.List(s.Read.WithContext(ctx), (*tally.Tally).Columns, text, args...)
}
