// Package escalation decides who must be told of a lesson. It reads the rules from a file; each rule
// has a condition on lessons. It sends nothing.
package escalation

import (
	"cmp"
	_ "embed"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/skillrouter/skillrouter/internal/check"
	"github.com/skillrouter/skillrouter/internal/defaults"
	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/internal/plainyaml"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/condition"
	"github.com/skillrouter/skillrouter/learning/lesson"
)

// defaultRules are the rules that come with the program.
//
//go:embed rules.yaml
var defaultRules []byte

// Options say where escalations go. The zero value is usable.
type Options struct {
	// Supervisors names the agent that supervises a domain; one that is not listed is
	// supervised by the agent "supervisor:" with the domain in lower case and with hyphens, if it is known, and by the captain else.
	Supervisors map[string]string
	// Known tells whether an agent of this id ever checked in. If nil, none did.
	Known func(agent string) bool
	// Rename gives agents of the default rules other ids, by the group of rules that goes to them.
	Rename map[string]string
	Log    *slog.Logger // nil: nothing is logged
}

// Rules say who should look at a lesson, and why. They are compiled once and may be used by any
// number of goroutines. The zero value escalates nothing.
type Rules struct {
	rules       []escalationRule
	supervisors map[string]string
	known       func(agent string) bool
	captain     string
	log         *slog.Logger
}

// escalationRule is one condition, and what follows if it holds.
type escalationRule struct {
	group     string // the name under which it stands in the file
	to        string // an agent's id; empty: the domain's supervisor
	condition string
	reason    string
	program   *condition.Condition
	failed    *atomic.Bool // it failed at run time, and that was logged
}

// Originals are the agents that the system which these rules come from sent its escalations to. They
// poll mailboxes of these names.
var Originals = map[string]string{captain: "ARIA", "project": "VARYS"}

// DefaultRules returns the rules that come with the program.
func DefaultRules(options Options) (*Rules, error) {
	return LoadRules("the default escalation rules", defaultRules, options)
}

// RulesExample returns the default rules as the file that a person would edit.
func RulesExample() string { return string(defaultRules) }

// LoadRules compiles rules from the text of a YAML file; name says in
// errors which one it is. It is an Invalid error if the text is larger than
// MaxFile, is no such file, or holds a condition that does not
// compile.
func LoadRules(name string, text []byte, options Options) (*Rules, error) {
	file, err := readFile(name, text)
	if err != nil {
		return nil, err
	}
	options.Log = defaults.Log(options.Log)
	r := &Rules{supervisors: map[string]string{}, known: options.Known, captain: cmp.Or(options.Rename[captain], captain), log: options.Log}
	for domain, agent := range options.Supervisors {
		if err := check.AgentID("escalation.supervisors", agent); err != nil {
			return nil, err
		}
		r.supervisors[learning.FoldDomain(domain)] = agent
	}
	grammar := lessonGrammar()
	for _, rule := range file {
		rule.to = cmp.Or(options.Rename[rule.group], rule.to)
		if rule.program, err = grammar.Parse(rule.condition); err != nil {
			return nil, errs.Wrap(errs.Invalid, err, "%s: the condition %q: %s", name, rule.condition, learning.FirstLine(err.Error()))
		}
		rule.failed = new(atomic.Bool)
		r.rules = append(r.rules, rule)
	}
	return r, nil
}

// For returns who should look at the lesson as it is, and why: at most one
// escalation for each agent and reason, in the order of the rules, at most
// MaxEscalations. A rule that fails is passed over, and logged the first time.
func (r *Rules) For(l lesson.Lesson) []lesson.Escalation {
	var found []lesson.Escalation
	seen := fields(&l)
	value := func(name string) (any, bool) {
		v, known := seen[name]
		return v, known
	}
	for _, rule := range r.rules {
		if len(found) == MaxEscalations {
			break
		}
		holds, err := rule.program.Fits(value)
		if err != nil {
			if !rule.failed.Swap(true) {
				r.log.Warn("an escalation rule failed and is passed over", "condition", rule.condition, "lesson", l.ID, "error", err)
			}
			continue
		}
		if !holds {
			continue
		}
		e := lesson.Escalation{To: rule.to, Reason: rule.reason, Priority: l.Severity}
		if e.To == "" {
			e.To = r.Supervisor(l.Domain)
		}
		if !slices.Contains(found, e) {
			found = append(found, e)
		}
	}
	return found
}

// Supervisor returns the id of the agent that supervises a domain.
func (r *Rules) Supervisor(domain string) string {
	if agent := r.supervisors[learning.FoldDomain(domain)]; agent != "" {
		return agent
	}
	words := strings.FieldsFunc(learning.FoldDomain(domain), func(c rune) bool { // what no agent's id may hold is a hyphen
		return c <= '~' && (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '.' && c != '_'
	})
	if agent := "supervisor:" + strings.Join(words, "-"); r.known != nil && r.known(agent) {
		return agent
	}
	return cmp.Or(r.captain, captain)
}

// captain is the group of rules, and the agent, that a domain without a supervisor falls to.
const captain = "captain"

// Bounds of escalation rules.
const (
	// MaxFile bounds a file of rules, in bytes; the default one is a thirtieth of it.
	MaxFile = 64 << 10
	// MaxRules bounds how many conditions each report must pay for.
	MaxRules = 100

	// MaxReason bounds a reason, in bytes: it is a heading, the lesson is the text.
	MaxReason = 200
	// MaxEscalations bounds what one lesson sets off: the eight default rules fit twice.
	MaxEscalations = 16
)

// fields are what a condition sees of a lesson. They hold only what is
// short, so that no condition can be made to run long by what a lesson says.
func fields(l *lesson.Lesson) map[string]any {
	tags := []any{}
	for _, tag := range learning.FoldTags(l.Tags) {
		tags = append(tags, tag)
	}
	return map[string]any{
		"lesson_type":      string(l.Type),
		"severity":         string(l.Severity),
		"level":            string(l.Level),
		"status":           string(l.Status),
		"domain":           learning.FoldDomain(l.Domain),
		"category":         learning.FoldDomain(l.Category),
		"title":            l.Title,
		"source_agent":     l.SourceAgent,
		"project":          l.Project,
		"trust":            string(l.Trust),
		"tags":             tags,
		"confidence":       l.Confidence,
		"occurrence_count": float64(l.Occurrences),
		"transferability":  float64(l.Transferability),
		"times_applied":    float64(l.TimesApplied),
		"times_succeeded":  float64(l.TimesSucceeded),
		"validated":        l.Validated,
		"block_action":     l.BlockAction,
	}
}

// lessonGrammar returns the language of the escalations' conditions.
func lessonGrammar() *condition.Grammar {
	g := &condition.Grammar{
		Operators: []string{"==", "!=", "<", "<=", ">", ">=", "and", "&&", "or", "||", "in", "contains", "startsWith", "endsWith"},
		Loops:     []string{"any", "all", "none", "one", "count"},
		Functions: []string{"lower", "upper", "len"},
		Names:     fields(&lesson.Lesson{}),
		Folded:    []string{"domain", "category", "tags"},
	}
	g.Names["tags"] = []string{}
	return g
}

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
