package main

import (
	"fmt"
	"path"
	"strings"
)

// expectation is something that may be amiss, and why.
type expectation struct {
	target, release, protocol string // patterns of path.Match
	scenario, check           string // check is empty for a whole scenario
	reason                    string
	line                      int
}

type expectations []expectation

// parseExpected reads expected-failures.txt:
//
//	[TARGET RELEASE PROTOCOL] why what follows does not apply
//	scenario
//	scenario:check
//
// where each of the three may be a pattern such as *. Lines that begin with # are comments.
func parseExpected(text string) (expectations, error) {
	var all expectations
	var under expectation
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "["):
			where, reason, closed := strings.Cut(line[1:], "]")
			parts := strings.Fields(where)
			if reason = strings.TrimSpace(reason); !closed || len(parts) != 3 || reason == "" {
				return nil, fmt.Errorf("expected-failures.txt:%d: a section is [TARGET RELEASE PROTOCOL] and the reason", i+1)
			}
			for _, pattern := range parts {
				if _, err := path.Match(pattern, ""); err != nil {
					return nil, fmt.Errorf("expected-failures.txt:%d: %q: %w", i+1, pattern, err)
				}
			}
			under = expectation{target: parts[0], release: parts[1], protocol: parts[2], reason: reason}
		case under.reason == "":
			return nil, fmt.Errorf("expected-failures.txt:%d: a scenario stands in a section, which gives the reason", i+1)
		default:
			e := under
			e.scenario, e.check, _ = strings.Cut(line, ":")
			e.line = i + 1
			all = append(all, e)
		}
	}
	return all, nil
}

// in tells whether the expectation is about a run.
func (e expectation) in(r result) bool {
	for pattern, value := range map[string]string{e.target: r.target, e.release: r.release, e.protocol: r.protocol} {
		if ok, err := path.Match(pattern, value); err != nil || !ok {
			return false
		}
	}
	return true
}

// compare says what is amiss and not expected, and what was expected and is
// not amiss. It counts the scenarios with an exception in each run.
func (all expectations) compare(runs []result) (unexpected []string) {
	seen := map[int]bool{} // lines whose scenario ran
	for i := range runs {
		r := &runs[i]
		used := map[int]bool{}
		for _, scenario := range r.names() {
			excepted := false
			for _, c := range r.scenarios[scenario] {
				if !c.amiss() {
					continue
				}
				excused := false
				for _, e := range all {
					if e.in(*r) && e.scenario == scenario && (e.check == "" || e.check == c.ID) {
						excused, used[e.line] = true, true
					}
				}
				excepted = excepted || excused
				if !excused {
					unexpected = append(unexpected, fmt.Sprintf("%s %s %s %s:%s is %s: %s", r.target, r.release, r.protocol, scenario, c.ID, c.Status, c.Error))
				}
			}
			if excepted {
				r.expected++
			}
			for _, e := range all {
				if e.in(*r) && e.scenario == scenario {
					seen[e.line] = true
					if !used[e.line] {
						unexpected = append(unexpected, fmt.Sprintf("%s %s %s %s succeeds: line %d of expected-failures.txt is out of date", r.target, r.release, r.protocol, scenario, e.line))
					}
				}
			}
		}
	}
	for _, e := range all {
		if !seen[e.line] {
			unexpected = append(unexpected, fmt.Sprintf("there is no scenario %s: line %d of expected-failures.txt is out of date", e.scenario, e.line))
		}
	}
	return unexpected
}
