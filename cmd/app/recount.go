package app

import (
	"sync"
	"time"

	"skillrouter"
)

// recountShare is how many times as long as it took a count that was not cheap
// is answered again: counting takes at most a fiftieth of one core, however
// often health is asked for.
const recountShare = 50

// cheapCount is what may be counted at each question.
const cheapCount = time.Millisecond

// recount answers a count that takes long where there is much to count. What
// is cheap is counted each time; else the last count is answered until its
// time is over, also to those who ask while it is counted again.
type recount[T any] struct {
	now skillrouter.Clock

	counting sync.Mutex // held by the one that counts
	mu       sync.Mutex
	last     T
	until    time.Time // when last must be counted again; zero: at once
	counted  bool
}

// get is the count, by count if it must be counted now. A count that failed is answered and not kept.
func (r *recount[T]) get(count func() (T, error)) (T, error) {
	if last, fresh := r.latest(); fresh {
		return last, nil
	}
	if !r.counting.TryLock() {
		r.mu.Lock()
		last, counted := r.last, r.counted
		r.mu.Unlock()
		if counted {
			return last, nil
		}
		r.counting.Lock() // nothing was ever counted: wait for it
	}
	defer r.counting.Unlock()
	if last, fresh := r.latest(); fresh {
		return last, nil
	}
	began := r.now()
	value, err := count()
	if err != nil {
		return value, err
	}
	ended := r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last, r.counted, r.until = value, true, time.Time{}
	if took := ended.Sub(began); took > cheapCount {
		r.until = ended.Add(recountShare * took)
	}
	return value, nil
}

// latest is the last count, and whether it may still be answered.
func (r *recount[T]) latest() (T, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last, r.now().Before(r.until)
}
