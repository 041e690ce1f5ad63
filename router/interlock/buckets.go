package interlock

import (
	"maps"
	"time"

	"golang.org/x/time/rate"
)

// Pace of what is taken from one source.
const (
	// sourceRate and sourceBurst are datagrams per second from one address, and from one
	// sender: ten times what a busy peer has to say.
	sourceRate  = 200
	sourceBurst = 400
	// maxSources bounds the sources whose pace is remembered. One more is not heard until
	// another was silent for a moment. An entry takes about 200 bytes.
	maxSources = 4096
)

// buckets hold a token bucket for each of the sources. They are the listener's alone.
type buckets[K comparable] map[K]*rate.Limiter

// allow takes a token of the source's bucket.
func (b buckets[K]) allow(key K, now time.Time) bool {
	limiter, known := b[key]
	if !known {
		if len(b) >= maxSources { // a full bucket is as good as none
			maps.DeleteFunc(b, func(_ K, one *rate.Limiter) bool { return one.TokensAt(now) >= sourceBurst })
		}
		if len(b) >= maxSources {
			return false
		}
		limiter = rate.NewLimiter(sourceRate, sourceBurst)
		b[key] = limiter
	}
	return limiter.AllowN(now, 1)
}
