package rule_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
)

// TestPlaceholders: a placeholder in a rule's command stands for any argument, and what is left of a
// command without its placeholders must say something.
func TestPlaceholders(t *testing.T) {
	for command, c := range map[string]struct{ fits, not []string }{
		"kubectl drain NAME":                       {[]string{"kubectl drain node-7", "kubectl drain NAME"}, []string{"kubectl drain", "kubectl cordon node-7"}},
		"kubectl drain <node>":                     {[]string{"kubectl drain node-7"}, []string{"kubectl get node-7"}},
		"kubectl drain {{node}} --force":           {[]string{"kubectl drain node-7 --force"}, []string{"kubectl drain node-7"}},
		"kubectl drain …":                          {[]string{"kubectl drain node-7", "kubectl drain a b"}, []string{"kubectl get pods"}},
		"systemctl stop SERVICE":                   {[]string{"systemctl stop nginx"}, []string{"systemctl status nginx"}},
		"fly deploy --app=<name>":                  {[]string{"fly deploy --app shop"}, []string{"fly deploy"}},
		"DROP TABLE TABLE_NAME":                    {[]string{"psql -c 'drop table users'", "DROP TABLE a;"}, []string{"DROP VIEW v"}},
		"DELETE FROM <table>":                      {[]string{"psql -c 'delete from users'"}, []string{"SELECT * FROM users"}},
		"rm -rf <dir>":                             {[]string{"rm -rf /srv/x", "rm -rf a"}, []string{"rm a"}},
		"cat /srv/<app>/secret":                    {[]string{"cat /srv/shop/secret"}, []string{"cat /srv/shop/public"}},
		"aws s3 rm s3://BUCKET --recursive":        {[]string{"aws s3 rm s3://invoices --recursive"}, []string{"aws s3 ls s3://invoices"}},
		"git reset --hard HEAD":                    {[]string{"git reset --hard HEAD"}, []string{"git reset v1"}},
		"sort <in>out && frobnicate --all":         {[]string{"sort <in>out && frobnicate --all"}, []string{"sort a"}},
		"curl -X DELETE https://api.example/NAME/": {[]string{"curl -X DELETE https://api.example/users"}, []string{"curl -X GET https://api.example/users"}},
		// What stands for any command, for any use of a program of many uses, or for any file, is no trigger.
		"NAME":              {},
		"<command> --force": {},
		"git <command>":     {},
		"sudo …":            {},
		"bash FILE":         {},
		"tee FILE":          {},
	} {
		r := guardRule(t, rule.RuleDraft{ID: "r", Title: "Never do that", Commands: []string{command}, Severity: learning.SeverityCritical})
		if none := len(c.fits) == 0; none == r.Deterministic() || none != slices.Contains(r.Unused(), command) {
			t.Errorf("%s: a trigger is %v, %q are none", command, r.Deterministic(), r.Unused())
		}
		guard := rule.New([]*rule.Rule{r}, rule.NewSimilarByWords())
		for _, a := range c.fits {
			if v := guard.Check(t.Context(), rule.Action{Command: a}); v.Decision != rule.DecisionBlock {
				t.Errorf("%s: %s %s", command, v.Decision, a)
			}
		}
		for _, a := range append(c.not, "ls", "git status", "sudo ls", "bash x.sh", "echo y > notes.txt") {
			if v := guard.Check(t.Context(), rule.Action{Command: a}); v.Decision == rule.DecisionBlock {
				t.Errorf("%s: %s is blocked", command, a)
			}
		}
	}
}

// TestTooWide: what fits every third everyday command is no rule unless it is forced.
func TestTooWide(t *testing.T) {
	draft := rule.RuleDraft{ID: "r", Title: "Never do that", Commands: []string{"ls -la", "cat README.md", "git status", "git diff", "git log --oneline -5", "grep -rn main .", "docker ps", "kubectl get pods"}}
	_, err := rule.NewRule(draft)
	if wide, ok := errors.AsType[*rule.TooWide](err); !ok || wide.Example == "" {
		t.Fatalf("%v", err)
	}
	if _, err := rule.NewRule(draft.Forced()); err != nil {
		t.Error(err)
	}
}
