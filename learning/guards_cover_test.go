package learning_test

import (
	"context"
	"slices"
	"testing"

	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/guard"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// TestNoRuleIsKeptOut (finding S2): an agent that reported a rule first, under a
// title that another's rule would have, kept that one's commands and severity
// out of the guard. Each case is two reports, and what is blocked afterwards.
func TestNoRuleIsLeftOut(t *testing.T) {
	const folder = "Deleting the warehouse folder"
	rule := func(title string, severity learning.Severity, commands ...string) lesson.Draft {
		return lesson.Draft{
			Type: learning.LessonAntiPattern, Domain: "storage", Category: "files", Title: title, Context: "it was gone", Action: "removed it", Outcome: "lost",
			Severity: severity, RelatedCommands: commands,
		}
	}
	with := func(d lesson.Draft, change func(*lesson.Draft)) lesson.Draft {
		change(&d)
		return d
	}
	for name, tc := range map[string]struct {
		first, second lesson.Draft
		again         bool // the second is reported by the author of the first
		blocked       []string
		lessons       int
	}{
		"other commands under the title": {
			first: rule(folder, learning.SeverityLow, "frobnicate9"), second: rule(folder, learning.SeverityCritical, "rm -rf /srv/warehouse"),
			blocked: []string{"rm -rf /srv/warehouse"}, lessons: 2,
		},
		"the milder report last": {
			first: rule(folder, learning.SeverityCritical, "rm -rf /srv/warehouse"), second: rule(folder, learning.SeverityLow, "frobnicate9"),
			blocked: []string{"rm -rf /srv/warehouse"}, lessons: 2,
		},
		"nearly the same words": {
			first:  rule("Never drop tables of the shop by hand", learning.SeverityLow, "dropdb scratch9"),
			second: rule("Never drop tables of the shop by hand!", learning.SeverityCritical, "DROP TABLE users"), blocked: []string{"psql -c 'DROP TABLE users'"}, lessons: 1,
		},
		"the command as what is to be done instead": {
			first:   with(rule(folder, learning.SeverityCritical, "frobnicate9"), func(d *lesson.Draft) { d.Alternatives = []string{"rm -rf /srv/warehouse"} }),
			second:  rule(folder, learning.SeverityCritical, "rm -rf /srv/warehouse"),
			blocked: []string{"rm -rf /srv/warehouse", "frobnicate9"}, lessons: 2,
		},
		"a later report that recommends it": {
			first:   rule(folder, learning.SeverityCritical, "rm -rf /srv/warehouse"),
			second:  with(rule(folder, learning.SeverityCritical, "frobnicate9"), func(d *lesson.Draft) { d.Solution = "rm -rf /srv/warehouse" }),
			blocked: []string{"rm -rf /srv/warehouse", "frobnicate9"}, lessons: 2,
		},
		"another pattern": {
			first:   with(rule(folder, learning.SeverityLow, "frobnicate9"), func(d *lesson.Draft) { d.TriggerPattern = "frobnicate[0-9]" }),
			second:  with(rule(folder, learning.SeverityCritical), func(d *lesson.Draft) { d.TriggerPattern = "warehousectl +purge" }),
			blocked: []string{"warehousectl purge"}, lessons: 2,
		},
		"a list that is full": {
			first: with(rule(folder, learning.SeverityCritical), func(d *lesson.Draft) {
				for i := range 50 {
					d.RelatedCommands = append(d.RelatedCommands, "frobnicate "+string(rune('a'+i%26))+string(rune('a'+i/26)))
				}
			}),
			second: with(rule(folder, learning.SeverityCritical, "rm -rf /srv/warehouse"), func(d *lesson.Draft) {
				for i := range 49 {
					d.RelatedCommands = append(d.RelatedCommands, "wipe9 "+string(rune('a'+i%26))+string(rune('a'+i/26)))
				}
			}),
			blocked: []string{"rm -rf /srv/warehouse", "frobnicate aa"}, lessons: 2,
		},
		"said again by its author": {
			first: rule(folder, learning.SeverityCritical, "rm -rf /srv/warehouse"), second: rule(folder, learning.SeverityCritical, "rm -rf /srv/warehouse"), again: true,
			blocked: []string{"rm -rf /srv/warehouse"}, lessons: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := openGuards(t)
			lessons := lesson.NewLessons(g.store, lesson.Options{Rules: g.Guards})
			if err := lessons.Rebuild(t.Context()); err != nil {
				t.Fatal(err)
			}
			second := asAgent(t, "captain", principal.ScopeCaptain)
			if tc.again {
				second = asAgent(t, "a")
			}
			ids := map[string]bool{value[lesson.Reported](t)(lessons.Report(asAgent(t, "a"), tc.first)).LessonID: true}
			for range 3 { // it comes to no more rows than one each
				ids[value[lesson.Reported](t)(lessons.Report(second, tc.second)).LessonID] = true
			}
			if len(ids) > 2 || tc.lessons == 1 && len(ids) != 1 && name != "nearly the same words" || tc.lessons == 2 && len(ids) != 2 {
				t.Errorf("%d lessons came of it", len(ids))
			}
			again := guards{g.again(t), g.memory, g.now} // as after a restart
			for _, command := range tc.blocked {
				if v := g.check(t, "a", command); !v.Blocked {
					t.Errorf("%q is let through: %+v", command, v)
				}
				if v := again.check(t, "a", command); !v.Blocked {
					t.Errorf("%q is let through after a restart: %+v", command, v)
				}
			}
		})
	}
}

// TestDemotedRuleTakesNothingIn (finding S2): a rule that was demoted only warns;
// a report under its title that brings a command of its own blocks all the same.
func TestDemotedRuleTakesNothingIn(t *testing.T) {
	g := openGuards(t)
	lessons := lesson.NewLessons(g.store, lesson.Options{Rules: g.Guards})
	if err := lessons.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	draft := lesson.Draft{
		Type: learning.LessonAntiPattern, Domain: "storage", Category: "files", Title: "Never wipe the cache", Context: "c", Action: "wiped", Outcome: "lost",
		Severity: learning.SeverityCritical, RelatedCommands: []string{"cachectl wipe --all"},
	}
	first := value[lesson.Reported](t)(lessons.Report(asAgent(t, "a"), draft))
	demoted := false
	for i := 0; i < 20 && !demoted; i++ {
		agent := []string{"a", "b"}[i%2]
		s := g.override(t, agent, "cachectl wipe --all", learning.ResultSuccess)
		demoted = slices.ContainsFunc(s.Rules, func(r guard.RuleMoved) bool { return r.Demoted })
	}
	if !demoted {
		t.Fatal("it was never demoted")
	}
	if again := value[lesson.Reported](t)(lessons.Report(asAgent(t, "c"), draft)); again.LessonID != first.LessonID || g.check(t, "a", "cachectl wipe --all").Blocked {
		t.Error("who says the same again has restored it")
	}
	draft.RelatedCommands = []string{"cachectl shred"}
	if other := value[lesson.Reported](t)(lessons.Report(asAgent(t, "c"), draft)); other.LessonID == first.LessonID || !g.check(t, "a", "cachectl shred").Blocked {
		t.Errorf("a new command went into the demoted rule: %+v", other)
	}
}

// TestProposedRule (finding O10): an anti-pattern that is proposed stops nothing
// until somebody else confirms it, and keeps nobody's rule out.
func TestProposedRule(t *testing.T) {
	const command, other = "systemctl stop warehouse", "systemctl stop granary"
	g := openGuards(t)
	lessons := lesson.NewLessons(g.store, lesson.Options{Rules: g.Guards})
	if err := lessons.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	propose := func(title, command string) lesson.Reported {
		return value[lesson.Reported](t)(lessons.Report(asAgent(t, "a"), lesson.Draft{
			Type: learning.LessonAntiPattern, Domain: "storage", Category: "notes", Title: title, Context: "it was gone", Action: "removed it", Outcome: "lost",
			Severity: learning.SeverityCritical, RelatedCommands: []string{command}, Proposed: true,
		}))
	}
	first, second := propose("Never delete the warehouse folder", command), propose("The granary stays", other)
	stops := func(command string, want bool) {
		t.Helper()
		again := guards{g.again(t), g.memory, g.now} // as after a restart
		if now, later := g.check(t, "b", command), again.check(t, "b", command); now.Blocked != want || later.Blocked != want || !want && len(now.Matches)+len(later.Matches) > 0 {
			t.Errorf("%q: %+v, and after a restart %+v", command, now, later)
		}
	}
	judge := func(ctx context.Context, id string, kind lesson.ValidationType) (lesson.Lesson, error) {
		return lessons.Validate(ctx, id, lesson.ValidationDraft{Type: kind})
	}
	stops(command, false)
	if _, err := judge(asAgent(t, "a"), first.LessonID, lesson.ValidationConfirmed); err == nil {
		t.Error("who proposed it confirmed it")
	}
	if l := value[lesson.Lesson](t)(judge(asAgent(t, "b"), first.LessonID, lesson.ValidationPartial)); !l.Proposed {
		t.Errorf("a part of it was confirmed, and it is %+v", l)
	}
	stops(command, false)
	if l := value[lesson.Lesson](t)(judge(asAgent(t, "b"), first.LessonID, lesson.ValidationConfirmed)); l.Proposed || l.Status != lesson.StatusValidated {
		t.Errorf("confirmed, it is %+v", l)
	}
	stops(command, true)
	if again := propose("Never delete the warehouse folder", "frobnicate9"); again.LessonID == first.LessonID {
		t.Error("a proposal was merged into a rule")
	}
	stops(command, true)

	// A rule that somebody reports is one at once, whatever was proposed under its title.
	rule := value[lesson.Reported](t)(lessons.Report(asAgent(t, "captain", principal.ScopeCaptain), lesson.Draft{
		Type: learning.LessonAntiPattern, Domain: "storage", Category: "files", Title: "The granary stays", Context: "it was gone", Action: "removed it", Outcome: "lost",
		Severity: learning.SeverityCritical, RelatedCommands: []string{other},
	}))
	stops(other, true)
	if l := value[lesson.Lesson](t)(judge(asAgent(t, "b"), second.LessonID, lesson.ValidationRefuted)); l.Status != lesson.StatusRetired || rule.LessonID == second.LessonID {
		t.Errorf("refuted, it is %+v", l)
	}
	stops(other, true)
}
