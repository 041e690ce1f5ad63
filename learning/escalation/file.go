package escalation

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/plainyaml"
	"github.com/skillrouter/skillrouter/learning/condition"
)

// DomainSupervisor is the group of rules that goes to whoever supervises the
// lesson's domain.
const DomainSupervisor = "domain_supervisor"

// file is a file of rules as it is written.
type file struct {
	Agents map[string]string        `yaml:"agents"`
	Rules  map[string][]writtenRule `yaml:"rules"`
}

type writtenRule struct {
	Condition string `yaml:"condition"`
	Reason    string `yaml:"reason"`
}

// maxDepth bounds how deep a file may be nested; rules need four levels.
const maxDepth = 16

// readFile reads the rules of a file, not compiled yet, in the order
// of their groups' names.
func readFile(name string, text []byte) (rules []escalationRule, err error) {
	var file file
	if err := plainyaml.Decode(text, MaxFile, maxDepth, &file); err != nil {
		lead := name + ": "
		if at, ok := errors.AsType[*plainyaml.Problem](err); ok && at.Line > 0 {
			lead = name + ":"
		}
		return nil, errs.Wrap(errs.Invalid, err, "%s%s", lead, err)
	}
	for _, group := range slices.Sorted(maps.Keys(file.Rules)) {
		to, listed := file.Agents[group]
		switch {
		case group == DomainSupervisor && listed:
			return nil, errs.Errorf(errs.Invalid, "%s: %s is the supervisor of each domain, and no single agent", name, group)
		case group == DomainSupervisor:
			to = ""
		case !listed:
			to = group
			fallthrough
		default:
			if err := check.AgentID("agents."+group, to); err != nil {
				return nil, errs.Wrap(errs.Invalid, err, "%s: %s goes to no agent's id: it %s", name, group, errs.MessageOf(err))
			}
		}
		for _, written := range file.Rules[group] {
			rule, err := written.rule(to)
			if err != nil {
				return nil, errs.Wrap(errs.Invalid, err, "%s: a rule of %s: %s", name, group, errs.MessageOf(err))
			}
			rule.group = group
			rules = append(rules, rule)
		}
	}
	for agent := range file.Agents {
		if _, used := file.Rules[agent]; !used {
			return nil, errs.Errorf(errs.Invalid, "%s: agents names %s, and no group of rules has that name", name, agent)
		}
	}
	if len(rules) > MaxRules {
		return nil, errs.Errorf(errs.Invalid, "%s: holds more than %d rules", name, MaxRules)
	}
	return rules, nil
}

func (w writtenRule) rule(to string) (escalationRule, error) {
	if err := check.Required("condition", w.Condition, condition.MaxLength); err != nil {
		return escalationRule{}, withField(err)
	}
	if err := check.Required("reason", w.Reason, MaxReason); err != nil {
		return escalationRule{}, withField(err)
	}
	return escalationRule{to: to, condition: strings.TrimSpace(w.Condition), reason: check.OneLine(w.Reason)}, nil
}

// withField puts the name of the field at fault into the message.
func withField(err error) error {
	return errs.Errorf(errs.Invalid, "%s %s", errs.FieldOf(err), errs.MessageOf(err))
}
