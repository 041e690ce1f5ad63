package rule_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/learning/guard/rule"
)

// coreGroups are the groups of the collections that the pack core is for.
var coreGroups = []string{"rm", "git", "system", "self", "through", "nested", "written", "disguised"}

// collected judges the commands of a collection, each without a working folder and in one, and returns how many it judges
// right: by the packs as they are shipped, and with all of them on.
func collected(t *testing.T, file string) (right, total map[string]int) {
	shipped, all := packGuard("core", rule.PackBuiltins), packGuard()
	right, total = map[string]int{}, map[string]int{}
	for _, c := range packCommands(t, file) {
		for _, folder := range []string{"", "/home/dev/shop"} {
			action := rule.Action{Command: c.command}
			if folder != "" {
				action = rule.Action{Tool: "Bash", Args: map[string]any{"command": c.command, "cwd": folder}, Folder: folder, Place: rule.Place{Dir: folder, Home: "/home/dev"}}
			}
			if strings.HasPrefix(c.command, `{"tool"`) {
				var call struct {
					Tool string         `json:"tool"`
					Args map[string]any `json:"args"`
				}
				if err := json.Unmarshal([]byte(c.command), &call); err != nil {
					t.Fatalf("%s: %v", c.command, err)
				}
				action.Command, action.Tool, action.Args = "", call.Tool, call.Args
			}
			for set, guard := range map[string]*rule.Guard{"shipped": shipped, "all": all} {
				if set == "shipped" && c.kind == "deny" && !slices.Contains(coreGroups, c.pack) {
					continue
				}
				v := guard.Check(t.Context(), action)
				groups := []string{fmt.Sprintf("%s %s, %s", c.kind, c.pack, set), fmt.Sprintf("%s, %s", c.kind, set)}
				if c.kind == "deny" && c.pack != "self" {
					groups = append(groups, "harm, "+set)
				}
				good := c.kind == "deny" && v.Decision == rule.DecisionBlock || c.kind == "allow" && v.Decision == rule.DecisionAllow || c.kind == "warn" && v.Decision == rule.DecisionWarn
				for _, g := range groups {
					if total[g]++; good {
						right[g]++
					}
				}
				if !good {
					why := v.Notes
					for _, m := range v.Matches {
						why = append(why, m.RuleID)
					}
					t.Logf("%s %s, %s, in %q: %s: %s %q", c.kind, c.pack, set, folder, v.Decision, c.command, why)
				}
			}
		}
	}
	return right, total
}

// TestCollections holds how many commands of the collections are judged right. Each was written before anybody saw how it is judged.
func TestCollections(t *testing.T) {
	for file, least := range map[string]map[string]float64{
		"harms-fifth.txt":  {},
		"harms-fourth.txt": {"harm, shipped": 0.95, "harm, all": 0.95, "deny self, shipped": 0.95, "allow, shipped": 0.995, "allow, all": 0.995},
		"harms-third.txt":  {"allow, shipped": 0},
		"harms-second.txt": {"harm, shipped": 0.95, "harm, all": 0.95, "deny self, shipped": 0.95, "allow, shipped": 0.995, "allow, all": 0.995},
		"harms-first.txt":  {"harm, shipped": 0.93, "harm, all": 0.95, "deny self, shipped": 0.9, "allow, shipped": 0.995, "allow, all": 0.995},
	} {
		right, total := collected(t, file)
		for _, group := range slices.Sorted(maps.Keys(total)) {
			share := float64(right[group]) / float64(total[group])
			t.Logf("%s: %s: %d of %d = %.1f %%", file, group, right[group], total[group], 100*share)
			if share < least[group] {
				t.Errorf("%s: %s: %d of %d, under %.3f", file, group, right[group], total[group], least[group])
			}
		}
	}
}
