//go:build race

package main

// raceEnabled says whether this test was built with the race detector.
const raceEnabled = true
