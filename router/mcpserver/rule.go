package mcpserver

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"skillrouter/learning"
	"skillrouter/learning/guard"
	"skillrouter/learning/guard/rule"
	"skillrouter/learning/lesson"
)

// ruleView is what a model needs of a guard rule.
type ruleView struct {
	ID           string            `json:"rule_id"`
	Title        string            `json:"title"`
	WhyBad       string            `json:"why_bad"`
	Alternatives []string          `json:"alternatives,omitempty"`
	Severity     learning.Severity `json:"severity"`
	Domain       string            `json:"domain"`
	Blocks       bool              `json:"blocks"`
	Demoted      bool              `json:"demoted"`
	Confidence   float64           `json:"confidence"`
	Precision    float64           `json:"precision"`
	Triggered    int64             `json:"times_triggered"`
	Heeded       int64             `json:"heeded"`
	Overridden   int64             `json:"overridden"`
}

type rules struct {
	Rules  []ruleView `json:"rules"`
	Total  int        `json:"total"`
	Next   string     `json:"next,omitempty"`
	Notice string     `json:"notice,omitempty"`
}

type oneRule struct {
	Rule   ruleView `json:"rule"`
	Notice string   `json:"notice"`
}

// shownCheckRecord is what a model needs of a line of the guard's ledger.
type shownCheckRecord struct {
	ID       string         `json:"check_id"`
	At       time.Time      `json:"at"`
	AgentID  string         `json:"agent_id,omitempty"`
	Action   string         `json:"proposed_action"`
	Decision rule.Decision  `json:"decision"`
	Outcome  lesson.Outcome `json:"outcome,omitempty"`
}

type checks struct {
	Checks []shownCheckRecord `json:"checks"`
	Next   string             `json:"next,omitempty"`
	Notice string             `json:"notice,omitempty"`
}

// addRuleTools offers the guard's rules and its ledger.
func (s *Server) addRuleTools() {
	s.addPackTools()
	add(s, tool{
		name: "list_rules", title: "Guard rules", set: ToolsetLessons, effect: reads, holds: "rules total",
		description: "What check_before_action holds actions to, and how often each rule was right.",
	}, described[guard.RuleFilter]("source", "domain", "severity", "demoted", "blocks", "cursor", "limit"), then(s.services.Guard.Rules, func(page guard.RulePage) (rules, string) {
		out := rules{Rules: views(page.Rules, shownRule), Total: page.Total, Next: page.Next}
		return out, listing(out.Rules, &out.Notice, ruleEntry, "No rule fits.", "%s of %d.", count(len(out.Rules), "rule", "rules"), out.Total).String()
	}))
	add(s, tool{
		name: "restore_rule", title: "Restore a rule", set: ToolsetLessons, effect: ensure, holds: "rule",
		description: "Let a demoted rule block again.",
	}, describedOne[string, guard.RestorationDraft]("rule_id!", "", "notes"), then(changing(s.services.Guard.RestoreRule), func(restored guard.Rule) (oneRule, string) {
		out := oneRule{shownRule(restored), notice}
		text := alone(&out.Rule, ruleEntry, "It is restored.")
		return out, text
	}))
	add(s, tool{
		name: "list_checks", title: "The guard's ledger", set: ToolsetLessons, effect: reads, holds: "checks",
		description: "Which actions were checked, what was decided, and what came of it, the latest first.",
	}, func(p *params, f *lesson.LedgerFilter) {
		p.may("agent_id", &f.Agent, "")
		p.may("project", &f.Project, "")
		p.may("rule_id", &f.RuleID, "That this rule matched")
		p.may("decision", &f.Decision, "", among(rule.DecisionAllow, rule.DecisionWarn, rule.DecisionBlock))
		p.may("outcome", &f.Outcome, "", among(lesson.Outcomes()...))
		p.may("cursor", &f.Cursor, nextPage)
		p.limit(&f.Limit, guard.DefaultRuleLimit, learning.MaxLimit)
	}, then(s.services.Guard.Ledger, func(page guard.LedgerPage) (checks, string) {
		out := checks{Checks: views(page.Checks, shownCheck), Next: page.Next}
		return out, listing(out.Checks, &out.Notice, checkEntry, "No check fits.", "%s, the latest first.", count(len(out.Checks), "check", "checks")).String()
	}))
}

// addPackTools offers the packs of rules, for the captain.
func (s *Server) addPackTools() {
	shown := func(list guard.PackList) (guard.PackList, string) {
		var said strings.Builder
		fmt.Fprintf(&said, "%s.", count(list.Count, "pack", "packs"))
		for _, p := range list.Packs {
			fmt.Fprintf(&said, "\n%s: %s, %s. %s", p.Name, p.Mode, count(p.Rules, "rule", "rules"), visible(p.About))
		}
		return list, said.String()
	}
	add(s, tool{
		name: "list_packs", title: "Packs of the guard", set: ToolsetAdmin, effect: reads, holds: "packs count",
		description: "The sets of rules that the guard brings, and whether each is off, warns or blocks.",
	}, described[guard.PackFilter]("project"), then(s.services.Guard.Packs, shown))
	add(s, tool{
		name: "set_packs", title: "Switch packs", set: ToolsetAdmin, effect: ensure, holds: "packs count",
		description: "Switch packs of the guard off, to warn or to block; for the captain.",
	}, func(p *params, d *guard.PackDraft) {
		p.may("names", &d.Names, "Which")
		p.may("all", &d.All, "Every pack")
		p.must("mode", &d.Mode, "default takes back what was said", among(append(rule.AllModes(), guard.ModeDefault)...))
		p.may("project", &d.Project, "There alone")
		p.actor(&d.By)
	}, then(s.services.Guard.SetPacks, shown))
	add(s, tool{
		name: "explain_action", title: "Explain a verdict", set: ToolsetAdmin, effect: reads, holds: "decision acts",
		description: "What the guard reads in an action and would say of it, by which rules and how sure. No check is made.",
	}, described[rule.Action]("proposed_action", "tool", "args"), then(s.services.Guard.Explain, func(e guard.Explained) (guard.Explained, string) {
		f := newFence("%s", fmt.Sprintf("It would %s this.", e.Decision))
		f.explain()
		for i, m := range e.Matches {
			f.add(fmt.Sprintf("%d. %s, %s", i+1, m.Severity, m.Sure), attributes("rule", m.RuleID, "pack", m.Pack), m.Title, part("Why", m.WhyBad), part("What fits", m.Reason))
		}
		for _, m := range e.Off {
			f.say("The pack %s is off; its rule %q would fit.", visible(m.Pack), visible(m.RuleID))
		}
		return e, f.String()
	}))
}

func shownCheck(c lesson.CheckRecord) shownCheckRecord {
	if c.Withheld {
		c.Action = "(another agent's, shown to that agent and captains)"
	}
	return shownCheckRecord{ID: c.ID, At: c.At, AgentID: c.Agent, Action: c.Action, Decision: c.Decision, Outcome: c.Outcome}
}

func checkEntry(c *shownCheckRecord) entry {
	return entry{[]*string{&c.Action}, func(int) (string, []string) {
		label := fmt.Sprintf("%s at %s by %s", c.Decision, c.At.UTC().Format(time.RFC3339), author(c.AgentID))
		if c.Outcome != "" {
			label += ", " + string(c.Outcome)
		}
		return label, []string{attributes("check", c.ID), c.Action}
	}}
}

func shownRule(r guard.Rule) ruleView {
	return ruleView{
		ID: r.ID, Title: r.Title, WhyBad: r.WhyBad, Alternatives: append([]string{}, r.Alternatives...), Severity: r.Severity, Domain: r.Domain, Blocks: r.Blocks, Demoted: r.Demoted,
		Confidence: r.Confidence, Precision: r.Precision, Triggered: r.TimesTriggered, Heeded: r.Heeded, Overridden: r.Overridden,
	}
}

func ruleEntry(r *ruleView) entry {
	return entry{slices.Concat([]*string{&r.Title, &r.WhyBad}, each(r.Alternatives)), func(cut int) (string, []string) {
		does := "warns"
		switch {
		case r.Demoted:
			does = "was demoted, only warns"
		case r.Blocks:
			does = "blocks"
		}
		figures := "never triggered"
		if r.Triggered > 0 {
			figures = fmt.Sprintf("confidence %.2f, precision %.2f, fitted %d×, heeded %d×, overridden %d×", r.Confidence, r.Precision, r.Triggered, r.Heeded, r.Overridden)
		}
		return fmt.Sprintf("%s, %s, %s", r.Severity, does, figures), []string{
			attributes("rule", r.ID, "domain", r.Domain), r.Title, part("Why", r.WhyBad), part("Instead", strings.Join(r.Alternatives, "; ")), cutNote(cut),
		}
	}}
}
