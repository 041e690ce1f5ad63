package rule_test

import (
	"testing"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/guard/act"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
)

// TestToolsByPathContentAndName: what tools that are no shell would do is judged by the packs: files by
// path and content, the web by address, and tools of others by name and arguments.
func TestToolsByPathContentAndName(t *testing.T) {
	type args = map[string]any
	type call struct {
		tool string
		args args
	}
	const bad = "#!/bin/sh\nset -e\ngit reset --hard origin/main\n"
	run := func(command string) call { return call{"Bash", args{"command": command, "cwd": "/w"}} }
	files := []act.Content{
		{Path: "/w/x.sh", Text: bad}, {Path: "/w/good.sh", Text: "git status\n"}, {Path: "/w/none.sh", Unread: "missing"}, {Path: "/w/x.py", Text: "import shutil\nshutil.rmtree('/home/me')\n"},
	}
	for name, c := range map[string]struct {
		calls []call
		want  rule.Decision // of the last; those before pass
	}{
		"a script that is run":                  {[]call{run("bash x.sh")}, rule.DecisionBlock},
		"a good one":                            {[]call{run("bash good.sh")}, rule.DecisionAllow},
		"one that is not there":                 {[]call{run("bash none.sh")}, rule.DecisionAllow},
		"a program in another language":         {[]call{run("python3 x.py")}, rule.DecisionBlock},
		"a patch for the shell, and its file":   {[]call{run("apply_patch <<'P'\n*** Begin Patch\n*** Add File: y.sh\n+git reset --hard\n*** End Patch\nP\nbash y.sh")}, rule.DecisionBlock},
		"a patch of a page":                     {[]call{{"apply_patch", args{"input": "*** Begin Patch\n*** Update File: docs/x.md\n@@\n-a\n+git reset --hard\n*** End Patch\n"}}}, rule.DecisionAllow},
		"a file of the scheduler":               {[]call{{"Write", args{"file_path": "/etc/cron.d/x", "content": "0 * * * * root git -C /srv reset --hard\n"}}}, rule.DecisionBlock},
		"a page about commands":                 {[]call{{"Write", args{"file_path": "/w/notes.md", "content": bad}}}, rule.DecisionAllow},
		"a secret that is read":                 {[]call{{"Read", args{"file_path": "/w/.env"}}}, rule.DecisionBlock},
		"a template that is read":               {[]call{{"Read", args{"file_path": "/w/.env.example"}}}, rule.DecisionAllow},
		"a page of the web":                     {[]call{{"WebFetch", args{"url": "https://go.dev/doc", "prompt": "what is new"}}}, rule.DecisionAllow},
		"a tool of the cluster":                 {[]call{{"mcp__kubernetes__delete_namespace", args{"name": "prod"}}}, rule.DecisionBlock},
		"its kind as an argument":               {[]call{{"kubectl_delete", args{"name": "prod", "resourceType": "namespace"}}}, rule.DecisionBlock},
		"one that looks":                        {[]call{{"mcp__kubernetes__get_pods", args{"namespace": "prod"}}}, rule.DecisionAllow},
		"a tool of containers, its object last": {[]call{{"mcp__docker__remove_volume", args{"name": "pgdata"}}}, rule.DecisionBlock},
		"a tool of git":                         {[]call{{"mcp__git__git_reset", args{"repo_path": "/w", "hard": true}}}, rule.DecisionBlock},
		"a commit by a tool of git":             {[]call{{"mcp__git__git_commit", args{"repo_path": "/w", "message": "git reset --hard"}}}, rule.DecisionAllow},
		"a repository":                          {[]call{{"mcp__github__delete_repository", args{"owner": "me", "repo": "shop"}}}, rule.DecisionBlock},
		"an issue":                              {[]call{{"mcp__github__create_issue", args{"owner": "me", "repo": "shop", "title": "delete the repo", "body": "rm -rf /"}}}, rule.DecisionAllow},
		"a task":                                {[]call{{"TodoWrite", args{"todos": []any{args{"content": "git reset --hard"}}}}}, rule.DecisionAllow},
	} {
		guard := packGuard()
		for i, call := range c.calls {
			want := rule.DecisionAllow
			if i == len(c.calls)-1 {
				want = c.want
			}
			if v := guard.Check(t.Context(), rule.Action{Tool: call.tool, Args: call.args, Agent: "a", Project: "p", Files: files}); v.Decision != want {
				t.Errorf("%s: %s of %s: %+v %q", name, v.Decision, call.tool, v.Matches, v.Notes)
			}
		}
	}
	// A rule that somebody reported may name the tool itself, or an address.
	for command, call := range map[string]call{
		"mcp__tracker__close_all":       {"mcp__tracker__close_all", args{"board": "ops"}},
		"mcp__tracker__close_all ops":   {"mcp__tracker__close_all", args{"board": "ops"}},
		"curl https://old.example/docs": {"WebFetch", args{"url": "https://old.example/docs"}},
	} {
		guard := rule.New([]*rule.Rule{guardRule(t, rule.RuleDraft{ID: "r", Title: "Never do that", Commands: []string{command}, Severity: learning.SeverityCritical})}, rule.NewSimilarByWords())
		if v := guard.Check(t.Context(), rule.Action{Tool: call.tool, Args: call.args}); v.Decision != rule.DecisionBlock {
			t.Errorf("%s: %s", command, v.Decision)
		}
		if v := guard.Check(t.Context(), rule.Action{Tool: "mcp__tracker__list_boards", Args: call.args}); v.Decision != rule.DecisionAllow {
			t.Errorf("%s: %s of another tool", command, v.Decision)
		}
	}
}
