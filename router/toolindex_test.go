package router_test

import (
	"slices"
	"testing"

	"github.com/skillrouter/skillrouter/router"
)

func TestToolIndexFindsToolsByWords(t *testing.T) {
	index := router.NewToolIndex([]router.Tool{
		{Name: "list_team_tasks", Title: "List tasks", Description: "What the team has to do.", Toolset: "operations"},
		{Name: "claim_team_task", Title: "Claim a task", Description: "Take a waiting task for yourself.", Toolset: "operations"},
		{Name: "retire_lesson", Title: "Retire a lesson", Description: "Take a lesson out of use.", Toolset: "lessons"},
		{Name: "remember_fact", Title: "Remember a fact", Description: "Store a value under a key.", Toolset: "facts"},
	}, func(tool router.Tool) []string {
		if tool.Name == "remember_fact" {
			return []string{"ttl", "seconds"}
		}
		return nil
	})
	for name, c := range map[string]struct{ words, first string }{
		"its name":          {"retire_lesson", "retire_lesson"},
		"what it is for":    {"take a waiting task", "claim_team_task"},
		"a parameter":       {"ttl", "remember_fact"},
		"another form":      {"retiring lessons", "retire_lesson"},
		"a word misspelt":   {"remembr", "remember_fact"},
		"what nobody wrote": {"xylophone", ""},
		"nothing":           {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			found := index.Find(c.words)
			if c.first == "" && len(found) > 0 || c.first != "" && (len(found) == 0 || found[0] != c.first) {
				t.Errorf("%q finds %v, want %q first", c.words, found, c.first)
			}
			if slices.Contains(found, "") {
				t.Errorf("a tool without a name: %v", found)
			}
		})
	}
}
