package sidecar

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Percentiles says what durations come to: the middle, the 99th of a hundred, the worst.
func Percentiles(took []time.Duration) string {
	slices.Sort(took)
	at := func(p float64) time.Duration {
		return took[min(len(took)-1, int(p*float64(len(took))))].Round(time.Microsecond)
	}
	return fmt.Sprintf("p50 %v, p99 %v, worst %v", at(.5), at(.99), took[len(took)-1].Round(time.Microsecond))
}

// Report prints one figure.
func Report(what, format string, args ...any) {
	fmt.Printf("%-38s %s\n", strings.TrimSpace(what), fmt.Sprintf(format, args...))
}
