package router

import "context"

// FeedTailEvents is the bound of a feed's tail.
const FeedTailEvents = feedTailEvents

// ExperienceName is experienceName.
var ExperienceName = experienceName

// StepFeed makes one step of a feed that does not run.
func StepFeed(ctx context.Context, f *Feed) error { return f.step(ctx) }

// FeedTail is how much a feed's tail holds.
func FeedTail(f *Feed) (events, bytes int) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return len(f.tail.items), f.tail.bytes
}
