package cli_test

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// What this module's packages may do before main, all together. A hook is a
// process for each step of an agent, so that what they do at every start is
// paid a thousand times a day. Counted in memory, which is the same on every
// machine, and time is not: they were 3.5 MB in 23,000 allocations, of which
// compiling expressions nobody used took 30 ms.
const (
	maxStartBytes       = 320 << 10
	maxStartAllocations = 1500
)

func TestStartUp(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// The test's own binary holds every package of the program.
	cmd := exec.CommandContext(t.Context(), program, "-test.run=^$")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var bytes, allocations int
	packages := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		// init github.com/skillrouter/skillrouter/tfidf @2.3 ms, 0.071 ms clock, 27064 bytes, 41 allocs
		words := strings.Fields(line)
		if len(words) != 11 || words[0] != "init" || words[1] != "skillrouter" && !strings.HasPrefix(words[1], "github.com/skillrouter/skillrouter/") || strings.HasSuffix(words[1], "_test") {
			continue
		}
		b, errBytes := strconv.Atoi(words[7])
		a, errAllocations := strconv.Atoi(words[9])
		if errBytes != nil || errAllocations != nil {
			t.Fatalf("not understood: %s", line)
		}
		t.Logf("%-32s %8d bytes %6d allocations", words[1], b, a)
		packages[words[1]] = true
		bytes, allocations = bytes+b, allocations+a
	}
	if !packages["github.com/skillrouter/skillrouter/learning/store"] || !packages["github.com/skillrouter/skillrouter/router/question"] {
		t.Fatalf("the trace was not read:\n%s", out)
	}
	if bytes > maxStartBytes || allocations > maxStartAllocations {
		t.Errorf("start-up takes %d bytes in %d allocations, of at most %d and %d: make it lazy (lazyregexp.New, sync.OnceValue)", bytes, allocations, maxStartBytes, maxStartAllocations)
	}
}
