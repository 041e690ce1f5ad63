package main

import (
	"strings"
	"testing"
)

// known is a small expected-failures.txt.
const known = `
# comment
[router * 2025-*] it has no such tool
calls-image
[* 0.2* *] nothing to subscribe to
stateless:ack
`

func ran(target, release, protocol string, scenarios map[string][]check) result {
	return result{target: target, suite: suite{release: release, protocol: protocol}, scenarios: scenarios}
}

func TestCompare(t *testing.T) {
	good, bad, skipped := check{ID: "a", Status: "SUCCESS"}, check{ID: "b", Status: "FAILURE"}, check{ID: "ack", Status: "SKIPPED"}
	asListed := []result{
		ran("router", "0.1.16", "2025-11-25", map[string][]check{"calls-image": {good, bad}, "ping": {good}}),
		ran("fixture", "0.1.16", "2025-11-25", map[string][]check{"calls-image": {good}}),
		ran("router", "0.2.0", "2026-07-28", map[string][]check{"calls-image": {good}, "stateless": {good, skipped}}),
	}
	for name, test := range map[string]struct {
		with map[string][]check // of a further run of the router at 0.2.0 and 2025-11-25
		want string
	}{
		"all as listed":                   {map[string][]check{"calls-image": {bad}, "ping": {good, {ID: "n", Status: "INFO"}}}, ""},
		"a failure nobody listed":         {map[string][]check{"ping": {bad}}, "ping:b is FAILURE"},
		"a warning nobody listed":         {map[string][]check{"ping": {{ID: "w", Status: "WARNING"}}}, "ping:w is WARNING"},
		"a listed one that succeeds":      {map[string][]check{"calls-image": {good}}, "calls-image succeeds: line 4"},
		"another check of a listed one":   {map[string][]check{"stateless": {skipped, bad}}, "stateless:b is FAILURE"},
		"a listed check that succeeds":    {map[string][]check{"stateless": {{ID: "ack", Status: "SUCCESS"}}}, "stateless succeeds: line 6"},
		"a listed one that did not occur": {map[string][]check{}, ""}, // it did in another run
	} {
		t.Run(name, func(t *testing.T) {
			all, err := parseExpected(known)
			if err != nil {
				t.Fatal(err)
			}
			runs := append([]result{ran("router", "0.2.0", "2025-11-25", test.with)}, asListed...)
			got := strings.Join(all.compare(runs), "\n")
			if test.want == "" && got != "" || !strings.Contains(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	t.Run("no scenario of that name", func(t *testing.T) {
		all, err := parseExpected("[* * *] why\ngone")
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(all.compare(asListed), "\n"); !strings.Contains(got, "there is no scenario gone: line 2") {
			t.Errorf("got %q", got)
		}
	})
}

func TestParseExpectedRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"a scenario without a section": "ping",
		"a section without a reason":   "[router * *]\nping",
		"a section of two parts":       "[router *] why\nping",
		"a broken pattern":             "[[ * *] why\nping",
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := parseExpected(text); err == nil {
				t.Errorf("accepted as %v", got)
			}
		})
	}
}
