package rule

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/skillrouter/skillrouter/internal/principal"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/guard/act"
)

// checking is one check under way.
type checking struct {
	ctx     context.Context
	rules   *index
	similar *SimilarByWords
	action  *Action
	memory  *act.Memory  // of the agent; nil: nobody's
	disk    *act.Disk    // the files that it runs
	read    []*act.Shell // what was followed, to be remembered
	found   map[string]*Match
	notes   []string
}

// reading is one text of the action, as it was followed.
type reading struct {
	act.Proposal
	text     string
	shell    *act.Shell
	readable bool
}

// run reads the action, and judges it by the rules as they are then.
func (c *checking) run() Verdict {
	proposals, rest := act.Proposals(c.action.Command, c.action.Tool, c.action.Args, c.action.Folder)
	readings := make([]reading, len(proposals))
	for i, p := range proposals {
		r := reading{Proposal: p, text: act.Tidy(p.Text)}
		if len(r.text) <= act.MaxInput {
			r.shell = act.NewShell(p.Dir, c.roots(p)...)
			r.shell.Memory, r.shell.Disk = c.memory, c.disk
			c.read = append(c.read, r.shell)
			r.readable = c.follow(r.shell, p, r.text)
		}
		readings[i] = r
	}
	c.rules.mu.RLock()
	defer c.rules.mu.RUnlock()
	for _, r := range readings {
		c.propose(r)
	}
	if c.action.Unread != "" {
		c.bound(c.action.Unread, "its message is too long, or was not understood", strings.HasSuffix(c.action.Unread, "*"))
	}
	if rest != "" {
		c.similarTo(rest, 0)
	}
	return c.verdict()
}

// propose judges one text.
func (c *checking) propose(r reading) {
	text, s := r.text, r.shell
	if s == nil {
		c.bound(text, "it is longer than 1 MB", false)
		return
	}
	prose := r.Plain() && !act.LooksSQL(text) && act.Prose(text)
	c.compare(s.Acts)
	if len(c.found) == 0 && r.Plain() {
		if command, intended := act.Sentence(text); command != "" {
			if c.quoted(command, intended); len(c.found) > 0 {
				return
			}
		}
	}
	switch {
	case prose && !s.Blind:
		for _, code := range act.QuotedCode(text) {
			c.quoted(code, false)
		}
		c.similarTo(text, 0)
		return
	case !r.readable:
		c.bound(text, "it could not be followed", false)
	case s.Over != "":
		c.bound(text+s.Unread, s.Over, s.Blind)
	case s.Beyond != "":
		c.bound(s.Unread, s.Beyond, s.Blind)
	case s.Broken:
		c.unread(text, "it is no complete command")
	case s.Refused:
		c.standing(text)
	}
	if s.Interactive != "" && r.Command() && !prose {
		c.note(Short(s.Interactive) + " without a script is typed into, past every hook: give each command by itself")
	}
	c.opaque(s.Acts)
}

func (c *checking) note(note string) {
	if !slices.Contains(c.notes, note) {
		c.notes = append(c.notes, note)
	}
}

// roots are the folders of the agent's project: its working folder, and the repository around it.
func (c *checking) roots(p act.Proposal) []string {
	dir := cmp.Or(c.action.Folder, c.action.Place.Dir, p.Dir)
	if root := c.action.Place.rootOf(dir); root != nil {
		return []string{dir, root.Path}
	}
	return []string{dir}
}

// follow reads the text. A fault in the reader must not let an action pass
// unseen, nor take the process down: it is answered as unreadable.
func (c *checking) follow(s *act.Shell, p act.Proposal, text string) (readable bool) {
	defer func() {
		if recover() != nil {
			readable = false
		}
	}()
	s.Follow(p, text)
	return true
}

// quoted follows a command that stands in a sentence. One that does not say plainly that it is about to be run may as well
// forbid it: it warns.
func (c *checking) quoted(command string, intended bool) {
	s := act.NewShell("")
	if !c.follow(s, act.Proposal{}, command) {
		return
	}
	known := maps.Clone(c.found)
	c.compare(s.Acts)
	for id, m := range c.found {
		if known[id] == nil && !intended {
			m.Blocks = false
		}
	}
}

// compare judges the acts by the deterministic lanes.
func (c *checking) compare(acts []*act.Act) {
	type trigger struct {
		rule   *Rule
		number int
	}
	best := map[trigger][]guardFit{}
	reasons := map[trigger]*act.Act{}
	try := func(entries []entry, a *act.Act) {
		for _, e := range entries {
			acts := e.rule.triggers[e.trigger]
			fit := e.rule.fits(acts[e.act], a, c.action)
			if fit == none {
				continue
			}
			t := trigger{e.rule, e.trigger}
			if best[t] == nil {
				best[t] = make([]guardFit, len(acts))
			}
			best[t][e.act] = max(best[t][e.act], fit)
			if reasons[t] == nil || fit == full {
				reasons[t] = a
			}
		}
	}
	for _, a := range acts {
		var does [act.EffectKinds]bool
		for _, e := range a.Effects {
			does[e.Kind] = true
		}
		does[act.EffectWrite] = does[act.EffectWrite] || does[act.EffectDelete]
		for kind, done := range does {
			if done {
				try(c.rules.lists[key{by: byEffect, kind: act.EffectKind(kind)}], a)
			}
		}
		try(c.rules.lists[key{by: byWords, text: a.Name}], a)
		if len(a.Words) > 0 {
			try(c.rules.lists[key{by: byWords, text: a.Name + " " + a.Words[0]}], a)
		}
		c.harms(a)
		for _, e := range c.rules.lists[key{by: byJudge}] {
			if fit := e.rule.judge(a, c.action); fit != none && !a.Harmless() {
				c.match(e.rule, LaneDeterministic, fit == full && c.stops(e.rule), runs+Short(a.Text()))
			}
		}
		c.patterns(a)
	}
	for t, fits := range best {
		text := Short(reasons[t].Text())
		switch {
		case slices.Contains(fits, none):
			c.nears(t.rule, "the action holds a part of it: "+text)
		case slices.Contains(fits, near):
			c.nears(t.rule, "the action comes near it: "+text)
		default:
			c.match(t.rule, LaneDeterministic, c.stops(t.rule), runs+text)
		}
	}
}

// harms finds the rules of packs that name a harm which the act does.
func (c *checking) harms(a *act.Act) {
	if a.Within || c.rules.packed == 0 {
		return
	}
	for _, h := range a.Harms() {
		for _, e := range c.rules.lists[key{by: byHarm, text: string(h)}] {
			c.match(e.rule, LaneDeterministic, c.stops(e.rule), runs+Short(a.Text()))
		}
	}
}

// patterns tries the rules' expressions on one act.
func (c *checking) patterns(a *act.Act) {
	entries := c.rules.lists[key{by: byPattern}]
	if len(entries) == 0 || a.Within || a.Mention() || a.Harmless() || a.Name == act.SetsVariable {
		return
	}
	text := a.Plain()
	text = text[:min(len(text), maxPatternInput)]
	for _, e := range entries {
		r := e.rule
		if r.instead.is(a) || !r.pattern.MatchString(text) {
			continue
		}
		c.match(r, LanePattern, c.stops(r), patterned+Short(text))
	}
}

// RuleUnread is the id of what blocks an action that could not be read to its end. It is no rule that anybody wrote.
const RuleUnread = "guard:unread"

// bound judges a text that was read to a bound: it is blocked where a program stands in it that a rule blocks. blind: its words say nothing.
func (c *checking) bound(text, why string, blind bool) {
	c.unread(text, why)
	found := c.program(text)
	if found == "" && !blind {
		return
	}
	reason := why
	if found != "" {
		reason += ", and a rule blocks what " + found + " can do"
	}
	c.found[RuleUnread] = &Match{
		RuleID: RuleUnread, Title: "The guard could not read this to its end", Severity: learning.SeverityHigh, Lane: LaneUnread, Reason: reason,
		WhyBad: "What stands beyond the bound was not judged.", Alternatives: []string{"Run it in parts, each short and plain enough to be read"}, Confidence: 1, Blocks: true,
	}
}

// program is a word of the text that names a program which a rule in use blocks something of; empty: there is none.
func (c *checking) program(text string) string {
	known := map[string]bool{}
	for name := range act.ProgramsIn(text) {
		if known[name] {
			continue
		}
		known[name] = true
		for _, r := range c.rules.byID {
			if c.stops(r) && r.of(name) {
				return name
			}
		}
	}
	return ""
}

// of reports whether the rule is about something that a program can do.
func (r *Rule) of(program string) bool {
	if r.harm.Does(program) {
		return true
	}
	if r.judge != nil && (act.HarmTree.Does(program) || act.HarmSQLAll.Does(program)) {
		return true
	}
	return slices.ContainsFunc(r.triggers, func(acts []*act.Act) bool {
		return slices.ContainsFunc(acts, func(a *act.Act) bool {
			return a.Name == program || slices.ContainsFunc(a.Effects, func(e act.Effect) bool { return e.Kind == act.EffectDelete && act.HarmTree.Does(program) })
		})
	})
}

// unread judges a text that could not be read to its end by the words alone.
func (c *checking) unread(text, why string) {
	c.note("the action was not read completely (" + why + "): check it yourself")
	c.standing(text)
}

// standing finds the rules all of whose words stand in a text.
func (c *checking) standing(text string) {
	lower := strings.ToLower(text)
	for r := range c.rules.standing(lower) {
		if slices.ContainsFunc(r.standing, func(words []string) bool { return len(words) > 0 && stand(lower, words) }) {
			c.match(r, LaneUnread, c.stops(r), "its words stand in an action that could not be read")
		}
	}
}

// stand reports whether all words stand in the text as words.
func stand(text string, words []string) bool {
	for _, w := range words {
		found := false
		for from := 0; from < len(text); {
			i := strings.Index(text[from:], w)
			if i < 0 {
				break
			}
			i += from
			end := i + len(w)
			if (i == 0 || !wordByte(text[i-1]) || !wordByte(w[0])) && (end == len(text) || !wordByte(text[end]) || !wordByte(w[len(w)-1])) {
				found = true
				break
			}
			from = i + 1
		}
		if !found {
			return false
		}
	}
	return true
}

// opaque asks the similarity lane about what runs without being seen:
// scripts, targets of make, programs nobody knows.
func (c *checking) opaque(acts []*act.Act) {
	for _, a := range acts {
		if strings.HasPrefix(a.Name, "(") || a.Within || a.Mention() || a.Harmless() || len(a.Effects) > 0 || act.KnownProgram(a.Name) && a.Name != "make" && a.Name != "sh" {
			continue
		}
		c.similarTo(a.Text(), similarCommand)
	}
}

// similarCommand is how like a rule's wording a command must be that is not known: its words are names, not a sentence.
const similarCommand = 0.9

// similarTo adds warnings of rules whose wording is like the text's.
func (c *checking) similarTo(text string, least float64) {
	if len(c.found) > 0 {
		return
	}
	for _, s := range c.similar.Similar(c.ctx, text[:min(len(text), maxPatternInput)]) {
		r := c.rules.byID[s.RuleID]
		if r == nil || s.Score < least || slices.ContainsFunc(r.instead.programs, func(p string) bool { return strings.Contains(text, p) }) {
			continue
		}
		c.match(r, LaneSimilarity, false, "the action is worded like it: "+strings.Join(s.Words, ", "))
	}
}

// How a match says which command it is of.
const (
	runs      = "the action runs "
	patterned = "its pattern fits "
)

// command is the command that a match is of.
func (m *Match) command() string {
	return strings.TrimPrefix(strings.TrimPrefix(m.Reason, runs), patterned)
}

// match notes a rule, once; a match that blocks counts before one that warns.
func (c *checking) match(r *Rule, lane string, blocks bool, reason string) {
	if r.mode(c.action.Project) == ModeOff {
		return
	}
	if old, ok := c.found[r.Draft.ID]; ok && (old.Blocks || !blocks) {
		return
	}
	c.found[r.Draft.ID] = &Match{
		RuleID: r.Draft.ID, Title: r.Draft.Title, Severity: r.Draft.Severity, Lane: lane, Reason: reason, WhyBad: r.Draft.Reason,
		Alternatives: r.Draft.Alternatives, Confidence: r.Draft.Confidence, Blocks: blocks,
	}
}

// nears is match for an action that does not all that the rule describes: it warns.
func (c *checking) nears(r *Rule, reason string) {
	if c.found[r.Draft.ID] == nil {
		c.match(r, LaneDeterministic, false, reason)
		if m := c.found[r.Draft.ID]; m != nil {
			m.Near = true
		}
	}
}

// verdict is what the matches come to; the rules' lock is held.
func (c *checking) verdict() Verdict {
	v := Verdict{Decision: DecisionAllow, Matches: []Match{}, Notes: c.notes}
	told := map[string]bool{} // the commands of which somebody wrote what blocks them
	for id, m := range c.found {
		if r := c.rules.byID[id]; m.Blocks && (r == nil || r.harm == "") {
			told[m.command()] = true
		}
	}
	for id, m := range c.found {
		if r := c.rules.byID[id]; r != nil && r.harm != "" && !r.always() && told[m.command()] {
			continue // what a pack says in general of that command adds nothing
		}
		v.Matches = append(v.Matches, *m)
	}
	blocking := map[bool]int{true: 1}
	slices.SortFunc(v.Matches, func(a, b Match) int {
		return cmp.Or(blocking[b.Blocks]-blocking[a.Blocks], slices.Index(learning.Severities(), a.Severity)-slices.Index(learning.Severities(), b.Severity), strings.Compare(a.RuleID, b.RuleID))
	})
	switch {
	case len(v.Matches) > 0 && v.Matches[0].Blocks:
		v.Decision = DecisionBlock
	case len(v.Matches) > 0 || len(v.Notes) > 0:
		v.Decision = DecisionWarn
	}
	return v
}

// stops tells whether the rule blocks the agent whose action this is.
func (c *checking) stops(r *Rule) bool {
	return r.blocksIn(c.action.Project) && (r.Draft.OnlyFor == "" || principal.SameVoice(r.Draft.OnlyFor, c.action.Agent))
}

// Short cuts what is shown of a command.
func Short(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > 160 {
		return string(r[:159]) + "…"
	}
	return text
}
