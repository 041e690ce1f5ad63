package laws_test

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// nestedModules have a go.mod of their own, because they need what the product
// must not, and at least so many modules in common with it. That of scripts/nats has none: it only names a server, which is compiled alone.
var nestedModules = map[string]int{"scripts/bench/search": 20, "scripts/soak/powerdisk": 1}

// foreign are modules that only nested ones may require.
var foreign = []string{"github.com/blevesearch/", "github.com/hanwen/go-fuse/", "github.com/nats-io/nats-server/"}

// TestNestedModules holds modules inside this one to its versions. Nothing
// else compiles them all the time: what they need is not downloaded for it.
func TestNestedModules(t *testing.T) {
	ours := required(t, "go.mod")
	if len(ours) < 40 {
		t.Fatalf("only %d requirements were found: the reading is broken", len(ours))
	}
	for dir, least := range nestedModules {
		theirs := required(t, dir+"/go.mod")
		shared := 0
		for module, version := range theirs {
			if _, both := ours[module]; both {
				shared++
				if version != ours[module] {
					t.Errorf("%s wants %s %s, and the product %s: tidy it (for the search `make bench-search-tidy`)", dir, module, version, ours[module])
				}
			}
		}
		if shared < least {
			t.Errorf("%s shares only %d modules with the product: it is not what is compared", dir, shared)
		}
	}
	for module := range ours {
		if slices.ContainsFunc(foreign, func(prefix string) bool { return strings.HasPrefix(module, prefix) }) {
			t.Errorf("the product requires %s, which only a program beside it may", module)
		}
	}
}

// required reads the requirements of a go.mod.
func required(t *testing.T, file string) map[string]string {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require "))
		if len(fields) >= 2 && strings.HasPrefix(fields[1], "v") && strings.Contains(fields[0], ".") {
			found[fields[0]] = fields[1]
		}
	}
	return found
}
