package store

import (
	"context"
	"encoding/json"
	"slices"

	"gorm.io/gorm"

	"skillrouter/learning"
)

var _ learning.PropagationStore = (*Store)(nil)

// LessonBriefs implements learning.PropagationStore.
func (s *Store) LessonBriefs(ctx context.Context, ids []string) ([]learning.LessonBrief, error) {
	var briefs []learning.LessonBrief
	for part := range slices.Chunk(ids, lookups) {
		var c conditions
		among(&c, "id", part)
		rows, err := query(s.read.WithContext(ctx), `SELECT id, num, lesson_type, domain, category, title, substr(solution, 1, ?), severity, tags,
			source_agent, trust, level, transferability FROM lessons `+c.text+" AND status <> 'retired'",
			append([]any{learning.MaxBriefSolution / 4}, c.args...)...) // of characters, which have four bytes at most
		if err != nil {
			return nil, err
		}
		for rows.Next() {
			var b learning.LessonBrief
			var kind, severity, tags, trust, level string
			err := rows.Scan(&b.ID, &b.Number, &kind, &b.Domain, &b.Category, &b.Title, &b.Solution, &severity, &tags, &b.SourceAgent, &trust, &level, &b.Transferability)
			if err == nil {
				err = parseLists([]string{tags}, &b.Tags)
			}
			if err != nil {
				return nil, closing(rows, err)
			}
			b.Type, b.Severity, b.Trust, b.Level = learning.LessonType(kind), learning.Severity(severity), learning.Trust(trust), learning.Level(level)
			briefs = append(briefs, b)
		}
		if err := closing(rows, rows.Err()); err != nil {
			return nil, err
		}
	}
	return briefs, nil
}

// EpisodeBriefs implements learning.PropagationStore.
func (s *Store) EpisodeBriefs(ctx context.Context, ids []string) ([]learning.EpisodeBrief, error) {
	var briefs []learning.EpisodeBrief
	for part := range slices.Chunk(ids, lookups) {
		var c conditions
		among(&c, "id", part)
		rows, err := query(s.read.WithContext(ctx), "SELECT agent_id, title FROM episodes "+c.text, c.args...)
		if err != nil {
			return nil, err
		}
		for rows.Next() {
			var b learning.EpisodeBrief
			if err := rows.Scan(&b.AgentID, &b.Title); err != nil {
				return nil, closing(rows, err)
			}
			briefs = append(briefs, b)
		}
		if err := closing(rows, rows.Err()); err != nil {
			return nil, err
		}
	}
	return briefs, nil
}

// AddRecipients implements learning.PropagationStore.
func (s *Store) AddRecipients(ctx context.Context, recipients []learning.Recipient) error {
	return s.commit.Write(ctx, func(tx *gorm.DB) error {
		return insertOr(tx, "IGNORE", "lesson_recipients", []string{"agent_id", "lesson_num", "score"}, len(recipients), func(i int, row []any) []any {
			return append(row, recipients[i].AgentID, recipients[i].LessonNumber, recipients[i].Score)
		})
	}, nil) // no event, and so no bell
}

// Profiles implements learning.PropagationStore.
func (s *Store) Profiles(ctx context.Context, limit int) ([]learning.Profile, error) {
	rows, err := query(s.read.WithContext(ctx), "SELECT agent_id, domains, words, updated_at FROM agent_profiles ORDER BY updated_at DESC LIMIT ?", limit)
	if err != nil {
		return nil, err
	}
	var found []learning.Profile
	for rows.Next() {
		p := learning.Profile{Domains: map[string]int{}, Words: map[string]int{}}
		var domains, words string
		var updated int64
		if err := rows.Scan(&p.AgentID, &domains, &words, &updated); err != nil {
			return nil, closing(rows, err)
		}
		if err := json.Unmarshal([]byte(domains), &p.Domains); err != nil {
			return nil, closing(rows, err)
		}
		if err := json.Unmarshal([]byte(words), &p.Words); err != nil {
			return nil, closing(rows, err)
		}
		p.Updated = fromMillis(updated)
		found = append(found, p)
	}
	return found, closing(rows, rows.Err())
}

// SaveProfiles implements learning.PropagationStore.
func (s *Store) SaveProfiles(ctx context.Context, list []learning.Profile) error {
	if len(list) == 0 {
		return nil
	}
	values := make([][]any, len(list)) // written down before the transaction
	for i, p := range list {
		domains, err := json.Marshal(p.Domains)
		if err != nil {
			return err
		}
		words, err := json.Marshal(p.Words)
		if err != nil {
			return err
		}
		values[i] = []any{p.AgentID, string(domains), string(words), millis(p.Updated)}
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
