package classify

import (
	"slices"
	"strings"
)

// The kinds of a Mention.
const (
	MentionAgent       = "agent"
	MentionTask        = "task"
	MentionEnvironment = "environment"
	MentionCVE         = "cve"
	MentionFinding     = "finding"
	MentionProject     = "project"
)

// Mention is a thing that the stores know and that a query names.
type Mention struct {
	Kind string `json:"kind"` // agent, task, environment, cve, finding or project
	Name string `json:"name"` // as the query spells it, in any case
}

// Bounds of what a classification looks at beside the words.
const (
	MaxMentions     = 16  // more names than this in one question say nothing further
	maxMentionBytes = 256 // longer than any id the stores accept
)

// leaning is what naming one thing of a kind adds to each class's log-odds: of knowledge, episodes, operations and
// reconnaissance, in the order of the classes' places.
type leaning [numClasses]float64

// mentionPriors say how a kind of mention leans, by whether the question is in the past tense. The figures are
// judgements, kept small beside what a telling sentence gives (4 to 8): a name leans, the sentence decides. Naming two
// agents says no more than one. symbol is the word class that stands for the name in features.
var mentionPriors = map[string]struct {
	symbol        uint8
	present, past leaning
}{
	MentionAgent:       {symAgentName, leaning{-0.5, 0.3, 1.2, -0.3}, leaning{-0.5, 1.2, 0.2, -0.3}},
	MentionTask:        {symTaskName, leaning{-0.3, 0.3, 1.2, -0.3}, leaning{-0.3, 1.2, 0.2, -0.3}},
	MentionEnvironment: {symEnvironment, leaning{0, 0, 0.2, 1.2}, leaning{0, 0.4, 0, 0.8}},
	MentionCVE:         {symCVE, leaning{0, 0, 0, 2}, leaning{0, 0.3, 0, 1.5}},
	MentionFinding:     {symFinding, leaning{0, 0, 0, 2}, leaning{0, 0.3, 0, 1.5}},
	MentionProject:     {symNone, leaning{0, 0, 0.2, 0}, leaning{0, 0.2, 0, 0}},
}

// markMentions puts a kind's place-holder where the query names one of the
// mentions, so that "what does X do" is read alike for every agent X. Of names
// that begin at the same word the longest counts. Projects have none: they are
// named in questions of every class alike.
func (r *reading) markMentions(mentions []Mention) {
	for i := 0; i < len(r.tokens); i++ {
		symbol, last := symNone, -1
		for _, m := range mentions[:min(len(mentions), MaxMentions)] {
			prior, ok := mentionPriors[m.Kind]
			if !ok || prior.symbol == symNone || m.Name == "" || len(m.Name) > maxMentionBytes {
				continue
			}
			if j := r.nameAt(i, m.Name); j > last || j == last && j >= 0 && prior.symbol < symbol {
				symbol, last = prior.symbol, j
			}
		}
		t := &r.tokens[i]
		if last < 0 || last == i && t.known && t.classes != 0 && t.symbol < symAgentName {
			continue // no name, or one like "search", which does not change what the word says
		}
		h := shapeHash(symbol)
		*t = token{
			start: t.start, end: r.tokens[last].end, hash: h, stem: h,
			classes: 1 << symbol, symbol: symbol, known: true,
		}
		r.tokens = append(r.tokens[:i+1], r.tokens[last+1:]...)
	}
}

// nameAt gives the last token of name if it begins at token i, or −1.
func (r *reading) nameAt(i int, name string) int {
	start := r.tokens[i].start
	end := start + len(name)
	if end > len(r.text) || !strings.EqualFold(r.text[start:end], name) {
		return -1
	}
	return slices.IndexFunc(r.tokens, func(t token) bool { return t.start >= start && t.end == end })
}

// leaning is how a kind of mention leans in this question.
func (r *reading) leaning(kind string) leaning {
	if r.inPast() {
		return mentionPriors[kind].past
	}
	return mentionPriors[kind].present
}

// leans adds each mentioned kind's lean, once per kind.
func (r *reading) leans(z *[numClasses]float64, mentions []Mention) {
	seen := map[string]bool{}
	for _, m := range mentions[:min(len(mentions), MaxMentions)] {
		for k, lean := range r.leaning(m.Kind) {
			if !seen[m.Kind] {
				z[k] += lean
			}
		}
		seen[m.Kind] = true
	}
}
