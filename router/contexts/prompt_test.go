package contexts_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/learning/guard"
	"github.com/skillrouter/skillrouter/router/contexts"
)

// TestPromptsProject: a prompt is told what belongs to it in its project and in none, no rule, and nothing twice.
func TestPromptsProject(t *testing.T) {
	s := teamMemory()
	s.rules = []guard.Rule{{ID: "rule", Title: "Never run npm install", WhyBad: "npm breaks the lockfile", Confidence: 1}}
	yarn := entry("yarn", "Use yarn, not npm", "The lockfile is yarn.lock.")
	yarn.Project = "infra"
	everywhere := entry("registry", "The npm registry is ours", "Packages come from npm.example.")
	s.knowledge = append(s.knowledge, yarn, everywhere)
	b := s.builder()
	ask := func(prompt, session string) []string {
		t.Helper()
		c, err := b.Build(asReader(t), contexts.Request{Prompt: true, Task: prompt, Budget: 600, Project: "shop", AgentID: "a", SessionID: session})
		if err != nil {
			t.Fatal(err)
		}
		check(t, c)
		got := ids(c)
		slices.Sort(got)
		return got
	}
	if got := ask("add lodash with npm", "s"); !slices.Equal(got, []string{"pnpm", "registry"}) {
		t.Errorf("it is told %q", got)
	}
	if got := ask("which package manager do we use", "s"); len(got) != 0 {
		t.Errorf("it is told again: %q", got)
	}
	if got := ask("which package manager do we use", "other"); !slices.Contains(got, "pnpm") {
		t.Errorf("it is told %q", got)
	}
	for _, prompt := range []string{"thanks!", "go on", "write a haiku about the sea"} {
		if got := ask(prompt, ""); len(got) != 0 {
			t.Errorf("%q is told %q", prompt, got)
		}
	}
}

// TestSubagent: it begins with the rules, what is decided and what belongs to its task, each once.
func TestSubagent(t *testing.T) {
	c := teamMemory().build(t, contexts.Request{Prompt: true, Start: true, Task: "never drop the orders table, and add lodash with npm", Budget: 1200, Project: "shop", AgentID: "a", SessionID: "s"})
	if got, want := ids(c), []string{"never", "never-all", "never-low", "decided", "pnpm"}; !slices.Equal(got, want) {
		t.Errorf("it is told %q, not %q\n%s", got, want, c.Text)
	}
	if n := strings.Count(c.Text, "# Memory\n"); n != 1 {
		t.Errorf("%d headers:\n%s", n, c.Text)
	}
	if c := teamMemory().build(t, contexts.Request{Prompt: true, Start: true, Budget: 1200, Project: "shop"}); len(c.Items) != 4 {
		t.Errorf("without a task it is told %q", ids(c))
	}
}
