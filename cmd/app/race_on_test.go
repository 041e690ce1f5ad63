//go:build race

package app_test

// raceEnabled says whether this test was built with the race detector.
const raceEnabled = true
