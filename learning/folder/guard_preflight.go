package folder

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/skillrouter/skillrouter/internal/defaults"
)

// maxArtifact bounds what is read of a preflight, in bytes.
const maxArtifact = 4 << 20

// clockSlack is how far ahead a preflight's own time may be of ours, which is
// then taken for fresh; one that is further ahead says nothing.
const clockSlack = 5 * time.Minute

// preflight is the latest preflight's matches, and what is to be found about its
// age: by its own time, or by the file's where it has none that can be.
func (g *guarding) preflight(root *os.Root, now time.Time) ([]Match, []Finding) {
	rule := g.policy.Preflight
	names, _ := fs.Glob(root.FS(), filepath.ToSlash(rule.ArtifactGlob)) // the pattern was checked with the policy
	var latest time.Time
	var matches []Match
	name := ""
	for _, candidate := range names {
		info, err := root.Stat(candidate)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		made := info.ModTime()
		var p Preflight
		if text, err := readRegular(info, nil, root.Open, candidate, maxArtifact); err == nil && json.Unmarshal(text, &p) == nil {
			if own, err := time.Parse(time.RFC3339, p.GeneratedAt); err == nil && own.Before(now.Add(clockSlack)) {
				made = own
			}
		}
		if name == "" || made.After(latest) {
			name, latest, matches = candidate, made, p.Matches
		}
	}
	matches = defaults.List(matches)
	if !on(rule.Required) || !on(g.policy.DeterministicChecks.RequirePreflightArtifact) {
		return matches, nil
	}
	if name == "" {
		return matches, []Finding{{RatingMedium, CodeMissingPreflight, "there is no preflight that fits " + rule.ArtifactGlob + "; `skillrouter lessons preflight --task …` makes one"}}
	}
	if age := now.Sub(latest); age > time.Duration(rule.MaxAgeHours*float64(time.Hour)) {
		return matches, []Finding{{RatingMedium, CodeStalePreflight, fmt.Sprintf("the latest preflight %s is %.1f hours old, and may be %g", name, age.Hours(), rule.MaxAgeHours)}}
	}
	return matches, nil
}
