// Command search measures the search engine beside others on the same data in
// the same run: SQLite's FTS5 and bleve, which are what a Go program would
// take instead. Each engine is a process of its own, and their questions take
// turns, so that a noisy machine is noisy to all. It is a module of its own,
// because the program must not depend on those that it is compared with.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/scripts/bench/sidecar"
)

// hits is how many answers every question asks for.
const hits = 10

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	if len(os.Args) > 1 && os.Args[1] == "child" {
		err = child(ctx, os.Args[2:])
	} else {
		err = measure(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "search:", err)
		os.Exit(1)
	}
}

// run is what is measured of the engines at one size.
type run struct {
	Size    int
	Engines []figures
}

// figures is what is measured of an engine at one size; times in milliseconds, memory in MB.
type figures struct {
	Name, Says    string
	P50, P99, CPU float64
	Resident      float64 // after the last question
	Start         float64 // from opening its files to the first answer
	Write         filled  // zero if it reads another's files
	Agree         float64 // the share of the first engine's hits that are among its own
}

func measure(ctx context.Context) error {
	sizes := flag.String("sizes", "10000,100000", "how many made-up entries, one after the other (a million takes half an hour)")
	count := flag.Int("questions", 500, "how many questions are measured")
	only := flag.String("engines", "", "which engines, by name; empty: all")
	temp := flag.String("dir", "/var/tmp", "where the stores are made and removed: a disk, for what is durable to be durable")
	collections := flag.Bool("collections", false, "measure quality on judged collections, whose folders follow, and nothing else")
	keep := flag.String("json", "", "a file that figures are added to")
	flag.Parse()
	chosen := kinds
	if *only != "" {
		chosen = nil
		for name := range strings.SplitSeq(*only, ",") {
			k, err := kindOf(name)
			if err != nil {
				return err
			}
			chosen = append(chosen, k)
		}
	}
	if *collections {
		return judgeAll(ctx, chosen, *temp, flag.Args())
	}
	var runs []run
	for text := range strings.SplitSeq(*sizes, ",") {
		size, err := strconv.Atoi(text)
		if err != nil || size < 100 {
			return fmt.Errorf("-sizes: %q is no number from 100", text)
		}
		r, err := measureSize(ctx, chosen, *temp, size, *count)
		if err != nil {
			return fmt.Errorf("%d entries: %w", size, err)
		}
		fmt.Print(table(r))
		runs = append(runs, r)
		if *keep != "" {
			if err := addRun(*keep, r); err != nil {
				return err
			}
		}
	}
	if len(runs) > 1 {
		fmt.Print(growth(runs))
	}
	return nil
}

func measureSize(ctx context.Context, chosen []kind, temp string, size, count int) (r run, err error) {
	dir, err := os.MkdirTemp(temp, "search-")
	if err != nil {
		return run{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	r.Size = size
	written := map[string]filled{}
	var servers []*server
	defer func() {
		for _, s := range servers {
			err = errors.Join(err, s.end())
		}
	}()
	for _, k := range chosen {
		if err := prepare(ctx, k, dir, size, written); err != nil {
			return run{}, err
		}
	}
	asked := questions(size, count)
	r.Engines = make([]figures, len(chosen))
	for i, k := range chosen {
		s, err := startServer(ctx, k, dir)
		if err != nil {
			return run{}, err
		}
		servers = append(servers, s)
		first, err := s.ask(question{Text: planted, Limit: hits})
		if err != nil {
			return run{}, err
		}
		if len(first.IDs) == 0 || first.IDs[0] != plantedID(size) {
			return run{}, fmt.Errorf("%s does not find the entry that was planted: %v", k.name, first.IDs)
		}
		r.Engines[i] = figures{Name: k.name, Says: k.says, Start: sidecar.Milliseconds(first.Start), Write: written[k.name]}
	}
	if err := ask(servers, r.Engines, asked); err != nil {
		return run{}, err
	}
	for i, s := range servers {
		r.Engines[i].Resident = max(0, sidecar.Memory(s.cmd.Process.Pid, "VmRSS:"))
	}
	return r, nil
}

// prepare writes what k reads, unless that was done for another kind.
func prepare(ctx context.Context, k kind, dir string, size int, written map[string]filled) error {
	if k.store != "" {
		base, err := kindOf(k.store)
		if err != nil {
			return err
		}
		if err := prepare(ctx, base, dir, size, written); err != nil || k.adapt == nil {
			return err
		}
		if err := os.CopyFS(k.folder(dir), os.DirFS(base.folder(dir))); err != nil {
			return err
		}
		return k.adapt(ctx, k.folder(dir))
	}
	if _, done := written[k.name]; done {
		return nil
	}
	var f filled
	err := call(ctx, &f, "fill", k.name, k.folder(dir), strconv.Itoa(size))
	written[k.name] = f
	return err
}

// warmUp is how many questions each engine is asked before its time counts.
const warmUp = 50

// ask asks the engines every question in turn, another one first each time.
func ask(servers []*server, into []figures, asked []question) error {
	took, used, answers := make([][]time.Duration, len(servers)), make([]time.Duration, len(servers)), make([]int, len(servers))
	agree := make([]float64, len(servers))
	warm := min(warmUp, len(asked))
	for n, q := range append(slices.Clone(asked[:warm]), asked...) {
		ids := make([][]string, len(servers))
		for turn := range servers {
			at := (n + turn) % len(servers)
			r, err := servers[at].ask(q)
			if err != nil {
				return err
			}
			ids[at] = r.IDs
			if n < warm {
				continue
			}
			took[at], used[at], answers[at] = append(took[at], r.Took), used[at]+r.CPU, answers[at]+len(r.IDs)
		}
		if n < warm {
			continue
		}
		for at := range servers {
			agree[at] += shared(ids[0], ids[at])
		}
	}
	for at := range servers {
		f := &into[at]
		f.P50, f.P99 = sidecar.Milliseconds(sidecar.Quantile(took[at], .5)), sidecar.Milliseconds(sidecar.Quantile(took[at], .99))
		f.CPU = sidecar.Milliseconds(used[at]) / float64(len(took[at]))
		f.Agree = agree[at] / float64(len(asked))
		// Every question has words of an entry: who finds much less than ten does not search for all of them.
		if answers[at] < len(asked)*hits*9/10 || f.Agree < 0.1 {
			return fmt.Errorf("%s found %d entries for %d questions, %.2f of those of %s: it does not do the same work",
				f.Name, answers[at], len(asked), f.Agree, into[0].Name)
		}
	}
	return nil
}

// shared is the share of a that is in b.
func shared(a, b []string) float64 {
	n := 0
	for _, id := range a {
		if slices.Contains(b, id) {
			n++
		}
	}
	return float64(n) / float64(max(1, len(a)))
}

// judgeAll measures quality on each collection, an engine at a time in a process of its own.
func judgeAll(ctx context.Context, chosen []kind, temp string, folders []string) error {
	if len(folders) == 0 {
		return errors.New("-collections wants the folders of collections")
	}
	all := make([][]quality, len(chosen))
	for i, k := range chosen {
		for _, folder := range folders {
			q, err := judgeOne(ctx, k, temp, folder)
			if err != nil {
				return err
			}
			all[i] = append(all[i], q)
		}
	}
	fmt.Print(qualityTable(chosen, all))
	return nil
}

func judgeOne(ctx context.Context, k kind, temp, folder string) (q quality, err error) {
	dir, err := os.MkdirTemp(temp, "search-")
	if err != nil {
		return quality{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err = call(ctx, &q, "judge", k.name, dir, folder); err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			err = fmt.Errorf("%s on %s: %w", k.name, folder, exit)
		}
	}
	return q, err
}

func readRuns(path string) ([]run, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var runs []run
	return runs, json.Unmarshal(text, &runs)
}

// addRun puts r in place of the run of its size.
func addRun(path string, r run) error {
	runs, err := readRuns(path)
	if err != nil {
		return err
	}
	runs = append(slices.DeleteFunc(runs, func(old run) bool { return old.Size == r.Size }), r)
	slices.SortFunc(runs, func(a, b run) int { return cmp.Compare(a.Size, b.Size) })
	text, err := json.MarshalIndent(runs, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}
