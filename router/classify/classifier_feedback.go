package classify

import "slices"

// Bounds of what feedback can do. Log-odds, as the model's own: a clear
// question has a lead of 4 to 8.
const (
	// MaxFeedback is how many entries count; of more, the last.
	MaxFeedback = 1000
	// maxTaughtAlike bounds what similar questions add to a class: enough to
	// turn a doubtful question, not a clear one.
	maxTaughtAlike = 1.5
	// maxTaughtSame bounds what verdicts on this very question add: a person
	// who says what it is should be heard, unless the entries disagree.
	maxTaughtSame = 6.0
	// taughtAlike and taughtSame are what one entry adds.
	taughtAlike = 1.0
	taughtSame  = 4.0
	// An agent's word counts for half of a captain's: one agent alone turns a doubtful
	// question, and it takes two to turn a clear one for everybody.
	agentShare = 0.5
	// maxAgentAlike bounds what one agent's entries on similar questions add to a class,
	// however many there are.
	maxAgentAlike = 0.75
	// minAlike is the least share of common words, by Jaccard, for questions to be alike.
	minAlike = 0.5
)

// Feedback is a person's or an agent's word on what kind of question a query is.
type Feedback struct {
	Query string `json:"query"`
	Class Class  `json:"class"`
	// Not says that the query is not of the class.
	Not bool `json:"not,omitempty"`
	// Teacher is the agent whose word it is; empty: a captain's.
	Teacher string `json:"teacher,omitempty"`
}

// feedback is the list in the form that Classify asks.
type feedback struct {
	entries  []taughtQuery
	teachers int                // agents that teach
	byWord   map[uint32][]int32 // entries that hold the word, in order
}

type taughtQuery struct {
	query    string
	class    int
	words    []uint32 // sorted, without repeats
	allWords uint32   // hash of all words in order
	not      bool
	agent    int // its place among the teachers, −1: a captain
}

// taught is what feedback adds to each class, and the entry that weighed most.
type taught struct {
	shift [numClasses]float64
	best  string
	class int
	same  bool
}

// WithFeedback returns a classifier that also heeds list. It is a function of
// the base model and the list alone, whatever feedback c itself has: leaving
// an entry out undoes it. Entries with an unknown class or without words are
// passed over.
func (c *Classifier) WithFeedback(list []Feedback) *Classifier {
	taughtClassifier := *c
	taughtClassifier.feedback = nil
	if len(list) > MaxFeedback {
		list = list[len(list)-MaxFeedback:]
	}
	f := &feedback{byWord: make(map[uint32][]int32)}
	teachers := map[string]int{}
	s := c.pool.Get().(*scratch)
	defer c.pool.Put(s)
	for _, entry := range list {
		class := classIndex(entry.Class)
		if class < 0 {
			continue
		}
		s.readText(entry.Query)
		s.tokenize(c)
		words, whole := s.wordSet(nil)
		if len(words) == 0 {
			continue
		}
		for _, w := range words {
			f.byWord[w] = append(f.byWord[w], int32(len(f.entries)))
		}
		agent := -1
		if entry.Teacher != "" {
			if _, known := teachers[entry.Teacher]; !known {
				teachers[entry.Teacher] = len(teachers)
			}
			agent = teachers[entry.Teacher]
		}
		f.entries = append(f.entries, taughtQuery{query: clip(entry.Query), class: class, words: words, allWords: whole, not: entry.Not, agent: agent})
	}
	f.teachers = len(teachers)
	if len(f.entries) > 0 {
		taughtClassifier.feedback = f
	}
	return &taughtClassifier
}

// wordSet appends the question's stems, sorted and without repeats, and gives
// the hash of all its words in order.
func (s *scratch) wordSet(words []uint32) ([]uint32, uint32) {
	whole := uint32(len(s.tokens))
	for i := range s.tokens {
		whole = mix(whole, s.tokens[i].hash)
		words = append(words, s.tokens[i].stem)
	}
	slices.Sort(words)
	return slices.Compact(words), whole
}

// shift gives what the entries that are like the question in s add to the
// classes' log-odds, each class's kinds of addition within their bounds.
func (f *feedback) shift(s *scratch) taught {
	var t taught
	if f == nil || len(s.tokens) == 0 {
		return t
	}
	words, whole := s.wordSet(s.stems[:0])
	s.stems = words
	if cap(s.common) < len(f.entries) {
		s.common = make([]uint8, len(f.entries))
	}
	common := s.common[:len(f.entries)]
	clear(common)
	for _, w := range words {
		for _, e := range f.byWord[w] {
			common[e]++
		}
	}
	if n := f.teachers * numClasses; cap(s.taught) < n {
		s.taught = make([]float64, n)
	}
	byAgent := s.taught[:f.teachers*numClasses] // what each has added for similar questions
	clear(byAgent)
	var alike, same [numClasses]float64
	best := 0.0
	for e, n := range common {
		if n == 0 {
			continue
		}
		entry := &f.entries[e]
		share := float64(n) / float64(len(words)+len(entry.words)-int(n))
		weight := 0.0
		switch {
		case entry.allWords == whole:
			weight = taughtSame
			if entry.agent >= 0 {
				weight *= agentShare
			}
			same[entry.class] += entry.sign() * weight
		case share >= minAlike:
			weight = taughtAlike * share
			if entry.agent >= 0 {
				so := &byAgent[entry.agent*numClasses+entry.class]
				weight = min(weight*agentShare, max(0, maxAgentAlike-*so))
				*so += weight
			}
			alike[entry.class] += entry.sign() * weight
		}
		if weight > 0 && weight >= best && !entry.not {
			best, t.best, t.class, t.same = weight, entry.query, entry.class, entry.allWords == whole
		}
	}
	for k := range t.shift {
		t.shift[k] = max(-maxTaughtAlike, min(alike[k], maxTaughtAlike)) + max(-maxTaughtSame, min(same[k], maxTaughtSame))
	}
	return t
}

// sign is −1 for what says that a query is not of a class.
func (q *taughtQuery) sign() float64 {
	if q.not {
		return -1
	}
	return 1
}
