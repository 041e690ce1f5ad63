package laws_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestRelease holds that one version stands in VERSION and in what is installed from this repository without a build.
func TestRelease(t *testing.T) {
	text, err := os.ReadFile("VERSION")
	if err != nil {
		t.Fatal(err)
	}
	version := strings.TrimSuffix(string(text), "\n")
	if !regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$`).MatchString(version) {
		t.Errorf("VERSION is %q, and must be a release such as 1.0.0", text)
	}
	for _, file := range []string{"scripts/package/claude-code/.claude-plugin/plugin.json", "scripts/package/gemini/gemini-extension.json", "scripts/package/npm/package.json"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var manifest struct {
			Version  string            `json:"version"`
			Optional map[string]string `json:"optionalDependencies"`
		}
		if err := json.Unmarshal(text, &manifest); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if manifest.Version != version {
			t.Errorf("%s has version %s, and VERSION %s", file, manifest.Version, version)
		}
		for name, of := range manifest.Optional {
			if of != version {
				t.Errorf("%s asks for %s %s, and VERSION is %s", file, name, of, version)
			}
		}
	}
}
