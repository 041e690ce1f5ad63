package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/skillrouter/skillrouter/scripts/soak/early"
)

// errSkipped says what this machine lacks for a harness.
var errSkipped = errors.New("skipped")

// size is how much a harness does in one round.
type size struct {
	kills, cuts, ioRounds int
	cutsIn                int // in each of a first start, a restore and an upgrade
	damages               int // of each of two folders; no more than there are files and kinds of damage
	crowd                 crowd
}

var (
	// long is a round of `make soak`. A first start is some 1,600 calls: about each tenth is cut.
	long = size{kills: 20, cuts: 15, ioRounds: 12, cutsIn: 160, damages: 300, crowd: crowd{idle: 2000, stalled: 200}}
	// short is that of `make check`: each harness once, in some ten seconds.
	short = size{kills: 5, cuts: 3, cutsIn: 1, ioRounds: 4, damages: 9, crowd: crowd{idle: 150, stalled: 15}}
)

// harness breaks the router in one way.
type harness struct {
	name, what string
	round      func(ctx context.Context, b *bench, s size, out *result) error
	controls   []control
}

// control is a fault that a harness must catch, or it would catch none.
type control struct {
	name string
	run  func(ctx context.Context, b *bench, out *result) error
}

// controlTries is how often a control's fault may hide: one that has to do
// with moments is not met by every kill.
const controlTries = 3

// caught says whether the harness finds the fault.
func (c control) caught(ctx context.Context, b *bench) (bool, error) {
	for range controlTries {
		out := newResult()
		if err := c.run(ctx, b, out); err != nil {
			return false, err
		}
		if out.faulty() {
			return true, nil
		}
	}
	return false, nil
}

var harnesses = []harness{
	{
		name: "kill", what: "kill -9, SIGSTOP and kill -9, SIGTERM under load",
		round: func(ctx context.Context, b *bench, s size, out *result) error {
			return kills(ctx, b.program, s.kills, out)
		},
		controls: []control{{"a router that acknowledges early", func(ctx context.Context, b *bench, out *result) error {
			program, err := b.early(ctx)
			if err != nil {
				return err
			}
			return kills(ctx, program, 6, out)
		}}},
	},
	{
		name: "power", what: "power cuts under load, in a first start, a restore and an upgrade",
		round: func(ctx context.Context, b *bench, s size, out *result) error {
			for _, order := range []string{"strict", "mixed"} {
				if err := b.power(ctx, order, s, out); err != nil {
					return err
				}
			}
			return nil
		},
		controls: []control{
			{"a disk that ignores syncs", func(ctx context.Context, b *bench, out *result) error {
				return b.deafPower(ctx, "all", out)
			}},
			{"a disk that ignores those of -wal", func(ctx context.Context, b *bench, out *result) error {
				return b.deafPower(ctx, "-wal", out)
			}},
		},
	},
	{
		name: "io", what: "system calls that fail with EIO and ENOSPC",
		round: func(ctx context.Context, b *bench, s size, out *result) error {
			if err := canInject(); err != nil {
				return err
			}
			return ioErrors(ctx, b.program, s.ioRounds, anyInjected, out)
		},
		controls: []control{{"a router that acknowledges early", func(ctx context.Context, b *bench, out *result) error {
			program, err := b.early(ctx)
			if err != nil {
				return err
			}
			return ioErrors(ctx, program, 3, func() injected { return injected{"pwrite64", "EIO", 60, true} }, out)
		}}},
	},
	{
		name: "corrupt", what: "damage to each file of the data folder",
		round: func(ctx context.Context, b *bench, s size, out *result) error {
			return corruption(ctx, b.program, damages, s.damages, out)
		},
		controls: []control{{"a row that another program deletes", func(ctx context.Context, b *bench, out *result) error {
			return corruption(ctx, b.program, []damage{{name: "a row deleted", do: deleteRows, only: "operational.db"}}, 100, out)
		}}},
	},
	{
		name: "streams", what: "idle and stalled streams",
		round: func(ctx context.Context, b *bench, s size, out *result) error {
			return streams(ctx, b.program, s.crowd, out)
		},
		controls: []control{
			{"a reader that lags", func(ctx context.Context, b *bench, out *result) error {
				return streams(ctx, b.program, crowd{idle: 1, stalled: 1, readerLags: 2 * lateness}, out)
			}},
			{"stalled readers that do read", func(ctx context.Context, b *bench, out *result) error {
				return streams(ctx, b.program, crowd{idle: 1, stalled: 2, stalledRead: true, within: 8 * time.Second}, out)
			}},
		},
	},
}

func names() (all []string) {
	for _, h := range harnesses {
		all = append(all, h.name)
	}
	return all
}

func choose(only string) ([]harness, error) {
	if only == "" {
		return harnesses, nil
	}
	var chosen []harness
	for name := range strings.SplitSeq(only, ",") {
		i := slices.Index(names(), name)
		if i < 0 {
			return nil, fmt.Errorf("there is no harness %q; there are %s", name, strings.Join(names(), ", "))
		}
		chosen = append(chosen, harnesses[i])
	}
	return chosen, nil
}

// bench is what harnesses share: the programs that they run.
type bench struct {
	dir, sources string
	program      string // the router
	ackEarly     string // the router that acknowledges before it commits; "": not built yet
	diskProgram  string
}

// newBench builds what is needed into dir, which is the caller's to remove.
func newBench(ctx context.Context, dir, binary, sources string) (b *bench, err error) {
	b = &bench{dir: dir, sources: sources, program: binary}
	if b.program == "" {
		b.program, err = build(ctx, dir)
	}
	return b, err
}

// build builds the router as it ships.
func build(ctx context.Context, dir string) (string, error) {
	program := filepath.Join(dir, "skillrouter")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-tags", "nomsgpack", "-o", program, "github.com/skillrouter/skillrouter/cmd/skillrouter")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if said, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the router: %w: %s", err, said)
	}
	return program, nil
}

// early is the router that acknowledges before it commits.
func (b *bench) early(ctx context.Context) (program string, err error) {
	if b.ackEarly == "" {
		b.ackEarly, err = early.Build(ctx, b.dir)
	}
	return b.ackEarly, err
}

// disk mounts an empty disk that keeps what was synced.
func (b *bench) disk(ctx context.Context, order string) (d *disk, err error) {
	if b.diskProgram == "" {
		if b.diskProgram, err = buildDisk(ctx, filepath.Join(b.sources, "powerdisk"), b.dir); err != nil {
			return nil, err
		}
	}
	return newDisk(b.diskProgram, order, uint64(time.Now().UnixNano()))
}

// power cuts the power under load, and in each of the moments.
func (b *bench) power(ctx context.Context, order string, s size, out *result) error {
	d, err := b.disk(ctx, order)
	if err != nil {
		return err
	}
	defer d.close()
	if err := outages(ctx, b.program, d, "none", s.cuts, out); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(b.dir, "moments")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, m := range []moment{first(), restoring(dir), upgrading()} {
		if err := moments(ctx, b.program, d, m, s.cutsIn, out); err != nil {
			return err
		}
	}
	return nil
}

// deafPower cuts the power under load on a disk that ignores some syncs.
func (b *bench) deafPower(ctx context.Context, deaf string, out *result) error {
	d, err := b.disk(ctx, "strict")
	if err != nil {
		return err
	}
	defer d.close()
	return outages(ctx, b.program, d, deaf, 3, out)
}
