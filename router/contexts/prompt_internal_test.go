package contexts

import (
	"strings"
	"testing"
)

func TestAskingOf(t *testing.T) {
	for prompt, want := range map[string]string{
		"which package manager do we use": "packages", "ship it": "deployment", "run the tests": "tests", "Who do I ask about billing?": "people",
		"put the version from before back": "rollback", "create a branch for it": "branches", "the dev server should listen on port 8080": "ports",
	} {
		if a := askingOf(prompt, "", nil); a.subjects[want] == 0 || !strings.HasPrefix(a.search, prompt+" ") {
			t.Errorf("%q asks for %v, by %q", prompt, a.subjects, a.search)
		}
	}
	for _, prompt := range []string{"thanks, looks good", "ok go on", "Yes please!", "…", "", "🙂", "what do you think?"} {
		if a := askingOf(prompt, "", nil); a.search != "" || len(a.subjects) > 0 {
			t.Errorf("%q asks for %v, by %q", prompt, a.subjects, a.search)
		}
	}
	for _, prompt := range []string{"write a haiku about the sea", "rename this variable to total", "explain this loop"} {
		if a := askingOf(prompt, "", nil); len(a.subjects) > 0 {
			t.Errorf("%q asks for %v", prompt, a.subjects)
		}
	}
}

func FuzzAskingOf(f *testing.F) {
	f.Add("run the tests")
	f.Add(strings.Repeat("deploy ", 3000))
	f.Fuzz(func(t *testing.T, prompt string) {
		if a := askingOf(prompt, "", nil); a.search != "" && !strings.HasPrefix(a.search, prompt) {
			t.Errorf("%q is searched for by %q", prompt, a.search)
		}
	})
}
