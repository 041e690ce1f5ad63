package store

import "context"

// LastEvent returns the seq of the newest event, 0 if there is none.
func (s *Store) LastEvent(ctx context.Context) (int64, error) {
	var last int64
	err := s.read.WithContext(ctx).Raw("SELECT coalesce(max(seq), 0) FROM events").Scan(&last).Error
	return last, err
}
