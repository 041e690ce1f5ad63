package rule

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/skillrouter/skillrouter/internal/errs"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/guard/act"
)

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
	// LaneIncident holds what failed nearly whenever it was used; it only warns.
	LaneIncident = "incident"
	// LaneLease holds what others say that they work on.
	LaneLease = "lease"
)

// Action is what an agent proposes to do: a command, a statement or a
// sentence in Command, or a call of Tool with Args.
type Action struct {
	Command string         `json:"proposed_action,omitempty" doc:"The command line or SQL"`
	Tool    string         `json:"tool,omitempty" doc:"Instead of a command"`
	Args    map[string]any `json:"args,omitempty"`
	Context string         `json:"context,omitempty" doc:"Why"` // why, in the agent's words
	Domain  string         `json:"domain,omitempty" doc:"Such as docker"`
	Agent   string         `json:"agent,omitempty" actor:"true"`
	Project string         `json:"project,omitempty" here:"project"`
	Folder  string         `json:"folder,omitempty" doc:"The working folder"` // the working folder
	Place   Place          `json:"place,omitzero"`                            // where it is done, as far as a hook knows
	Files   []act.Content  `json:"files,omitempty"`                           // that it runs, as they are on the disk
	Offers  bool           `json:"offers_files,omitempty"`                    // whoever asks sends the files that the answer needs, and asks again
	Unread  string         `json:"unread,omitempty"`                          // the words of what is left out of it
}

// Match is a rule that an action fits.
type Match struct {
	RuleID       string            `json:"rule_id"`
	Title        string            `json:"title"`
	Severity     learning.Severity `json:"severity"`
	Lane         string            `json:"lane"`
	Reason       string            `json:"reason"` // which part of the action fits, and how
	WhyBad       string            `json:"why_bad"`
	Alternatives []string          `json:"alternatives"`
	Confidence   float64           `json:"confidence"`
	Blocks       bool              `json:"blocks"`
	Near         bool              `json:"-"` // the action does a part of what the rule describes, or comes near it
}

// Verdict is the answer to a check. Matches are ordered: what blocks first,
// then by severity. Notes say what the guard could not do.
type Verdict struct {
	Decision Decision `json:"decision"`
	Matches  []Match  `json:"matches"`
	Notes    []string `json:"notes,omitempty"`
	Changes  []Change `json:"-"` // the files that the action would change, as far as could be read
	// Needs are files without which it cannot be told what the action does.
	Needs []string `json:"-"`
	// Shown are the files that the action runs, each with its hash.
	Shown []string `json:"-"`

	keep func() // what the action writes is remembered; nil: it was already, or shall not be
}

// Lift takes the rules that block out of the verdict, for a person has allowed the action. note says who.
func (v *Verdict) Lift(note string) {
	v.Matches = slices.DeleteFunc(v.Matches, func(m Match) bool { return m.Blocks })
	v.Notes = append(v.Notes, note)
	v.Decision = DecisionAllow
	if len(v.Matches) > 0 {
		v.Decision = DecisionWarn
	}
	if v.keep != nil {
		v.keep()
	}
}

// Join adds what other rooms say of the action; what blocks comes first.
func (v *Verdict) Join(more []Match) {
	switch {
	case len(more) == 0:
		return
	case more[0].Blocks:
		v.Decision, v.Matches = DecisionBlock, slices.Concat(more, v.Matches)
		return
	case v.Decision == DecisionAllow:
		v.Decision = DecisionWarn
	}
	v.Matches = append(v.Matches, more...)
}

// Guard compares proposed actions with rules. It is safe for use by many
// goroutines, and its rules can change while it is used: see Put and Remove.
type Guard struct {
	changing sync.Mutex // held by the one change that is under way
	rules    *index
	similar  *SimilarByWords // nil: nothing is found similar

	memoryMu sync.Mutex // held while an agent's memory is found
	memories map[string]*act.Memory
}

// maxMemories bounds the agents of which is remembered what they made; with one more all are forgotten.
const maxMemories = 64

// memory is what is remembered of the agent of an action; nil for an action of nobody.
func (g *Guard) memory(a *Action) *act.Memory {
	if a.Agent == "" {
		return nil
	}
	key := a.Agent + "\x00" + a.Project
	g.memoryMu.Lock()
	defer g.memoryMu.Unlock()
	m := g.memories[key]
	if m == nil {
		if g.memories == nil || len(g.memories) >= maxMemories {
			g.memories = map[string]*act.Memory{}
		}
		m = &act.Memory{}
		g.memories[key] = m
	}
	return m
}

// New makes a guard that holds the rules. similar is an empty similarity lane; nil: nothing is found similar.
func New(rules []*Rule, similar *SimilarByWords) *Guard {
	similar.Put(told(rules)...)
	return &Guard{rules: newIndex(rules), similar: similar}
}

// Check compares an action with the rules. It never fails: what cannot be read to its end is answered by a note, by the
// words of the rules that stand in it, and by RuleUnread. It counts steps, so that a verdict does not depend on how busy the machine is.
func (g *Guard) Check(ctx context.Context, action Action) Verdict {
	c, v := g.judge(ctx, action, g.memory(&action))
	if c.memory == nil {
		return v
	}
	keep := func() {
		for _, s := range c.read {
			c.memory.Keep(s)
		}
	}
	if v.Decision == DecisionBlock {
		v.keep = keep
	} else {
		keep()
	}
	return v
}

// Judge is Check for an action that is only asked about: what it would write is not remembered.
func (g *Guard) Judge(ctx context.Context, action Action) Verdict {
	_, v := g.judge(ctx, action, g.memory(&action))
	return v
}

// Explain is Judge, and the commands that the action comes to, those that are a part of another apart.
func (g *Guard) Explain(ctx context.Context, action Action) (v Verdict, acts []*act.Act) {
	c, v := g.judge(ctx, action, g.memory(&action))
	for _, s := range c.read {
		for _, a := range s.Acts {
			if !a.Within && a.Name != act.SetsVariable {
				acts = append(acts, a)
			}
		}
	}
	return v, acts
}

// Aside is Judge where nobody knows what agents made before: alone tells that the action changes no file, so that it would be judged alike where that is
// known, and so will what follows it.
func (g *Guard) Aside(ctx context.Context, action Action) (v Verdict, alone bool) {
	c, v := g.judge(ctx, action, nil)
	return v, len(v.Changes) == 0 && !slices.ContainsFunc(c.read, (*act.Shell).Leaves)
}

func (g *Guard) judge(ctx context.Context, action Action, memory *act.Memory) (*checking, Verdict) {
	c := &checking{ctx: ctx, rules: g.rules, similar: g.similar, action: &action, memory: memory, disk: act.NewDisk(action.Files), found: map[string]*Match{}}
	v := c.run()
	v.Needs, v.Shown = c.disk.Needs(), c.disk.Shown()
	v.Changes = changesOf(c.read)
	return c, v
}

// CheckAction refuses an action that holds nothing, or text that no check could read.
func CheckAction(a Action) error {
	if strings.TrimSpace(a.Command) == "" && a.Tool == "" {
		return errs.InvalidField("proposed_action", "is required")
	}
	return nil
}
