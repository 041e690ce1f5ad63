package interlock

import (
	"container/list"
	"time"

	"golang.org/x/time/rate"
)

// Pace of what is taken from one source.
const (
	// sourceRate and sourceBurst are datagrams per second from one address, and from one
	// sender: ten times what a busy peer has to say.
	sourceRate  = 200
	sourceBurst = 400
	// maxSources bounds the sources whose pace is remembered: the one that was silent for
	// the longest is forgotten first. An entry takes about 200 bytes.
	maxSources = 4096
)

// buckets hold a token bucket for each of the latest sources. They are the listener's alone.
type buckets[K comparable] struct {
	most   int
	byKey  map[K]*list.Element
	latest *list.List // of *bucket[K], the latest in front
}

type bucket[K comparable] struct {
	key     K
	limiter *rate.Limiter
}

func newBuckets[K comparable](most int) *buckets[K] {
	return &buckets[K]{most: most, byKey: map[K]*list.Element{}, latest: list.New()}
}

// allow takes a token of the source's bucket.
func (b *buckets[K]) allow(key K, now time.Time) bool {
	at, known := b.byKey[key]
	switch {
	case known:
		b.latest.MoveToFront(at)
	case b.latest.Len() < b.most:
		at = b.latest.PushFront(&bucket[K]{key: key, limiter: rate.NewLimiter(sourceRate, sourceBurst)})
	default:
		at = b.latest.Back()
		oldest := at.Value.(*bucket[K]) //nolint:forcetypeassert // the list holds nothing else
		delete(b.byKey, oldest.key)
		oldest.key, oldest.limiter = key, rate.NewLimiter(sourceRate, sourceBurst)
		b.latest.MoveToFront(at)
	}
	b.byKey[key] = at
	return at.Value.(*bucket[K]).limiter.AllowN(now, 1) //nolint:forcetypeassert // the list holds nothing else
}
