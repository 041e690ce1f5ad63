package mcpserver

import (
	"skillrouter/learning/guard"
	"skillrouter/learning/guard/rule"
	"skillrouter/learning/lesson"
)

// checkRecord is what a model needs of a line of the guard's ledger.
type checkRecord struct {
	lesson.CheckRecord
	Agent string `json:"agent_id,omitempty"`
}

func shownCheck(c lesson.CheckRecord) checkRecord {
	if c.Withheld {
		c.Action = "(another agent's, shown to that agent and captains)"
	}
	return checkRecord{c, c.Agent}
}

// ruleTools are the guard's rules and its ledger, and its packs of rules, for the captain.
func ruleTools() []tool {
	return []tool{
		{name: "list_packs", title: "Packs of the guard", set: ToolsetAdmin, effect: reads, holds: "packs count", does: guard.Service.Packs, takes: "project"},
		{name: "set_packs", title: "Switch packs", set: ToolsetAdmin, effect: ensure, holds: "packs count", does: guard.Service.SetPacks, takes: "names all mode! project"},
		{name: "explain_action", title: "Explain a verdict", set: ToolsetAdmin, effect: reads, holds: "decision acts", does: guard.Service.Explain, takes: "proposed_action tool args"},
		{
			name: "list_rules", title: "Guard rules", set: ToolsetLessons, effect: reads, holds: "rules total",
			does: guard.Service.Rules, takes: "source domain severity demoted blocks cursor limit", none: "No rule fits",
		},
		{name: "restore_rule", title: "Restore a rule", set: ToolsetLessons, effect: ensure, as: "rule", does: guard.Service.RestoreRule, takes: "rule_id! notes"},
		{
			name: "list_checks", title: "The guard's ledger", set: ToolsetLessons, effect: reads, holds: "checks",
			does: guard.Service.Ledger, takes: "agent_id=agent project rule_id decision outcome cursor limit", none: "No check fits",
			about: words{"decision": oneOf(rule.DecisionAllow, rule.DecisionWarn, rule.DecisionBlock)},
		},
	}
}
