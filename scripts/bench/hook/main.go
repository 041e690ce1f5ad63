// Command hook measures what an agent waits for before each tool: `hook
// pre-tool-use` as a process, from its start to its end, against a running router
// with 1,000 rules, by the small program, which setup has agents run, and by the
// whole one. It alternates with the floor, a process of this program that makes
// one request with net/http and nothing else, and with /bin/true, so that whatever
// else the machine does weighs on all of them.
//
//	go run ./scripts/bench/hook [-program bin/skillrouter] [-small bin/skillrouter-hook] [-runs 300] [-rules 1000]
//
// Without -program or -small it builds that one first, into a temporary folder.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/guard"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
	"github.com/skillrouter/skillrouter/learning/lesson"
	"github.com/skillrouter/skillrouter/router/client"
	"github.com/skillrouter/skillrouter/scripts/bench/sidecar"
)

// target is what a hook may take, p99.
const target = 15 * time.Millisecond

// message is a tool that no rule speaks against, which is what a hook is mostly asked.
const message = `{"session_id":"bench","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"t","tool_input":{"command":"go test ./learning -run Guard"}}`

func main() {
	b := bench{}
	flag.StringVar(&b.program, "program", "", "program to measure; empty: build it")
	flag.StringVar(&b.small, "small", "", "the small program to measure; empty: build it")
	flag.StringVar(&b.floor, "floor", "", "program of the floor; empty: build it")
	flag.IntVar(&b.runs, "runs", 300, "runs of each")
	flag.IntVar(&b.rules, "rules", 1000, "rules that the guard has")
	sidecar.Main(b.measure, sidecar.Serve)
}

type bench struct {
	program, small, floor string
	runs, rules           int
}

func (b *bench) measure(ctx context.Context) error {
	flag.Parse()
	if b.runs < 1 || b.rules < 0 {
		return errors.New("-runs must be at least 1, and -rules not negative")
	}
	dir, err := os.MkdirTemp("", "bench-hook")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, one := range []struct{ path, from *string }{{&b.program, new("./cmd/skillrouter")}, {&b.small, new("./cmd/skillrouter-hook")}, {&b.floor, new("./scripts/bench/hook/floor")}} {
		if *one.path != "" {
			continue
		}
		*one.path = filepath.Join(dir, filepath.Base(*one.from))
		build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-tags", "nomsgpack", "-o", *one.path, *one.from)
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return err
		}
	}
	data := filepath.Join(dir, "data")
	router, err := sidecar.Start(ctx, data)
	if err != nil {
		return err
	}
	defer router.Stop()
	token, err := os.ReadFile(filepath.Join(data, "owner.token"))
	if err != nil {
		return err
	}
	secret := strings.TrimSpace(string(token))
	if err := b.fill(ctx, router.Base, secret); err != nil {
		return err
	}
	env := append(os.Environ(), "SKILLROUTER_DATA="+data, "SKILLROUTER_SERVER=", "SKILLROUTER_TOKEN=", "SKILLROUTER_AGENT=", "XDG_CACHE_HOME="+filepath.Join(dir, "cache"))
	kinds := []struct {
		name string
		args []string
	}{
		{"hook pre-tool-use, small program", []string{b.small, "hook", "pre-tool-use", "--for", "claude-code"}},
		{"hook pre-tool-use, whole program", []string{b.program, "hook", "pre-tool-use", "--for", "claude-code"}},
		{"floor: net/http, one request", []string{b.floor, router.Base, secret}},
		{"/bin/true", []string{"/bin/true"}},
	}
	wall, cpu := make([][]time.Duration, len(kinds)), make([][]time.Duration, len(kinds))
	before := sidecar.Load()
	for range b.runs {
		for i, kind := range kinds {
			cmd := exec.CommandContext(ctx, kind.args[0], kind.args[1:]...)
			cmd.Env, cmd.Stdin = env, strings.NewReader(message)
			var said strings.Builder
			cmd.Stdout, cmd.Stderr = &said, &said
			begin := time.Now()
			err := cmd.Run()
			wall[i] = append(wall[i], time.Since(begin))
			if err != nil || said.Len() > 0 {
				return fmt.Errorf("%s: %w: %s", kind.name, err, said.String())
			}
			cpu[i] = append(cpu[i], cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
		}
	}
	pairs := [2]float64{pairwise(wall[0], wall[2]), pairwise(wall[1], wall[2])}
	for i, kind := range kinds {
		sidecar.Report(kind.name, "%s", sidecar.Percentiles(wall[i]))
		sidecar.Report("  processor", "%s", sidecar.Percentiles(cpu[i]))
	}
	for i := range 2 {
		sidecar.Report(kinds[i].name, "%.2f × the floor's p50, %.2f × its p99, %.2f × its processor time; %.2f × pairwise",
			ratio(wall[i], wall[2], 0.5), ratio(wall[i], wall[2], 0.99), ratio(cpu[i], cpu[2], 0.5), pairs[i])
	}
	sidecar.Report("target", "p99 of the hook at most %s; load %s before, %s after", target, before, sidecar.Load())
	return nil
}

// fill reports a lesson for each rule, and looks whether the guard has them.
func (b *bench) fill(ctx context.Context, base, secret string) error {
	c, err := client.New(base, client.Options{Token: secret})
	if err != nil {
		return err
	}
	defer c.Close()
	drafts := make([]lesson.Draft, 0, b.rules)
	for i := range b.rules {
		drafts = append(drafts, lesson.Draft{
			Type: learning.LessonAntiPattern, Domain: fmt.Sprintf("area-%d", i%50), Category: "ops", SourceAgent: "bench",
			Title: fmt.Sprintf("Never remove the records of service %d", i), Context: "cleanup", Action: "removed them", Outcome: "they were lost",
			Severity: learning.SeverityHigh, RelatedCommands: []string{fmt.Sprintf("rm -rf /srv/service-%d/records", i)},
		})
	}
	for part := range slices.Chunk(drafts, 100) {
		if _, err := client.Send(ctx, c, lesson.Service.ReportAll, part); err != nil {
			return err
		}
	}
	checked, err := client.Send(ctx, c, guard.Service.Check, rule.Action{Tool: "Bash", Args: map[string]any{"command": fmt.Sprintf("rm -rf /srv/service-%d/records", b.rules-1)}})
	if err == nil && b.rules > 0 && len(checked.Matches) == 0 {
		return errors.New("the guard does not know the last rule")
	}
	return err
}

// ratio is a part of the one's runs over that of the other's: 0.5 compares the
// middles, 0.99 the p99.
func ratio(one, other []time.Duration, part float64) float64 {
	return float64(sidecar.Quantile(one, part)) / float64(max(sidecar.Quantile(other, part), 1))
}

// pairwise is the middle of the ratios of runs that followed each other.
func pairwise(one, other []time.Duration) float64 {
	ratios := make([]float64, len(one))
	for i := range one {
		ratios[i] = float64(one[i]) / float64(max(other[i], 1))
	}
	return sidecar.Quantile(ratios, 0.5)
}
