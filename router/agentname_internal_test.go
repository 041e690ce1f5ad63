package router

import (
	"slices"
	"testing"
)

func TestAgentsNamed(t *testing.T) {
	ids := []string{"amber", "claude-code:young-lark", "claude-code:calm-otter", "codex:calm-otter", "builder-1", "builder-2", "Blue"}
	for part, want := range map[string][]string{
		"amber":                  {"amber"},
		"young-lark":             {"claude-code:young-lark"},
		"Lark":                   {"claude-code:young-lark"},
		"calm-otter":             {"claude-code:calm-otter", "codex:calm-otter"},
		"codex:calm-otter":       {"codex:calm-otter"},
		"codex":                  {"codex:calm-otter"},
		"blue":                   {"Blue"},
		"builder":                {"builder-1", "builder-2"},
		"builder-1":              {"builder-1"},
		"build":                  nil,
		"claude":                 nil,
		"":                       nil,
		":":                      nil,
		"claude-code:young-lark": {"claude-code:young-lark"},
	} {
		if got := AgentsNamed(part, ids); !slices.Equal(got, want) {
			t.Errorf("%q means %q, want %q", part, got, want)
		}
	}
}
