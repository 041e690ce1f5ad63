package store

import (
	"context"

	"github.com/skillrouter/skillrouter/internal/database/table"
	"github.com/skillrouter/skillrouter/learning/propagation"
)

var _ propagation.Store = (*Store)(nil)

// LessonBriefs implements propagation.Store.
func (s *Store) LessonBriefs(ctx context.Context, ids []string) ([]propagation.LessonBrief, error) {
	return table.InParts(ids, func(part []string) ([]propagation.LessonBrief, error) {
		return table.List(s.Read.WithContext(ctx), func(b *propagation.LessonBrief) []any {
			return []any{
				&b.ID, &b.Number, &b.Type, &b.Domain, &b.Category, &b.Title, &b.Solution, &b.Severity, table.JSON(&b.Tags), &b.SourceAgent, &b.Trust, &b.Level, &b.Transferability,
			}
		}, `SELECT id, num, lesson_type, domain, category, title, substr(solution, 1, ?), severity, tags,
			source_agent, trust, level, transferability FROM lessons WHERE id IN (`+table.Marks(len(part))+") AND status <> 'retired'",
			append([]any{propagation.MaxBriefSolution / 4}, table.Anys(part)...)...) // of characters, which have four bytes at most
	})
}

// latestReports is how many of an agent's lessons say which domain it works in.
const latestReports = 200

// ReportedDomains implements propagation.Store.
func (s *Store) ReportedDomains(ctx context.Context, agent string) ([]string, error) {
	return table.List(s.Read.WithContext(ctx), func(domain *string) []any { return []any{domain} },
		"SELECT domain FROM lessons WHERE source_agent = ? ORDER BY num DESC LIMIT ?", agent, latestReports)
}
