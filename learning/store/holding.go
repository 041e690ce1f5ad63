package store

import (
	"context"
	"time"

	"skillrouter"
	"skillrouter/learning"
)

var _ learning.HoldingStore = (*Store)(nil)

// FactHoldings implements learning.HoldingStore.
func (s *Store) FactHoldings(ctx context.Context, persona string, at time.Time) ([]skillrouter.Holding, error) {
	where, args := whose(persona)
	return s.holdings(ctx, `SELECT persona, category, count(*) FILTER (WHERE expires_at <= ?) AS gone, count(*), sum(octet_length(value))
		FROM facts`+where+` GROUP BY persona, category`, append([]any{millis(at)}, args...)...)
}

// episodeCategory is what an episode is listed and cleared by.
const episodeCategory = "CASE event WHEN '' THEN event_type ELSE event END"

// EpisodeHoldings implements learning.HoldingStore.
func (s *Store) EpisodeHoldings(ctx context.Context, persona string) ([]skillrouter.Holding, error) {
	where, args := whose(persona)
	return s.holdings(ctx, `SELECT persona, `+episodeCategory+` AS category, 0, count(*),
		sum(octet_length(title) + octet_length(content) + coalesce(octet_length(context), 0) + octet_length(learned))
		FROM episodes`+where+` GROUP BY persona, category`, args...)
}

// ProcedureHoldings implements learning.HoldingStore.
func (s *Store) ProcedureHoldings(ctx context.Context, persona string) ([]skillrouter.Holding, error) {
	where, args := " WHERE deleted_at IS NULL", []any{}
	if persona != "" {
		where, args = where+" AND persona = ?", append(args, persona)
	}
	return s.holdings(ctx, `SELECT persona, category, 0, count(*), sum(octet_length(body)) FROM procedures`+where+` GROUP BY persona, category`, args...)
}

// KnowledgeHoldings implements learning.HoldingStore.
func (s *Store) KnowledgeHoldings(ctx context.Context) ([]skillrouter.Holding, error) {
	return s.holdings(ctx, `SELECT '', category, 0, count(*), sum(octet_length(title) + octet_length(content)) FROM knowledge GROUP BY category`)
}

// LessonHoldings implements learning.HoldingStore.
func (s *Store) LessonHoldings(ctx context.Context) ([]skillrouter.Holding, error) {
	return s.holdings(ctx, `SELECT '', domain, 0, count(*), sum(octet_length(title) + octet_length(context) + octet_length(action_taken)
		+ octet_length(outcome) + octet_length(root_cause) + octet_length(solution) + octet_length(body))
		FROM lessons WHERE status <> 'retired' GROUP BY domain`)
}

// whose narrows a query to a persona's rows; an empty one leaves it as it is.
func whose(persona string) (where string, args []any) {
	if persona == "" {
		return "", nil
	}
	return " WHERE persona = ?", []any{persona}
}

// holdings scans rows of persona, category, expired rows, all rows, and bytes.
func (s *Store) holdings(ctx context.Context, text string, args ...any) ([]skillrouter.Holding, error) {
	found, err := list(s.read.WithContext(ctx), func(h *skillrouter.Holding) []any {
		return []any{&h.Persona, &h.Category, &h.Expired, &h.Count, &h.Bytes}
	}, text, args...)
	for i := range found {
		found[i].Count -= found[i].Expired
	}
	return found, err
}
