// Command hook measures what an agent waits for before each tool: `skillrouter
// hook pre-tool-use` as a process, from its start to its end, against a running
// router with 1,000 rules. It alternates with the floor, a process of this program
// that makes one request with net/http and nothing else, and with /bin/true, so
// that whatever else the machine does weighs on all three.
//
//	go run ./scripts/bench/hook [-program bin/skillrouter] [-runs 300] [-rules 1000]
//
// Without -program it builds the program first, into a temporary folder.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"skillrouter/learning"
	"skillrouter/router/client"
	"skillrouter/scripts/bench/sidecar"
)

// target is what a hook may take, p99.
const target = 15 * time.Millisecond

// message is a tool that no rule speaks against, which is what a hook is mostly asked.
const message = `{"session_id":"bench","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"Bash","tool_use_id":"t","tool_input":{"command":"go test ./learning -run Guard"}}`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	if len(os.Args) == 4 && os.Args[1] == "serve" {
		err = sidecar.Serve(ctx, os.Args[2], os.Args[3])
	} else {
		b := bench{}
		flag.StringVar(&b.program, "program", "", "program to measure; empty: build it")
		flag.StringVar(&b.floor, "floor", "", "program of the floor; empty: build it")
		flag.IntVar(&b.runs, "runs", 300, "runs of each")
		flag.IntVar(&b.rules, "rules", 1000, "rules that the guard has")
		flag.Parse()
		err = b.measure(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type bench struct {
	program, floor string
	runs, rules    int
}

func (b *bench) measure(ctx context.Context) error {
	if b.runs < 1 || b.rules < 0 {
		return errors.New("-runs must be at least 1, and -rules not negative")
	}
	dir, err := os.MkdirTemp("", "bench-hook")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, one := range []struct{ path, from *string }{{&b.program, new("./cmd/skillrouter")}, {&b.floor, new("./scripts/bench/hook/floor")}} {
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
		{"hook pre-tool-use", []string{b.program, "hook", "pre-tool-use", "--for", "claude-code"}},
		{"floor: net/http, one request", []string{b.floor, router.Base, secret}},
		{"/bin/true", []string{"/bin/true"}},
	}
	wall, cpu := make([][]time.Duration, len(kinds)), make([][]time.Duration, len(kinds))
	before := load()
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
	for i, kind := range kinds {
		sidecar.Report(kind.name, "%s", sidecar.Percentiles(wall[i]))
		sidecar.Report("  processor", "%s", sidecar.Percentiles(cpu[i]))
	}
	sidecar.Report("against the floor", "p50 %.1f ×, processor %.1f ×", ratio(wall[0], wall[1]), ratio(cpu[0], cpu[1]))
	sidecar.Report("target", "p99 of the hook at most %s; load %s before, %s after", target, before, load())
	return nil
}

// fill reports a lesson for each rule, and looks whether the guard has them.
func (b *bench) fill(ctx context.Context, base, secret string) error {
	c, err := client.New(base, client.Options{Token: secret})
	if err != nil {
		return err
	}
	defer c.Close()
	drafts := make([]learning.LessonDraft, 0, b.rules)
	for i := range b.rules {
		drafts = append(drafts, learning.LessonDraft{
			Type: learning.LessonAntiPattern, Domain: fmt.Sprintf("area-%d", i%50), Category: "ops", SourceAgent: "bench",
			Title: fmt.Sprintf("Never remove the records of service %d", i), Context: "cleanup", Action: "removed them", Outcome: "they were lost",
			Severity: learning.SeverityHigh, RelatedCommands: []string{fmt.Sprintf("rm -rf /srv/service-%d/records", i)},
		})
	}
	for part := range slices.Chunk(drafts, 100) {
		if _, err := c.Lessons.ReportAll(ctx, part); err != nil {
			return err
		}
	}
	checked, err := c.Guard.Check(ctx, learning.Action{Tool: "Bash", Args: map[string]any{"command": fmt.Sprintf("rm -rf /srv/service-%d/records", b.rules-1)}})
	if err == nil && b.rules > 0 && len(checked.Matches) == 0 {
		return errors.New("the guard does not know the last rule")
	}
	return err
}

// ratio is the one's middle over the other's; both are sorted by Percentiles.
func ratio(one, other []time.Duration) float64 {
	slices.Sort(one)
	slices.Sort(other)
	return float64(one[len(one)/2]) / float64(max(other[len(other)/2], 1))
}

// load is the machine's load average of a minute.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown" // not Linux
	}
	first, _, _ := strings.Cut(string(text), " ")
	return first
}
