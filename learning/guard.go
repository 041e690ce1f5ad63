package learning

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"skillrouter"
)

// GuardTime is how long a check may take before it is answered by the words
// alone: an agent asks before each step and must not wait.
const GuardTime = 100 * time.Millisecond

// Decision is what a check comes to.
type Decision string

// The decisions.
const (
	DecisionAllow Decision = "allow"
	DecisionWarn  Decision = "warn"
	DecisionBlock Decision = "block"
)

// The lanes of a Match. LaneDeterministic, LanePattern and LaneUnread may block; LaneSimilarity only warns.
const (
	// LaneDeterministic compares the acts that a command comes to.
	LaneDeterministic = "deterministic"
	// LanePattern is a rule's regular expression.
	LanePattern = "pattern"
	// LaneUnread holds the words of a rule in an action that could not be read to its end.
	LaneUnread = "unread"
	// LaneSimilarity holds rules whose wording is like the action's.
	LaneSimilarity = "similarity"
)

// Action is what an agent proposes to do: a command, a statement or a
// sentence in Command, or a call of Tool with Args.
type Action struct {
	Command string         `json:"proposed_action"`
	Tool    string         `json:"tool,omitempty"`
	Args    map[string]any `json:"args,omitempty"`
	Context string         `json:"context,omitempty"` // why, in the agent's words
	Domain  string         `json:"domain,omitempty"`
	Agent   string         `json:"agent,omitempty"`
}

// Match is a rule that an action fits.
type Match struct {
	RuleID       string   `json:"rule_id"`
	Title        string   `json:"title"`
	Severity     Severity `json:"severity"`
	Lane         string   `json:"lane"`
	Reason       string   `json:"reason"` // which part of the action fits, and how
	WhyBad       string   `json:"why_bad,omitempty"`
	Alternatives []string `json:"alternatives,omitempty"`
	Confidence   float64  `json:"confidence"`
	Blocks       bool     `json:"blocks"`
}

// Verdict is the answer to a check. Matches are ordered: what blocks first,
// then by severity. Notes say what the guard could not do.
type Verdict struct {
	Decision Decision `json:"decision"`
	Matches  []Match  `json:"matches"`
	Notes    []string `json:"notes,omitempty"`
}

// SimilarRule is a rule whose wording is like a text's. Score lies between 0 and 1.
type SimilarRule struct {
	RuleID string
	Score  float64
	Words  []string // what they have in common
}

// Similar finds the rules whose wording is like a text's, best first.
type Similar interface {
	Similar(ctx context.Context, text string) []SimilarRule
}

// Guard compares proposed actions with rules. It is safe for use by many
// goroutines, and its rules can be replaced while it is used.
type Guard struct {
	rules   atomic.Pointer[guardRules]
	similar func(rules []*GuardRule) Similar
}

// GuardOptions changes how a Guard works; the zero value is what is measured.
type GuardOptions struct {
	// Similar builds the similarity lane for a set of rules. Nil means SimilarByWords.
	Similar func(rules []*GuardRule) Similar
}

// guardRules is one set of rules and its index. It does not change.
type guardRules struct {
	all      []*GuardRule
	byID     map[string]*GuardRule
	byEffect [guardEffectKinds][]guardEntry
	byWords  map[string][]guardEntry
	patterns []*GuardRule
	judges   []*GuardRule
	similar  Similar
}

// guardEntry is one act of one trigger of a rule.
type guardEntry struct {
	rule    *GuardRule
	trigger int
	act     int
}

// NewGuard makes a guard that holds the rules.
func NewGuard(rules []*GuardRule, options GuardOptions) *Guard {
	g := &Guard{similar: options.Similar}
	if g.similar == nil {
		g.similar = SimilarByWords
	}
	g.Replace(rules)
	return g
}

// Replace puts other rules in the place of those there are, at once for every later check.
func (g *Guard) Replace(rules []*GuardRule) {
	n := &guardRules{all: slices.Clone(rules), byID: map[string]*GuardRule{}, byWords: map[string][]guardEntry{}}
	for _, r := range n.all {
		n.byID[r.draft.ID] = r
		if r.pattern != nil {
			n.patterns = append(n.patterns, r)
		}
		if r.judge != nil {
			n.judges = append(n.judges, r)
		}
		for t, acts := range r.triggers {
			for i, a := range acts {
				e := guardEntry{r, t, i}
				if !r.byEffect(a) {
					n.byWords[guardWordKey(a, guardFixedWords(a) > 0)] = append(n.byWords[guardWordKey(a, guardFixedWords(a) > 0)], e)
					continue
				}
				kinds := map[guardEffectKind]bool{}
				for _, effect := range a.effects {
					kinds[effect.kind] = true
				}
				for k := range kinds {
					n.byEffect[k] = append(n.byEffect[k], e)
				}
			}
		}
	}
	n.similar = g.similar(n.all)
	g.rules.Store(n)
}

// Rules returns how many rules there are.
func (g *Guard) Rules() int { return len(g.rules.Load().all) }

// guardWordKey is what rules that are compared by words are indexed by.
func guardWordKey(a *guardAct, sub bool) string {
	if sub && len(a.words) > 0 && !guardPlaceholder(a.words[0]) {
		return a.name + " " + a.words[0]
	}
	return a.name
}

// Check compares an action with the rules. It never fails: what cannot be
// read, or takes longer than GuardTime, is answered by a note and by the
// words of the rules that stand in it.
func (g *Guard) Check(ctx context.Context, action Action) Verdict {
	ctx, cancel := context.WithTimeout(ctx, GuardTime)
	defer cancel()
	c := &guardCheck{ctx: ctx, rules: g.rules.Load(), action: &action, found: map[string]*Match{}}
	c.run()
	return c.verdict()
}

// CheckAction refuses an action that holds nothing, or text that no check could read.
func CheckAction(a Action) error {
	if strings.TrimSpace(a.Command) == "" && a.Tool == "" {
		return skillrouter.InvalidField("proposed_action", "is required")
	}
	return nil
}
