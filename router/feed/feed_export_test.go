package feed

import "context"

// TailEvents is the bound of a feed's tail.
const TailEvents = tailEvents

// ExperienceName is experienceName.
var ExperienceName = experienceName

// Step makes one step of a feed that does not run.
func Step(ctx context.Context, f *Feed) error { return f.step(ctx) }

// Tail is how much a feed's tail holds.
func Tail(f *Feed) (events, bytes int) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return len(f.tail.items), f.tail.bytes
}
