package store

import (
	"context"
	"time"

	"github.com/skillrouter/skillrouter/internal/database/table"
)

// maxWaiting bounds how many waiting messages are counted of one agent; past
// it the number says no more than "too many".
const maxWaiting = 1000

// Waiting counts, for each of the agents, the messages that it has not
// acknowledged, up to maxWaiting. Agents that are not known have none.
func (s *Store) Waiting(ctx context.Context, agents []string, now time.Time) (map[string]int, error) {
	counts := make(map[string]int, len(agents))
	for _, agent := range agents {
		n, err := table.Scalar[int64](s.Read.WithContext(ctx), "SELECT count(*) FROM (SELECT 1 FROM agents a JOIN messages ON messages.seq > a.acked_seq AND messages.to_agent IN (a.id, '')"+
			" WHERE a.id = ? AND (messages.expires_at IS NULL OR messages.expires_at > ?) AND "+waitingFor+" LIMIT ?) AS waiting", agent, table.Millis(now), maxWaiting)
		if err != nil {
			return nil, err
		}
		counts[agent] = int(n)
	}
	return counts, nil
}
