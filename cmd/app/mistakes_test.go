package app_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/internal/database/databasetest"
	"github.com/skillrouter/skillrouter/scripts/soak/early"
)

// mistakesEnv asks for TestMistakesAreNoticed, which compiles the tests anew for each mistake.
const mistakesEnv = "SKILLROUTER_TEST_MISTAKES"

// TestMistakesAreNoticed is the negative control of a cluster's tests: each of these mistakes, in a copy of one source that
// the compiler reads in its place, makes the test fail that is to notice it.
func TestMistakesAreNoticed(t *testing.T) {
	databasetest.ServerOnly(t)
	if os.Getenv(mistakesEnv) == "" {
		t.Skip("it takes some minutes: " + mistakesEnv + "=1")
	}
	for name, m := range map[string]struct {
		source string // below the module's folder
		early.Change
		test, rounds string
	}{
		"a transaction commits whoever has written since": {
			"internal/database/postgres/postgres.go", early.Change{Right: "(log <> 'commits' OR seq = ?)", Wrong: "(log <> 'commits' OR seq = ? OR seq > 0)"}, "TestOpenedWriterIsFenced", "",
		},
		"numbers of what was rolled back are not given again": {
			"internal/database/transact.go", early.Change{Right: "\t\tdb.stale = true\n\t\treturn db.translateWrite(err)", Wrong: "\t\treturn db.translateWrite(err)"}, "TestServerStops", "5",
		},
		"the lease has no end by the node's own clock": {
			"router/cluster/lease.go", early.Change{Right: "return l.self.Epoch > 0 && l.now().Before(l.until)", Wrong: "return l.self.Epoch > 0"}, "TestCluster$", "5",
		},
		"a writer that nobody reaches keeps the lease": {
			"router/cluster/lease.go", early.Change{Right: "if err == nil && l.deserted(ctx) {", Wrong: "if false {"}, "TestCluster$", "1",
		},
		"a node does not look for what leaves no event": {
			"cmd/app/follow.go", early.Change{Right: "return errors.Join(f.incidents.Load(ctx), f.answered.Load(ctx))", Wrong: "return nil"}, "TestFollowersHearWithoutEvents", "",
		},
		"a node does not hear of tokens": {
			"cmd/app/follow.go", early.Change{Right: "\tif tokens {", Wrong: "\tif tokens = false; tokens {"}, "TestFollowersHear", "",
		},
		"a node answers with less than it was told to know": {
			"router/cluster/follow.go", early.Change{Right: "after Heads) bool {\n", Wrong: "after Heads) bool {\n\treturn true\n"}, "TestFollowersReadWrites", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			original, err := filepath.Abs(filepath.Join("../..", filepath.FromSlash(m.source)))
			if err != nil {
				t.Fatal(err)
			}
			overlay, err := early.WriteOverlay(t.TempDir(), original, m.Change)
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), "go", "test", "-tags", "nomsgpack", "-vet=off", "-count=1", "-timeout=10m", "-run", m.test, ".")
			cmd.Env = append(os.Environ(), "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -overlay="+overlay), "SKILLROUTER_TEST_ROUNDS="+m.rounds)
			said, err := cmd.CombinedOutput()
			switch text := string(said); {
			case err == nil:
				t.Errorf("%s passes", m.test)
			case !strings.Contains(text, "--- FAIL: "+strings.TrimSuffix(m.test, "$")):
				t.Fatalf("%s did not run: %v\n%s", m.test, err, text[max(0, len(text)-2000):])
			}
		})
	}
}
