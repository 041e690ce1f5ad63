package rule_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/guard/rule"
)

const shopPack = `# What our shop must not lose.
[shop 1 block]
about: What our shop must not lose
shop-admin wipe NAME | critical | Wiping a shop | Its orders are in no backup for a day. | shop-admin wipe --dry-run
DELETE FROM orders | high | Deleting orders | The tax office wants them for ten years. | psql -c 'SELECT count(*) FROM orders WHERE id = 3'
package.publish | low | Publishing by hand | The build publishes. | npm publish --dry-run
tar c . | ssh backup.example 'cat > NAME' | high | A backup by hand | Nobody rotates it. | make backup
`

// TestTeamPack: a team's pack stops what its rows say, by harm and by command, and nothing beside it.
func TestTeamPack(t *testing.T) {
	pack, err := rule.NewTeamPack(t.Context(), shopPack, nil)
	if err != nil || pack.Name != "shop" || pack.Version != 1 || len(pack.Rules) != 4 || pack.Text != shopPack {
		t.Fatalf("%+v %v", pack, err)
	}
	stored, err := rule.StoredTeamPack("\ufeff" + strings.ReplaceAll(shopPack, "\n", "\r\n"))
	if err != nil || len(stored.Rules) != 4 || stored.Rules[0].Draft.ID != pack.Rules[0].Draft.ID {
		t.Fatalf("of Windows: %+v %v", stored, err)
	}
	var rules []*rule.Rule
	for _, r := range pack.Rules {
		rules = append(rules, r.In(rule.ModeBlock))
	}
	guard := rule.New(rules, rule.NewSimilarByWords())
	for command, want := range map[string]string{
		"shop-admin wipe berlin":                       "pack:shop:shop-admin-wipe-name.",
		"cd x && sudo shop-admin wipe 'berlin'":        "pack:shop:shop-admin-wipe-name.",
		"psql -c 'delete from orders where true'":      "pack:shop:delete-from-orders.",
		"npm publish --access public":                  "pack:shop:package.publish",
		"shop-admin wipe --dry-run":                    "",
		"shop-admin list":                              "",
		"echo shop-admin wipe berlin":                  "",
		"git commit -m 'never shop-admin wipe berlin'": "",
		"psql -c 'delete from baskets where id = 3'":   "",
		"wiping a shop, its orders are in no backup":   "",
	} {
		v := guard.Check(t.Context(), rule.Action{Command: command})
		if got := v.Decision == rule.DecisionBlock; got != (want != "") || got && !strings.HasPrefix(v.Matches[0].RuleID, want) || !got && len(v.Matches) > 0 {
			t.Errorf("%s: %s %+v, want %q", command, v.Decision, v.Matches, want)
		}
	}
}

// TestTeamPackRefused: one bad row refuses the whole pack, and the error names its line and the part of it.
func TestTeamPackRefused(t *testing.T) {
	const head, row = "[shop 1 block]\nabout: x\n", "shop-admin wipe NAME | critical | title | reason | shop-admin wipe --dry-run\n"
	if _, err := rule.NewTeamPack(t.Context(), head+row, nil); err != nil {
		t.Fatal(err)
	}
	many := strings.Builder{}
	for i := range 10_000 {
		fmt.Fprintf(&many, "a%d b | low | t | r | ls\n", i)
	}
	for name, c := range map[string]struct{ text, want string }{
		"empty":                       {" \n", "is required"},
		"too long":                    {head + strings.Repeat("# x\n", rule.MaxPackFile/4), "longer than 262144 bytes"},
		"binary":                      {"\x7fELF\xff\x00", "not valid UTF-8"},
		"NUL":                         {head + "\x00", "NUL"},
		"escape":                      {head + "a b | low | \x1b[31m | r | ls\n", "control characters"},
		"no heading":                  {row, "line 1 of the packs: a rule stands under no pack"},
		"two packs":                   {head + row + "[other 1 block]\nabout: y\n" + row, "a file holds one pack"},
		"no rule":                     {head, "no rule"},
		"no about":                    {"[shop 1 block]\n" + row, "about"},
		"name of the program":         {"[core 9 off]\nabout: x\n" + row, "pack of the program"},
		"bad name":                    {"[Shop/.. 1 block]\nabout: x\n" + row, "letter"},
		"version 0":                   {"[shop 0 block]\nabout: x\n" + row, "line 1 of the packs: \"0\" is no version"},
		"four parts":                  {head + "a b | low | t | r\n", "line 3 of the packs: a rule has five parts"},
		"severity":                    {head + row + "a b | awful | t | r | ls\n", "line 4 of the packs: severity: \"awful\""},
		"no title":                    {head + "a b | low |  | r | ls\n", "line 3 of the packs: title: it is empty"},
		"no reason":                   {head + "a b | low | t |  | ls\n", "line 3 of the packs: reason: it is empty"},
		"no alternative":              {head + "a b | low | t | r |  \n", "line 3 of the packs: a rule has five parts"},
		"long command":                {head + strings.Repeat("x", 501) + " b | low | t | r | ls\n", "line 3 of the packs: command: it is empty, or longer"},
		"twice":                       {head + row + row, "line 4 of the packs: shop-admin wipe NAME stands there twice"},
		"10,000 rules":                {head + many.String(), "longer than 262144 bytes"},
		"257 rules":                   {head + manyLines(many.String(), 257), "there are more than 256 rules"},
		"any command":                 {head + "NAME | low | t | r | ls\n", "line 3 of the packs: command: \"NAME\" can fit nothing"},
		"a program of many uses":      {head + "git | low | t | r | ls\n", "command: \"git\" can fit nothing"},
		"any use of it":               {head + "git … | low | t | r | ls\n", "can fit nothing"},
		"any file":                    {head + "tee FILE | low | t | r | ls\n", "can fit nothing"},
		"no command":                  {head + "' | low | t | r | ls\n", "command: \"'\""},
		"a sentence":                  {head + "never do this on a friday | low | t | r | ls\n", "can fit nothing"},
		"an unknown harm":             {head + "files.roof | low | t | r | ls\n", ""},
		"the alternative is the harm": {head + "shop-admin wipe x | low | t | r | shop-admin wipe x\n", "can fit nothing"},
		"alternative of the core":     {head + "shop-admin wipe x | low | t | r | git reset --hard\n", "line 3, alternative: \"git reset --hard\" does not pass the guard itself: rule pack:core:git.discard fits it"},
		"alternative of a row":        {head + row + "a b | low | t | r | shop-admin wipe x\n", "line 4, alternative"},
		"a secret":                    {head + "curl -H 'Authorization: Bearer ghp_abcdefghijklmnopqrstuvwxyz0123456789' x.example | low | t | r | ls\n", "holds a secret"},
	} {
		_, err := rule.NewTeamPack(t.Context(), c.text, nil)
		if name == "an unknown harm" { // a team may have a program of that name
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err == nil || errs.FieldOf(err) != "text" || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	// An alternative that another pack of the team stops is none.
	other, err := rule.NewTeamPack(t.Context(), "[ops 1 off]\nabout: y\nmake backup | low | t | r | ls\n", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rule.NewTeamPack(t.Context(), shopPack, []rule.Pack{other}); err == nil || !strings.Contains(err.Error(), "line 7, alternative") {
		t.Error(err)
	}
}

func manyLines(text string, n int) string {
	return strings.Join(strings.SplitAfterN(text, "\n", n+1)[:n], "")
}

// TestPackInProjects: a pack does in a project what was said of it there.
func TestPackInProjects(t *testing.T) {
	var rules []*rule.Rule
	modes := map[string]rule.Modes{
		"core":      {All: rule.ModeBlock},
		"docker":    {All: rule.ModeOff, Projects: map[string]rule.Mode{"infra": rule.ModeBlock, "shop": rule.ModeWarn}},
		"databases": {All: rule.ModeBlock, Projects: map[string]rule.Mode{"infra": rule.ModeOff}},
	}
	for _, p := range rule.Packs() {
		if modes[p.Name].All == "" {
			continue
		}
		for _, r := range p.Rules {
			if r = r.Under(modes[p.Name]); r != nil {
				rules = append(rules, r)
			}
		}
	}
	guard := rule.New(rules, rule.NewSimilarByWords())
	const prune, drop, reset = "docker system prune -af", "psql -c 'DROP TABLE users'", "git reset --hard"
	for _, c := range []struct {
		project, command string
		want             rule.Decision
	}{
		{"", prune, rule.DecisionAllow},
		{"infra", prune, rule.DecisionBlock},
		{"shop", prune, rule.DecisionWarn},
		{"Infra", prune, rule.DecisionAllow},
		{"", drop, rule.DecisionBlock},
		{"infra", drop, rule.DecisionAllow},
		{"infra", reset, rule.DecisionBlock},
	} {
		if v := guard.Check(t.Context(), rule.Action{Command: c.command, Project: c.project}); v.Decision != c.want {
			t.Errorf("%q in %q: %s %+v", c.command, c.project, v.Decision, v.Matches)
		}
	}
	// A copy judges the same.
	copied := rule.Copy{Packs: map[string]rule.Mode{}, Projects: map[string]map[string]rule.Mode{}, Team: []string{shopPack, "[bad"}}
	for name, m := range modes {
		copied.Packs[name], copied.Projects[name] = m.All, m.Projects
	}
	sealed, err := copied.Seal([]byte("key"))
	if err != nil {
		t.Fatal(err)
	}
	if copied, err = rule.OpenCopy([]byte("key"), sealed); err != nil {
		t.Fatal(err)
	}
	copied.Demoted = []string{"pack:core:git.discard"}
	away, unread := copied.Guard()
	for command, want := range map[string]rule.Decision{prune: rule.DecisionBlock, drop: rule.DecisionAllow, reset: rule.DecisionWarn, "shop-admin wipe berlin": rule.DecisionBlock} {
		if v := away.Judge(t.Context(), rule.Action{Command: command, Project: "infra"}); v.Decision != want || unread != 1 {
			t.Errorf("of the copy: %s: %s %+v, %d", command, v.Decision, v.Matches, unread)
		}
	}
	if v := away.Judge(t.Context(), rule.Action{Command: drop}); v.Decision != rule.DecisionBlock || v.Matches[0].Severity != learning.SeverityCritical {
		t.Errorf("of the copy: %+v", v)
	}
}
