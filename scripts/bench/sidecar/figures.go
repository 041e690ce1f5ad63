package sidecar

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// Percentiles says what durations come to: the middle, the 99th of a hundred, the worst.
func Percentiles(took []time.Duration) string {
	at := func(part float64) time.Duration { return Quantile(took, part).Round(time.Microsecond) }
	return fmt.Sprintf("p50 %v, p99 %v, worst %v", at(.5), at(.99), at(1))
}

// Quantile sorts figures, of which there must be one, and returns the one that a part of them lies below: 0.5 is the middle, 1 the greatest.
func Quantile[T cmp.Ordered](figures []T, part float64) T {
	slices.Sort(figures)
	return figures[min(len(figures)-1, int(part*float64(len(figures))))]
}

// Milliseconds is a duration in them.
func Milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// Load is the machine's load averages; empty: this is not Linux.
func Load() string {
	text, _ := os.ReadFile("/proc/loadavg")
	fields := strings.Fields(string(text))
	return strings.Join(fields[:min(3, len(fields))], " ")
}

// Report prints one figure.
func Report(what, format string, args ...any) {
	fmt.Printf("%-38s %s\n", strings.TrimSpace(what), fmt.Sprintf(format, args...))
}
