// Command dist makes the packages of a release: for each platform an archive
// with the program, its man pages, completions, service files and documents,
// and one file of checksums. The same commit gives the same bytes, wherever
// and whenever it is built with the same Go.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
)

// platforms are what packages are made for.
var platforms = []platform{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
}

// platform is an operating system and an architecture, as Go names them.
type platform struct{ os, arch string }

// String implements fmt.Stringer.
func (p platform) String() string { return p.os + "/" + p.arch }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("dist", flag.ContinueOnError)
	out := flags.String("out", "dist", "folder of the packages")
	release := flags.String("version", "", "version of the release; default: what scripts/version.sh says of the commit")
	only := flags.String("platforms", "", "make these alone, as linux/amd64,darwin/arm64")
	check := flags.Bool("check", false, "build one platform twice, from two clones in different folders, and compare")
	fresh := flags.Bool("fresh", false, "with -check: the second time with an empty build cache (takes minutes)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	chosen, err := choose(*only)
	if err != nil {
		return err
	}
	if *check {
		return compareBuilds(ctx, chosen[0], *fresh)
	}
	dir, err := os.MkdirTemp("", "skillrouter-dist-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := clone(ctx, dir); err != nil {
		return err
	}
	b, err := newBuilder(ctx, dir, *release, "")
	if err != nil {
		return err
	}
	names, err := b.all(ctx, *out, chosen)
	for _, name := range names {
		fmt.Println(name)
	}
	return err
}

// choose reads a list of platforms.
func choose(text string) ([]platform, error) {
	if text == "" {
		return platforms, nil
	}
	var chosen []platform
	for one := range strings.SplitSeq(text, ",") {
		system, arch, ok := strings.Cut(strings.TrimSpace(one), "/")
		if !ok || system == "" || arch == "" {
			return nil, errors.New("a platform is written as linux/amd64, not " + one)
		}
		chosen = append(chosen, platform{system, arch})
	}
	return chosen, nil
}
