package contexts

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/skillrouter/skillrouter/internal/safetext"
	"github.com/skillrouter/skillrouter/learning"
	"github.com/skillrouter/skillrouter/learning/worktree"
	"github.com/skillrouter/skillrouter/router"
)

// Figures of the choice. docs/memory.md says what they mean for a reader, and
// TestContextQuality holds what they give.
const (
	// leastRelevance is below what an item has nothing to do with the task.
	leastRelevance = 0.35
	// A score is relevance · (relevanceShare + confidenceShare·confidence + recencyShare·recency).
	relevanceShare, confidenceShare, recencyShare = 0.6, 0.25, 0.15
	// recencyHalfLife is after how long an item is half as recent: what a team learned a
	// quarter ago is an eighth as recent as what it learned today.
	recencyHalfLife = 30 * 24 * time.Hour
	// foreignPart is what counts of the relevance in a project other than the item's own.
	foreignPart = 0.7
	// diversity is λ of maximal marginal relevance, λ·score − (1−λ)·likeness to what was
	// chosen (Carbonell and Goldstein, "The Use of MMR, Diversity-Based Reranking", 1998).
	diversity = 0.75
	// An item of which another holds so much of the words, and that has enough of them to
	// tell by, says the same; so does one of which nearly all words stand in a longer one.
	duplicateJaccard, duplicateContained, duplicateTerms = 0.75, 0.95, 4
	// mostOfBudget is the part of the budget that one item may take; what is longer is cut.
	mostOfBudget = 3
	// leastShare is what one item may take of any budget, in tokens: its frame has some fifty,
	// and two or three sentences beside it are of use.
	leastShare = 120
	// leastItem is the least room that an item is tried in, in tokens: the shortest frames have less.
	leastItem = 16
	// mostGuards bounds the guard rules, which come before everything else: who is shown
	// more of them reads none.
	mostGuards = 8
	// gonePart is what counts of an item that names what is no longer there: the rest of it may still hold.
	gonePart = 0.5
	// perToken is about how many bytes a token has, for a guess before it is counted.
	perToken = 4
)

// choice chooses what comes into one context.
type choice struct {
	budget    int
	untrusted bool
	vouched   bool // nothing comes in that no person or second voice vouched for
	start     bool // a session begins
	project   string
	folder    string // empty: nothing is looked for
	here      learning.Place
	subjects  map[string]int64 // how many entries there are of each subject
	more      string           // the count of what an index has no room for
	look      func(texts []worktree.Text) [][]string
	// instructions are the words of what the folder tells agents by itself.
	instructions func() string
	fencer       *safetext.Fencer
	terms        taskTerms
	at           time.Time
	// characters bounds the text in characters; 0: it is not bounded. share is the part of
	// the budget that one item may take, and order that of the sections.
	characters int
	share      int
	order      []string
	told       toldTo

	length int // in characters, of all that is chosen
	chosen []*rated
	left   []LeftOut
	kinds  map[string]bool // of the chosen
	intro  string
	open   string // the marks that enclose what is chosen
	closed string
	tokens int // of all that is chosen, with introduction, marks and headings
}

// rated is a candidate with what it is worth.
type rated struct {
	candidate
	score    float64
	evidence float64
	alike    float64 // to the chosen ones, the most
	block    string  // as it is written
	tokens   int     // of block
	cut      bool
}

// choose chooses and writes.
func (c *choice) choose(candidates []candidate) Context {
	c.begin(candidates)
	guards, others := c.rate(candidates)
	for i, g := range guards {
		if i >= mostGuards {
			c.leave(&g.candidate, reasonBudget)
			continue
		}
		c.take(g)
	}
	for len(others) > 0 {
		if c.budget-c.tokens < leastItem {
			break
		}
		best := slices.MaxFunc(others, func(a, b *rated) int { return cmp.Compare(c.worth(a), c.worth(b)) })
		others = slices.DeleteFunc(others, func(r *rated) bool { return r == best })
		if c.take(best) {
			for _, r := range others {
				jaccard, _ := learning.Likeness(best.said().terms, r.said().terms)
				r.alike = max(r.alike, jaccard)
			}
		}
	}
	for _, r := range others {
		c.crowdOut(r)
	}
	return c.write()
}

// begin makes room for the introduction, and for the marks: of a start twice, since messages are put between its parts.
func (c *choice) begin(candidates []candidate) {
	c.kinds = map[string]bool{}
	var all strings.Builder
	for i := range candidates {
		r := &candidates[i]
		all.WriteString(r.kind + "\n" + r.id + "\n" + r.title + "\n" + r.body + "\n")
	}
	mark := c.fencer.Mark(all.String())
	c.intro, c.open, c.closed = introOf(c.budget), "<memory-"+mark+">\n", "</memory-"+mark+">\n"
	c.spend(c.intro, c.open, c.closed)
	if c.start {
		c.spend(c.open, c.closed)
	}
}

// spend takes the room of what stands around the items.
func (c *choice) spend(parts ...string) {
	for _, part := range parts {
		c.tokens += CountTokens(part)
		c.length += utf8.RuneCountInString(part)
	}
}

// rate scores the candidates, the best first, guard rules apart. Those that
// may not come in, and those that have nothing to do with the task, are left out.
func (c *choice) rate(candidates []candidate) (guards, others []*rated) {
	var irrelevant []*rated
	for _, r := range once(candidates) {
		relevance := c.terms.relevance(r.said())
		if c.project != "" && r.project != "" && r.project != c.project {
			relevance *= foreignPart
		}
		relevance = max(relevance, r.least)
		r.score = relevance * (relevanceShare + confidenceShare*min(max(r.confidence, 0), 1) + recencyShare*recentness(r.date, c.at))
		switch {
		case relevance < leastRelevance:
			irrelevant = append(irrelevant, r)
		case c.withheld(r):
		case r.kind == router.KindGuard:
			guards = append(guards, r)
		default:
			others = append(others, r)
		}
	}
	order := func(a, b *rated) int { return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(a.id, b.id)) }
	slices.SortFunc(guards, order)
	slices.SortFunc(others, order)
	c.markGone(others)
	slices.SortFunc(irrelevant, order)
	for _, r := range irrelevant {
		c.leave(&r.candidate, "irrelevant")
	}
	return guards, others
}

// markGone marks those of which something is no longer there in the working tree, and lowers and puts them behind the others.
// An entry of another project, or of all projects, need not be about this tree. A fact belongs to no project.
func (c *choice) markGone(all []*rated) {
	if c.folder == "" || c.project == "" {
		return
	}
	var asked []*rated
	var texts []worktree.Text
	for _, r := range all {
		loose := r.kind == router.KindFact
		about := r.kind != router.KindSession && r.kind != router.KindIncident && r.kind != router.KindTask
		if len(texts) < worktree.MaxTexts && about && (loose || r.project == c.project) {
			asked, texts = append(asked, r), append(texts, worktree.Text{Text: r.title + "\n" + r.body, Loose: loose})
		}
	}
	for i, gone := range c.look(texts) {
		if asked[i].gone = gone; len(gone) > 0 {
			asked[i].score *= gonePart
		}
	}
	slices.SortStableFunc(all, behind)
}

// behind orders what names something that is gone behind what does not.
func behind(a, b *rated) int { return min(len(a.gone), 1) - min(len(b.gone), 1) }

// once are the candidates without those that several searches found.
func once(candidates []candidate) (list []*rated) {
	seen := map[string]bool{}
	for i := range candidates {
		if key := candidates[i].part() + "/" + candidates[i].kind + "/" + candidates[i].id; !seen[key] {
			seen[key] = true
			if strings.TrimSpace(candidates[i].body) == strings.TrimSpace(candidates[i].title) {
				candidates[i].body = "" // its title says it
			}
			list = append(list, &rated{candidate: candidates[i]})
		}
	}
	return list
}

// withheld leaves an item out that fits and may not come in, and tells whether it did.
func (c *choice) withheld(r *rated) bool { return c.distrusted(r) || c.toldBefore(r) }

// distrusted leaves an item out that neither a person, an agent nor the router wrote, unless such
// are wanted, and where it is set so what no person or second voice vouched for.
func (c *choice) distrusted(r *rated) bool {
	switch {
	case r.trust == router.TrustPerson, r.trust == router.TrustBuiltin, c.untrusted:
	case r.trust != router.TrustAgent:
		c.leave(&r.candidate, "untrusted")
		return true
	case c.vouched && !r.vouched:
		c.leave(&r.candidate, "not vouched for")
		return true
	}
	return false
}

// toldBefore leaves an item out that the session has been told, or that its folder tells every agent.
func (c *choice) toldBefore(r *rated) bool {
	switch {
	case c.told.has(&r.candidate, c.start):
		c.leave(&r.candidate, reasonTold)
	case c.instructed(&r.candidate):
		c.leave(&r.candidate, reasonInstructed)
	default:
		return false
	}
	return true
}

// place takes an item in if anything has room yet, and tells whether it is in.
func (c *choice) place(r *rated) bool {
	if c.budget-c.tokens < leastItem {
		c.leave(&r.candidate, reasonBudget)
		return false
	}
	return c.take(r)
}

// recentness is ½ to the power of the age in half-lives; what has no date is of no age.
func recentness(date, at time.Time) float64 {
	if date.IsZero() {
		return 1
	}
	return math.Exp2(-max(0, at.Sub(date).Hours()) / recencyHalfLife.Hours())
}

// worth is what the next place is given by: what an item brings that is not
// there yet, less if it is long: one that takes an eighth of the budget is worth
// half of one that takes nothing.
func (c *choice) worth(r *rated) float64 {
	marginal := diversity*r.score*weights[r.kind] - (1-diversity)*r.alike
	length := min(float64(len(r.title)+len(r.body))/perToken, float64(c.budget)/mostOfBudget)
	if marginal < 0 {
		return marginal
	}
	return marginal / (1 + 8*length/float64(c.budget))
}

// take takes an item in, cut if need be; false if it repeats another or finds no room.
func (c *choice) take(r *rated) bool {
	room, heading := c.budget-c.tokens, ""
	if !c.kinds[r.part()] {
		heading = c.heading(r.part())
	}
	headed := CountTokens(heading)
	fits := c.fit(r, room-headed)
	length := utf8.RuneCountInString(heading) + utf8.RuneCountInString(r.block)
	if !fits || c.characters > 0 && c.length+length > c.characters {
		c.crowdOut(r)
		return false
	}
	if c.repeats(r) {
		return false
	}
	c.kinds[r.part()] = true
	c.tokens += headed + r.tokens
	c.length += length
	c.chosen = append(c.chosen, r)
	return true
}

// crowdOut leaves an item out for which there is no room. What repeats another is told as that.
func (c *choice) crowdOut(r *rated) {
	if !c.repeats(r) {
		c.leave(&r.candidate, reasonBudget)
	}
}

// repeats tells whether an item says what a chosen one says, and leaves it out then. How a session ended is told although it says
// what was decided in it.
func (c *choice) repeats(r *rated) bool {
	for _, other := range c.chosen {
		if r.id == other.id && (r.kind == other.kind || isLesson(r.kind) && other.kind == router.KindGuard) ||
			r.kind != router.KindSession && sayTheSame(r.said(), other.said()) {
			c.leave(&r.candidate, "duplicate of "+other.id)
			return true
		}
	}
	return false
}

// isLesson tells whether an item is a lesson; a guard rule has the id of the lesson that it comes from.
func isLesson(kind string) bool {
	return kind == router.KindPrinciple || kind == router.KindPattern || kind == router.KindLesson
}

// sayTheSame tells whether two texts say the same. Texts that differ in a
// number or in a negation do not, however alike they are.
func sayTheSame(a, b *words) bool {
	if min(len(a.terms), len(b.terms)) < duplicateTerms || !slices.Equal(a.sharp, b.sharp) {
		return false
	}
	jaccard, contained := learning.Likeness(a.terms, b.terms)
	return jaccard >= duplicateJaccard || contained >= duplicateContained
}

// leave leaves an item out.
func (c *choice) leave(r *candidate, reason string) {
	c.left = append(c.left, LeftOut{Kind: r.kind, ID: r.id, Reason: reason})
}

// reasonBudget is why an item is left out for which there is no room.
const reasonBudget = "budget"

// reasonRank orders what was left out: what a caller may want to change comes first.
func reasonRank(reason string) int {
	switch {
	case reason == reasonBudget:
		return 0
	case reason == "untrusted", reason == "not vouched for":
		return 1
	case reason == "irrelevant":
		return 3
	}
	return 2
}

// current are the candidates without those in whose place others stand.
func (c *choice) current(candidates []candidate) []candidate {
	return slices.DeleteFunc(candidates, func(r candidate) bool {
		if r.superseded != "" {
			c.leave(&r, "superseded by "+r.superseded)
		}
		return r.superseded != ""
	})
}

// write writes the context, in sections, each with the best first.
func (c *choice) write() Context {
	slices.SortStableFunc(c.left, func(a, b LeftOut) int { return reasonRank(a.Reason) - reasonRank(b.Reason) })
	answer := Context{Budget: c.budget, Tokenizer: Tokenizer, Items: []Item{}, LeftOut: c.left, LeftOutCount: len(c.left)}
	if len(c.chosen) == 0 {
		return answer
	}
	slices.SortStableFunc(c.chosen, func(a, b *rated) int {
		newer := 0
		if c.start {
			newer = b.date.Compare(a.date)
		}
		return cmp.Or(slices.Index(c.order, a.part())-slices.Index(c.order, b.part()), a.position-b.position, behind(a, b), cmp.Compare(b.score, a.score), newer, strings.Compare(a.id, b.id))
	})
	var text strings.Builder
	text.WriteString(c.intro + c.open)
	part := ""
	for i, r := range c.chosen {
		if r.part() != part {
			part = r.part()
			if c.start && i > 0 && answer.Rules == 0 && !inHead(part) && inHead(c.chosen[i-1].part()) {
				text.WriteString(c.closed)
				answer.Rules = text.Len()
				text.WriteString(c.open)
			}
			text.WriteString(c.heading(part))
		}
		text.WriteString(r.block)
		answer.Items = append(answer.Items, Item{
			Kind: r.kind, ID: r.id, Handle: r.handle, Title: safetext.Visible(r.title), Author: r.author, Trust: r.trust, Score: r.score, Tokens: r.tokens, Date: r.date, Cut: r.cut, Gone: r.gone,
		})
	}
	text.WriteString(c.closed)
	answer.Tokens = c.tokens
	if c.start && answer.Rules == 0 { // the second pair of marks was not needed
		answer.Tokens -= CountTokens(c.open) + CountTokens(c.closed)
		if inHead(part) {
			answer.Rules = text.Len()
		}
	}
	answer.Text = text.String()
	return answer
}

// inHead tells whether a section stands in the first part of a start, before messages.
func inHead(section string) bool {
	return section == router.KindGuard || section == sectionDecided || section == router.KindIncident
}
