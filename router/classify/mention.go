package classify

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

// mentionPrior is what naming one thing of a kind adds to each class's
// log-odds, by whether the question is in the past tense. The figures are
// judgements, kept small beside what a telling sentence gives (4 to 8): a
// name leans, the sentence decides. Naming two agents says no more than one.
type mentionPrior struct {
	symbol        uint8 // the word class that stands for the name in features
	present, past [numClasses]float64
}

var mentionPriors = map[string]mentionPrior{
	MentionAgent: {
		symbol:  symAgentName,
		present: [numClasses]float64{classOperational: 1.2, classEpisode: 0.3, classKnowledge: -0.5, classRecon: -0.3},
		past:    [numClasses]float64{classOperational: 0.2, classEpisode: 1.2, classKnowledge: -0.5, classRecon: -0.3},
	},
	MentionTask: {
		symbol:  symTaskName,
		present: [numClasses]float64{classOperational: 1.2, classEpisode: 0.3, classKnowledge: -0.3, classRecon: -0.3},
		past:    [numClasses]float64{classOperational: 0.2, classEpisode: 1.2, classKnowledge: -0.3, classRecon: -0.3},
	},
	MentionEnvironment: {
		symbol:  symEnvironment,
		present: [numClasses]float64{classRecon: 1.2, classOperational: 0.2},
		past:    [numClasses]float64{classRecon: 0.8, classEpisode: 0.4},
	},
	MentionCVE: {
		symbol:  symCVE,
		present: [numClasses]float64{classRecon: 2},
		past:    [numClasses]float64{classRecon: 1.5, classEpisode: 0.3},
	},
	MentionFinding: {
		symbol:  symFinding,
		present: [numClasses]float64{classRecon: 2},
		past:    [numClasses]float64{classRecon: 1.5, classEpisode: 0.3},
	},
	MentionProject: {
		present: [numClasses]float64{classOperational: 0.2},
		past:    [numClasses]float64{classEpisode: 0.2},
	},
}

// markMentions puts a kind's place-holder where the query names one of the
// mentions, so that "what does X do" is read alike for every agent X. Of names
// that begin at the same word the longest counts. Projects have none: they are
// named in questions of every class alike.
func (s *scratch) markMentions(mentions []Mention) {
	for i := 0; i < len(s.tokens); i++ {
		symbol, last := symNone, -1
		for _, m := range mentions[:min(len(mentions), MaxMentions)] {
			prior, ok := mentionPriors[m.Kind]
			if !ok || prior.symbol == symNone || m.Name == "" || len(m.Name) > maxMentionBytes {
				continue
			}
			if j := s.nameAt(i, m.Name); j > last || j == last && j >= 0 && prior.symbol < symbol {
				symbol, last = prior.symbol, j
			}
		}
		t := &s.tokens[i]
		if last < 0 || last == i && t.known && t.classes != 0 && t.symbol < symAgentName {
			continue // no name, or one like "search", which does not change what the word says
		}
		h := shapeHash(symbol)
		*t = token{
			start: t.start, end: s.tokens[last].end, hash: h, stem: h,
			classes: 1 << symbol, symbol: symbol, known: true,
		}
		s.tokens = append(s.tokens[:i+1], s.tokens[last+1:]...)
	}
}

// nameAt gives the last token of name if it begins at token i, or −1.
func (s *scratch) nameAt(i int, name string) int {
	start := int(s.tokens[i].start)
	end := start + len(name)
	if end > len(s.text) || !equalFoldText(s.text[start:end], name) {
		return -1
	}
	for j := i; j < len(s.tokens); j++ {
		switch e := int(s.tokens[j].end); {
		case e == end:
			return j
		case e > end:
			return -1
		}
	}
	return -1
}

// equalFoldText compares without regard to the case of ASCII letters.
func equalFoldText(b []byte, s string) bool {
	if len(b) != len(s) {
		return false
	}
	for i := range b {
		x, y := b[i], s[i]
		if 'A' <= x && x <= 'Z' {
			x += 'a' - 'A'
		}
		if 'A' <= y && y <= 'Z' {
			y += 'a' - 'A'
		}
		if x != y {
			return false
		}
	}
	return true
}

// addPriors adds each mentioned kind's lean, once per kind.
func (s *scratch) addPriors(z *[numClasses]float64, mentions []Mention) {
	var seen [6]string
	n := 0
	past := s.inPast()
next:
	for _, m := range mentions[:min(len(mentions), MaxMentions)] {
		prior, ok := mentionPriors[m.Kind]
		if !ok {
			continue
		}
		for _, kind := range seen[:n] {
			if kind == m.Kind {
				continue next
			}
		}
		seen[n] = m.Kind
		n++
		lean := &prior.present
		if past {
			lean = &prior.past
		}
		for k := range z {
			z[k] += lean[k]
		}
	}
}
