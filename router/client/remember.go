package client

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"skillrouter"
	"skillrouter/learning/fact"
)

// Bounds of Remember.
const (
	// rememberWait is how long one call waits for what another computes; then it asks again.
	rememberWait = 20 * time.Second
	// rememberLease is how long the others wait at most for a process that died while it
	// computed; one that lives renews three times in that time.
	rememberLease = 15 * time.Second
	// releaseTime bounds what is said to the router after a computation failed.
	releaseTime = 2 * time.Second
)

// RememberOptions are how Remember keeps a value. The zero value keeps it for an hour.
type RememberOptions struct {
	Persona  string        // empty: learning.DefaultPersona
	Category string        // empty: learning.DefaultFactCategory
	TTL      time.Duration // whole seconds; zero: an hour, as the persona's memory has it
	ForEver  bool          // instead of a TTL
	StaleOK  bool          // rather an expired value at once than wait for the new one that another computes
	AgentID  string
	// Missed, if it is set, is told why a value could not be had from the router, or not
	// be kept there. Remember computes then as if there were none.
	Missed func(error)
}

// Remember returns the value that is kept under key, or computes it and keeps
// it. Of all who ask at the same time, in whatever processes, one computes, and
// the others get what it found. Its error is compute's, or ctx's: without a
// router, and with values that are too large or hold a secret, everyone
// computes.
//
// The value is kept as JSON, and what comes back is what encoding/json makes of it.
func Remember[T any](ctx context.Context, c *Client, key string, options RememberOptions, compute func(ctx context.Context) (T, error)) (T, error) {
	missed := options.Missed
	if missed == nil {
		missed = func(error) {}
	}
	for {
		answer, err := c.Facts.Lease(ctx, fact.CacheRequest{
			Persona: options.Persona, Key: key, AgentID: options.AgentID, StaleOK: options.StaleOK,
			LeaseMS: rememberLease.Milliseconds(), WaitMS: min(rememberWait, c.options.Timeout/2).Milliseconds(),
		})
		switch {
		case ctx.Err() != nil:
			var none T
			return none, ctx.Err()
		case err != nil:
			missed(err)
			return compute(ctx)
		case answer.Fact != nil:
			var value T
			if err := json.Unmarshal(answer.Fact.Value, &value); err != nil {
				missed(skillrouter.Wrap(skillrouter.Conflict, err, "what is kept under this key is of another type"))
				return compute(ctx)
			}
			return value, nil
		case answer.Status == fact.CacheLeased:
			return underLease(ctx, c, answer.Lease, options, missed, compute)
		}
	}
}

// underLease computes a value and keeps it.
func underLease[T any](
	ctx context.Context, c *Client, lease string, options RememberOptions, missed func(error), compute func(ctx context.Context) (T, error),
) (value T, err error) {
	kept := false
	defer func() { // by a panic of compute too
		if !kept {
			late, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTime)
			defer cancel()
			_ = c.Facts.Release(late, fact.LeaseRef{Lease: lease}) // it runs out by itself
		}
	}()
	stop := c.KeepLease(ctx, lease, rememberLease)
	defer stop()
	if value, err = compute(ctx); err != nil {
		return value, err
	}
	text, err := json.Marshal(value)
	if err != nil {
		missed(skillrouter.Wrap(skillrouter.Invalid, err, "the value cannot be written as JSON"))
		return value, nil
	}
	seconds := int64(fact.DefaultTTL)
	if options.TTL > 0 {
		seconds = max(int64(options.TTL/time.Second), 1)
	}
	if options.ForEver {
		seconds = 0
	}
	stored, err := c.Facts.Complete(ctx, fact.CacheResult{Lease: lease, Value: text, Category: options.Category, TTL: &seconds})
	switch {
	case err != nil:
		missed(err)
	case !stored.Stored:
		kept = true // the router has ended the lease
		missed(skillrouter.Errorf(skillrouter.Invalid, "the value holds a secret (%v) and is not kept", stored.Redacted))
	default:
		kept = true
	}
	return value, nil
}

// KeepLease renews a lease of that length until stop is called or ctx ends.
func (c *Client) KeepLease(ctx context.Context, lease string, lasts time.Duration) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var renewing sync.WaitGroup
	renewing.Go(func() {
		ticker := time.NewTicker(lasts / 3)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				_ = c.Facts.Renew(ctx, fact.LeaseRef{Lease: lease}) // if it has ended, storing says so
			}
		}
	})
	return func() {
		cancel()
		renewing.Wait()
	}
}
