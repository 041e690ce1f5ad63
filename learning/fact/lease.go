package fact

import (
	"context"
	"strings"
	"time"

	"skillrouter"
)

// Lease implements Cache.
func (f *Facts) Lease(ctx context.Context, request CacheRequest) (CacheAnswer, error) {
	author, err := skillrouter.PrincipalOf(ctx).ActingAs("agent_id", request.AgentID)
	if err != nil {
		return CacheAnswer{}, err
	}
	ref := Ref{Persona: request.Persona, Key: request.Key}
	if err := checkRef(&ref); err != nil {
		return CacheAnswer{}, err
	}
	lasts, err := checkSpanMS("lease_ms", request.LeaseMS, DefaultLease, MinLease, MaxLease)
	if err != nil {
		return CacheAnswer{}, err
	}
	wait, err := checkSpanMS("wait_ms", request.WaitMS, 0, 0, MaxCacheWait)
	if err != nil {
		return CacheAnswer{}, err
	}
	until := time.Now().Add(wait) // a span of time, and so by the monotonic clock
	id := ID(ref.Persona, ref.Key)
	for waited := false; ; waited = true {
		fact, there, live, err := f.present(ctx, ref)
		if err != nil {
			return CacheAnswer{}, err
		}
		if live {
			return f.hit(fact, waited), nil
		}
		stale := there && request.StaleOK
		place, err := f.leases.join(id, author, lasts, !stale && time.Now().Before(until))
		if err != nil {
			return CacheAnswer{}, err
		}
		token := place.token
		switch {
		case token != "":
		case stale:
			f.leases.tell(func(s *CacheStats) { s.Stale++ })
			f.count(&fact)
			fact.Expired = true
			return CacheAnswer{Status: CacheStale, Fact: &fact, LeaseMS: place.left.Milliseconds()}, nil
		case place.waiter == nil:
			return CacheAnswer{Status: CacheWait, LeaseMS: place.left.Milliseconds()}, nil
		default:
			var again bool
			if token, again, err = f.leases.await(ctx, id, place.waiter, until); err != nil {
				return CacheAnswer{}, err
			}
			if again {
				continue
			}
			if token == "" {
				return CacheAnswer{Status: CacheWait}, nil
			}
		}
		// What the one before stored came before this lease, or not at all.
		if fact, _, live, err = f.present(ctx, ref); err != nil || live {
			_ = f.leases.release(token) // it may have run out by now, which does no harm
		}
		if err != nil {
			return CacheAnswer{}, err
		}
		if live {
			return f.hit(fact, true), nil
		}
		return CacheAnswer{Status: CacheLeased, Lease: token, LeaseMS: lasts.Milliseconds()}, nil
	}
}

// present returns the fact under a key, and whether it lives.
func (f *Facts) present(ctx context.Context, ref Ref) (fact Fact, there, live bool, err error) {
	fact, there, err = f.recall(ctx, ref.Persona, ref.Key)
	return fact, there, there && fact.Live(f.now()), err
}

func (f *Facts) hit(fact Fact, waited bool) CacheAnswer {
	f.leases.tell(func(s *CacheStats) {
		if waited {
			s.Waited++
		} else {
			s.Hits++
		}
	})
	f.count(&fact)
	return CacheAnswer{Status: CacheHit, Fact: &fact}
}

// Complete implements Cache.
func (f *Facts) Complete(ctx context.Context, result CacheResult) (CacheStored, error) {
	if err := skillrouter.PrincipalOf(ctx).Need(skillrouter.ScopeAgent); err != nil {
		return CacheStored{}, err
	}
	id, author, err := f.leases.begin(result.Lease)
	if err != nil {
		return CacheStored{}, err
	}
	persona, key, _ := strings.Cut(id, "/")
	p, err := Prepare(Draft{
		Persona: persona, Key: key, Value: result.Value, Category: result.Category,
		TTL: result.TTL, Probe: result.Probe, Source: result.Source,
	})
	if err != nil {
		f.leases.failed(result.Lease)
		return CacheStored{}, err
	}
	if len(p.Redaction.Kinds()) > 0 {
		f.leases.failed(result.Lease)
		_ = f.leases.release(result.Lease) // it may have run out by now, which does no harm
		return CacheStored{Redacted: p.Redaction.Kinds()}, nil
	}
	p.Author = author
	stored, err := f.put(ctx, p, result.Lease)
	if err != nil {
		f.leases.failed(result.Lease)
		return CacheStored{}, err
	}
	return CacheStored{Stored: true, Fact: &stored}, nil
}

// Renew implements Cache.
func (f *Facts) Renew(ctx context.Context, lease LeaseRef) error {
	if err := skillrouter.PrincipalOf(ctx).Need(skillrouter.ScopeAgent); err != nil {
		return err
	}
	return f.leases.renew(lease.Lease)
}

// Release implements Cache.
func (f *Facts) Release(ctx context.Context, lease LeaseRef) error {
	if err := skillrouter.PrincipalOf(ctx).Need(skillrouter.ScopeAgent); err != nil {
		return err
	}
	return f.leases.release(lease.Lease)
}

// EndWaits answers all who wait for another's computation, from now on: the
// router is about to stop.
func (f *Facts) EndWaits() { f.leases.close() }

// checkSpanMS returns a span of time that was given in milliseconds.
func checkSpanMS(field string, ms int64, unset, least, most time.Duration) (time.Duration, error) {
	if ms == 0 {
		return unset, nil
	}
	if ms < least.Milliseconds() || ms > most.Milliseconds() {
		return 0, skillrouter.InvalidField(field, "must lie between %d and %d", least.Milliseconds(), most.Milliseconds())
	}
	return time.Duration(ms) * time.Millisecond, nil
}
