// Package early builds the router with a mistake, such as that it acknowledges writes which are applied and
// not committed yet. Tests run it to show that they would notice.
//
// The mistake is in no source of the product. It is put into a copy of one, which the
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

// Mistake says what stands in a copy in the place of something that the original holds once.
type Mistake struct{ Right, Wrong string }

// early acknowledges before the commit. An acknowledged batch then waits ten milliseconds
// for its commit, so that a crash in between need not be lucky.
var early = []Mistake{
	{"\t\"sync\"\n", "\t\"sync\"\n\t\"time\"\n"},
	{"\tbroken  error ", "\tacknowledged bool\n\tbroken  error "},
	{"\t\tc.announce <- batch\n\t\tif c.broken", "\t\tif !c.acknowledged {\n\t\t\tc.announce <- batch\n\t\t}\n\t\tc.acknowledged = false\n\t\tif c.broken"},
	{
		"\t\tapplied = true\n\t\treturn nil\n\t})\n\tif err = c.doubt(",
		"\t\tapplied, c.acknowledged = true, true\n\t\tc.announce <- batch\n\t\ttime.Sleep(10 * time.Millisecond)\n\t\treturn nil\n\t})\n\tif err = c.doubt(",
	},
}

// Build builds the router that acknowledges early into dir, and returns the program's path.
func Build(ctx context.Context, dir string) (program string, err error) {
	return BuildWrong(ctx, dir, "early", "committer.go", early...)
}

// BuildWrong builds the router with mistakes in one of its files into dir, from the module that the working directory
// is in, and returns the program's path. The name tells it from others in dir.
func BuildWrong(ctx context.Context, dir, name, file string, mistakes ...Mistake) (program string, err error) {
	module, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	original := filepath.Join(filepath.Dir(strings.TrimSpace(string(module))), file)
	overlay, err := writeOverlay(original, filepath.Join(dir, name), mistakes)
	if err != nil {
		return "", err
	}
	program = filepath.Join(dir, "skillrouter-"+name)
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-tags", "nomsgpack", "-overlay", overlay, "-o", program, "skillrouter/cmd/skillrouter")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if said, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the router with the mistake %q: %w: %s", name, err, said)
	}
	return program, nil
}

// writeOverlay writes the wrong copy of a source beside the file that tells the compiler of it, whose path it returns. Both begin with path.
func writeOverlay(original, path string, mistakes []Mistake) (overlay string, err error) {
	text, err := os.ReadFile(original)
	if err != nil {
		return "", err
	}
	wrong := string(text)
	for _, m := range mistakes {
		if n := strings.Count(wrong, m.Right); n != 1 {
			return "", fmt.Errorf("%s holds %d times what the mistake replaces: %q", original, n, m.Right)
		}
		wrong = strings.Replace(wrong, m.Right, m.Wrong, 1)
	}
	changed := path + "-wrong.go"
	list, err := json.Marshal(map[string]map[string]string{"Replace": {original: changed}})
	if err != nil {
		return "", err
	}
	overlay = path + ".json"
	if err := os.WriteFile(changed, []byte(wrong), 0o600); err != nil {
		return "", err
	}
	return overlay, os.WriteFile(overlay, list, 0o600)
}
