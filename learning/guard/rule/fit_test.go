package rule_test

import (
	"testing"

	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
)

// TestShortSubcommands: a rule's command may break off before its second
// subcommand, where no act that has the first one may make the comparison fail.
func TestShortSubcommands(t *testing.T) {
	for command, action := range map[string]string{
		"aws --endpoint-url http://127.0.0.1:9000 s3": "aws s3 ls",
		"docker --host=tcp://10.0.0.5 system":         "docker system df",
	} {
		r, err := rule.NewRule(rule.RuleDraft{ID: "short", Title: "Never use the system of others", Commands: []string{command}, Severity: learning.SeverityCritical})
		if err != nil {
			t.Fatal(err)
		}
		guard := rule.New([]*rule.Rule{r}, rule.NewSimilarByWords())
		if got := guard.Check(t.Context(), rule.Action{Command: action}).Matches; len(got) > 0 && got[0].Blocks {
			t.Errorf("%q is blocked by a rule of %q: %+v", action, command, got)
		}
		if got := guard.Check(t.Context(), rule.Action{Command: command}).Matches; len(got) != 1 || !got[0].Blocks {
			t.Errorf("a rule of %q does not fit itself: %+v", command, got)
		}
	}
}
