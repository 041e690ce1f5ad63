package rule

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"skillrouter/internal/principal"
	"skillrouter/learning"
	"skillrouter/learning/guard/act"
)

// checking is one check under way.
type checking struct {
	ctx     context.Context
	view    view
	similar Similar
	action  *Action
	memory  *act.Memory  // of the agent; nil: nobody's
	disk    *act.Disk    // the files that it runs
	read    []*act.Shell // what was followed, to be remembered
	found   map[string]*Match
	notes   []string
}

func (c *checking) run() {
	proposals, rest := act.Proposals(c.action.Command, c.action.Tool, c.action.Args, c.action.Folder)
	for _, p := range proposals {
		c.propose(p)
	}
	if c.action.Unread != "" {
		c.bound(c.action.Unread, "its message is too long, or was not understood", strings.HasSuffix(c.action.Unread, "*"))
	}
	if rest != "" {
		c.similarity(rest)
	}
}

// propose judges one text.
func (c *checking) propose(p act.Proposal) {
	text := act.Tidy(p.Text)
	if len(text) > act.MaxInput {
		c.bound(text, "it is longer than 1 MB", false)
		return
	}
	prose := p.Plain() && !act.LooksSQL(text) && act.Prose(text)
	s := act.NewShell(p.Dir).Remembering(c.memory).In(c.roots(p)...).On(c.disk)
	c.read = append(c.read, s)
	readable := c.follow(s, p, text)
	c.compare(s.Acts)
	if len(c.found) == 0 && p.Plain() {
		if command, intended := act.Sentence(text); command != "" {
			if c.sentence(command, intended); len(c.found) > 0 {
				return
			}
		}
	}
	switch {
	case prose && !s.Blind:
		c.quoted(text)
		c.similarity(text)
		return
	case !readable:
		c.bound(text, "it could not be followed", false)
	case s.Over != "":
		c.bound(act.WithoutData(text)+s.Unread, s.Over, s.Blind)
	case s.Beyond != "":
		c.bound(s.Unread, s.Beyond, s.Blind)
	case s.Broken:
		c.unread(text, "it is no complete command")
	case s.Refused:
		c.standing(text)
	}
	if s.Interactive != "" && p.Command() && !prose {
		c.note(Short(s.Interactive) + " without a script is typed into, past every hook: give each command by itself")
	}
	c.opaque(s.Acts, text)
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

// quoted follows the commands that a sentence puts between backticks.
func (c *checking) quoted(text string) {
	for _, code := range act.QuotedCode(text) {
		s := act.NewShell("")
		if c.follow(s, act.Proposal{}, code) {
			// A sentence that names the act may as well forbid it: it warns.
			known := maps.Clone(c.found)
			c.compare(s.Acts)
			for id, m := range c.found {
				if known[id] == nil {
					m.Blocks = false
				}
			}
		}
	}
}

// sentence follows the command that a sentence says will be run. One that does
// not say so plainly may as well forbid it: it warns.
func (c *checking) sentence(command string, intended bool) {
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
	type key struct {
		rule    *Rule
		trigger int
	}
	best := map[key][]guardFit{}
	reasons := map[key]*act.Act{}
	try := func(e entry, a *act.Act) {
		if !c.view.sees(e.place) {
			return
		}
		rule := e.place.rule
		fit := rule.fits(rule.triggers[e.trigger][e.act], a, c.action)
		if fit == none {
			return
		}
		k := key{rule, e.trigger}
		if best[k] == nil {
			best[k] = make([]guardFit, len(rule.triggers[e.trigger]))
		}
		best[k][e.act] = max(best[k][e.act], fit)
		if reasons[k] == nil || fit == full {
			reasons[k] = a
		}
	}
	for _, a := range acts {
		type looked struct {
			kind act.EffectKind
			path string
		}
		seen := map[looked]bool{}
		for _, e := range a.Effects {
			kinds := []act.EffectKind{e.Kind}
			if e.Kind == act.EffectDelete {
				kinds = append(kinds, act.EffectWrite)
			}
			for _, k := range kinds {
				if at := (looked{k, pathKey(e)}); !seen[at] {
					seen[at] = true
					entries, more := c.view.effects(k, e)
					for _, entry := range entries {
						try(entry, a)
					}
					for _, entry := range more {
						try(entry, a)
					}
				}
			}
		}
		for _, entry := range c.view.words(a.Name) {
			try(entry, a)
		}
		if len(a.Words) > 0 {
			for _, entry := range c.view.words(a.Name + " " + a.Words[0]) {
				try(entry, a)
			}
		}
		c.harms(a)
		for _, p := range c.view.judges() {
			if !c.view.sees(p) {
				continue
			}
			r := p.rule
			if fit := r.judge(a, c.action); fit != none && !a.Harmless() {
				c.match(r, LaneDeterministic, fit == full && c.stops(r), runs+Short(a.Text()))
			}
		}
		c.patterns(a)
	}
	for k, fits := range best {
		if slices.Contains(fits, none) {
			// A part of what the rule describes.
			c.nears(k.rule, "the action holds a part of it: "+Short(reasons[k].Text()))
			continue
		}
		if slices.Contains(fits, near) {
			c.nears(k.rule, "the action comes near it: "+Short(reasons[k].Text()))
			continue
		}
		c.match(k.rule, LaneDeterministic, c.stops(k.rule), runs+Short(reasons[k].Text()))
	}
}

// harms finds the rules of packs that name a harm which the act does.
func (c *checking) harms(a *act.Act) {
	if a.Within || !c.view.packed() {
		return
	}
	for _, h := range a.Harms() {
		for _, p := range c.view.harms(h) {
			if c.view.sees(p) {
				c.match(p.rule, LaneDeterministic, c.stops(p.rule), runs+Short(a.Text()))
			}
		}
	}
}

// patterns tries the rules' expressions on one act.
func (c *checking) patterns(a *act.Act) {
	places := c.view.patterns()
	if len(places) == 0 || a.Within || a.Mention() || a.Harmless() || a.Name == act.SetsVariable {
		return
	}
	text := a.Plain()
	text = text[:min(len(text), maxPatternInput)]
	for _, p := range places {
		r := p.rule
		if !c.view.sees(p) || r.literal != "" && !strings.Contains(text, r.literal) || r.instead.is(a) {
			continue
		}
		if r.pattern.MatchString(text) {
			c.match(r, LanePattern, c.stops(r), patterned+Short(text))
		}
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
	var rules []*Rule
	for _, r := range c.view.all() {
		if c.stops(r) {
			rules = append(rules, r)
		}
	}
	known := map[string]bool{}
	for name := range act.ProgramsIn(text) {
		if known[name] {
			continue
		}
		known[name] = true
		if slices.ContainsFunc(rules, func(r *Rule) bool { return r.of(name) }) {
			return name
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
	for p := range c.view.standing(lower) {
		for _, words := range p.rule.standing {
			if len(words) > 0 && stand(lower, words) {
				c.match(p.rule, LaneUnread, c.stops(p.rule), "its words stand in an action that could not be read")
				break
			}
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
func (c *checking) opaque(acts []*act.Act, text string) {
	for _, a := range acts {
		if strings.HasPrefix(a.Name, "(") || a.Within || a.Mention() || a.Harmless() || len(a.Effects) > 0 || act.KnownProgram(a.Name) && a.Name != "make" && a.Name != "sh" {
			continue
		}
		c.similarTo(a.Text(), similarCommand)
	}
}

// similarity adds warnings of rules whose wording is like the text's.
func (c *checking) similarity(text string) { c.similarTo(text, 0) }

// similarCommand is how like a rule's wording a command must be that is not known: its words are names, not a sentence.
const similarCommand = 0.9

func (c *checking) similarTo(text string, least float64) {
	if len(c.found) > 0 {
		return
	}
	for _, s := range c.similar.Similar(c.ctx, text[:min(len(text), maxPatternInput)]) {
		r := c.view.rule(s.RuleID)
		if r == nil || s.Score < least || namesInstead(r, text) {
			continue
		}
		c.match(r, LaneSimilarity, false, "the action is worded like it: "+strings.Join(s.Words, ", "))
	}
}

func namesInstead(r *Rule, text string) bool {
	return slices.ContainsFunc(r.instead.programs, func(p string) bool { return strings.Contains(text, p) })
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

func (c *checking) verdict() Verdict {
	v := Verdict{Decision: DecisionAllow, Matches: []Match{}, Notes: c.notes}
	told := map[string]bool{} // the commands of which somebody wrote what blocks them
	for id, m := range c.found {
		if r := c.view.rule(id); m.Blocks && (r == nil || r.harm == "") {
			told[m.command()] = true
		}
	}
	for id, m := range c.found {
		if r := c.view.rule(id); r != nil && r.harm != "" && !r.always() && told[m.command()] {
			continue // what a pack says in general of that command adds nothing
		}
		v.Matches = append(v.Matches, *m)
	}
	rank := map[learning.Severity]int{learning.SeverityCritical: 0, learning.SeverityHigh: 1, learning.SeverityMedium: 2, learning.SeverityLow: 3}
	slices.SortFunc(v.Matches, func(a, b Match) int {
		switch {
		case a.Blocks != b.Blocks:
			if a.Blocks {
				return -1
			}
			return 1
		case rank[a.Severity] != rank[b.Severity]:
			return rank[a.Severity] - rank[b.Severity]
		}
		return strings.Compare(a.RuleID, b.RuleID)
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
