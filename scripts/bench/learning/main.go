// Command learning measures the learning pipeline over HTTP: reports with
// pattern detection and propagation, the lessons that fit a situation, and the
// guard, as the number of lessons grows. It starts the sidecar as a process of
// its own (this program again, with "serve") and talks to 127.0.0.1 only.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/scripts/bench/sidecar"
)

func main() { sidecar.Main(measure, sidecar.Serve) }

// bulkSize is how many lessons one bulk call sends.
const bulkSize = 5000

func measure(ctx context.Context) error {
	sizes := flag.String("sizes", "1000,3000,10000,30000,50000,100000", "numbers of lessons to measure at")
	reports := flag.Int("reports", 4000, "reports at each size")
	questions := flag.Int("questions", 2000, "questions and checks at each size")
	connections := flag.Int("connections", 16, "connections that report at once")
	rules := flag.Int("rules", 1000, "rules of the guard's own measurement")
	binary := flag.String("binary", "", "measure this skillrouter, as it was built")
	only := flag.Bool("guard", false, "measure the guard alone")
	growth := flag.Bool("growth", false, "measure the growth alone")
	before := flag.String("before", "", "measure a skillrouter that was built before in turns with -binary, beside copies of -folder")
	folder := flag.String("folder", "", "a data folder for -before; it is filled with the first of -sizes if it is not there")
	flag.Parse()
	if *before != "" {
		size, err := strconv.Atoi(strings.Split(*sizes, ",")[0])
		if err != nil {
			return fmt.Errorf("sizes: %w", err)
		}
		return benchPairs(ctx, *before, *binary, *folder, size, *reports, *questions, *connections)
	}
	if !*growth {
		if err := benchGuard(ctx, *binary, *rules, *questions); err != nil || *only {
			return err
		}
	}
	return grow(ctx, *binary, *sizes, *reports, *questions, *connections)
}

// benchGuard measures checks with so many rules, one caller at a time and eight. Each check is one of a group of four calls in
// turns, of which the first is the floor: what the machine and its load let the least answer of the router take.
func benchGuard(ctx context.Context, binary string, rules, checks int) error {
	side, err := sidecar.FreshOf(ctx, binary)
	if err != nil {
		return err
	}
	defer side.Stop()
	l := newLessons(7)
	var drafts []lesson.Draft
	for i := range rules {
		name := fmt.Sprintf("%s-%d", l.Phrase(1), i)
		drafts = append(drafts, lesson.Draft{
			Type: learning.LessonAntiPattern, Domain: fmt.Sprintf("domain-%d", i%domains), Category: "commands", Severity: learning.SeverityCritical,
			Title: "Never run " + name + " with " + l.Phrase(1), Context: l.Phrase(12), Action: name + " --force /srv/" + l.Phrase(1), Outcome: "BLOCKED - Known anti-pattern",
			RelatedCommands: []string{name + " --force /srv/" + l.Phrase(1)}, SourceAgent: l.agent(),
		})
	}
	began := time.Now()
	if err := fill(ctx, side, drafts); err != nil {
		return err
	}
	sidecar.Report("rules", "%d reported in bulk in %v", rules, time.Since(began).Round(time.Millisecond))
	found := func() string { return "sudo sh -c '" + drafts[l.Random.IntN(len(drafts))].RelatedCommands[0] + "'" }
	nothing := func() string {
		return fmt.Sprintf("cd /srv/app && git status && make %s && ls -l /srv/%s | grep %s", l.Phrase(1), l.Phrase(1), l.Phrase(1))
	}
	check := func(command string) call {
		body, _ := json.Marshal(rule.Action{Command: command, Context: l.Phrase(6), Domain: "domain-1", Agent: "bench"}) // plain values
		return call{path: "/check/anti-pattern", body: body}
	}
	var calls []call
	for range checks {
		calls = append(calls, call{path: "/api/whoami"}, check(nothing()), check(found()), check(nothing()))
	}
	kinds := []struct {
		name string
		of   []int // places in a group of four
	}{{"floor (/api/whoami)", []int{0}}, {"checks that find nothing", []int{1, 3}}, {"checks, a third blocked", []int{1, 2, 3}}, {"checks that block", []int{2}}}
	for _, connections := range []int{1, 8} {
		used := side.CPU()
		took, err := load(ctx, side, calls, connections)
		if err != nil {
			return err
		}
		cost := (side.CPU() - used) / time.Duration(len(calls))
		sidecar.Report(fmt.Sprintf("processor a call, %d at a time", connections), "%v", cost.Round(time.Microsecond))
		var floor figure
		for i, k := range kinds {
			var times []time.Duration
			for at, t := range took {
				if slices.Contains(k.of, at%4) {
					times = append(times, t)
				}
			}
			f := figureOf(times, 0)
			if i == 0 {
				floor = f
			}
			sidecar.Report(fmt.Sprintf("%s, %d at a time", k.name, connections), "p50 %v, p99 %v, worst %v; p99 is %.1f of the floor's", round(f.p50), round(f.p99), round(f.max), float64(f.p99)/float64(floor.p99))
		}
	}
	sidecar.Report("load average", "%s", sidecar.Load())
	return nil
}

// grow measures at each size, in one database that grows from one to the next.
func grow(ctx context.Context, binary, sizes string, reports, questions, connections int) error {
	side, err := sidecar.FreshOf(ctx, binary)
	if err != nil {
		return err
	}
	defer side.Stop()
	l := newLessons(42)
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "lessons\treports/s\tp50\tp99\tprocessor a report\trelevant p50\tp99\tcheck p50\tp99\tresident MB")
	there := 0
	for text := range strings.SplitSeq(sizes, ",") {
		size, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil {
			return fmt.Errorf("sizes: %w", err)
		}
		if size > there {
			if err := fill(ctx, side, l.some(size-there)); err != nil {
				return err
			}
		}
		drafts := encoded(l.some(reports))
		used := side.CPU()
		var reported figure
		if err := side.Profile(func() (err error) {
			reported, err = posts(ctx, side, "/lessons/report", drafts, connections)
			return err
		}); err != nil {
			return err
		}
		used = (side.CPU() - used) / time.Duration(reports)
		there = max(size, there) + reports
		var situations []lesson.Query
		var actions []rule.Action
		for i := range questions {
			situations = append(situations, lesson.Query{Context: l.Phrase(12), Domain: fmt.Sprintf("domain-%d", i%domains), Agent: l.agent()})
			actions = append(actions, rule.Action{Command: "cd /srv && make " + l.Phrase(1) + " && rm -rf ./build", Context: l.Phrase(6), Domain: "domain-1", Agent: "bench"})
		}
		relevant, err := posts(ctx, side, "/query/relevant", encoded(situations), 1)
		if err != nil {
			return err
		}
		checked, err := posts(ctx, side, "/check/anti-pattern", encoded(actions), 1)
		if err != nil {
			return err
		}
		fmt.Fprintf(table, "%d\t%.0f\t%v\t%v\t%v\t%v\t%v\t%v\t%v\t%.0f\n", size, reported.perSecond, round(reported.p50), round(reported.p99), round(used),
			round(relevant.p50), round(relevant.p99), round(checked.p50), round(checked.p99), side.Resident())
		if err := table.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// fill reports lessons in bulk.
func fill(ctx context.Context, side *sidecar.Sidecar, drafts []lesson.Draft) error {
	for part := range slices.Chunk(drafts, bulkSize) {
		var answer lesson.BulkReported
		if err := side.Send(ctx, http.MethodPost, "/lessons/bulk", part, &answer); err != nil {
			return err
		}
		if answer.RefusedCount > 0 {
			return fmt.Errorf("%d lessons were refused: %+v", answer.RefusedCount, answer.Refused[0])
		}
	}
	return nil
}
