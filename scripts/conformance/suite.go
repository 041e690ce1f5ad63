package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// suiteTime bounds one run of a suite, which takes seconds.
const suiteTime = 5 * time.Minute

// suite is a release of the conformance suite at a version of the protocol.
type suite struct{ module, release, protocol string }

var suites = []suite{
	{"@modelcontextprotocol/conformance", "0.1.16", "2025-06-18"},
	{"@modelcontextprotocol/conformance", "0.1.16", "2025-11-25"},
	{"conformance-next", "0.2.0-alpha.12", "2025-03-26"},
	{"conformance-next", "0.2.0-alpha.12", "2025-06-18"},
	{"conformance-next", "0.2.0-alpha.12", "2025-11-25"},
	{"conformance-next", "0.2.0-alpha.12", "2026-07-28"},
}

// result is what one run of a suite found.
type result struct {
	target string // fixture or router
	suite
	scenarios map[string][]check
	expected  int // scenarios that have something amiss and may; set by compare
}

// check is one thing that a scenario looks at.
type check struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	Error  string `json:"errorMessage"`
}

// amiss tells whether a check is neither a success nor only a note. What was
// skipped and what the suite warns of count: both want a reason.
func (c check) amiss() bool { return c.Status != "SUCCESS" && c.Status != "INFO" }

// resultFolder is how the suites name a scenario's folder: a time follows the scenario.
var resultFolder = regexp.MustCompile(`^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$`)

// runSuite runs every scenario of a suite for servers that there is at that
// version of the protocol, and reads what it wrote.
func (t toolbox) runSuite(ctx context.Context, s suite, target, url, keep string) (result, error) {
	ctx, cancel := context.WithTimeout(ctx, suiteTime)
	defer cancel()
	folder := filepath.Join(keep, target+"-"+s.release+"-"+s.protocol)
	if err := os.RemoveAll(folder); err != nil {
		return result{}, err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return result{}, err
	}
	said, err := exec.CommandContext(ctx, t.node, filepath.Join(t.modules, filepath.FromSlash(s.module), "dist", "index.js"), "server",
		"--url", url, "--suite", "all", "--spec-version", s.protocol, "--output-dir", folder).CombinedOutput()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && (!ended || ctx.Err() != nil) { // that scenarios fail is for compare
		return result{}, fmt.Errorf("suite %s at %s: %w\n%s", s.release, s.protocol, err, said)
	}
	found := result{target: target, suite: s, scenarios: map[string][]check{}}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return result{}, err
	}
	for _, entry := range entries {
		name := resultFolder.FindStringSubmatch(entry.Name())
		if name == nil {
			continue
		}
		raw, err := os.ReadFile(filepath.Join(folder, entry.Name(), "checks.json"))
		if err != nil {
			return result{}, err
		}
		var checks []check
		if err := json.Unmarshal(raw, &checks); err != nil {
			return result{}, fmt.Errorf("%s: %w", entry.Name(), err)
		}
		found.scenarios[name[1]] = checks
	}
	if len(found.scenarios) == 0 {
		return result{}, fmt.Errorf("suite %s at %s left no results; it said:\n%s", s.release, s.protocol, said)
	}
	return found, nil
}

// table is the results in Markdown.
func table(runs []result) string {
	var b strings.Builder
	b.WriteString("| Against | Suite | Protocol | Scenarios | of which with a listed exception | Checks that succeeded | amiss, each listed |\n|---|---|---|---|---|---|---|\n")
	for _, r := range runs {
		good, amiss := 0, 0
		for _, checks := range r.scenarios {
			for _, c := range checks {
				if c.amiss() {
					amiss++
				} else if c.Status == "SUCCESS" {
					good++
				}
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %d | %d | %d | %d |\n", r.target, r.release, r.protocol, len(r.scenarios), r.expected, good, amiss)
	}
	return b.String()
}

// names are the scenarios of a run, in order.
func (r result) names() []string {
	return slices.Sorted(maps.Keys(r.scenarios))
}
