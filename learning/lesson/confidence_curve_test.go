package lesson_test

import (
	"math"
	"testing"
	"time"

	"skillrouter/learning/lesson"
)

func TestConfidenceCurve(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	day := func(n int) time.Time { return start.AddDate(0, 0, n) }
	after := func(c float64) *lesson.Snapshot { return &lesson.Snapshot{Confidence: c} }
	l := lesson.Lesson{Status: lesson.StatusValidated, Belief: lesson.Belief{InitialConfidence: 0.9, DecayConstant: 0.01, ConfidenceAt: day(50)}}
	history := []lesson.Change{
		{Kind: "reported", At: day(0), After: after(0.8)}, {Kind: "occurred", At: day(10)}, {Kind: "validated", At: day(50), After: after(0.9)},
	}
	points := lesson.ConfidenceCurve(&l, history, day(100))
	var kinds []string
	for i, p := range points {
		if i > 0 && p.At.Before(points[i-1].At) {
			t.Errorf("point %d goes back to %v", i, p.At)
		}
		want := 0.8 * math.Exp(-0.01*p.At.Sub(day(0)).Hours()/24)
		if !p.At.Before(day(50)) {
			want = 0.9 * math.Exp(-0.01*p.At.Sub(day(50)).Hours()/24)
		}
		if math.Abs(p.Confidence-want) > 1e-9 || p.Ahead && p.At.Before(day(100)) || !p.Ahead && p.At.After(day(100)) {
			t.Errorf("%v: %+v, not %f", p.At, p, want)
		}
		if p.Kind != "" {
			kinds = append(kinds, p.Kind)
		}
	}
	if len(kinds) != 2 || kinds[1] != "validated" || len(points) < 40 || len(points) > 100 {
		t.Errorf("%d points with %v", len(points), kinds)
	}
	if last := points[len(points)-1]; !last.Ahead || !last.At.Equal(day(190)) {
		t.Errorf("the last is %+v", last)
	}
	l.Status = lesson.StatusRetired
	if retired := lesson.ConfidenceCurve(&l, nil, day(51)); retired[len(retired)-1].Ahead || len(retired) > 60 {
		t.Errorf("of a retired one without a history: %+v", retired)
	}
	var many []lesson.Change
	for i := range 1000 {
		many = append(many, lesson.Change{Kind: "applied", At: start.Add(time.Duration(i) * time.Hour), After: after(0.5)})
	}
	if points := lesson.ConfidenceCurve(&l, many, day(60)); len(points) > 400 {
		t.Errorf("%d points", len(points))
	}
}
