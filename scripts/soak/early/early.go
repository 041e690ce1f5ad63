// Package early builds the router with one mistake: it acknowledges writes that are applied and
// not committed yet. Tests of crashes run it to show that they would notice.
//
// The mistake is in no source of the product. It is put into a copy of committer.go, which the
// compiler reads in the place of the original.
package early

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// mistake says what stands where in the copy. An acknowledged batch then waits ten milliseconds
// for its commit, so that a crash in between need not be lucky.
var mistake = []struct{ right, wrong string }{
	{"\t\"sync\"\n", "\t\"sync\"\n\t\"time\"\n"},
	{"\tbroken  error ", "\tacknowledged bool\n\tbroken  error "},
	{"\t\tc.announce <- batch\n\t\tif c.broken", "\t\tif !c.acknowledged {\n\t\t\tc.announce <- batch\n\t\t}\n\t\tc.acknowledged = false\n\t\tif c.broken"},
	{
		"\t\tapplied = true\n\t\treturn nil\n\t})\n\tif err = c.doubt(",
		"\t\tapplied, c.acknowledged = true, true\n\t\tc.announce <- batch\n\t\ttime.Sleep(10 * time.Millisecond)\n\t\treturn nil\n\t})\n\tif err = c.doubt(",
	},
}

// Build builds the router with the mistake into dir, from the module that the working directory
// is in, and returns the program's path.
func Build(ctx context.Context, dir string) (program string, err error) {
	module, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	original := filepath.Join(filepath.Dir(strings.TrimSpace(string(module))), "committer.go")
	overlay, err := writeOverlay(original, dir)
	if err != nil {
		return "", err
	}
	program = filepath.Join(dir, "skillrouter-early")
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-tags", "nomsgpack", "-overlay", overlay, "-o", program, "skillrouter/cmd/skillrouter")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if said, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the router that acknowledges early: %w: %s", err, said)
	}
	return program, nil
}

// writeOverlay writes the wrong copy of committer.go into dir, and the file that tells the
// compiler of it, whose path it returns.
func writeOverlay(original, dir string) (overlay string, err error) {
	text, err := os.ReadFile(original)
	if err != nil {
		return "", err
	}
	wrong := string(text)
	for _, m := range mistake {
		if n := strings.Count(wrong, m.right); n != 1 {
			return "", fmt.Errorf("%s holds %d times what the mistake replaces: %q", original, n, m.right)
		}
		wrong = strings.Replace(wrong, m.right, m.wrong, 1)
	}
	changed := filepath.Join(dir, "committer-early.go")
	list, err := json.Marshal(map[string]map[string]string{"Replace": {original: changed}})
	if err != nil {
		return "", err
	}
	overlay = filepath.Join(dir, "early.json")
	if err := os.WriteFile(changed, []byte(wrong), 0o600); err != nil {
		return "", err
	}
	return overlay, os.WriteFile(overlay, list, 0o600)
}
