package lesson

import (
	"slices"
	"time"
)

// CurvePoint is a confidence at a time.
type CurvePoint struct {
	At         time.Time `json:"at"`
	Confidence float64   `json:"confidence"`      // what was left then, 0 to 1
	Kind       string    `json:"kind,omitempty"`  // of the change that moved it; empty: between changes
	Ahead      bool      `json:"ahead,omitempty"` // from now on: what will be left if nothing happens
}

// Bounds of a curve.
const (
	// curveSteps is into how many parts the time between two ends of a curve is cut.
	curveSteps = 48
	// curveChanges is how many changes a curve shows, the latest: more points than a screen has are none.
	curveChanges = 200
	// curveAhead is how far a curve looks ahead: a quarter, after which a lesson is stale.
	curveAhead = DefaultStaleDays * Day
)

// ConfidenceCurve returns a lesson's confidence over time, oldest first: as each
// change of its history left it, what decay left of it in between (Belief.At),
// and what will be left after now if nothing happens. History is as
// Service.History answers it.
func ConfidenceCurve(lesson *Lesson, history []Change, now time.Time) []CurvePoint {
	var points []CurvePoint
	moved := slices.DeleteFunc(slices.Clone(history), func(c Change) bool { return c.After == nil })
	if len(moved) > curveChanges {
		moved = moved[len(moved)-curveChanges:]
	}
	first := lesson.ConfidenceAt
	if len(moved) > 0 {
		first = moved[0].At
	}
	step := max(now.Sub(first)/curveSteps, time.Minute)
	belief := Belief{DecayConstant: lesson.DecayConstant}
	for i, change := range moved {
		if i > 0 {
			points = belief.trace(points, change.At, step)
		}
		belief.InitialConfidence, belief.ConfidenceAt = change.After.Confidence, change.At
		points = append(points, CurvePoint{At: change.At, Confidence: change.After.Confidence, Kind: change.Kind})
	}
	if len(moved) == 0 || belief.ConfidenceAt.Before(lesson.ConfidenceAt) { // its history does not reach so far
		belief = lesson.Belief
		points = append(points, CurvePoint{At: belief.ConfidenceAt, Confidence: belief.At(belief.ConfidenceAt)})
	}
	points = belief.trace(points, now, step)
	points = append(points, CurvePoint{At: now, Confidence: belief.At(now)})
	if lesson.Status == StatusRetired {
		return points
	}
	for at := now; !at.After(now.Add(curveAhead)); at = at.Add(curveAhead / 6) {
		points = append(points, CurvePoint{At: at, Confidence: belief.At(at), Ahead: true})
	}
	return points
}

// trace appends what is left between the belief's time and an end, both apart.
func (b Belief) trace(points []CurvePoint, end time.Time, step time.Duration) []CurvePoint {
	for at := b.ConfidenceAt.Add(step); at.Before(end.Add(-step / 2)); at = at.Add(step) {
		points = append(points, CurvePoint{At: at, Confidence: b.At(at)})
	}
	return points
}
