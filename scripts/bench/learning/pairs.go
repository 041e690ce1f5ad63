package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/scripts/bench/sidecar"
)

// pairRounds is how often the two programs take turns.
const pairRounds = 5

// benchPairs has two programs take turns at the same calls, each beside its own copy of one folder of lessons that the first filled.
// What else uses the machine slows both alike, and so the ratios say what the figures cannot.
func benchPairs(ctx context.Context, before, after, folder string, size, reports, questions, connections int) error {
	l := newLessons(42)
	if _, err := os.Stat(folder); err != nil {
		side, err := sidecar.StartBinary(ctx, before, folder)
		if err != nil {
			return err
		}
		err = fill(ctx, side, l.some(size))
		side.Stop()
		if err != nil {
			return err
		}
	}
	var sides [2]*sidecar.Sidecar
	for i, program := range []string{before, after} {
		dir, err := os.MkdirTemp("", "skillrouter-bench-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		data := filepath.Join(dir, "data")
		if err := exec.CommandContext(ctx, "cp", "-a", folder, data).Run(); err != nil {
			return err
		}
		if sides[i], err = sidecar.StartBinary(ctx, program, data); err != nil {
			return err
		}
		defer sides[i].Stop()
	}
	health := make([]call, questions)
	for i := range health {
		health[i] = call{path: "/health"}
	}
	ratios := map[string][]float64{}
	for round := range pairRounds {
		situations := make([]lesson.Query, questions)
		for i := range situations {
			situations[i] = lesson.Query{Context: l.Phrase(12), Domain: fmt.Sprintf("domain-%d", i%domains), Agent: l.agent()}
		}
		drafts := encoded(l.some(reports))
		var came [2]map[string]float64
		for turn := range sides {
			i := (turn + round) % 2 // who comes first changes
			came[i] = map[string]float64{}
			asked, err := load(ctx, sides[i], health, 1)
			if err != nil {
				return err
			}
			f := figureOf(asked, 0)
			came[i]["health p50"], came[i]["health p99"] = sidecar.Milliseconds(f.p50), sidecar.Milliseconds(f.p99)
			if f, err = posts(ctx, sides[i], "/query/relevant", encoded(situations), 1); err != nil {
				return err
			}
			came[i]["relevant p50"], came[i]["relevant p99"] = sidecar.Milliseconds(f.p50), sidecar.Milliseconds(f.p99)
			used := sides[i].CPU()
			if f, err = posts(ctx, sides[i], "/lessons/report", drafts, connections); err != nil {
				return err
			}
			if reports > 0 {
				used = (sides[i].CPU() - used) / time.Duration(reports)
				came[i]["reports/s"], came[i]["report p50"], came[i]["report p99"], came[i]["report processor"] = f.perSecond, sidecar.Milliseconds(f.p50), sidecar.Milliseconds(f.p99), sidecar.Milliseconds(used)
			}
			came[i]["resident"] = sides[i].Resident()
		}
		for _, what := range slices.Sorted(maps.Keys(came[0])) {
			ratio := came[1][what] / came[0][what]
			ratios[what] = append(ratios[what], ratio)
			sidecar.Report(fmt.Sprintf("%d %s", round, what), "%10.2f %10.2f  %.2f ×", came[0][what], came[1][what], ratio)
		}
	}
	for _, what := range slices.Sorted(maps.Keys(ratios)) {
		all := ratios[what]
		sidecar.Report(what, "median ratio %.2f of %.2f", sidecar.Quantile(all, .5), all)
	}
	sidecar.Report("load average", "%s", sidecar.Load())
	return nil
}
