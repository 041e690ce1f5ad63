package learning

import (
	_ "embed"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/expr-lang/expr/vm"

	"skillrouter"
)

// defaultEscalationRules are seed 000's ESCALATION_RULES, word for word.
//
//go:embed escalation_rules.yaml
var defaultEscalationRules []byte

// EscalationOptions say where escalations go. The zero value is usable.
type EscalationOptions struct {
	// Supervisors names the agent that supervises a domain; one that is not listed is
	// supervised by SupervisorOf the domain.
	Supervisors map[string]string
	Log         *slog.Logger // nil: nothing is logged
}

// EscalationRules say who should look at a lesson, and why: the seed's
// ESCALATION_RULES as data. They are compiled once and may be used by any
// number of goroutines. A nil *EscalationRules escalates nothing.
type EscalationRules struct {
	rules       []escalationRule
	supervisors map[string]string
	log         *slog.Logger
	machines    sync.Pool // of *vm.VM
}

// escalationRule is one condition, and what follows if it holds.
type escalationRule struct {
	to        string // an agent's id; empty: the domain's supervisor
	condition string
	reason    string
	program   *vm.Program
	failed    *atomic.Bool // it failed at run time, and that was logged
}

// DefaultEscalationRules returns the rules of seed 000.
func DefaultEscalationRules(options EscalationOptions) (*EscalationRules, error) {
	return LoadEscalationRules("the default escalation rules", defaultEscalationRules, options)
}

// EscalationRulesExample returns the default rules as the file that a person would edit.
func EscalationRulesExample() string { return string(defaultEscalationRules) }

// LoadEscalationRules compiles rules from the text of a YAML file; name says in
// errors which one it is. It is an Invalid error if the text is larger than
// MaxEscalationFile, is no such file, or holds a condition that does not
// compile or fails on a sample lesson.
func LoadEscalationRules(name string, text []byte, options EscalationOptions) (*EscalationRules, error) {
	file, err := readEscalationFile(name, text)
	if err != nil {
		return nil, err
	}
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	r := &EscalationRules{supervisors: map[string]string{}, log: options.Log}
	r.machines.New = func() any { return &vm.VM{MemoryBudget: conditionMemory} }
	for domain, agent := range options.Supervisors {
		if err := skillrouter.CheckAgentID("escalation.supervisors", agent); err != nil {
			return nil, err
		}
		r.supervisors[foldDomain(domain)] = agent
	}
	for _, rule := range file {
		if rule.program, err = compileLessonCondition(rule.condition); err != nil {
			return nil, skillrouter.Wrap(skillrouter.Invalid, err, "%s: the condition %q: %s", name, rule.condition, firstLine(err.Error()))
		}
		rule.failed = new(atomic.Bool)
		for _, sample := range sampleLessons() {
			if _, err := r.holds(rule, conditionEnv(sample)); err != nil {
				return nil, skillrouter.Wrap(skillrouter.Invalid, err, "%s: the condition %q fails on a lesson: %s", name, rule.condition, firstLine(err.Error()))
			}
		}
		r.rules = append(r.rules, rule)
	}
	return r, nil
}

// For returns who should look at the lesson as it is, and why: at most one
// escalation for each agent and reason, in the order of the rules, at most
// MaxEscalations. A rule that fails is passed over, and logged the first time.
func (r *EscalationRules) For(lesson Lesson) []Escalation {
	if r == nil {
		return nil
	}
	var found []Escalation
	env := conditionEnv(lesson)
	for _, rule := range r.rules {
		if len(found) == MaxEscalations {
			break
		}
		holds, err := r.holds(rule, env)
		if err != nil {
			if !rule.failed.Swap(true) {
				r.log.Warn("an escalation rule failed and is passed over", "condition", rule.condition, "lesson", lesson.ID, "error", err)
			}
			continue
		}
		if !holds {
			continue
		}
		e := Escalation{To: rule.to, Reason: rule.reason, Priority: lesson.Severity}
		if e.To == "" {
			e.To = r.Supervisor(lesson.Domain)
		}
		if !slices.Contains(found, e) {
			found = append(found, e)
		}
	}
	return found
}

// Supervisor returns the id of the agent that supervises a domain.
func (r *EscalationRules) Supervisor(domain string) string {
	if r != nil {
		if agent := r.supervisors[foldDomain(domain)]; agent != "" {
			return agent
		}
	}
	return SupervisorOf(domain)
}

// EscalatedTo lists the agents of escalations, each once, in their order.
func EscalatedTo(escalations []Escalation) []string {
	agents := make([]string, 0, len(escalations))
	for _, e := range escalations {
		if !slices.Contains(agents, e.To) {
			agents = append(agents, e.To)
		}
	}
	return agents
}

// holds tells whether a rule's condition holds.
func (r *EscalationRules) holds(rule escalationRule, env escalationEnv) (bool, error) {
	machine, _ := r.machines.Get().(*vm.VM)
	result, err := machine.Run(rule.program, env)
	r.machines.Put(machine)
	holds, _ := result.(bool) // the program was compiled to answer a bool
	return holds, err
}

func foldDomain(domain string) string { return fold(strings.TrimSpace(domain)) }

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// Bounds of escalation rules.
const (
	// MaxEscalationFile bounds a file of rules, in bytes; the default one is a thirtieth of it.
	MaxEscalationFile = 64 << 10
	// MaxEscalationRules bounds how many conditions each report must pay for.
	MaxEscalationRules = 100
	// MaxCondition bounds a condition, in bytes: one that is longer is several.
	MaxCondition = 1000
	// MaxEscalationReason bounds a reason, in bytes: it is a heading, the lesson is the text.
	MaxEscalationReason = 200
	// MaxEscalations bounds what one lesson sets off: the seed's eight rules fit twice.
	MaxEscalations = 16

	// conditionNodes bounds the parts of a condition.
	conditionNodes = 200
	// conditionMemory bounds what a condition may allocate, in the units of the
	// expression library: a list of tags lowered one by one takes a tenth of it.
	conditionMemory = 10_000
)
