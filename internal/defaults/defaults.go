// Package defaults fills in what a caller left out.
package defaults

import "log/slog"

// Log returns a log, or one that discards in place of nil.
func Log(log *slog.Logger) *slog.Logger {
	if log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return log
}

// List returns a list, or an empty one in place of nil: what is answered as JSON says [] and not null.
func List[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
