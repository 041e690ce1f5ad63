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

// Change is what stands in a wrong copy of a source in the place of what is right.
type Change struct{ Right, Wrong string }

// mistake says what stands where in the copy. An acknowledged batch then waits ten milliseconds
// for its commit, so that a crash in between need not be lucky.
var mistake = []Change{
	{"\t\"sync\"\n", "\t\"sync\"\n\t\"time\"\n"},
	{"\tbroken  error ", "\tacknowledged bool\n\tbroken  error "},
	{"\t\tc.announce <- batch\n\t\tif c.broken", "\t\tif !c.acknowledged {\n\t\t\tc.announce <- batch\n\t\t}\n\t\tc.acknowledged = false\n\t\tif c.broken"},
	{
		"\t\tapplied = true\n\t\treturn nil\n\t})\n\treturn failed, c.doubt(",
		"\t\tapplied, c.acknowledged = true, true\n\t\tc.announce <- batch\n\t\ttime.Sleep(10 * time.Millisecond)\n\t\treturn nil\n\t})\n\treturn failed, c.doubt(",
	},
}

// Build builds the router that acknowledges early into dir, and returns the program's path.
func Build(ctx context.Context, dir string) (program string, err error) {
	return BuildWrong(ctx, dir, "early", "internal/committer/committer.go", mistake...)
}

// BuildWrong builds the router with changes of one of its files into dir, from the module that the working directory
// is in, and returns the program's path. The name tells it from others in dir.
func BuildWrong(ctx context.Context, dir, name, file string, changes ...Change) (program string, err error) {
	module, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	copies := filepath.Join(dir, name)
	if err := os.MkdirAll(copies, 0o700); err != nil {
		return "", err
	}
	overlay, err := WriteOverlay(copies, filepath.Join(filepath.Dir(strings.TrimSpace(string(module))), file), changes...)
	if err != nil {
		return "", err
	}
	program = filepath.Join(dir, "skillrouter-"+name)
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-tags", "nomsgpack", "-overlay", overlay, "-o", program, "github.com/skillrouter/skillrouter/cmd/skillrouter")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if said, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the router with the mistake %q: %w: %s", name, err, said)
	}
	return program, nil
}

// WriteOverlay writes a copy of the source original with changes into dir, and the file that tells the compiler of it (its flag
// -overlay), whose path it returns. What a change replaces must stand in the source once.
func WriteOverlay(dir, original string, changes ...Change) (overlay string, err error) {
	text, err := os.ReadFile(original)
	if err != nil {
		return "", err
	}
	wrong := string(text)
	for _, c := range changes {
		if n := strings.Count(wrong, c.Right); n != 1 {
			return "", fmt.Errorf("%s holds %d times what the mistake replaces: %q", original, n, c.Right)
		}
		wrong = strings.Replace(wrong, c.Right, c.Wrong, 1)
	}
	changed := filepath.Join(dir, filepath.Base(original))
	list, err := json.Marshal(map[string]map[string]string{"Replace": {original: changed}})
	if err != nil {
		return "", err
	}
	overlay = filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(changed, []byte(wrong), 0o600); err != nil {
		return "", err
	}
	return overlay, os.WriteFile(overlay, list, 0o600)
}
