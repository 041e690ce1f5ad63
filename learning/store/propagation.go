package store

import (
	"context"

	"gorm.io/gorm"

	"skillrouter/learning/propagation"
)

var _ propagation.Store = (*Store)(nil)

// LessonBriefs implements propagation.Store.
func (s *Store) LessonBriefs(ctx context.Context, ids []string) ([]propagation.LessonBrief, error) {
	return inParts(ids, func(part []string) ([]propagation.LessonBrief, error) {
		return list(s.read.WithContext(ctx), func(b *propagation.LessonBrief) []any {
			return []any{
				&b.ID, &b.Number, &b.Type, &b.Domain, &b.Category, &b.Title, &b.Solution, &b.Severity, fromJSON(&b.Tags), &b.SourceAgent, &b.Trust, &b.Level, &b.Transferability,
			}
		}, `SELECT id, num, lesson_type, domain, category, title, substr(solution, 1, ?), severity, tags,
			source_agent, trust, level, transferability FROM lessons WHERE id IN (`+marks(len(part))+") AND status <> 'retired'",
			append([]any{propagation.MaxBriefSolution / 4}, anys(part)...)...) // of characters, which have four bytes at most
	})
}

// EpisodeBriefs implements propagation.Store.
func (s *Store) EpisodeBriefs(ctx context.Context, ids []string) ([]propagation.EpisodeBrief, error) {
	return inParts(ids, func(part []string) ([]propagation.EpisodeBrief, error) {
		return list(s.read.WithContext(ctx), func(b *propagation.EpisodeBrief) []any { return []any{&b.AgentID, &b.Title} },
			"SELECT agent_id, title FROM episodes WHERE id IN ("+marks(len(part))+")", anys(part)...)
	})
}

// AddRecipients implements propagation.Store.
func (s *Store) AddRecipients(ctx context.Context, recipients []propagation.Recipient) error {
	return s.commit.Write(ctx, func(tx *gorm.DB) error {
		return insertOr(tx, orKeep, "lesson_recipients", []string{"agent_id", "lesson_num", "score"}, len(recipients), func(i int, row []any) []any {
			return append(row, recipients[i].AgentID, recipients[i].LessonNumber, recipients[i].Score)
		})
	}, nil) // no event, and so no bell
}

// Profiles implements propagation.Store.
func (s *Store) Profiles(ctx context.Context, limit int) ([]propagation.Profile, error) {
	return list(s.read.WithContext(ctx), func(p *propagation.Profile) []any {
		p.Domains, p.Words = map[string]int{}, map[string]int{}
		return []any{&p.AgentID, fromJSON(&p.Domains), fromJSON(&p.Words), at(&p.Updated)}
	}, "SELECT agent_id, domains, words, updated_at FROM agent_profiles ORDER BY updated_at DESC LIMIT ?", limit)
}

// SaveProfiles implements propagation.Store.
func (s *Store) SaveProfiles(ctx context.Context, list []propagation.Profile) error {
	if len(list) == 0 {
		return nil
	}
	values := make([][]any, len(list)) // written down before the transaction
	for i, p := range list {
		values[i] = []any{p.AgentID, toJSON(p.Domains), toJSON(p.Words), millis(p.Updated)}
	}
	return s.commit.Write(ctx, func(tx *gorm.DB) error {
		for _, v := range values {
			_, err := exec(tx, `INSERT INTO agent_profiles (agent_id, domains, words, updated_at) VALUES (?, ?, ?, ?)
				ON CONFLICT (agent_id) DO UPDATE SET domains = excluded.domains, words = excluded.words, updated_at = excluded.updated_at`, v...)
			if err != nil {
				return err
			}
		}
		return nil
	}, nil)
}
