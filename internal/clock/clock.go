// Package clock tells the time to whatever is given a clock.
package clock

import "time"

// Clock tells the time. Tests use one that they can set. Times decide no order: sequence
// numbers do.
type Clock func() time.Time

// Stamp returns the time as it is stored: in UTC and whole milliseconds.
func (c Clock) Stamp() time.Time { return c().UTC().Truncate(time.Millisecond) }

// Given returns the clock, or the machine's own in place of nil.
func (c Clock) Given() Clock {
	if c == nil {
		return time.Now
	}
	return c
}
