//go:build ackearly

package skillrouter

import "time"

// commitDelay is how long an acknowledged batch then waits for its commit, so
// that a crash in between need not be lucky.
const commitDelay = 10 * time.Millisecond

// ackEarly makes the mistake that the crash test must notice. No program that
// is used may be built with this tag.
func ackEarly(acknowledge func()) bool {
	acknowledge()
	time.Sleep(commitDelay)
	return true
}
