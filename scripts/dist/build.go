package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// checksums is the file that names each package and its SHA-256, as sha256sum reads it.
const checksums = "SHA256SUMS"

// builder makes the packages of a checkout.
type builder struct {
	root    string // a clone of the commit
	cache   string // GOCACHE, if not the user's own
	release string // what -X sets
	name    string // the version as files are named by it
	at      time.Time
}

// newBuilder reads the commit of the clone at root.
func newBuilder(ctx context.Context, root, release, cache string) (*builder, error) {
	b := &builder{root: root, cache: cache}
	stamp, err := b.git(ctx, "log", "-1", "--format=%ct")
	if err != nil {
		return nil, fmt.Errorf("packages are made of a commit: %w", err)
	}
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return nil, err
	}
	b.at = time.Unix(seconds, 0).UTC()
	described, err := output(ctx, root, nil, "sh", "scripts/version.sh")
	if err != nil {
		return nil, fmt.Errorf("the version is not known: %w", err)
	}
	b.release = cmp.Or(release, strings.TrimSpace(string(described)))
	b.name = strings.TrimPrefix(b.release, "v")
	return b, nil
}

// clone copies the commit that is checked out here into dir. Packages are made of
// a commit and nothing beside it; and in a worktree Go finds no commit to name.
func clone(ctx context.Context, dir string) error {
	here, err := filepath.Abs(".")
	if err != nil {
		return err
	}
	changes, err := output(ctx, here, nil, "git", "status", "--porcelain")
	if err != nil {
		return fmt.Errorf("packages are made of a commit: %w", err)
	}
	if len(changes) > 0 {
		return errors.New("packages are made of a commit, and there are changes beside it: git status shows them")
	}
	_, err = output(ctx, here, nil, "git", "clone", "-q", "--no-hardlinks", here, dir)
	return err
}

func (b *builder) git(ctx context.Context, args ...string) (string, error) {
	text, err := output(ctx, b.root, nil, "git", args...)
	return strings.TrimSpace(string(text)), err
}

// all makes the packages of the platforms, and the file of their checksums, in out.
func (b *builder) all(ctx context.Context, out string, chosen []platform) (names []string, err error) {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return nil, err
	}
	var sums strings.Builder
	for _, p := range chosen {
		name, text, err := b.pack(ctx, p)
		if err != nil {
			return names, fmt.Errorf("%s: %w", p, err)
		}
		path := filepath.Join(out, name)
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return names, err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(text), name)
		names = append(names, path)
	}
	path := filepath.Join(out, checksums)
	return append(names, path), os.WriteFile(path, []byte(sums.String()), 0o644)
}

// pack makes the package of a platform, and its name.
func (b *builder) pack(ctx context.Context, p platform) (name string, text []byte, err error) {
	entries, err := b.content(p)
	if err != nil {
		return "", nil, err
	}
	for _, name := range programs {
		program, err := b.compile(ctx, p, name)
		if err != nil {
			return "", nil, err
		}
		entries = append(entries, entry{name: p.file(name), mode: 0o755, text: program})
	}
	folder := fmt.Sprintf("skillrouter_%s_%s_%s", b.name, p.os, p.arch)
	var archive bytes.Buffer
	if p.os == "windows" {
		err = writeZip(&archive, folder, b.at, entries)
		return folder + ".zip", archive.Bytes(), err
	}
	err = writeTar(&archive, folder, b.at, entries)
	return folder + ".tar.gz", archive.Bytes(), err
}

// programs are what a package holds to be run, each the name of its folder in cmd.
var programs = []string{"skillrouter", "skillrouter-hook"}

// file is the name of a program's file.
func (p platform) file(program string) string {
	if p.os == "windows" {
		return program + ".exe"
	}
	return program
}

// compile builds a program without cgo, without paths of this machine, and with the commit in it.
func (b *builder) compile(ctx context.Context, p platform, program string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "skillrouter-dist-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	flags := "-s -w -buildid="
	if b.release != "" {
		flags += " -X skillrouter/cmd/cli.release=" + b.release
	}
	file := filepath.Join(dir, p.file(program))
	// What the user has set for his own builds is none of the packages': GOFLAGS is set anew.
	env := []string{"GOOS=" + p.os, "GOARCH=" + p.arch, "CGO_ENABLED=0", "GOFLAGS=", "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOWORK=off"}
	if b.cache != "" {
		env = append(env, "GOCACHE="+b.cache)
	}
	args := []string{"build", "-tags", "nomsgpack", "-trimpath", "-buildvcs=true", "-mod=readonly", "-ldflags", flags, "-o", file}
	_, err = output(ctx, b.root, env, "go", append(args, "./cmd/"+program)...)
	if err != nil {
		return nil, err
	}
	return os.ReadFile(file)
}

// output runs a program in dir and returns what it prints. What it says on stderr is the error's text.
func output(ctx context.Context, dir string, env []string, program string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s %s: %w: %s", program, args[0], err, bytes.TrimSpace(said.Bytes()))
	}
	return out.Bytes(), nil
}
